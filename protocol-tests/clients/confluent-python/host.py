"""confluent-kafka-python (librdkafka) behind the host protocol."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from pyhost import LoopMember, member_ops, serve

import confluent_kafka as ck
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import (AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions,
                                   NewTopic, OffsetSpec, ResourceType)

BOOT = {"bootstrap.servers": sys.argv[1]}
if os.environ.get("CLIENT_LOG"):
    BOOT["debug"] = "cgrp,protocol"
admin = AdminClient(BOOT)
open_txns, shares = {}, {}


def names(ps):
    return ["%s/%d" % (p.topic, p.partition) for p in ps]


def consumer_conf(c):
    auto = c.get("commit") == "auto"
    conf = dict(BOOT, **{
        "group.id": c["group"], "client.id": c["m"], "enable.auto.commit": auto, "enable.auto.offset.store": auto,
        "auto.commit.interval.ms": c.get("auto_ms", 1000),
        "auto.offset.reset": "earliest", "isolation.level": c.get("isolation", "read_uncommitted"),
        "topic.metadata.refresh.interval.ms": 1000, "fetch.wait.max.ms": 100, "enable.partition.eof": False,
        "allow.auto.create.topics": False})
    if c.get("instance"):
        conf["group.instance.id"] = c["instance"]
    if c.get("max_poll_ms"):
        conf["max.poll.interval.ms"] = c["max_poll_ms"]
    if c.get("protocol") == "consumer":
        conf["group.protocol"] = "consumer"
        if c.get("remote"):
            conf["group.remote.assignor"] = c["remote"]
    else:
        conf["session.timeout.ms"] = c.get("session", 6000)
        conf["max.poll.interval.ms"] = c.get("max_poll_ms", max(c.get("session", 6000), 60000))
        conf["heartbeat.interval.ms"] = c.get("hb", 500)
        if c.get("assignors"):
            conf["partition.assignment.strategy"] = ",".join(c["assignors"])
    return conf


class Member(LoopMember):
    def open(self):
        c = self.conf
        self.done = {}
        self.consumer = ck.Consumer(consumer_conf(c))
        topics = ["^" + c["re2j"]] if c.get("re2j") else c["topics"]
        self.consumer.subscribe(topics, on_assign=lambda _, ps: self.event("assign", parts=names(ps)),
                                on_revoke=self.revoked, on_lost=lambda _, ps: self.event("lost", parts=names(ps)))

    def revoked(self, _, ps):
        if self.conf.get("commit") == "revoke" and self.done:
            self.commit()
        self.event("revoke", parts=names(ps))
        for p in ps:
            self.done.pop((p.topic, p.partition), None)

    def poll(self):
        out = []
        for msg in self.consumer.consume(self.conf.get("batch", 100), 0.1):
            if msg.error():
                if msg.error().code() in (ck.KafkaError.UNKNOWN_TOPIC_OR_PART, ck.KafkaError.TOPIC_AUTHORIZATION_FAILED):
                    continue
                raise KafkaException(msg.error())
            self.done[(msg.topic(), msg.partition())] = msg.offset() + 1
            out.append([msg.topic(), msg.partition(), msg.offset(), msg.value().decode()])
        return out

    def commit(self):
        got = self.consumer.commit(offsets=[TopicPartition(t, p, o) for (t, p), o in self.done.items()],
                                   asynchronous=False)
        for p in got:
            if p.error:
                raise KafkaException(p.error)

    def shut(self):
        self.consumer.close()


def wait(futures):
    for f in futures.values():
        f.result(15)


def produce(c):
    p, errs = ck.Producer(dict(BOOT, **{"linger.ms": 5})), []
    for i in range(c["start"], c["start"] + c["n"]):
        p.produce(c["topic"], str(i), "k%d" % i, i % c["partitions"], on_delivery=lambda e, m: e and errs.append(e))
    left = p.flush(15)
    if errs or left:
        raise RuntimeError("produce: %s, %d left" % (errs[:1], left))


def lag(c):
    f = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(c["group"])])
    done = {(p.topic, p.partition): p.offset for p in f[c["group"]].result(15).topic_partitions}
    ends = admin.list_offsets({TopicPartition(c["topic"], i): OffsetSpec.latest() for i in range(c["partitions"])})
    return {"lag": sum(f.result(15).offset - max(done.get((tp.topic, tp.partition), 0), 0) for tp, f in ends.items())}


def group(c):
    d = admin.describe_consumer_groups([c["group"]])[c["group"]].result(15)
    return {"state": d.state.name, "type": d.type.name, "assignor": d.partition_assignor,
            "members": [{"id": m.member_id, "parts": names(m.assignment.topic_partitions)} for m in d.members]}


def groupconfig(c):
    r = ConfigResource(ResourceType.GROUP, c["group"], incremental_configs=[
        ConfigEntry(c["key"], c["value"], incremental_operation=AlterConfigOpType.SET)])
    wait(admin.incremental_alter_configs([r]))


def eos(c):
    conf = dict(consumer_conf(dict(c, m="eos", isolation="read_committed")))
    cons, prod = ck.Consumer(conf), ck.Producer(dict(BOOT, **{"transactional.id": c["txid"], "linger.ms": 5}))
    done = txns = aborted = 0
    unchanged, end = True, time.time() + 25
    prod.init_transactions(15)
    cons.subscribe([c["in"]])
    while done < c["n"] and time.time() < end:
        got = [m for m in cons.consume(10, 0.5) if not m.error()]
        if not got:
            continue
        tops = {}
        for m in got:
            tops[(m.topic(), m.partition())] = m.offset() + 1
        before = {(p.topic, p.partition): p.offset for p in cons.committed([TopicPartition(t, n) for t, n in tops], 10)}
        prod.begin_transaction()
        for m in got:
            prod.produce(c["out"], "x" + m.value().decode(), m.key(), 0)
        prod.send_offsets_to_transaction([TopicPartition(t, n, o) for (t, n), o in tops.items()],
                                         cons.consumer_group_metadata(), 10)
        if txns in c.get("abort", []):
            prod.flush(10)
            prod.abort_transaction(10)
            aborted += 1
            after = {(p.topic, p.partition): p.offset for p in cons.committed([TopicPartition(t, n) for t, n in tops], 10)}
            unchanged = unchanged and after == before
            for (t, n), o in before.items():
                cons.seek(TopicPartition(t, n, max(o, 0)))
        else:
            prod.commit_transaction(10)
            done += len(got)
        txns += 1
    cons.close()
    return {"done": done, "aborted": aborted, "unchanged": unchanged}


def txn_begin(c):
    p, errs = ck.Producer(dict(BOOT, **{"transactional.id": c["txid"]})), []
    p.init_transactions(15)
    p.begin_transaction()
    for i in range(c["n"]):
        p.produce(c["topic"], "%s%d" % (c["prefix"], i), "k", 0, on_delivery=lambda e, m: e and errs.append(e))
    p.flush(10)
    if errs:
        raise KafkaException(errs[0])
    open_txns[c.get("as", c["txid"])] = p


def txn_end(c):
    p = open_txns.pop(c["txid"])
    p.commit_transaction(10) if c["commit"] else p.abort_transaction(10)


def share_start(c):
    s = ck.ShareConsumer(dict(BOOT, **{"group.id": c["group"], "share.acknowledgement.mode": "explicit",
                                       "max.poll.records": c.get("batch", 10)}))
    s.subscribe([c["topic"]])
    shares[c["m"]] = s


def share_poll(c):
    s, out = shares[c["m"]], []
    for m in s.poll(c.get("ms", 1000) / 1000):
        if m.error():
            raise KafkaException(m.error())
        out.append([m.topic(), m.partition(), m.offset(), m.value().decode(), m.delivery_count()])
        s.acknowledge(m, getattr(ck.AcknowledgeType, c.get("ack", {}).get(m.value().decode(), "ACCEPT")))
    for err in s.commit_sync(10).values():
        if err:
            raise err
    return {"recs": out}


serve(dict(member_ops(Member), **{
    "create": lambda c: wait(admin.create_topics([NewTopic(c["topic"], c["partitions"], 1)])),
    "grow": lambda c: wait(admin.create_partitions([NewPartitions(c["topic"], c["partitions"])])),
    "produce": produce, "lag": lag, "group": group, "groupconfig": groupconfig, "eos": eos,
    "txn_begin": txn_begin, "txn_end": txn_end,
    "share_start": share_start, "share_poll": share_poll, "share_close": lambda c: shares.pop(c["m"]).close(),
}))
