#!/usr/bin/env python3
"""Runs one benchmark many times and counts what `compare` concludes: tests/repeat.py [-n RUNS] [--kept DIR] [-- FLAGS]

Of all pairs of runs, how many `compare` calls faster or slower, which is false. Runs take the loads of --busy in turn:
`--busy 0,4` compares quiet runs with some beside four busy programs too. With --slower PERCENT each run is also compared
with one of a build that waits for that share (tests/slower/slower.c) under the same load, and with --against RUNS builds
are compared by so many runs of --against, the slower one as the new one.
"""
import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile

DEFAULT = ["--nodes", "100,500", "--phase", "forward,step"]


def run(binary, flags, percent=None):
    """Runs a benchmark; returns what it prints."""
    environment = dict(os.environ, GTMARK_SLOWER=str(percent)) if percent else None
    return subprocess.run([binary, *flags], env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout


def verdicts(build, a, b):
    """The verdicts of `compare`."""
    out = subprocess.run([f"{build}/compare", a, b, "--format", "json"], check=True, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return [pair["verdict"] for pair in json.loads(out)["pairs"]]


def tally(all_verdicts):
    """"2 faster (0.3 %), 750 inconclusive (99.7 %)"."""
    counts = {v: all_verdicts.count(v) for v in sorted(set(all_verdicts))}
    return ", ".join(f"{n} {v} ({100 * n / len(all_verdicts):.1f} %)" for v, n in counts.items())


def wide(path):
    """How many times of a file have a wide range, and how many it has."""
    with open(path, encoding="utf-8") as file:
        rows = [line for line in map(json.loads, file) if line["kind"] == "row"]
    times = [p["time"] for row in rows for p in row.values() if isinstance(p, dict) and p.get("time", {}).get("samples")]
    return sum("noisy" in t for t in times), len(times)


def against(build, flags, percent):
    """The verdicts of --against, of the programs of all rows."""
    out = run(f"{build}/tests/slower_bench" if percent else f"{build}/bench_node_scaling",
              [*flags, "--against", f"{build}/bench_node_scaling"], percent)
    words = [line.split()[-1] for line in out.splitlines() if line.split()]
    return [w for w in words if w in ("faster", "slower", "same", "inconclusive")]


def main():
    """Runs, compares, prints."""
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("-n", type=int, default=20, help="runs (default 20)")
    p.add_argument("--build", default="build")
    p.add_argument("--kept", help="directory for the result files")
    p.add_argument("--slower", type=float, help="also a build that waits for this share, in percent")
    p.add_argument("--against", type=int, default=0, help="runs of --against instead")
    p.add_argument("--busy", default="0", help="numbers of busy processes beside the runs, in turn")
    p.add_argument("flags", nargs="*")
    a = p.parse_args()
    folder, flags, loads = a.kept or tempfile.mkdtemp(), a.flags or DEFAULT, [int(n) for n in a.busy.split(",")]
    os.makedirs(folder, exist_ok=True)
    files, slow, found = [], [], []
    for i in range(a.against or a.n):
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loads[i % len(loads)])]
        try:
            if a.against:
                found += against(a.build, flags, a.slower)
                continue
            files.append(f"{folder}/{i}.jsonl")
            run(f"{a.build}/bench_node_scaling", [*flags, "--no-charts", "--output", files[-1]])
            if a.slower:
                slow.append((files[-1], f"{folder}/slow{i}.jsonl"))
                run(f"{a.build}/tests/slower_bench", [*flags, "--no-charts", "--output", slow[-1][1]], a.slower)
        finally:
            for process in busy:
                process.kill()
    if a.against:
        print(f"{a.against} runs of --against: {tally(found)}")
        return
    ranges = [sum(n) for n in zip(*map(wide, files))]
    print(f"{a.n} runs; {ranges[0]} of {ranges[1]} times have a wide range")
    print(f"identical: {tally([v for x, y in itertools.combinations(files, 2) for v in verdicts(a.build, x, y)])}")
    if slow:
        print(f"slower by {a.slower:g} %: {tally([v for pair in slow for v in verdicts(a.build, *pair)])}")


if __name__ == "__main__":
    main()
