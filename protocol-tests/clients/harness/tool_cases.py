"""S10: more of Kafka's own command-line tools: each form of each sub-command, with the values that it prints."""
import json
import os
import re

from cli_cases import GROUPS, make_topic, rows, tool
from kit import check

FORMATTERS = "org.apache.kafka.tools.consumer."


def produce(case, topic, count):
    tool(case, "ConsoleProducer", "--topic", topic, stdin="".join("line%d\n" % i for i in range(count)))


def committed(case, group):
    """Partition → committed offset of an inactive group."""
    rs = rows(tool(case, GROUPS, "--describe", "--group", group), "GROUP")
    return {r["PARTITION"]: r["CURRENT-OFFSET"] for r in rs}


def reset_forms(case):
    """kafka-consumer-groups --reset-offsets in each form."""
    t, g = case.id("reset"), case.id("g")
    make_topic(case, t, 1)
    produce(case, t, 20)
    for form, offset in [
        (("--to-offset", 7), 7),
        (("--shift-by", 5), 12),
        (("--to-latest",), 20),
        (("--shift-by", -100), 0),
        (("--to-offset", 1000), 20),
        (("--by-duration", "P1D"), 0),
        (("--to-datetime", "2100-01-01T00:00:00.000"), 20),
        (("--to-offset", 3), 3),
        (("--to-current",), 3),
    ]:
        out = tool(case, GROUPS, "--reset-offsets", "--group", g, "--topic", t, *form, "--execute")
        check([r["NEW-OFFSET"] for r in rows(out, "GROUP")] == [str(offset)], "%s said: %s" % (form, out))
    check(committed(case, g) == {"0": "3"}, "it is elsewhere")


def reset_plans(case):
    """kafka-consumer-groups --reset-offsets that only says what it would do, and by a file; --describe of all groups."""
    t, g = case.id("plan"), case.id("g")
    make_topic(case, t, 1)
    produce(case, t, 20)
    tool(case, GROUPS, "--reset-offsets", "--group", g, "--topic", t, "--to-offset", 3, "--execute")
    out = tool(case, GROUPS, "--reset-offsets", "--group", g, "--all-topics", "--to-latest", "--dry-run")
    check([r["NEW-OFFSET"] for r in rows(out, "GROUP")] == ["20"], "--dry-run said: %s" % out)
    check(committed(case, g) == {"0": "3"}, "--dry-run has moved it")
    out = tool(case, GROUPS, "--reset-offsets", "--group", g, "--topic", t, "--to-offset", 9, "--export", "--dry-run")
    line = [x for x in out.splitlines() if x.endswith(",9") or x.endswith(",9\"")]
    check(len(line) == 1 and t in line[0], "--export said: %s" % out)
    path = os.path.join(os.path.dirname(case.log_path("tools")), "%s.csv" % g)
    with open(path, "w") as f:
        f.write("%s,0,11\n" % t)
    out = tool(case, GROUPS, "--reset-offsets", "--group", g, "--from-file", path, "--execute")
    check([r["NEW-OFFSET"] for r in rows(out, "GROUP")] == ["11"], "--from-file said: %s" % out)
    out = tool(case, GROUPS, "--describe", "--all-groups", "--offsets")
    check(any(r["GROUP"] == g and r["LAG"] == "9" for r in rows(out, "GROUP")), "--all-groups said: %s" % out)
    out = tool(case, GROUPS, "--describe", "--group", g, "--state")
    rs = [r for r in rows(out, "GROUP") if r["GROUP"] == g]
    check(rs == [] or rs[0].get("#MEMBERS", "0") == "0", "--state said: %s" % out)
    tool(case, GROUPS, "--delete", "--group", g)
    out = tool(case, GROUPS, "--describe", "--group", g, rc=None)
    check("not found" in out, "describing a deleted group said: %s" % out)


def offsets(case):
    """kafka-get-offsets: each question, each way to choose partitions."""
    t = case.id("ends")
    make_topic(case, t, 2)
    produce(case, t, 10)

    def ask(*args):
        out = tool(case, "GetOffsetShell", *args)
        return [x for x in out.split() if x.startswith(t + ":")]
    latest = ask("--topic", t)
    check(len(latest) == 2 and sum(int(x.split(":")[2]) for x in latest) == 10, "latest: %s" % latest)
    for earliest in ("earliest", "-2"):
        got = ask("--topic", t, "--time", earliest)
        check(got == [t + ":0:0", t + ":1:0"], "%s: %s" % (earliest, got))
    got = ask("--topic", t, "--time", "max-timestamp")
    check(len(got) >= 1 and all(int(x.split(":")[2]) < 10 for x in got), "max-timestamp: %s" % got)
    got = ask("--topic-partitions", t + ":1")
    check(got == [x for x in latest if x.startswith(t + ":1:")], "one partition: %s" % got)
    got = ask("--topic", t, "--time", 1)
    check([x for x in got if x.endswith(":0")], "since 1970: %s" % got)


def configs(case):
    """kafka-configs: topics and brokers."""
    t = case.id("cfg")
    make_topic(case, t, 1)

    def run(*args):
        return tool(case, "ConfigCommand", *args)
    topic = ("--entity-type", "topics", "--entity-name", t)
    run(*topic, "--alter", "--add-config", "retention.ms=12345,cleanup.policy=[compact,delete]")
    out = run(*topic, "--describe")
    check("retention.ms=12345" in out and "cleanup.policy=compact,delete" in out, "topic: %s" % out)
    run(*topic, "--alter", "--delete-config", "retention.ms")
    check("retention.ms=12345" not in run(*topic, "--describe"), "retention.ms is still there")
    broker = ("--entity-type", "brokers", "--entity-name", 1)
    run(*broker, "--alter", "--add-config", "log.cleaner.backoff.ms=15001")
    out = run(*broker, "--describe")
    check("log.cleaner.backoff.ms=15001" in out and "DYNAMIC_BROKER_CONFIG" in out, "broker: %s" % out)
    run(*broker, "--alter", "--delete-config", "log.cleaner.backoff.ms")
    out = run("--entity-type", "brokers", "--entity-name", 1, "--all", "--describe")
    check("node.id=1 " in out and "STATIC_BROKER_CONFIG" in out, "--all lacks node.id")


def quotas(case):
    """kafka-configs: quotas of users, clients and addresses."""
    user, client = case.id("u"), case.id("c")

    def run(*args, **kw):
        return tool(case, "ConfigCommand", *args, **kw)
    both = ("--entity-type", "users", "--entity-name", user, "--entity-type", "clients", "--entity-name", client)
    run(*both, "--alter", "--add-config", "producer_byte_rate=1024,request_percentage=12.5")
    out = run(*both, "--describe")
    check("producer_byte_rate=1024.0" in out and "request_percentage=12.5" in out, "quotas: %s" % out)
    run(*both, "--alter", "--delete-config", "request_percentage")
    out = run(*both, "--describe")
    check("producer_byte_rate=1024.0" in out and "request_percentage" not in out, "quotas: %s" % out)
    default = ("--entity-type", "clients", "--entity-default")
    run(*default, "--alter", "--add-config", "consumer_byte_rate=2048")
    check("consumer_byte_rate=2048.0" in run(*default, "--describe"), "the default of clients has no quota")
    run(*default, "--alter", "--delete-config", "consumer_byte_rate")
    ip = ("--entity-type", "ips", "--entity-name", "192.0.2.1")
    run(*ip, "--alter", "--add-config", "connection_creation_rate=7")
    check("connection_creation_rate=7.0" in run(*ip, "--describe"), "the address has no quota")
    out = run(*ip, "--alter", "--add-config", "producer_byte_rate=7", rc=None)
    check("producer_byte_rate" in out and "connection_creation_rate=7.0" in run(*ip, "--describe"),
          "a bad quota: %s" % out)


def scram(case):
    """kafka-configs: SCRAM credentials."""
    def run(*args):
        return tool(case, "ConfigCommand", *args)
    named = ("--entity-type", "users", "--entity-name", case.id("u"))
    run(*named, "--alter", "--add-config", "SCRAM-SHA-256=[iterations=8192,password=secret]")
    run(*named, "--alter", "--add-config", "SCRAM-SHA-512=[password=secret]")
    out = run(*named, "--describe")
    check("SCRAM-SHA-256=iterations=8192" in out and "SCRAM-SHA-512=iterations=4096" in out, "SCRAM: %s" % out)
    run(*named, "--alter", "--delete-config", "SCRAM-SHA-256")
    out = run(*named, "--describe")
    check("SCRAM-SHA-256" not in out and "SCRAM-SHA-512=iterations=4096" in out, "SCRAM: %s" % out)


def cluster(case):
    """kafka-features and kafka-metadata-quorum."""
    out = tool(case, "FeatureCommand", "describe")
    line = [x for x in out.splitlines() if "Feature: group.version" in x]
    check(line and "FinalizedVersionLevel: 1" in line[0], "kafka-features: %s" % out)
    out = tool(case, "FeatureCommand", "upgrade", "--feature", "group.version=1")
    check("group.version was upgraded to 1" in out, "kafka-features upgrade: %s" % out)
    out = tool(case, "FeatureCommand", "upgrade", "--feature", "group.version=9", rc=1)
    check("only supports versions 0-1" in out, "kafka-features upgrade: %s" % out)
    out = tool(case, "MetadataQuorumCommand", "describe", "--status")
    check(re.search(r"LeaderId: +1\b", out) and "MaxFollowerLag:" in out, "kafka-metadata-quorum: %s" % out)
    out = tool(case, "MetadataQuorumCommand", "describe", "--replication")
    rs = rows(out, "NodeId")
    check(len(rs) == 1 and rs[0]["NodeId"] == "1" and "Leader" in out, "kafka-metadata-quorum: %s" % out)


def partition_of(group):
    """The partition of __consumer_offsets that a group is kept in: the absolute value (Utils.abs, and not
    Utils.toPositive, which the partitioner of producers takes) of Java's String.hashCode, of 50."""
    code = 0
    for character in group:
        code = (31 * code + ord(character)) & 0xFFFFFFFF
    return min(code, 2 ** 32 - code) % 2 ** 31 % 50


def consumer_offsets(case):
    """__consumer_offsets through Kafka's own formatters, as the console consumer prints it."""
    t, g, gone = case.id("seen"), case.id("g"), case.id("gone")
    make_topic(case, t, 2)
    produce(case, t, 10)
    tool(case, "consumer.ConsoleConsumer", "--topic", t, "--group", g, "--from-beginning", "--max-messages", 10,
         "--timeout-ms", 15000)
    tool(case, GROUPS, "--reset-offsets", "--group", g, "--topic", t + ":1", "--to-offset", 0, "--execute")
    tool(case, GROUPS, "--reset-offsets", "--group", gone, "--topic", t, "--to-offset", 1, "--execute")
    tool(case, GROUPS, "--delete", "--group", gone)

    def read(formatter, group):
        # Only the partition of the group: in the others somebody may always have something to commit.
        out = tool(case, "consumer.ConsoleConsumer", "--topic", "__consumer_offsets", "--offset", "earliest",
                   "--partition", partition_of(group), "--timeout-ms", 6000, "--formatter", FORMATTERS + formatter,
                   rc=None, timeout=40)
        records, decoder = {}, json.JSONDecoder()
        for line in out.splitlines():
            at = 0
            while line[at:at + 1] == "{":
                record, at = decoder.raw_decode(line, at)
                key = record["key"]["data"]
                records[key["group"], key.get("topic"), key.get("partition")] = record["value"]
        return records
    records = read("OffsetsMessageFormatter", g)
    ends = {p: records.get((g, t, p), {}).get("data", {}).get("offset") for p in (0, 1)}
    check(ends[1] == 0 and ends[0] in range(11), "the offsets of the group: %s" % ends)
    version = records[g, t, 1]["version"]
    check(version == 4 and records[g, t, 1]["data"]["topicId"], "the newest commit: %s" % records[g, t, 1])
    records = read("OffsetsMessageFormatter", gone)
    check(not records.get((gone, t, 0)), "a deleted group has an offset: %s" % records.get((gone, t, 0)))
    value = read("GroupMetadataMessageFormatter", g)[g, None, None]["data"]
    check(value["protocolType"] == "consumer" and value["generation"] == 2 and value["members"] == [],
          "the group: %s" % value)


def verifiable(case):
    """kafka-verifiable-producer and -consumer: what they say of each record and batch."""
    t, g = case.id("ver"), case.id("g")
    make_topic(case, t, 2)
    out = tool(case, "VerifiableProducer", "--topic", t, "--max-messages", 50, "--acks", -1)
    events = [json.loads(x) for x in out.splitlines() if x.startswith("{")]
    check(sum(e["name"] == "producer_send_success" for e in events) == 50, "the producer said: %s" % out[-300:])
    data = [e for e in events if e["name"] == "tool_data"]
    check(data and data[0]["sent"] == 50 == data[0]["acked"], "the producer's sum: %s" % data)
    for protocol in ("classic", "consumer"):
        out = tool(case, "VerifiableConsumer", "--topic", t, "--group-id", g + protocol, "--max-messages", 50,
                   "--reset-policy", "earliest", "--group-protocol", protocol, timeout=40)
        events = [json.loads(x) for x in out.splitlines() if x.startswith("{")]
        consumed = sum(e["count"] for e in events if e["name"] == "records_consumed")
        check(consumed == 50, "%s: the consumer read %d: %s" % (protocol, consumed, out[-300:]))
        commits = [e for e in events if e["name"] == "offsets_committed"]
        check(commits and all(e["success"] for e in commits), "%s: commits: %s" % (protocol, commits))
        assigned = [e for e in events if e["name"] == "partitions_assigned"]
        check(assigned and len(assigned[0]["partitions"]) == 2, "%s: assigned: %s" % (protocol, assigned))


def performance(case):
    """kafka-producer-perf-test and kafka-consumer-perf-test."""
    t, g = case.id("perf"), case.id("g")
    make_topic(case, t, 2)
    out = tool(case, "ProducerPerformance", "--topic", t, "--num-records", 2000, "--record-size", 100, "--throughput",
               -1, timeout=40)
    check(out.strip().splitlines()[-1].startswith("2000 records sent"), "the producer said: %s" % out[-300:])
    out = tool(case, "ConsumerPerformance", "--topic", t, "--group", g, "--num-records", 2000)
    line = out.strip().splitlines()[-1].split(", ")
    check(int(float(line[4])) == 2000, "the consumer said: %s" % out[-300:])
    check(committed(case, g) and sum(map(int, committed(case, g).values())) == 2000, "it committed %s" % committed(case, g))
