"""Driver side of the host protocol (README.md, 'Host protocol')."""
import json
import os
import subprocess
import threading
import time
import uuid

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.environ["CLIENTS_CACHE"]


class Fail(Exception):
    """An assertion of a case that did not hold."""


class OpError(Exception):
    """A host operation answered with an error (the client's own error text)."""


def check(cond, msg):
    if not cond:
        raise Fail(msg() if callable(msg) else msg)


class Host:
    """A process that embeds one client library and runs members of groups."""

    def __init__(self, case, client, number):
        self.case, self.client = case, client
        self.cond = case.cond
        self.replies, self.members, self.next_id, self.dead = {}, {}, 0, False
        self.log = open(case.log_path("%s-%d" % (client, number)), "w")
        self.proc = subprocess.Popen(
            [os.path.join(ROOT, client, "host.sh"), os.path.join(CACHE, client), case.bootstrap],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, cwd=CACHE, text=True, bufsize=1)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.proc.stdout:
            self.log.write("< " + line)
            self.log.flush()
            if not line.startswith("{"):
                continue
            try:
                msg = json.loads(line)
            except ValueError:
                continue
            with self.cond:
                if "id" in msg:
                    self.replies[msg["id"]] = msg
                else:
                    member = self.members.get(msg.get("m"))
                    if member:
                        member.on_event(msg)
                self.cond.notify_all()
        with self.cond:
            self.dead = True
            self.cond.notify_all()

    def send(self, op, **args):
        with self.cond:
            self.next_id += 1
            rid = self.next_id
        line = json.dumps(dict(args, id=rid, op=op))
        self.log.write("> " + line + "\n")
        self.log.flush()
        try:
            self.proc.stdin.write(line + "\n")
            self.proc.stdin.flush()
        except OSError:
            raise Fail("%s host is gone (op %s), see %s" % (self.client, op, self.log.name))
        return rid

    def reply(self, rid, timeout=25, what=""):
        end = time.time() + timeout
        with self.cond:
            while rid not in self.replies:
                if self.dead:
                    raise Fail("%s host exited during %s" % (self.client, what))
                if time.time() > end:
                    raise Fail("%s: no answer to %s in %ds" % (self.client, what, timeout))
                self.cond.wait(0.2)
            msg = self.replies.pop(rid)
        if not msg.get("ok"):
            raise OpError(msg.get("err", "?"))
        return msg

    def call(self, op, timeout=25, **args):
        return self.reply(self.send(op, **args), timeout, op)

    def error_of(self, op, **args):
        """Runs op and returns its error text, or None if it went well."""
        try:
            self.call(op, **args)
            return None
        except OpError as e:
            return str(e)

    def start(self, name, **options):
        m = Member(self, name)
        self.members[name] = m
        options.setdefault("session", 6000)
        options.setdefault("hb", 500)
        self.call("start", m=name, **options)
        return m

    def create(self, topic, partitions):
        self.call("create", topic=topic, partitions=partitions)

    def produce(self, topic, n, partitions, start=0):
        """n records with values start..start+n-1, record i to partition i mod partitions."""
        self.call("produce", topic=topic, n=n, partitions=partitions, start=start)

    def lag(self, group, topic, partitions):
        """Sum over partitions of end offset less committed offset, by the client's admin API."""
        return self.call("lag", group=group, topic=topic, partitions=partitions)["lag"]

    def kill(self):
        """SIGKILL: the sockets close with no LeaveGroup."""
        self.proc.kill()
        self.proc.wait()

    def signal(self, sig):
        self.proc.send_signal(sig)

    def stop(self):
        if self.proc.poll() is None:
            self.proc.kill()
            self.proc.wait()
        try:
            self.proc.stdin.close()
        except OSError:
            pass
        self.log.close() if self.dead else None


class Member:
    """What one group member owns and has seen, as its host reported it."""

    def __init__(self, host, name):
        self.host, self.name = host, name
        self.owned, self.events, self.recs, self.userdata = set(), [], [], []
        self.error, self.closed = None, False

    def on_event(self, msg):
        kind = msg["ev"]
        if kind == "recs":
            self.recs += [(t, p, o, v) for t, p, o, v in msg["recs"]]
            return
        if kind == "userdata":
            self.userdata.append(msg["text"])
            return
        parts = msg.get("parts", [])
        if kind == "own":  # the whole assignment: turned into what was taken away and what was added
            gone, new = self.owned - set(parts), set(parts) - self.owned
            for kind, some in (("revoke", gone), ("assign", new)):
                if some:
                    self.on_event({"ev": kind, "parts": sorted(some)})
            return
        if kind == "assign":
            self.owned |= set(parts)
        elif kind in ("revoke", "lost"):
            self.owned -= set(parts)
        elif kind == "error":
            self.error = msg.get("err", "?")
            self.owned = set()
        elif kind == "closed":
            self.closed, self.owned = True, set()
        self.events.append((kind, sorted(parts)))

    def call(self, op, **args):
        return self.host.call(op, m=self.name, **args)

    def error_of(self, op, **args):
        return self.host.error_of(op, m=self.name, **args)

    def close(self):
        self.call("close")
        self.host.case.wait(lambda: self.closed or self.error, 15, lambda: "%s to close" % self.name)

    def values(self):
        return [v for _, _, _, v in self.recs]

    def events_since(self, mark, *kinds):
        return [e for e in self.events[mark:] if e[0] in kinds and (e[1] or e[0] == "lost")]

    def __repr__(self):
        state = "ERROR %s" % self.error if self.error else "closed" if self.closed else ",".join(sorted(self.owned))
        return "%s[%s]" % (self.name, state)


class Case:
    def __init__(self, name, bootstrap):
        self.name, self.bootstrap = name, bootstrap
        self.client = name.split("/")[0]
        self.cond = threading.Condition()
        self.hosts, self.procs, self.tag = [], [], uuid.uuid4().hex[:8]
        self.note = ""

    def log_path(self, suffix):
        d = os.path.join(CACHE, "logs", self.bootstrap.replace(":", "_"), self.name.replace("/", "_"))
        os.makedirs(d, exist_ok=True)
        return os.path.join(d, suffix + ".log")

    def id(self, prefix):
        return "%s-%s" % (prefix, self.tag)

    def host(self, client=None):
        h = Host(self, client or self.client, len(self.hosts))
        self.hosts.append(h)
        return h

    def wait(self, pred, timeout, what, hold=0.0):
        """Waits until pred() holds, and goes on holding for `hold` seconds."""
        end, since = time.time() + timeout, None
        with self.cond:
            while True:
                now = time.time()
                if pred():
                    since = since or now
                    if now - since >= hold:
                        return
                else:
                    since = None
                    if now > end:
                        raise Fail("timed out (%ds) waiting for %s" % (timeout, what()))
                    for h in self.hosts:
                        if h.dead and h.proc.poll() not in (None, -9):
                            raise Fail("%s host exited with %s waiting for %s" % (h.client, h.proc.poll(), what()))
                self.cond.wait(0.1)

    def owns(self, members, topic_parts, sizes=None, timeout=20, hold=1.0, extra=None):
        """Every partition owned exactly once, with (sorted) sizes if given, and stable."""
        def pred():
            got = [p for m in members for p in m.owned]
            return (sorted(got) == sorted(topic_parts)
                    and (sizes is None or sorted(len(m.owned) for m in members) == sorted(sizes))
                    and (extra is None or extra()))

        def what():
            return "%d partitions once each%s; have %s" % (
                len(topic_parts), " as %s" % sizes if sizes else "", " ".join(map(repr, members)))
        self.wait(pred, timeout, what, hold)

    def cleanup(self):
        for h in self.hosts:
            h.stop()
        for p in self.procs:
            if p.poll() is None:
                p.kill()
                p.wait()


def parts(topic, n):
    return ["%s/%d" % (topic, i) for i in range(n)]
