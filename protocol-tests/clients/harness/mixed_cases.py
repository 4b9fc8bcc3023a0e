"""Members of several client libraries in one group."""
from kit import check, parts


def many_clients(*clients, **opt):
    """Members of many client libraries in one classic group with the same assignor; the first is killed."""
    def run(case):
        hosts = [case.host(c) for c in clients]
        topic, group = case.id("orders"), case.id("g")
        hosts[0].create(topic, 6)
        base = dict(group=group, topics=[topic], commit="batch", **opt)
        ms = []
        for h in hosts:
            ms.append(h.start(h.client, **base))
        case.owns(ms, parts(topic, 6), [1] * 6 if len(ms) == 6 else None, timeout=20)
        hosts[1].produce(topic, 60, 6)
        case.wait(lambda: sum(len(m.recs) for m in ms) >= 60, 10, lambda: "60 records by %s" % ms, hold=0.5)
        got = [v for m in ms for v in m.values()]
        check(len(got) == len(set(got)) == 60, "%d records, %d distinct" % (len(got), len(set(got))))
        hosts[0].kill()
        case.owns(ms[1:], parts(topic, 6), timeout=15)
        check(all(m.owned for m in ms[1:]), "idle member among %s" % ms[1:])
    return run


def mixed_migration(case):
    """Classic and consumer-protocol members of four libraries in one group."""
    java, go, ck, sa = (case.host(c) for c in ("java", "franz-go", "confluent-python", "sarama"))
    topic, group = case.id("orders"), case.id("g")
    java.create(topic, 6)
    java.produce(topic, 60, 6)
    base = dict(group=group, topics=[topic], commit="batch")
    c1 = java.start("java-classic", assignors=["range"], **base)
    c2 = sa.start("sarama-classic", assignors=["range"], **base)
    case.owns([c1, c2], parts(topic, 6), [3, 3])
    n1 = ck.start("librdkafka-consumer", protocol="consumer", **base)
    case.owns([c1, c2, n1], parts(topic, 6), [2, 2, 2], timeout=20)
    n2 = go.start("franz-consumer", protocol="consumer", **base)
    case.owns([c1, c2, n1, n2], parts(topic, 6), [1, 1, 2, 2], timeout=25)
    java.produce(topic, 60, 6, start=60)
    ms = [c1, c2, n1, n2]
    case.wait(lambda: sum(len(m.recs) for m in ms) >= 120, 10, lambda: "120 records", hold=0.5)
    got = [v for m in ms for v in m.values()]
    check(len(got) == len(set(got)) == 120, "%d records, %d distinct, of 120" % (len(got), len(set(got))))
