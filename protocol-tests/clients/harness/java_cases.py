"""Cases of what only the Java libraries have: the admin client, custom assignors, Spring's containers."""
from kit import check, parts
from scenarios import read_once


def admin(case):
    """S0: the admin client creates, describes, grows and deletes a topic, and deletes a group."""
    h = case.host()
    topic, group = case.id("adm"), case.id("g")
    h.call("create", topic=topic, partitions=2, strict=True)
    check("TopicExists" in (h.error_of("create", topic=topic, partitions=2, strict=True) or ""), "created it twice")
    check(h.call("describe", topic=topic)["partitions"] == 2, "describe does not give 2 partitions")
    h.call("grow", topic=topic, partitions=5)
    check(h.call("describe", topic=topic)["partitions"] == 5, "describe does not give 5 partitions")
    m = h.start("m", group=group, topics=[topic])
    case.owns([m], parts(topic, 5), hold=0.2)
    d = h.call("group", group=group)
    check(d["state"] == "Stable" and sorted(d["members"][0]["parts"]) == parts(topic, 5), "group: %s" % d)
    check("GroupNotEmpty" in (h.error_of("delete_group", group=group) or ""), "a group with a member was deleted")
    m.close()
    h.call("delete_group", group=group)
    check("GroupIdNotFound" in (h.error_of("group", group=group) or ""), "the deleted group is still described")
    h.call("delete", topic=topic)
    check("UnknownTopic" in (h.error_of("describe", topic=topic) or ""), "the deleted topic is still described")


def custom_assignor(case):
    """S4: a user's own assignor: user data of the members reaches the leader, and the leader's reaches the members."""
    h = case.host()
    topic, group, weights, ms = case.id("orders"), case.id("g"), {}, {}
    h.create(topic, 12)

    def settled(shares):
        case.owns(list(ms.values()), parts(topic, 12), shares, hold=0.5)
        of = sum(weights.values())
        last = {name: m.userdata[-1].split(" by ") for name, m in ms.items()}
        check(all(told == "%d of %d" % (weights[name], of) for name, (told, _) in last.items()), "user data: %s" % last)
        check(len({leader for _, leader in last.values()}) == 1, "told by several leaders: %s" % last)
        for name, m in ms.items():
            check(len(m.owned) == 12 * weights[name] // of, lambda: "%s of weight %d in %d" % (m, weights[name], of))
    for name, weight, shares in (("a", 1, [12]), ("b", 2, [4, 8]), ("c", 3, [2, 4, 6])):
        weights[name] = weight
        ms[name] = h.start(name, group=group, topics=[topic], assignors=["weighted"], weight=weight)
        settled(shares)
    check(h.call("group", group=group)["assignor"] == "weighted", "the group does not tell its assignor")
    ms.pop("b").close()
    weights.pop("b")
    settled([3, 9])


def containers(case):
    """S2: containers of concurrency 3, commits by time and on revoke; a second container comes, the first goes."""
    h = case.host()
    topic, group = case.id("orders"), case.id("g")
    h.create(topic, 6)
    h.produce(topic, 300, 6)
    opts = dict(group=group, topics=[topic], concurrency=3, commit="time", batch=10, delay=40)
    a = h.start("a", **opts)
    case.wait(lambda: len(a.recs) >= 60, 20, lambda: "60 records, have %d" % len(a.recs))
    b = h.start("b", **opts)
    h.produce(topic, 150, 6, start=300)
    case.owns([a, b], parts(topic, 6), [3, 3])
    h.produce(topic, 150, 6, start=450)
    read_once(case, [a, b], 600)
    check(b.recs, "the second container got nothing")
    case.wait(lambda: h.lag(group, topic, 6) == 0, 10, lambda: "lag 0, is %s" % h.lag(group, topic, 6))
    a.close()
    case.owns([b], parts(topic, 6))
    h.produce(topic, 60, 6, start=600)
    read_once(case, [a, b], 660)
