"""S10: Kafka's own command-line tools."""
import os
import subprocess
import time

from kit import CACHE, ROOT, Fail, check, parts

GROUPS = "consumer.group.ConsumerGroupCommand"


def popen(case, cls, *args, **kw):
    cmd = [os.path.join(ROOT, "cli", "tool.sh"), os.path.join(CACHE, "cli"), cls,
           "--bootstrap-server", case.bootstrap] + [str(a) for a in args]
    p = subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.PIPE, cwd=CACHE,
                         text=True, **kw)
    case.procs.append(p)
    return p


def tool(case, cls, *args, stdin="", rc=0, timeout=25):
    """Runs a tool, returns what it printed; rc None: any exit status."""
    p = popen(case, cls, *args)
    try:
        out, _ = p.communicate(stdin, timeout)
    except subprocess.TimeoutExpired:
        p.kill()
        raise Fail("%s %s: no end in %d s" % (cls, " ".join(map(str, args)), timeout))
    with open(case.log_path("tools"), "a") as f:
        f.write("$ %s %s\n%s\n" % (cls, " ".join(map(str, args)), out))
    if rc is not None and p.returncode != rc:
        raise Fail("%s %s: exit %s: %s" % (cls.split(".")[-1], " ".join(map(str, args)), p.returncode, out[-250:]))
    return out


def make_topic(case, topic, partitions):
    """Creates a topic; unless it is S10-topics, a tool that chokes on the answer counts if the topic is there."""
    out = tool(case, "TopicCommand", "--create", "--topic", topic, "--partitions", partitions, rc=None)
    if "Created topic" not in out:
        check(topic in tool(case, "TopicCommand", "--list").split(), "--create said: %s" % out[-200:])


def rows(out, first):
    """The table's rows, as dicts by the header that begins with `first`."""
    head, got = None, []
    for line in out.splitlines():
        cells = line.split()
        if cells and cells[0] == first:
            head = line.replace("COORDINATOR (ID)", "COORDINATOR ID").split()
        elif head and len(cells) >= len(head) - 2:
            got.append(dict(zip(head, cells)))
    return got


def topics(case):
    t = case.id("cli")
    tool(case, "TopicCommand", "--create", "--topic", t, "--partitions", 3, "--replication-factor", 1)
    out = tool(case, "TopicCommand", "--create", "--topic", t, "--partitions", 3, rc=1)
    check("already exists" in out, "creating it twice said: %s" % out[-200:])
    out = tool(case, "TopicCommand", "--describe", "--topic", t)
    check("PartitionCount: 3" in out and out.count("Leader: ") == 3, "describe said: %s" % out)
    tool(case, "TopicCommand", "--alter", "--topic", t, "--partitions", 5)
    out = tool(case, "TopicCommand", "--describe", "--topic", t)
    check("PartitionCount: 5" in out and out.count("Leader: ") == 5, "describe after alter said: %s" % out)
    check(t in tool(case, "TopicCommand", "--list").split(), "--list lacks the topic")
    tool(case, "TopicCommand", "--delete", "--topic", t)
    check(t not in tool(case, "TopicCommand", "--list").split(), "--list still has the deleted topic")


def two_members(case, **opt):
    h = case.host("java")
    topic, group = case.id("orders"), case.id("g")
    h.create(topic, 6)
    h.produce(topic, 60, 6)
    ms = [h.start(n, group=group, topics=[topic], commit="batch", **opt) for n in ("a", "b")]
    case.owns(ms, parts(topic, 6), [3, 3], timeout=25)
    case.wait(lambda: sum(len(m.recs) for m in ms) == 60, 10, lambda: "60 records")
    case.wait(lambda: h.lag(group, topic, 6) == 0, 5, lambda: "lag 0")
    return h, topic, group, ms


def describe(kind, assignor, **opt):
    def run(case):
        h, topic, group, ms = two_members(case, **opt)
        h.produce(topic, 6, 6, start=60)
        for m in ms:
            m.call("pause")
        check(group in tool(case, GROUPS, "--list").split(), "--list lacks the group")
        out = tool(case, GROUPS, "--describe", "--group", group)
        rs = rows(out, "GROUP")
        check(len(rs) == 6, "--describe has %d rows: %s" % (len(rs), out))
        check({r["CLIENT-ID"] for r in rs} == {"a", "b"}, "client ids: %s" % out)
        for r in rs:
            check(int(r["LOG-END-OFFSET"]) - int(r["CURRENT-OFFSET"]) == int(r["LAG"]) in (0, 1), "lag: %s" % r)
        out = tool(case, GROUPS, "--describe", "--group", group, "--members", "--verbose")
        rs = rows(out, "GROUP")
        check(len(rs) == 2 and all(r["#PARTITIONS"] == "3" for r in rs), "--members: %s" % out)
        check(all("%s:" % topic in out for _ in rs), "--members --verbose lacks the assignment: %s" % out)
        out = tool(case, GROUPS, "--describe", "--group", group, "--state")
        rs = rows(out, "GROUP")
        check(len(rs) == 1 and rs[0]["STATE"] == "Stable" and rs[0]["#MEMBERS"] == "2"
              and rs[0]["ASSIGNMENT-STRATEGY"] == assignor, "--state: %s" % out)
        rs = [r for r in rows(tool(case, "GroupsCommand", "--list"), "GROUP") if r["GROUP"] == group]
        check(len(rs) == 1 and rs[0]["TYPE"] == kind and rs[0]["PROTOCOL"] == "consumer", "kafka-groups: %s" % rs)
        check(group in tool(case, GROUPS, "--list", "--state", "Stable"), "--list --state Stable lacks it")
    return run


def reset_and_delete(case):
    h, topic, group, ms = two_members(case, assignors=["range"])
    out = tool(case, GROUPS, "--reset-offsets", "--group", group, "--topic", topic, "--to-earliest", "--execute", rc=None)
    check("inactive" in out, "reset of an active group said: %s" % out[-200:])
    out = tool(case, GROUPS, "--delete", "--group", group, rc=None)
    check("not empty" in out.lower() or "GroupNotEmpty" in out, "delete of an active group said: %s" % out[-200:])
    for m in ms:
        m.close()
    out = tool(case, GROUPS, "--reset-offsets", "--group", group, "--topic", topic, "--to-earliest", "--execute")
    check([r["NEW-OFFSET"] for r in rows(out, "GROUP")] == ["0"] * 6, "reset said: %s" % out)
    check(h.lag(group, topic, 6) == 60, "lag after the reset is not 60")
    tool(case, GROUPS, "--reset-offsets", "--group", group, "--topic", topic + ":0,1", "--to-offset", 7, "--execute")
    check(h.lag(group, topic, 6) == 46, "lag after the reset of 2 partitions is not 46")
    out = tool(case, GROUPS, "--delete-offsets", "--group", group, "--topic", topic + ":0")
    check("Successful" in out or "succeed" in out.lower(), "--delete-offsets said: %s" % out)
    rs = {r["PARTITION"]: r["CURRENT-OFFSET"] for r in rows(tool(case, GROUPS, "--describe", "--group", group), "GROUP")}
    check(rs.get("0", "-") == "-" and rs.get("1") == "7", "offsets after --delete-offsets: %s" % rs)
    tool(case, GROUPS, "--delete", "--group", group)
    check(group not in tool(case, GROUPS, "--list").split(), "--list still has the deleted group")


def group_configs(case):
    g = case.id("cfg")
    where = ("--entity-type", "groups", "--entity-name", g)
    tool(case, "ConfigCommand", *where, "--alter", "--add-config", "consumer.session.timeout.ms=50000")
    out = tool(case, "ConfigCommand", *where, "--describe")
    check("consumer.session.timeout.ms=50000" in out, "describe said: %s" % out)
    tool(case, "ConfigCommand", *where, "--alter", "--delete-config", "consumer.session.timeout.ms")
    out = tool(case, "ConfigCommand", *where, "--describe")
    check("consumer.session.timeout.ms=50000" not in out, "describe after delete said: %s" % out)
    out = tool(case, "ConfigCommand", *where, "--alter", "--add-config", "no.such.config=1", rc=None)
    check("nknown" in out or "InvalidConfig" in out or "Invalid config" in out, "a bad key said: %s" % out[-200:])


def console(case):
    t, g = case.id("con"), case.id("g")
    make_topic(case, t, 3)
    tool(case, "ConsoleProducer", "--topic", t, stdin="".join("line%d\n" % i for i in range(30)))
    got = tool(case, "consumer.ConsoleConsumer", "--topic", t, "--group", g, "--from-beginning", "--max-messages", 30,
               "--timeout-ms", 15000).splitlines()
    lines = sorted(x for x in got if x.startswith("line"))
    check(lines == sorted("line%d" % i for i in range(30)), "the console consumer printed %d lines" % len(lines))
    rs = rows(tool(case, GROUPS, "--describe", "--group", g), "GROUP")
    check(rs and all(r["LAG"] == "0" for r in rs), "lag after the console consumer: %s" % rs)
    out = tool(case, "GetOffsetShell", "--topic", t)
    ends = [int(x.rsplit(":", 1)[1]) for x in out.split() if x.startswith(t + ":")]
    check(len(ends) == 3 and sum(ends) == 30, "kafka-get-offsets said: %s" % out)


def crash(case):
    """Two console consumers in a group; one is killed; the other ends up with every partition."""
    t, g = case.id("con"), case.id("g")
    make_topic(case, t, 4)
    opts = ["--topic", t, "--group", g, "--command-property", "session.timeout.ms=6000",
            "--command-property", "heartbeat.interval.ms=1000"]
    ps = [popen(case, "consumer.ConsoleConsumer", *opts) for _ in range(2)]

    def members():
        out = tool(case, GROUPS, "--describe", "--group", g, "--members", rc=None)
        return sorted(r["#PARTITIONS"] for r in rows(out, "GROUP"))

    def until(want, seconds):
        end, got = time.time() + seconds, None
        while time.time() < end:
            got = members()
            if got == want:
                return
            time.sleep(0.3)
        raise Fail("members' partitions are %s, not %s" % (got, want))
    until(["2", "2"], 15)
    ps[0].kill()
    until(["4"], 16)


def share_tools(case):
    t, g = case.id("jobs"), case.id("sg")
    make_topic(case, t, 2)
    tool(case, "ConfigCommand", "--entity-type", "groups", "--entity-name", g, "--alter", "--add-config",
         "share.auto.offset.reset=earliest")
    tool(case, "ConsoleProducer", "--topic", t, stdin="".join("job%d\n" % i for i in range(10)))
    got = tool(case, "consumer.ConsoleShareConsumer", "--topic", t, "--group", g, "--max-messages", 10,
               "--timeout-ms", 15000).splitlines()
    jobs = sorted(x for x in got if x.startswith("job"))
    check(jobs == sorted("job%d" % i for i in range(10)), "the console share consumer printed %s" % got[-12:])
    check(g in tool(case, "consumer.group.ShareGroupCommand", "--list").split(), "kafka-share-groups --list lacks it")
    out = tool(case, "consumer.group.ShareGroupCommand", "--describe", "--group", g, "--state")
    check("Empty" in out, "kafka-share-groups --state said: %s" % out)
    rs = [r for r in rows(tool(case, "GroupsCommand", "--list", "--share"), "GROUP") if r["GROUP"] == g]
    check(len(rs) == 1 and rs[0]["TYPE"] == "Share", "kafka-groups --share: %s" % rs)
    tool(case, "consumer.group.ShareGroupCommand", "--delete", "--group", g)


def transactions(case):
    h = case.host("java")
    t, tx = case.id("out"), case.id("tx")
    h.create(t, 1)
    h.call("txn_begin", txid=tx, topic=t, n=3, prefix="a")
    out = tool(case, "TransactionsCommand", "list")
    line = [x for x in out.splitlines() if x.startswith(tx)]
    check(line and "Ongoing" in line[0], "kafka-transactions list: %s" % out[-200:])
    out = tool(case, "TransactionsCommand", "describe", "--transactional-id", tx)
    check("Ongoing" in out and t + "-0" in out, "kafka-transactions describe: %s" % out)
    out = tool(case, "TransactionsCommand", "describe-producers", "--topic", t, "--partition", 0)
    check(len(out.strip().splitlines()) == 2, "kafka-transactions describe-producers: %s" % out)
    h.call("txn_end", txid=tx, commit=True)
    out = tool(case, "TransactionsCommand", "describe", "--transactional-id", tx)
    check("CompleteCommit" in out, "kafka-transactions describe after the commit: %s" % out)
