"""Measures rallypoint against its peers and prints the table that README shows. scripts/bench builds what it needs.

Every figure is the median of some runs, each against a server of its own, in which the servers take turns: on a machine
that others use too, only what was measured at the same time can be compared.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from statistics import median

from servers import Servers, all_files

JAVA = ["java", "-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]
GIGABYTE = 1_000_000_000


class Bench:
    def __init__(self, arguments):
        self.runs = arguments.runs
        self.runs_of_long = min(arguments.runs, 3)
        self.seconds = arguments.seconds
        self.load_binary = arguments.load
        self.jars = arguments.jars
        self.binary_bytes = arguments.rallypoint.stat().st_size
        self.kfake_bytes = arguments.kfake.stat().st_size
        self.servers = Servers(arguments.rallypoint, arguments.bare, arguments.kfake)

    def load(self, server, workload, **flags):
        """Runs one workload and gives its figures."""
        command = [str(self.load_binary), "-server", server.address, "-pid", str(server.pid)]
        for flag, value in flags.items():
            command += [f"-{flag}", str(value)]
        output = subprocess.run(command + [workload], check=True, capture_output=True, text=True).stdout
        return {name: float(value) for name, value in (line.split("\t") for line in output.splitlines())}

    def compare(self, names, measure, runs=None):
        """Medians by server of what `measure(name)` gives, with turns taken."""
        results = {name: [] for name in names}
        for run in range(runs or self.runs):
            for name in names:
                print(f"  run {run + 1}: {name}", file=sys.stderr)
                results[name].append(measure(name))
        return {
            name: {figure: median(result[figure] for result in each) for figure in each[0]}
            for name, each in results.items()
        }

    def workload(self, names, workload, runs=None, overrides=None, echo=None, **flags):
        """The figures of one workload; `echo` is what the bare server gets instead."""

        def measure(name):
            with self.servers.start(name, **(overrides or {})) as server:
                return self.load(server, echo if name == "bare" else workload, **flags)

        return self.compare(names, measure, runs)

    # The rows, in the order of the table. Each prints one line or more.

    def start(self):
        def measure(name):
            with self.servers.start(name) as server:
                return {"ms": server.start_ms, "kib": server.resident_kib()}

        found = self.compare(["rallypoint", "kfake"], measure, runs=3 * self.runs)
        row("exec to `listening`", found, "ms", "{:.1f} ms")
        row("resident memory when idle", found, "kib", lambda kib: f"{kib / 1_024:.1f} MiB")
        sizes = {"rallypoint": {"bytes": self.binary_bytes}, "kfake": {"bytes": self.kfake_bytes}}
        row("the binary", sizes, "bytes", lambda size: f"{size / 1e6:.1f} MB")

    def heartbeats(self):
        found = self.workload(
            ["bare", "rallypoint", "kfake"], "heartbeat", echo="echo", seconds=self.seconds
        )
        row("heartbeats, 16 connections with 16 under way each", found, "heartbeat_per_second", per_second)
        row("– CPU time of the server for each", found, "heartbeat_cpu_us", "{:.1f} µs")

    def commits(self):
        found = self.workload(["rallypoint", "kfake"], "commit", seconds=self.seconds)
        row("commits of 8 partitions, as many at a time", found, "commit_per_second", per_second)
        row("– CPU time of the server for each", found, "commit_cpu_us", "{:.1f} µs")

    def classic(self):
        found = self.workload(["rallypoint", "kfake"], "classic", count=1_000)
        row("a classic group of 1,000 members forms", found, "form_ms", "{:.0f} ms")
        row("– rebalances after one has left", found, "rebalance_ms", "{:.0f} ms")

    def large(self):
        # The record of such a group is larger than a record may be by default, as in Kafka.
        overrides = {"message_max_bytes": 16 << 20}
        found = self.workload(
            ["rallypoint"], "large", runs=self.runs_of_long, overrides=overrides, count=7_000, metadata=1_024
        )
        row("one of 7,000 members with 1 KiB of metadata each forms", found, "form_ms", "{:.0f} ms")
        row("– longest wait of a heartbeat in the same shard", found, "bystander_ms_max", "{:.0f} ms")

    def groups(self):
        found = self.workload(["rallypoint", "kfake"], "groups", runs=self.runs_of_long, count=100_000)
        row("memory of a group of one member (of 100,000)", found, "bytes_a_group", "{:,.0f} bytes")
        row("– listing them", found, "list_ms", "{:.0f} ms")

    def connections(self):
        found = self.workload(["rallypoint", "kfake"], "churn", runs=self.runs_of_long, connections=8_000)
        mib = lambda kib: f"{kib / 1_024:.1f} MiB"
        row("memory with 8,000 connections open", found, "resident_kib_open", mib)
        row("– ten seconds after they have gone", found, "resident_kib_10s", mib)

    def records(self):
        for size in (100, 1_024):
            found = self.compare(["rallypoint", "kfake"], lambda name: self.gigabyte(name, size), self.runs_of_long)
            what = f"1 GB of records of {size:,} bytes, acks=all"
            row(f"produce {what}", found, "produced", "{:.0f} MB/s")
            row("– consume it", found, "consumed", "{:.0f} MB/s")
            row("– CPU time of the server for both", found, "cpu", "{:.1f} s")
            row("– resident memory then", found, "resident", "{:,.0f} MB")

    def gigabyte(self, name, size):
        count = str(GIGABYTE // size)
        # A topic of ten partitions is kfake's default, one Kafka's.
        with self.servers.start(name, rallypoint_log_max_bytes=2 << 30, num_partitions=10) as server:
            at = ["--bootstrap-server", server.address, "--topic", "gigabyte", "--num-records", count]
            producer = ["--record-size", str(size), "--throughput", "-1", "--command-property", "acks=all"]
            sent = self.tool("ProducerPerformance", at + producer)
            read = self.tool("ConsumerPerformance", at + ["--hide-header", "--timeout", "60000"])
            fields = read.strip().splitlines()[-1].split(", ")
            if fields[4] != count:
                raise RuntimeError(f"{fields[4]} of {count} records came out of {name}")
            return {
                "produced": float(re.findall(r"\(([\d.]+) MB/sec\)", sent)[-1]),
                "consumed": float(fields[8]),
                "cpu": server.cpu_seconds(),
                "resident": server.resident_kib() * 1_024 / 1e6,
            }

    def tool(self, name, arguments):
        command = JAVA + ["-cp", f"{self.jars}/*", f"org.apache.kafka.tools.{name}"]
        return subprocess.run(command + arguments, check=True, capture_output=True, text=True).stdout

    def growth(self):
        counts = (10, 1_000, 100_000)
        print("\n| the server's CPU time for | 10 | 1,000 | 100,000 |\n|---|---|---|---|")
        for workload, where in (
            ("growgroups", "where there are so many groups"),
            ("growmembers", "of one consumer group with so many members"),
        ):
            found = [
                self.workload(["rallypoint"], workload, runs=self.runs_of_long, count=count, seconds=self.seconds)
                for count in counts
            ]
            for figure, what in (("heartbeat_cpu_us", "a heartbeat"), ("join_cpu_us", "a member to join")):
                cells = [f"{at['rallypoint'][figure]:.1f} µs" for at in found]
                print(f"| {what}, {where} | {' | '.join(cells)} |", flush=True)


ROWS = [
    Bench.start,
    Bench.heartbeats,
    Bench.commits,
    Bench.classic,
    Bench.large,
    Bench.groups,
    Bench.connections,
    Bench.records,
    Bench.growth,
]


def per_second(value):
    return f"{round(value, -3):,.0f}/s"


def row(what, found, figure, form):
    """Prints one line: rallypoint's figure and those of whom it is compared with."""
    form = form.format if isinstance(form, str) else form
    cells = [form(found[name][figure]) if name in found else "" for name in ("rallypoint", "bare", "kfake")]
    print(f"| {what} | {' | '.join(cells)} |", flush=True)


def machine():
    model = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    kernel = ".".join(platform.release().split(".")[:2])
    return f"{os.cpu_count()} cores ({model[1] if model else platform.machine()}), Linux {kernel}"


def main():
    names = [function.__name__ for function in ROWS]
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    for name in ("rallypoint", "bare", "kfake", "load", "jars"):
        parser.add_argument(f"--{name}", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--runs", type=int, default=5, help="of each measurement (default: 5)")
    parser.add_argument("--seconds", type=float, default=3, help="of a load (default: 3)")
    parser.add_argument("rows", nargs="*", help=f"which rows (default: all): {' '.join(names)}")
    arguments = parser.parse_args()
    unknown = set(arguments.rows) - set(names)
    if unknown:
        parser.error(f"no row is called {', '.join(sorted(unknown))}")
    all_files()
    print(f"Medians of {arguments.runs} alternating runs (of 3 where one takes long) on {machine()}.\n")
    print("| | rallypoint | bare server | kfake |\n|---|---|---|---|", flush=True)
    bench = Bench(arguments)
    for function in ROWS:
        if not arguments.rows or function.__name__ in arguments.rows:
            print(function.__name__, file=sys.stderr)
            function(bench)


if __name__ == "__main__":
    main()
