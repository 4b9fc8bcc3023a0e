"""Runs the matrix: main.py BOOTSTRAP [FILTER_REGEX]."""
import concurrent.futures
import multiprocessing
import os
import re
import signal
import sys
import time

from install import Missing, install
from kit import CACHE, Case, Fail
from matrix import CASES

USAGE = "usage: run.sh BOOTSTRAP [FILTER_REGEX] | run.sh --list [FILTER_REGEX] | run.sh --install [FILTER_REGEX]"
LIMIT = int(os.environ.get("CASE_SECONDS", "60"))
TRIES = int(os.environ.get("CLIENTS_TRIES", "1"))
JOBS = int(os.environ.get("CLIENTS_JOBS", "1"))
REQUIRE_ALL = os.environ.get("CLIENTS_REQUIRE_ALL", "") not in ("", "0")


class TooLong(Exception):
    pass


def on_alarm(*_):
    raise TooLong("over %d s" % LIMIT)


def run_case(name, fn, clients, bootstrap):
    """Returns the verdict, the seconds it took and the reason."""
    try:
        for client in clients:
            install(client)
    except Missing as e:
        return ("FAIL" if REQUIRE_ALL else "SKIP"), 0.0, str(e)
    except Fail as e:
        return "FAIL", 0.0, str(e)
    case, began = Case(name, bootstrap), time.time()
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        fn(case)
        verdict, reason = "PASS", case.note
    except Fail as e:
        verdict, reason = "FAIL", str(e)
    except Exception as e:  # an error of a client, or a bug of the case itself
        verdict, reason = "FAIL", "%s: %s" % (type(e).__name__, e)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        took = time.time() - began
        case.cleanup()
    return verdict, took, " ".join(reason.split())[:400]


def run_until_it_passes(number, bootstrap):
    """Runs one case of the matrix, as often as it may be tried."""
    name, fn, clients = CASES[number]
    for tries_left in range(TRIES - 1, -1, -1):
        verdict, took, reason = run_case(name, fn, clients, bootstrap)
        if verdict != "FAIL" or tries_left == 0:
            return name, verdict, took, reason
        print("AGAIN %s %.1f %s" % (name, took, reason), flush=True)


def run_all(chosen, bootstrap):
    for client in sorted({c for _, _, clients in chosen for c in clients}):
        try:
            install(client)
        except (Missing, Fail):
            pass  # each case that needs it says so
    count = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    # A process each, forked now: they know what is installed, and each has an alarm of its own.
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(
            JOBS, context, signal.signal, (signal.SIGALRM, on_alarm)) as jobs:
        numbers = [number for number, case in enumerate(CASES) if case in chosen]
        running = [jobs.submit(run_until_it_passes, number, bootstrap) for number in numbers]
        for done in concurrent.futures.as_completed(running):
            name, verdict, took, reason = done.result()
            count[verdict] += 1
            seconds = "" if verdict == "SKIP" else "%.1f " % took
            print(("%s %s %s%s" % (verdict, name, seconds, reason)).rstrip(), flush=True)
    print("%d passed, %d failed, %d skipped" % (count["PASS"], count["FAIL"], count["SKIP"]))
    return 1 if count["FAIL"] or not chosen else 0


def install_all(chosen):
    wrong = []
    for client in sorted({c for _, _, clients in chosen for c in clients}):
        try:
            install(client)
        except Missing as e:
            print("SKIP %s %s" % (client, e))
            if REQUIRE_ALL:
                wrong.append(client)
        except Fail as e:
            print("FAIL %s %s" % (client, e))
            wrong.append(client)
    return 1 if wrong else 0


def main():
    if len(sys.argv) not in (2, 3):
        print(USAGE, file=sys.stderr)
        return 2
    pattern = re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    chosen = [case for case in CASES if pattern.search(case[0])]
    if sys.argv[1] == "--list":
        print("\n".join(name for name, _, _ in chosen))
        return 0
    os.makedirs(CACHE, exist_ok=True)
    if sys.argv[1] == "--install":
        return install_all(chosen)
    return run_all(chosen, sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
