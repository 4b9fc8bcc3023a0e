"""kafka-python behind the host protocol."""
import logging
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from pyhost import LoopMember, member_ops, serve

from kafka import ConsumerRebalanceListener, KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

logging.basicConfig(level=os.environ.get("CLIENT_LOG", "warning").upper(), format="%(asctime)s %(name)s %(message)s")
BOOT = {"bootstrap_servers": sys.argv[1]}
ASSIGNORS = {"range": RangePartitionAssignor, "roundrobin": RoundRobinPartitionAssignor,
             "sticky": StickyPartitionAssignor, "cooperative-sticky": CooperativeStickyAssignor}


def names(ps):
    return ["%s/%d" % (p.topic, p.partition) for p in ps]


class Member(LoopMember, ConsumerRebalanceListener):
    def open(self):
        c = self.conf
        conf = dict(BOOT, group_id=c["group"], client_id=self.name, auto_offset_reset="earliest",
                    enable_auto_commit=c.get("commit") == "auto", auto_commit_interval_ms=c.get("auto_ms", 1000),
                    session_timeout_ms=c.get("session", 6000), heartbeat_interval_ms=c.get("hb", 500),
                    metadata_max_age_ms=1000, fetch_max_wait_ms=100, allow_auto_create_topics=False)
        if c.get("assignors"):
            conf["partition_assignment_strategy"] = [ASSIGNORS[a] for a in c["assignors"]]
        if c.get("instance"):
            conf["group_instance_id"] = c["instance"]
        self.consumer = KafkaConsumer(**conf)
        self.consumer.subscribe(c["topics"], listener=self)
        for topic in c["topics"]:  # a first poll before the topic's metadata may never fetch
            while not self.consumer.partitions_for_topic(topic):
                time.sleep(0.05)

    def on_partitions_assigned(self, assigned):
        self.event("assign", parts=names(assigned))

    def on_partitions_revoked(self, revoked):
        self.event("revoke", parts=names(revoked))

    def on_partitions_lost(self, lost):
        self.event("lost", parts=names(lost))

    def poll(self):
        got = self.consumer.poll(timeout_ms=100, max_records=self.conf.get("batch", 100))
        return [[m.topic, m.partition, m.offset, m.value.decode()] for ms in got.values() for m in ms]

    def commit(self):
        self.consumer.commit()

    def shut(self):
        self.consumer.close(autocommit=self.conf.get("commit") == "auto")


def create(c):
    admin = KafkaAdminClient(**BOOT)
    try:
        admin.create_topics({c["topic"]: {"num_partitions": c["partitions"], "replication_factor": 1}})
    finally:
        admin.close()


def produce(c):
    producer = KafkaProducer(linger_ms=5, **BOOT)
    acks = [producer.send(c["topic"], str(i).encode(), b"k%d" % i, partition=i % c["partitions"])
            for i in range(c["start"], c["start"] + c["n"])]
    for ack in acks:
        ack.get(15)
    producer.close()


def lag(c):
    admin, consumer = KafkaAdminClient(**BOOT), KafkaConsumer(**BOOT)
    done = admin.list_group_offsets(c["group"])[c["group"]]
    ends = consumer.end_offsets([TopicPartition(c["topic"], i) for i in range(c["partitions"])])
    admin.close()
    consumer.close()
    return {"lag": sum(end - (max(done[tp].offset, 0) if tp in done else 0) for tp, end in ends.items())}


serve(dict(member_ops(Member), create=create, produce=produce, lag=lag))
