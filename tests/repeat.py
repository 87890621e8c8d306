#!/usr/bin/env python3
"""Runs one benchmark many times and asks whether its conclusions hold: tests/repeat.py [-n RUNS] [--kept DIR] [-- FLAGS]

For every program of every row: how many runs' intervals contain the median of all runs' turns in the same state of the
machine, at the clock of the run (turns over the time of its probes' multiply-adds: docs/methods.md, time), and also at
its rate of sharing between threads (turns over a power of the probes' time, which all runs show); how many are noisy,
how wide the intervals are; and of all pairs of runs, how many `compare` calls faster or slower, which is false. With
--slower PERCENT the same number of runs of a build that waits for that share (tests/slower/slower.c) is compared with
them, pair by pair. On a quiet machine; beside other programs with --busy.
"""
import argparse
import itertools
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("forward", "step", "kernel", "encoding")
DEFAULT = ["--nodes", "100,500", "--phase", "forward,step"]


def measure(binary, flags, path, percent=None):
    """Returns the rows of a run, and its seconds."""
    start = time.monotonic()
    environment = dict(os.environ, GTMARK_SLOWER=str(percent)) if percent else None
    subprocess.run([binary, *flags, "--no-charts", "--output", path], env=environment, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        return [line for line in map(json.loads, file) if line["kind"] == "row"], time.monotonic() - start


def times_of(rows):
    """The times of a run, by row and program."""
    return {(i, p): row[p]["time"] for i, row in enumerate(rows) for p in PROGRAMS
            if isinstance(row.get(p), dict) and row[p].get("time", {}).get("turn_medians")}


def undisturbed(times):
    """What multiply-adds take at most if the cores are not shared (analysis/statistics/states.h)."""
    probes = [t["state"]["fma_probes"] or [] for t in times]
    quicker = sorted(min(p[i:i + 2]) for p in probes for i in range(0, len(p), 2))
    if not quicker:
        return math.inf
    return quicker[0] * max(1.002, (quicker[(len(quicker) - 1) // 4] / quicker[0]) ** 4)


def states_of(times):
    """Groups of runs in one state: where the sorted pings jump by more than half, and where cores were shared."""
    def ping(t):
        return t["state"]["ping"] or 0
    groups = []
    for t in sorted(times, key=ping):
        if groups and ping(t) <= 1.5 * ping(groups[-1][-1]):
            groups[-1].append(t)
        else:
            groups.append([t])
    parts = []
    for group in groups:
        limit = undisturbed(group)
        for shared in (False, True):
            parts.append([t for t in group if ((t["state"]["fma"] or 0) > limit) == shared])
    return [part for part in parts if part]


def cycles(t):
    """Turns as multiples of the multiply-adds beside them, which take as long at any clock; as they are without probes."""
    return [m / (t["state"]["fma"] or 1) for m in t["turn_medians"]]


def sharing(t):
    """The time of sharing beside the turns; 1 without one."""
    return t["state"].get("sharing") or 1


def power_of_sharing(group):
    """By which power of sharing the runs' times grow, from 0 to 1: the median of all pairs' slopes (Theil, Sen)."""
    points = [(math.log(sharing(t)), math.log(statistics.median(cycles(t)))) for t in group]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in itertools.combinations(points, 2) if a[0] != b[0]]
    return min(1, max(0, statistics.median(slopes))) if slopes else 0


def count_covering(group, judged, power):
    """How many intervals contain the median of all turns, at the run's clock and this power of its sharing."""
    pooled = statistics.median(m / sharing(t) ** power for t in group for m in cycles(t))
    return sum(t["ci95_low"] <= pooled * (t["state"]["fma"] or 1) * sharing(t) ** power <= t["ci95_high"] for t in judged)


def judge_intervals(runs):
    """Prints a line for every program and state."""
    print("covers: the median of all runs in the state, at the clock of each run; and at its rate of sharing")
    print(f"{'row':>3} {'program':8} {'state':>9} {'sharing':>12} {'runs':>4} {'noisy':>5} {'covers':>6} {'and':>3} {'of':>3} "
          f"{'width':>10} {'median':>10}")
    for key in sorted(runs[0]):
        for group in states_of([run[key] for run in runs if key in run]):
            judged = [t for t in group if not t["noisy"] and t["ci95_low"] is not None]
            covers = [count_covering(group, judged, power) for power in (0, power_of_sharing(group))]
            width = statistics.median((t["ci95_high"] - t["ci95_low"]) / t["median"] for t in judged) if judged else float("nan")
            ping = group[len(group) // 2]["state"]["ping"]
            median = statistics.median(m for t in group for m in t["turn_medians"])
            rates = f"{1e9 * min(map(sharing, group)):.2f}-{1e9 * max(map(sharing, group)):.2f} ns"
            print(f"{key[0]:3} {key[1]:8} {f'{1e6 * ping:.3f} us' if ping else '-':>9} {rates if ping else '-':>12} {len(group):4} "
                  f"{len(group) - len(judged):5} {covers[0]:6} {covers[1]:3} {len(judged):3} {100 * width:8.2f} % {1e3 * median:7.3f} ms")


def compare(build, a, b):
    """The verdicts of `compare`."""
    out = subprocess.run([f"{build}/compare", a, b, "--format", "json"], check=True, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return [(pair["verdict"], pair.get("reason", "")) for pair in json.loads(out)["pairs"]]


def tally(build, pairs):
    """Counts of verdicts over pairs of files."""
    counts, reasons = {}, {}
    for a, b in pairs:
        for verdict, reason in compare(build, a, b):
            counts[verdict] = counts.get(verdict, 0) + 1
            if verdict == "inconclusive":
                short = reason.split(":")[0].split(", which")[0]
                reasons[short] = reasons.get(short, 0) + 1
    total = sum(counts.values())
    return ", ".join(f"{n} {v} ({100 * n / total:.1f} %)" for v, n in sorted(counts.items())) + (f"; inconclusive: {reasons}" if reasons else "")


def main():
    """Runs, judges, prints."""
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("-n", type=int, default=20, help="runs (default 20)")
    p.add_argument("--build", default="build")
    p.add_argument("--kept", help="directory for the result files")
    p.add_argument("--slower", type=float, help="also runs of a build that waits for this share, in percent")
    p.add_argument("--busy", type=int, default=0, help="busy processes beside the runs")
    p.add_argument("flags", nargs="*")
    a = p.parse_args()
    folder = a.kept or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(a.busy)]
    try:
        runs, slow, seconds = [], [], []
        for i in range(a.n):
            rows, took = measure(f"{a.build}/bench_node_scaling", a.flags or DEFAULT, f"{folder}/{i}.jsonl")
            runs.append(times_of(rows))
            seconds.append(took)
            if a.slower:
                measure(f"{a.build}/tests/slower_bench", a.flags or DEFAULT, f"{folder}/slow{i}.jsonl", a.slower)
                slow.append((f"{folder}/{i}.jsonl", f"{folder}/slow{i}.jsonl"))
    finally:
        for process in busy:
            process.kill()
    print(f"{a.n} runs of {statistics.median(seconds):.1f} s")
    judge_intervals(runs)
    files = [f"{folder}/{i}.jsonl" for i in range(a.n)]
    print(f"identical: {tally(a.build, itertools.combinations(files, 2))}")
    if slow:
        print(f"slower by {a.slower:g} %: {tally(a.build, slow)}")


if __name__ == "__main__":
    main()
