"""The client-neutral scenarios. Each is a factory: options -> function of a Case."""
import signal
import time

from kit import Fail, OpError, check, parts


def _names(*words):
    return [w.lower().replace("_", "") for w in words]


def error_is(err, *words):
    """Does an error text name one of these errors, whatever the client's spelling?"""
    low = (err or "").lower().replace("_", "").replace(" ", "").replace("-", "")
    return any(w in low for w in _names(*words))


INCONSISTENT = ("InconsistentGroupProtocol", "inconsistent group protocol".replace(" ", ""),
                "[23]")
FENCED = ("FencedInstanceId", "fenced", "[82]")
EVICTED = ("CommitFailed", "IllegalGeneration", "UnknownMember", "RebalanceInProgress", "StaleMemberEpoch",
           "FencedMemberEpoch", "[22]", "[25]", "[27]")
TXN_FENCED = ("fenced", "InvalidProducerEpoch", "[90]", "[47]")


def seed_orders(crash=True, idle=True, **opt):
    """S1: 3 members one by one -> 2 each; 4th; one closes; one is killed; 7 members -> one idle."""
    def run(case):
        h, h2 = case.host(), case.host()
        topic, group = case.id("orders"), case.id("g")
        h.create(topic, 6)
        all6 = parts(topic, 6)
        base = dict(group=group, topics=[topic], **opt)
        ms = []
        for i in (1, 2, 3):
            ms.append(h.start("m%d" % i, **base))
            case.owns(ms, all6, timeout=15, hold=0.2)
        case.owns(ms, all6, [2, 2, 2])
        m4 = h2.start("m4", **base)
        # 4 members on 6 partitions: nobody above 2, the new one included
        case.owns(ms + [m4], all6, extra=lambda: max(len(m.owned) for m in ms + [m4]) <= 2 and m4.owned)
        ms[1].close()
        left = [ms[0], ms[2], m4]
        case.owns(left, all6, [2, 2, 2])
        if crash:
            began = time.time()
            h2.kill()
            left = [ms[0], ms[2]]
            case.owns(left, all6, [3, 3], timeout=15, hold=0.3)
            took = time.time() - began
            check(took > 2.0, "evicted after %.1f s, well inside its 6 s session" % took)
            case.note = "crash healed in %.1fs" % took
        if idle:
            while len(left) < 7:
                left.append(h.start("n%d" % len(left), **base))
            case.owns(left, all6, [0, 1, 1, 1, 1, 1, 1])
    return run


def exactly_once(records=600, repeats=False, **opt):
    """S2: all records once in total while members come; commits by hand; a fresh member resumes; lag 0.

    repeats: the client hands out records that it had fetched before a rebalance, so some may come twice."""
    def run(case):
        h = case.host()
        topic, group = case.id("orders"), case.id("g")
        h.create(topic, 6)
        h.produce(topic, 300, 6)
        base = dict(group=group, topics=[topic], commit="batch", batch=10, delay=40, **opt)
        ms = [h.start("m1", **base), h.start("m2", **base)]

        def seen():
            return [v for m in ms for v in m.values()]

        def errors():
            bad = [repr(m) for m in ms if m.error]
            if bad:
                raise Fail("member failed: %s" % " ".join(bad))
            return False
        case.wait(lambda: errors() or len(seen()) >= 60, 15, lambda: "the first 60 records, have %d" % len(seen()))
        ms.append(h.start("m3", **base))
        sent, end = 300, time.time() + 20
        while not ms[2].owned and time.time() < end and sent < records - 60:  # records flow while the group rebalances
            h.produce(topic, 12, 6, start=sent)
            sent += 12
            time.sleep(0.5)
        case.wait(lambda: errors() or all(m.owned for m in ms), 15, lambda: "3 members with partitions: %s" % ms)
        h.produce(topic, records - sent, 6, start=sent)
        case.wait(lambda: errors() or len(set(seen())) >= records, 20,
                  lambda: "%d records, have %d (%d distinct)" % (records, len(seen()), len(set(seen()))), hold=0.7)
        got = list(set(seen())) if repeats else seen()
        check(sorted(got) == sorted(str(i) for i in range(records)), lambda: "%d records, %d distinct, of %d" % (
            len(got), len(set(got)), records))
        check(ms[2].values(), "the third member got no record")
        case.wait(lambda: h.lag(group, topic, 6) == 0, 5, lambda: "lag 0, is %s" % h.lag(group, topic, 6))
        for m in ms:
            m.close()
        h.produce(topic, 60, 6, start=records)
        check(h.lag(group, topic, 6) == 60, lambda: "lag after 60 more is %s" % h.lag(group, topic, 6))
        fresh = h.start("fresh", **base)
        case.wait(lambda: len(fresh.recs) >= 60, 15, lambda: "60 new records, have %d" % len(fresh.recs), hold=0.7)
        check(sorted(fresh.values()) == sorted(str(i) for i in range(records, records + 60)),
              lambda: "fresh member read %d records, from %s" % (len(fresh.recs), min(map(int, fresh.values()))))
        check(h.lag(group, topic, 6) == 0, "lag at the end is not 0")
    return run


def read_once(case, members, records, repeats=False):
    """Waits until the members have read every record 0..records-1, each once unless repeats."""
    def seen():
        return [v for m in members for v in m.values()]

    def pred():
        bad = [repr(m) for m in members if m.error]
        check(not bad, "member failed: %s" % " ".join(bad))
        return len(set(seen())) >= records
    case.wait(pred, 20, lambda: "%d records, have %d (%d distinct)" % (records, len(seen()), len(set(seen()))), hold=0.7)
    got = sorted(set(seen()) if repeats else seen(), key=int)
    check(got == [str(i) for i in range(records)], lambda: "%d records, %d distinct, of %d" % (
        len(got), len(set(got)), records))


def commit_on_revoke(**opt):
    """S2: members commit only in the callback that takes partitions away from them; no record comes twice."""
    def run(case):
        h = case.host()
        topic, group = case.id("orders"), case.id("g")
        h.create(topic, 6)
        h.produce(topic, 60, 6)
        base = dict(group=group, topics=[topic], commit="revoke", **opt)
        a = h.start("a", **base)
        read_once(case, [a], 60)
        check(h.lag(group, topic, 6) == 60, "something was committed before a partition was revoked")
        b = h.start("b", **base)
        case.owns([a, b], parts(topic, 6), [3, 3])
        check(h.lag(group, topic, 6) <= 30, "the partitions that moved were not committed")
        h.produce(topic, 60, 6, start=60)
        read_once(case, [a, b], 120)
        a.close()
        case.owns([b], parts(topic, 6))
        h.produce(topic, 60, 6, start=120)
        read_once(case, [a, b], 180)
        b.close()
        case.wait(lambda: h.lag(group, topic, 6) == 0, 10, lambda: "lag 0, is %s" % h.lag(group, topic, 6))
    return run


def auto_commit(interval=600000, repeats=False, **opt):
    """S2: auto-commit commits what was read when the group rebalances and when a member closes.

    interval: the client's, in ms; a short one for clients that commit by time only; repeats: some records may come twice."""
    def run(case):
        h = case.host()
        topic, group = case.id("orders"), case.id("g")
        h.create(topic, 6)
        h.produce(topic, 300, 6)
        base = dict(group=group, topics=[topic], batch=10, delay=20, **opt)
        auto = dict(base, commit="auto", auto_ms=interval)
        a = h.start("a", **auto)
        case.wait(lambda: len(a.recs) >= 60, 15, lambda: "the first 60 records, have %d" % len(a.recs))
        read = len(a.recs)
        b = h.start("b", **auto)
        case.owns([a, b], parts(topic, 6), [3, 3])
        case.wait(lambda: h.lag(group, topic, 6) <= 300 - read, 10,
                  lambda: "a commit of %d records read before the rebalance, lag is %d of 300" % (read, h.lag(group, topic, 6)))
        h.produce(topic, 60, 6, start=300)
        read_once(case, [a, b], 360, repeats)
        a.close()
        b.close()
        case.wait(lambda: h.lag(group, topic, 6) == 0, 10, lambda: "lag 0, is %s" % h.lag(group, topic, 6))
        h.produce(topic, 60, 6, start=360)
        fresh = h.start("fresh", commit="batch", **base)
        case.wait(lambda: len(fresh.recs) >= 60, 15, lambda: "60 new records, have %d" % len(fresh.recs), hold=0.7)
        check(sorted(map(int, fresh.values())) == list(range(360, 420)),
              lambda: "the fresh member read %d records, from %s" % (len(fresh.recs), min(map(int, fresh.values()))))
    return run


def static_members(fence=True, errors=FENCED, kill=False, **opt):
    """S3: restart within the session keeps the partitions, the other member sees nothing; duplicate id fences the first.

    fence "commit": the client keeps quiet about its fencing until asked to commit; kill: its close sends a LeaveGroup."""
    def run(case):
        h = case.host()
        hb = case.host() if kill else h
        topic, group = case.id("orders"), case.id("g")
        h.create(topic, 6)
        base = dict(group=group, topics=[topic], **dict(dict(session=10000), **opt))
        a = h.start("a", instance="ia", **base)
        case.owns([a], parts(topic, 6), hold=0.3)
        b = hb.start("b", instance="ib", **base)
        case.owns([a, b], parts(topic, 6), [3, 3], hold=1.5)
        kept, kept_a, mark = set(b.owned), set(a.owned), len(a.events)
        if kill:
            hb.kill()
        else:
            b.close()
        time.sleep(1)
        b2 = h.start("b2", instance="ib", **base)
        case.wait(lambda: b2.owned == kept, 9, lambda: "%s to get back %s" % (b2, sorted(kept)), hold=1.5)
        check(a.owned == kept_a, lambda: "the other member's partitions changed: %s" % a)
        moved = a.events_since(mark, "assign", "revoke", "lost")
        check(not moved, "the other static member saw a rebalance: %s" % moved)
        if fence:
            b3 = h.start("b3", instance="ib", **base)
            case.wait(lambda: b3.owned == kept, 15, lambda: "%s to take over %s" % (b3, sorted(kept)))
            if fence == "commit":
                err = b2.error_of("commit")
            else:
                case.wait(lambda: b2.error, 15, lambda: "%s to be fenced by %s" % (b2, b3))
                err = b2.error
            check(error_is(err, *errors), "fenced member's error is %s" % err)
            case.note = err[:100]
    return run


def cooperative(**opt):
    """S4: a joining member makes the others give up only what moves; they go on consuming the rest."""
    def run(case):
        h = case.host()
        topic, group = case.id("orders"), case.id("g")
        h.create(topic, 6)
        base = dict(group=group, topics=[topic], commit="batch", **opt)
        a = h.start("a", **base)
        case.owns([a], parts(topic, 6), hold=0.3)
        b = h.start("b", **base)
        case.owns([a, b], parts(topic, 6), [3, 3])
        before = {m.name: (set(m.owned), len(m.events)) for m in (a, b)}
        c = h.start("c", **base)
        case.owns([a, b, c], parts(topic, 6), [2, 2, 2])
        for m in (a, b):
            was, mark = before[m.name]
            check(m.owned < was and len(was - m.owned) == 1, lambda: "%s had %s" % (m, sorted(was)))
            given = [p for _, ps in m.events_since(mark, "revoke", "lost") for p in ps]
            check(sorted(given) == sorted(was - m.owned),
                  lambda: "%s was told to revoke %s, only %s moved" % (m.name, given, sorted(was - m.owned)))
        h.produce(topic, 60, 6)
        case.wait(lambda: sum(len(m.recs) for m in (a, b, c)) >= 60, 15, lambda: "60 records", hold=0.5)
        got = sorted(v for m in (a, b, c) for v in m.values())
        check(got == sorted(str(i) for i in range(60)), "%d records, %d distinct of 60" % (len(got), len(set(got))))
    return run


def eager_split(assignors, roundrobin=(3, 3), **opt):
    """S4: the documented split of 2 topics x 3 partitions over 2 members, for each assignor."""
    def run(case):
        h = case.host()
        t1, t2 = case.id("a"), case.id("b")
        h.create(t1, 3)
        h.create(t2, 3)
        both = parts(t1, 3) + parts(t2, 3)
        for name in assignors:
            base = dict(group=case.id("g-" + name), topics=[t1, t2], assignors=[name], **opt)
            ms = [h.start(name + "1", **base), h.start(name + "2", **base)]
            case.owns(ms, both, [2, 4] if name == "range" else roundrobin if name == "roundrobin" else [3, 3])
            for m in ms:
                per = [sum(p.startswith(t + "/") for p in m.owned) for t in (t1, t2)]
                if name == "range":
                    check(per in ([2, 2], [1, 1]), "range gave %s" % m)
                    firsts = {t1 + "/0", t2 + "/0"} & m.owned
                    check(len(firsts) in (0, 2), "range did not co-partition: %s" % m)
            for m in ms:
                m.close()
    return run


def inconsistent(first="range", second="roundrobin", **opt):
    """S5: a member with no assignor in common is refused with InconsistentGroupProtocol."""
    def run(case):
        h = case.host()
        topic, group = case.id("orders"), case.id("g")
        h.create(topic, 6)
        a = h.start("a", group=group, topics=[topic], assignors=[first], **opt)
        case.owns([a], parts(topic, 6))
        b = h.start("b", group=group, topics=[topic], assignors=[second], **opt)
        case.wait(lambda: b.error, 20, lambda: "%s to be refused" % b)
        check(error_is(b.error, *INCONSISTENT), "the refused member's error is: %s" % b.error)
        case.owns([a], parts(topic, 6), hold=1.0)
        case.note = b.error[:100]
    return run


def rolling(**opt):
    """S5: [range] -> [cooperative-sticky, range] -> [cooperative-sticky], one member at a time, never short of a partition at rest."""
    def run(case):
        h = case.host()
        topic, group = case.id("orders"), case.id("g")
        h.create(topic, 6)
        ms = {}
        for step, assignors in enumerate((["range"], ["cooperative-sticky", "range"], ["cooperative-sticky"])):
            for i in (0, 1):
                if i in ms:
                    ms[i].close()
                ms[i] = h.start("m%d-%d" % (i, step), group=group, topics=[topic], assignors=assignors, **opt)
                case.owns(list(ms.values()), parts(topic, 6), [6] if len(ms) == 1 else [3, 3], hold=0.5)
    return run


def remote_assignor(remote, **opt):
    """S6: KIP-848 server-side assignor: split of 2 topics x 3 partitions, then a third member and a leave."""
    def run(case):
        h = case.host()
        t1, t2, group = case.id("a"), case.id("b"), case.id("g")
        h.create(t1, 3)
        h.create(t2, 3)
        both = parts(t1, 3) + parts(t2, 3)
        base = dict(group=group, topics=[t1, t2], protocol="consumer", remote=remote, **opt)
        a = h.start("a", **base)
        case.owns([a], both)
        b = h.start("b", **base)
        case.owns([a, b], both, [2, 4] if remote == "range" else [3, 3], timeout=25)
        if remote == "range":
            for m in (a, b):
                check(len({t1 + "/0", t2 + "/0"} & m.owned) in (0, 2), "range did not co-partition: %s %s" % (a, b))
        c = h.start("c", **base)
        case.owns([a, b, c], both, [2, 2, 2], timeout=25)
        b.close()
        case.owns([a, c], both, [2, 4] if remote == "range" else [3, 3], timeout=25)
    return run


def regex_and_growth(re2j=True, grow=True, **opt):
    """S6: a server-side regex picks up a topic made later; new partitions of a topic are picked up."""
    def run(case):
        h = case.host()
        t1, t2, group = case.id("rx") + "-one", case.id("rx") + "-two", case.id("g")
        h.create(t1, 2)
        how = dict(re2j="rx-%s-.*" % case.tag) if re2j else dict(topics=[t1])
        base = dict(group=group, protocol="consumer", **dict(how, **opt))
        a = h.start("a", **base)
        case.owns([a], parts(t1, 2))
        b = h.start("b", **base)
        case.owns([a, b], parts(t1, 2), [1, 1], timeout=25)
        want = parts(t1, 2)
        if re2j:
            h.create(t2, 2)
            want = want + parts(t2, 2)
            case.owns([a, b], want, [2, 2], timeout=25)
        if grow:
            h.call("grow", topic=t1, partitions=4)
            want = parts(t1, 4) + (parts(t2, 2) if re2j else [])
            case.owns([a, b], want, timeout=25)
    return run


def migration(**opt):
    """S7: classic members, consumer-protocol members join (upgrade), all mixed, and back to classic."""
    def run(case):
        h = case.host()
        topic, group = case.id("orders"), case.id("g")
        h.create(topic, 6)
        all6 = parts(topic, 6)
        h.produce(topic, 60, 6)
        old = dict(group=group, topics=[topic], commit="batch", **opt)
        new = dict(old, protocol="consumer")
        new.pop("assignors", None)

        def kind():
            return h.call("group", group=group)["type"].lower()
        c1, c2 = h.start("c1", **old), h.start("c2", **old)
        case.owns([c1, c2], all6, [3, 3])
        case.wait(lambda: len(c1.recs + c2.recs) == 60, 10, lambda: "60 records by classic members")
        check(kind() == "classic", "group type is %s before" % kind())
        n1 = h.start("n1", **new)
        case.owns([c1, c2, n1], all6, [2, 2, 2], timeout=25)
        check(kind() == "consumer", "group type is %s with a consumer-protocol member" % kind())
        c1.close()
        n2 = h.start("n2", **new)
        case.owns([c2, n1, n2], all6, [2, 2, 2], timeout=25)
        h.produce(topic, 60, 6, start=60)
        ms = [c2, n1, n2]
        case.wait(lambda: sum(len(m.recs) for m in ms + [c1]) >= 120, 15, lambda: "120 records in all", hold=0.5)
        got = [v for m in ms + [c1] for v in m.values()]
        check(len(got) == len(set(got)) == 120, "%d records, %d distinct, of 120 across the migration" % (len(got), len(set(got))))
        n1.close()
        n2.close()
        case.owns([c2], all6, timeout=20)
        check(kind() == "classic", "group type is %s after the last consumer-protocol member left" % kind())
        check(h.lag(group, topic, 6) == 0, "lag is not 0")
    return run


def zombie(how="stop", also=(), silent=False, **opt):
    """S8: a member that was evicted while it slept cannot commit over its successor.

    also: more error words that this client may answer with; silent: it may drop the commit without an error."""
    def run(case):
        h, z = case.host(), case.host()
        topic, group = case.id("orders"), case.id("g")
        h.create(topic, 2)
        h.produce(topic, 20, 2)
        base = dict(group=group, topics=[topic], batch=100, **opt)
        old = z.start("old", **base)
        case.wait(lambda: len(old.recs) == 20, 15, lambda: "20 records, have %d" % len(old.recs))
        if how == "stop":
            z.signal(signal.SIGSTOP)
        else:
            old.call("pause")
        new = h.start("new", commit="batch", **base)
        case.wait(lambda: len(new.recs) == 20, 25, lambda: "%s to take over and read 20 records" % new)
        h.produce(topic, 20, 2, start=20)
        case.wait(lambda: len(new.recs) == 40 and h.lag(group, topic, 2) == 0, 15, lambda: "40 records by the successor")
        if how == "stop":
            rid = z.send("commit", m="old")
            z.signal(signal.SIGCONT)
            try:
                z.reply(rid, 15, "commit")
                err = None
            except OpError as e:
                err = str(e)
        else:
            err = old.error_of("commit")
        check(err or silent, "a zombie's commit was accepted")
        check(err is None or error_is(err, *EVICTED, *also), "a zombie's commit failed with: %s" % err)
        lag = h.lag(group, topic, 2)
        check(lag == 0, "a zombie's commit moved the offsets back by %s" % lag)
        case.note = (err or "commit dropped by the client")[:100]
    return run


def eos(fence=False, **opt):
    """S9: consume-transform-produce; one transaction aborts; read_committed sees each result once."""
    def run(case):
        h = case.host()
        src, dst, group = case.id("in"), case.id("out"), case.id("g")
        h.create(src, 2)
        h.create(dst, 1)
        h.produce(src, 60, 2)
        r = h.call("eos", timeout=40, **dict({"group": group, "in": src, "out": dst, "txid": case.id("tx"), "n": 60, "abort": [1]}, **opt))
        check(r["done"] == 60 and r["aborted"] == 1, "processed %s, aborted %s" % (r["done"], r["aborted"]))
        check(r["unchanged"], "an aborted transaction moved the group's offsets")
        case.wait(lambda: h.lag(group, src, 2) == 0, 5, lambda: "lag 0 of the input, is %s" % h.lag(group, src, 2))
        raw = h.start("raw", group=case.id("raw"), topics=[dst])
        clean = h.start("clean", group=case.id("clean"), topics=[dst], isolation="read_committed")
        want = sorted("x%d" % i for i in range(60))
        case.wait(lambda: len(clean.recs) >= 60 and len(raw.recs) > 60, 15,
                  lambda: "60 committed and more raw records, have %d and %d" % (len(clean.recs), len(raw.recs)), hold=1.0)
        check(sorted(clean.values()) == want, lambda: "read_committed saw %d records, %d distinct" % (
            len(clean.recs), len(set(clean.values()))))
        check(set(raw.values()) == set(want) and len(raw.recs) > 60, "read_uncommitted saw %d" % len(raw.recs))
    return run


def open_txn(**opt):
    """S9: an open transaction is invisible to read_committed until it commits; a second producer fences the first."""
    def run(case):
        h = case.host()
        topic = case.id("out")
        h.create(topic, 1)
        tx = case.id("tx")
        h.call("txn_begin", txid=tx, topic=topic, n=5, prefix="a")
        clean = h.start("clean", group=case.id("c"), topics=[topic], isolation="read_committed")
        raw = h.start("raw", group=case.id("r"), topics=[topic])
        case.wait(lambda: len(raw.recs) == 5, 15, lambda: "5 uncommitted records, have %d" % len(raw.recs), hold=1.5)
        check(not clean.recs, "read_committed saw an open transaction")
        h.call("txn_end", txid=tx, commit=True)
        case.wait(lambda: sorted(clean.values()) == ["a%d" % i for i in range(5)], 10,
                  lambda: "5 committed records, have %s" % clean.values())
        h.call("txn_begin", txid=tx, topic=topic, n=5, prefix="b", **{"as": "first"})
        h.call("txn_begin", txid=tx, topic=topic, n=5, prefix="c", **{"as": "second"})
        err = h.error_of("txn_end", txid="first", commit=True)
        check(error_is(err, *TXN_FENCED), "the first producer's commit: %s" % err)
        h.call("txn_end", txid="second", commit=True)
        case.wait(lambda: len(clean.recs) >= 10, 10, lambda: "10 committed records, have %s" % clean.values(), hold=0.7)
        check(sorted(clean.values()) == ["a%d" % i for i in range(5)] + ["c%d" % i for i in range(5)],
              lambda: "read_committed saw %s" % clean.values())
        case.note = (err or "")[:100]
    return run


def share(**opt):
    """S11: two share consumers on one partition: accept, release (redelivered, count 2), reject (gone)."""
    def run(case):
        h = case.host()
        topic, group = case.id("jobs"), case.id("sg")
        h.create(topic, 1)
        h.call("groupconfig", group=group, key="share.auto.offset.reset", value="earliest")
        h.produce(topic, 6, 1, start=1000)
        got = {"a": [], "b": []}
        for m in got:
            h.call("share_start", m=m, group=group, topic=topic, batch=5)
        end, sent = time.time() + 20, 1006
        while not (got["a"] and got["b"]):  # until both members have the partition
            check(time.time() < end, lambda: "in 20 s a got %d and b %d of the first records" % (len(got["a"]), len(got["b"])))
            for m in got:
                got[m] += h.call("share_poll", m=m, ms=400)["recs"]
            h.produce(topic, 6, 1, start=sent)
            sent += 6
        h.produce(topic, 40, 1)
        verdicts, released = {"3": "RELEASE", "7": "REJECT"}, False
        end, quiet = time.time() + 20, 0
        while time.time() < end and quiet < 2:
            before = len(got["a"] + got["b"])
            for m in got:
                recs = h.call("share_poll", m=m, ms=500, ack={"7": "REJECT"} if released else verdicts)["recs"]
                released = released or any(r[3] == "3" for r in recs)
                got[m] += recs
            quiet = quiet + 1 if len(got["a"] + got["b"]) == before else 0
        count = {}
        for r in got["a"] + got["b"]:
            count.setdefault(int(r[3]), []).append(r[4])
        want = set(range(40)) | set(range(1000, sent))
        check(set(count) == want, lambda: "%d distinct records of %d" % (len(count), len(want)))
        check(sorted(count.pop(3)) == [1, 2], "the released record was not delivered with counts 1 and 2")
        again = sorted(v for v in count if count[v] != [1])
        check(not again, "delivered more than once: %s" % again)
        for m in got:
            h.call("share_close", m=m)
        case.note = "a %d, b %d" % (len(got["a"]), len(got["b"]))
    return run
