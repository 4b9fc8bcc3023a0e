"""aiokafka behind the host protocol."""
import asyncio
import json
import logging
import os
import sys
import time
import traceback

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

logging.basicConfig(level=os.environ.get("CLIENT_LOG", "warning").upper(), format="%(asctime)s %(name)s %(message)s")
BOOT = {"bootstrap_servers": sys.argv[1]}
ASSIGNORS = {"range": RangePartitionAssignor, "roundrobin": RoundRobinPartitionAssignor, "sticky": StickyPartitionAssignor}
members, open_txns, tasks = {}, {}, set()


def emit(msg):
    print(json.dumps(msg), flush=True)


def text(e):
    return "%s: %s" % (type(e).__name__, e)


def names(ps):
    return ["%s/%d" % (p.topic, p.partition) for p in ps]


def consumer_conf(c):
    conf = dict(BOOT, group_id=c["group"], client_id=c["m"], auto_offset_reset="earliest",
                enable_auto_commit=c.get("commit") == "auto", auto_commit_interval_ms=c.get("auto_ms", 1000),
                session_timeout_ms=c.get("session", 6000), heartbeat_interval_ms=c.get("hb", 500),
                metadata_max_age_ms=1000, fetch_max_wait_ms=100, isolation_level=c.get("isolation", "read_uncommitted"))
    if c.get("assignors"):
        conf["partition_assignment_strategy"] = [ASSIGNORS[a] for a in c["assignors"]]
    if c.get("instance"):
        conf["group_instance_id"] = c["instance"]
    if c.get("max_poll_ms"):
        conf["max_poll_interval_ms"] = c["max_poll_ms"]
    return conf


class Member:
    def __init__(self, c):
        self.name, self.conf, self.closing, self.paused = c["m"], c, False, False
        self.lock = asyncio.Lock()

    def event(self, kind, **more):
        emit(dict(more, ev=kind, m=self.name))

    async def run(self):
        member = self

        class Listener(ConsumerRebalanceListener):
            async def on_partitions_assigned(self, ps):
                member.event("assign", parts=names(ps))

            async def on_partitions_revoked(self, ps):
                async with member.lock:  # not while a batch is between being read and committed
                    if member.conf.get("commit") == "revoke":
                        await member.consumer.commit()
                    member.event("revoke", parts=names(ps))
        self.consumer = AIOKafkaConsumer(**consumer_conf(self.conf))
        try:
            self.consumer.subscribe(self.conf["topics"], listener=Listener())
            await self.consumer.start()
            while not self.closing:
                if self.paused:
                    await asyncio.sleep(0.02)
                    continue
                async with self.lock:
                    got = await self.consumer.getmany(timeout_ms=20, max_records=self.conf.get("batch", 100))
                    recs = [[m.topic, m.partition, m.offset, m.value.decode()] for ms in got.values() for m in ms]
                    if recs:
                        self.event("recs", recs=recs)
                        await asyncio.sleep(self.conf.get("delay", 0) / 1000)
                        if self.conf.get("commit") == "batch":
                            await self.consumer.commit()
                await asyncio.sleep(0.03)
            if self.conf.get("commit") == "revoke":  # stop() does not call the listener
                await self.consumer.commit()
            await self.consumer.stop()
            self.event("closed")
        except BaseException as e:
            traceback.print_exc()
            self.event("error", err=text(e))
            await self.consumer.stop()


async def start(c):
    m = members[c["m"]] = Member(c)
    t = asyncio.create_task(m.run())
    tasks.add(t)


async def close(c):
    members[c["m"]].closing = True


async def pause(c):
    members[c["m"]].paused = True


async def commit(c):
    await members[c["m"]].consumer.commit()


async def create(c):
    a = AIOKafkaAdminClient(**BOOT)
    await a.start()
    r = await a.create_topics([NewTopic(c["topic"], c["partitions"], 1)])
    await a.close()
    bad = [e for e in r.topic_errors if e[1]]
    if bad:
        raise RuntimeError("create_topics: %s" % bad)


async def produce(c):
    p = AIOKafkaProducer(linger_ms=5, **BOOT)
    await p.start()
    acks = [await p.send(c["topic"], str(i).encode(), b"k%d" % i, partition=i % c["partitions"])
            for i in range(c["start"], c["start"] + c["n"])]
    await asyncio.gather(*acks)
    await p.stop()


async def lag(c):
    a, k = AIOKafkaAdminClient(**BOOT), AIOKafkaConsumer(**BOOT)
    await a.start()
    await k.start()
    tps = [TopicPartition(c["topic"], i) for i in range(c["partitions"])]
    done = await a.list_consumer_group_offsets(c["group"], partitions=tps)
    ends = await k.end_offsets(tps)
    await a.close()
    await k.stop()
    return {"lag": sum(ends[tp] - (max(done[tp].offset, 0) if tp in done else 0) for tp in tps)}


async def eos(c):
    cons = AIOKafkaConsumer(**consumer_conf(dict(c, m="eos", isolation="read_committed")))
    prod = AIOKafkaProducer(transactional_id=c["txid"], linger_ms=5, **BOOT)
    done = txns = aborted = 0
    known, unchanged, end = {}, True, time.time() + 25
    await prod.start()
    cons.subscribe([c["in"]])
    await cons.start()
    while done < c["n"] and time.time() < end:
        got = await cons.getmany(timeout_ms=500, max_records=10)
        if not got:
            continue
        # This client cannot ask for stable offsets: wait until those of the last transaction show.
        before = {tp: known.get(tp) for tp in got}
        for _ in range(100):
            if before == {tp: await cons.committed(tp) for tp in got}:
                break
            await asyncio.sleep(0.05)
        await prod.begin_transaction()
        for ms in got.values():
            for m in ms:
                await prod.send(c["out"], b"x" + m.value, m.key, partition=0)
        await prod.send_offsets_to_transaction({tp: ms[-1].offset + 1 for tp, ms in got.items()}, c["group"])
        if txns in c.get("abort", []):
            await prod.flush()
            await prod.abort_transaction()
            aborted += 1
            unchanged = unchanged and before == {tp: await cons.committed(tp) for tp in got}
            for tp, o in before.items():
                cons.seek(tp, o or 0)
        else:
            await prod.commit_transaction()
            done += sum(map(len, got.values()))
            known.update({tp: ms[-1].offset + 1 for tp, ms in got.items()})
        txns += 1
    await cons.stop()
    await prod.stop()
    return {"done": done, "aborted": aborted, "unchanged": unchanged}


async def txn_begin(c):
    p = AIOKafkaProducer(transactional_id=c["txid"], **BOOT)
    await p.start()
    await p.begin_transaction()
    for i in range(c["n"]):
        await p.send_and_wait(c["topic"], b"%s%d" % (c["prefix"].encode(), i), b"k", partition=0)
    open_txns[c.get("as", c["txid"])] = p


async def txn_end(c):
    p = open_txns.pop(c["txid"])
    await (p.commit_transaction() if c["commit"] else p.abort_transaction())


OPS = dict(start=start, close=close, pause=pause, commit=commit, create=create, produce=produce, lag=lag, eos=eos,
           txn_begin=txn_begin, txn_end=txn_end)


async def one(cmd):
    try:
        if cmd["op"] not in OPS:
            raise NotImplementedError(cmd["op"])
        emit(dict(await OPS[cmd["op"]](cmd) or {}, id=cmd["id"], ok=True))
    except BaseException as e:
        traceback.print_exc()
        emit({"id": cmd["id"], "ok": False, "err": text(e)})


async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while True:
        line = await reader.readline()
        if not line:
            os._exit(0)
        t = asyncio.create_task(one(json.loads(line)))
        tasks.add(t)


asyncio.run(main())
