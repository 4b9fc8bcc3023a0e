"""Builds a client's host into the cache, once for each state of its sources."""
import hashlib
import os
import shutil
import subprocess
import sys

from kit import CACHE, ROOT, Fail


class Missing(Exception):
    """The machine lacks a toolchain that the client needs."""


def words(client, name):
    """The words in one of the client's small files: tools, shared."""
    path = os.path.join(ROOT, client, name)
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return f.read().split()


def sources(client):
    """The files that the client is built from."""
    folders = [os.path.join(ROOT, client)] + [os.path.join(ROOT, "harness", s) for s in words(client, "shared")]
    for folder in folders:
        for base, _, files in sorted(os.walk(folder)):
            for name in sorted(files):
                yield os.path.join(base, name)


def source_hash(client):
    h = hashlib.sha256()
    for path in sources(client):
        h.update(os.path.relpath(path, ROOT).encode() + b"\0")
        with open(path, "rb") as f:
            h.update(f.read())
    return h.hexdigest()


def build(client):
    """Returns None, or the exception that tells why the client cannot be used."""
    missing = [tool for tool in words(client, "tools") if not shutil.which(tool)]
    if missing:
        return Missing("%s is not installed" % ", ".join(missing))
    target = os.path.join(CACHE, client)
    stamp, want = target + ".stamp", source_hash(client)
    if os.path.exists(stamp) and open(stamp).read() == want:
        return None
    os.makedirs(target, exist_ok=True)
    source, log = os.path.join(ROOT, client), target + ".install.log"
    print("# installing %s" % client, file=sys.stderr, flush=True)
    with open(log, "w") as out:
        status = subprocess.call(["bash", os.path.join(source, "install.sh"), target], stdout=out, stderr=out, cwd=source)
    if status:
        return Fail("the install of %s failed, see %s" % (client, log))
    with open(stamp, "w") as f:
        f.write(want)
    return None


RESULTS = {}


def install(client):
    """Raises Missing or Fail if the client cannot be used; asks only once for each client."""
    if client not in RESULTS:
        RESULTS[client] = build(client)
    if RESULTS[client]:
        raise RESULTS[client]
