#!/usr/bin/env python3
"""Which tests notice a fault in which source? One mutant for each source that tests/mutants.txt does not name.

    nice tests/kill_matrix.py [--seed N] [--first N] [--minutes N] [--longest SECONDS]

A mutant negates a condition, or leaves a statement out. All are compiled into one copy of the tree
(build/kill_matrix/tree), each behind a switch, so that everything is built once; GTMARK_MUTANT chooses one. One run of
each test program without a mutant says what it costs and which switches it reaches. Then each mutant meets the tests
that reach it, cheapest first, until one fails. A test is stopped at three times its clean processor time; waiting is no
fault before ten times its clean wall time. What did not run within the minutes is named. Results are lines of
build/kill_matrix/mutants.jsonl and a table, summary.md: started again, it goes on where it was, and tries what survived
on tests that are new or changed.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "build/kill_matrix"
TREE = HOME / "tree"
ROOMS = ("analysis", "bench", "graphs", "models")  # in the order in which their mutants run

SWITCH = """\
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
int gtmark_mutant(int number);
/* 1 if this mutant is chosen; marks in the file $GTMARK_REACHED, a byte for each mutant, that it was reached. */
int gtmark_mutant(int number)
{
    static unsigned char *reached = MAP_FAILED;
    static int chosen = -1;
    const char *file = getenv("GTMARK_REACHED"), *mutant = getenv("GTMARK_MUTANT");
    if (chosen < 0 && file)
        reached = mmap(0, COUNT, PROT_READ | PROT_WRITE, MAP_SHARED, open(file, O_RDWR), 0);
    if (chosen < 0)
        chosen = mutant ? atoi(mutant) : COUNT;
    if (reached != MAP_FAILED)
        reached[number] = 1;
    return number == chosen;
}
"""

# Leaving these out changes no result: what they do is seen by sanitizers, or by nobody.
HARMLESS = re.compile(r"\b(free|\w+_free|fclose|close|assert|fflush|munmap|prefetch\w*)\(")
STATEMENT = re.compile(r"^ +(?!return|break|continue|goto|case|default|else|if|for|while|do\b)"
                       r"((\*?\w[\w.\[\]>-]* [-+|&*]?= |[\w.>-]+\(|[\w.\[\]>-]+(\+\+|--);).*;) *$", re.M)
CONDITION = re.compile(r"\b(?:if|while) \(")
# Comments, literals and directives: brackets in them do not count.
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)


def candidates(text):
    """(begin, end, kind) of what can be mutated: a condition, or a statement of one line."""
    bare = NO_CODE.sub(lambda m: re.sub(r"[^\n#]", " ", m.group()), text)
    found = [(*m.span(1), "left out") for m in STATEMENT.finditer(bare) if m[1].count("(") == m[1].count(")")
             and bare[:m.start()].rstrip()[-1:] in ";{}" and not HARMLESS.search(m[1])]
    for m in CONDITION.finditer(bare):
        end = m.end()
        while bare.count("(", m.end() - 1, end + 1) > bare.count(")", m.end(), end + 1):
            end += 1
        if "=" not in re.sub(r"[=!<>]=", "", bare[m.end():end]):  # an assignment in a condition stays as it is
            found.append((m.end(), end, "negated"))
    return sorted(found)


def mutated(text, begin, end, kind, number):
    old, chosen = text[begin:end], f"gtmark_mutant({number})"
    new = f"{chosen} ? !({old}) : !!({old})" if kind == "negated" else f"if (!{chosen}) {{ {old} }}"
    return f"int gtmark_mutant(int number);\n#line 1\n{text[:begin]}{new}{text[end:]}"


def sources(*patterns):
    return subprocess.run(["git", "ls-files", "--", *patterns], cwd=ROOT, check=True, capture_output=True,
                          text=True).stdout.split("\n")[:-1]


def draw(seed):
    """One mutant of each source that has candidates and no mutant in the list; sources without; all sources."""
    named = set(re.findall(r"^mutant \S+ (\S+)", (ROOT / "tests/mutants.txt").read_text(), re.M))
    mutants, without, files = [], [], sources(*(f"{room}/*.c" for room in ROOMS))
    for number, file in enumerate(files):
        text = (ROOT / file).read_text()
        places = [] if file in named else candidates(text)
        without += [file] if not places and file not in named else []
        for begin, end, kind in random.Random(f"{seed} {file}").sample(places, min(1, len(places))):
            place = f"{file}:{text.count(chr(10), 0, begin) + 1} {kind}: {' '.join(text[begin:end].split())}"
            mutants.append({"place": place, "number": number, "file": file, "tried": [], "fate": "not run",
                            "source": mutated(text, begin, end, kind, number)})
    return mutants, without, files


def build(mutants, count):
    """The tree with all mutants; only what differs is written, so that make builds the rest alone."""
    texts = {file: (ROOT / file).read_bytes() for file in sources() if (ROOT / file).is_file()}
    texts |= {m["file"]: m.pop("source").encode() for m in mutants}
    texts["kernels/mutant_switch.c"] = (f"#define COUNT {count}\n" + SWITCH).encode()
    for file, text in texts.items():
        path = TREE / file
        if not path.is_file() or path.read_bytes() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
            path.chmod((ROOT / file).stat().st_mode if (ROOT / file).is_file() else 0o644)
    command = ["make", "CUDA=0", "MPI=0", "CFLAGS=-g0", "races=", "replays=", "fuzzers=", "tests"]
    with open(HOME / "build.log", "w") as log:
        if subprocess.run(command, cwd=TREE, stdout=log, stderr=log).returncode:
            sys.exit(f"kill_matrix: the tree with mutants does not build: {log.name}")


def run(program, cpu, wall, **variables):
    """(why it failed, or "", seconds of processor). Every process of it may take `cpu` seconds."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        environment = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", GTMARK_SMALL="1", GTMARK_BUILD="build", TMPDIR=place,
                           OMP_WAIT_POLICY="passive", OPENBLAS_NUM_THREADS="1", **variables,
                           LD_PRELOAD=str(TREE / "build/tests/small_caches.so"))
        before, output = os.times(), Path(place) / "output"
        with open(output, "w") as out:
            status = subprocess.run(["prlimit", f"--cpu={cpu}", "timeout", "-k", "1", str(wall), program], cwd=TREE,
                                    env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out).returncode
        after, said = os.times(), output.read_text(errors="replace").split("\n")
        wrong = [line for line in said if line.startswith("not ok") and "# SKIP" not in line]
    why = wrong[0] if wrong else f"status {status}" if status else ""
    return why, sum(after[2:4]) - sum(before[2:4])


def lines(path):
    """What a file of JSON lines has; a last line that was cut off is not one."""
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]] if path.exists() else []


def append(path, value):
    with open(path, "a") as out:
        out.write(json.dumps(value) + "\n")


def record(names, longest):
    """Each test without a mutant: its seconds and what it reaches, or why it is left out. Cheapest first."""
    marks, tests = HOME / "reached", []
    known = {test["id"]: test for test in lines(HOME / "tests.jsonl")}
    for path in sorted((TREE / "build/tests").glob("test_*")):
        test = {"id": f"{path.name} {path.stat().st_mtime_ns}", "name": path.name}
        if path.suffix or not os.access(path, os.X_OK):
            continue
        if test["id"] not in known:
            marks.write_bytes(bytes(len(names)))
            begin = time.monotonic()
            test["failed"], test["seconds"] = run(f"build/tests/{path.name}", longest, 20 * longest,
                                                  GTMARK_REACHED=str(marks))
            test["wall"] = time.monotonic() - begin
            test["reached"] = [name for name, mark in zip(names, marks.read_bytes()) if mark]
            append(HOME / "tests.jsonl", test)
        tests.append(known.get(test["id"], test))
    return sorted(tests, key=lambda test: test["seconds"] * len(test["reached"]))


def attack(mutant, tests, until):
    """Tries what the mutant has not met yet. Its fate: killed, survived all that reach it, unreached, or not run."""
    mutant["fate"] = "survived" if mutant["tried"] else "unreached"
    for test in tests:
        if test["failed"] or mutant["file"] not in test["reached"] or test["id"] in mutant["tried"]:
            continue
        if time.monotonic() > until:
            mutant["fate"] = "not run"
            return
        why, _ = run(f"build/tests/{test['name']}", int(3 * test["seconds"]) + 2, 10 * test["wall"] + 60,
                     GTMARK_MUTANT=str(mutant["number"]))
        mutant["tried"].append(test["id"])
        mutant["fate"] = "killed" if why else "survived"
        if why:
            mutant["by"] = f"{test['name']}: {why}"
            return


def summary(mutants, tests, without):
    fates = ("killed", "survived", "unreached", "not run")
    text = ["| room | mutants | " + " | ".join(fates) + " |", "|---|--:|" + "--:|" * len(fates)]
    for room in ROOMS:
        counts = [sum(m["fate"] == fate and m["file"].startswith(room + "/") for m in mutants) for fate in fates]
        text.append(f"| {room} | {sum(counts)} | " + " | ".join(map(str, counts)) + " |")
    left_out = [f"{test['name']} ({test['failed']})" for test in tests if test["failed"]]
    text += [f"\n{len(tests) - len(left_out)} test programs, {sum(t['seconds'] for t in tests):.0f} s of processor.",
             f"\nLeft out, since they fail without a mutant: {', '.join(left_out) or 'none'}.",
             f"\nSources with nothing to mutate: {', '.join(without) or 'none'}."]
    for fate in fates[1:]:
        text += [f"\n{fate}:\n"] + [f"    {m['place']}" for m in mutants if m["fate"] == fate]
    (HOME / "summary.md").write_text("\n".join(text) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="draws the mutants, and their order within a room")
    parser.add_argument("--first", type=int, help="only so many mutants, then a forecast for all")
    parser.add_argument("--minutes", type=float, default=180, help="of attacks, by the clock")
    parser.add_argument("--longest", type=int, default=30, help="seconds of processor that a clean test may take")
    arguments = parser.parse_args()
    mutants, without, files = draw(arguments.seed)
    build(mutants, len(files))
    tests = record(files, arguments.longest)
    earlier = {m["place"]: m for m in lines(HOME / "mutants.jsonl")}
    mutants = [m | earlier.get(m["place"], {}) for m in mutants]
    order = random.Random(arguments.seed).sample(mutants, len(mutants))
    order.sort(key=lambda m: ROOMS.index(m["file"].split("/")[0]))
    begin = time.monotonic()
    for mutant in order[:arguments.first]:
        if mutant["fate"] != "killed":
            attack(mutant, tests, begin + 60 * arguments.minutes)
            append(HOME / "mutants.jsonl", mutant)
            print(f"{mutant['fate']:9} {mutant['place']}", flush=True)
    if arguments.first:
        print(f"forecast: {(time.monotonic() - begin) / arguments.first * len(order) / 60:.0f} minutes for {len(order)}")
    summary(mutants, tests, without)


if __name__ == "__main__":
    main()
