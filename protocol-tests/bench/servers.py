"""The servers that are compared: each a process that prints `listening HOST:PORT` once it accepts connections."""

import os
import re
import resource
import select
import signal
import socket
import subprocess
import time
from pathlib import Path

START_SECONDS_MAX = 30


class Server:
    """A running server; to be used in a `with`."""

    def __init__(self, command):
        began = time.monotonic()
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=all_files
        )
        self.pid = self.process.pid
        line = self.first_line()
        self.start_ms = (time.monotonic() - began) * 1_000
        words = line.split()
        if len(words) != 2 or words[0] != "listening":
            self.process.kill()
            raise RuntimeError(f"{command[0]} did not start: {line!r}")
        self.address = words[1]

    def first_line(self):
        ready, _, _ = select.select([self.process.stdout], [], [], START_SECONDS_MAX)
        return self.process.stdout.readline().decode() if ready else ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def resident_kib(self):
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def cpu_seconds(self):
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Servers:
    """How each is started."""

    def __init__(self, rallypoint, bare, kfake):
        self.binaries = {"rallypoint": rallypoint, "bare": bare, "kfake": kfake}

    def start(self, name, **overrides):
        command = [str(self.binaries[name])]
        if name == "rallypoint":
            command += ["--listen", "127.0.0.1:0"]
            for key, value in overrides.items():
                command += ["--override", f"{key.replace('_', '.')}={value}"]
        else:
            command.append(f"127.0.0.1:{free_port()}")
        return Server(command)


def all_files():
    """A server may open as many files as the machine lets it."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
