#!/usr/bin/env python3
"""Which tests notice a fault in which source? One mutant for each source that tests/mutants.txt does not name.

A mutant negates a condition, or leaves a statement out. All are compiled into one copy of the tree, each behind a
switch (GTMARK_MUTANT), so that everything is built once. A run of each test program without a mutant says what it costs
and which switches it reaches. Then each mutant meets the programs that reach it, those first that are cheap and reach
little, until one fails, or takes three times its processor time, or ten times its wall time and a minute. Results are in
build/kill_matrix: started again, it goes on where it was, and tries what survived on tests that are new or changed.
"""
import argparse
import json
import os
import random
import re
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "build/kill_matrix"
TREE = HOME / "tree"
ROOMS = ("analysis/", "bench/", "graphs/", "models/")  # in the order in which their mutants run
FILES = [f for f in subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True,
                                   text=True).stdout.split("\n") if (ROOT / f).is_file()]

SWITCH = """\
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
/* 1 if this mutant is chosen; marks in the file $GTMARK_REACHED, a byte for each mutant, that it was reached. */
int gtmark_mutant(int number)
{
    static unsigned char *reached = MAP_FAILED;
    static int chosen = -1;
    if (chosen < 0) {
        const char *file = getenv("GTMARK_REACHED"), *mutant = getenv("GTMARK_MUTANT");
        int fd = file ? open(file, O_RDWR) : -1;
        reached = mmap(0, COUNT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd); /* which a program without standard output would take for that */
        chosen = mutant ? atoi(mutant) : COUNT;
    }
    if (reached != MAP_FAILED)
        reached[number] = 1;
    return number == chosen;
}
"""

# Leaving these out changes no result: what they do is seen by sanitizers, or by nobody.
HARMLESS = re.compile(r"\b(\w*free|\w*close|assert|fflush|munmap|prefetch\w*)\(")
STATEMENT = re.compile(r"^ +(?!return|break|continue|goto|case|default|else|if|for|while|do\b)"
                       r"((\*?\w[\w.\[\]>-]* [-+|&*]?= |[\w.>-]+\(|[\w.\[\]>-]+(\+\+|--);).*;) *$", re.M)
# Comments, literals and directives: brackets in them do not count.
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)


def candidates(text):
    """(begin, end, kind) of what can be mutated: a condition, or a statement of one line."""
    bare = NO_CODE.sub(lambda m: re.sub(r"[^\n#]", " ", m.group()), text)
    found = [(*m.span(1), "left out") for m in STATEMENT.finditer(bare) if m[1].count("(") == m[1].count(")")
             and bare[:m.start()].rstrip()[-1:] in ";{}" and not HARMLESS.search(m[1])]
    for m in re.finditer(r"\b(?:if|while) \(", bare):
        end = m.end()
        while bare.count("(", m.end() - 1, end + 1) > bare.count(")", m.end(), end + 1):
            end += 1
        if "=" not in re.sub(r"[=!<>]=", "", bare[m.end():end]):  # an assignment in a condition stays as it is
            found.append((m.end(), end, "negated"))
    return sorted(found)


def draw(seed):
    """One mutant of each source that has candidates and no mutant in the list; all sources."""
    named = set(re.findall(r"^mutant \S+ (\S+)", (ROOT / "tests/mutants.txt").read_text(), re.M))
    mutants, files = [], [f for f in FILES if f.endswith(".c") and f.startswith(ROOMS)]
    for number, file in enumerate(files):
        text = (ROOT / file).read_text()
        places = [] if file in named else candidates(text)
        for begin, end, kind in random.Random(f"{seed} {file}").sample(places, min(1, len(places))):
            old, chosen = text[begin:end], f"gtmark_mutant({number})"
            new = f"{chosen} ? !({old}) : !!({old})" if kind == "negated" else f"if (!{chosen}) {{ {old} }}"
            mutants.append({"number": number, "file": file, "tried": [], "fate": "not run",
                            "place": f"{file}:{text[:begin].count(chr(10)) + 1} {kind}: {' '.join(old.split())}",
                            "source": f"int gtmark_mutant(int number);\n#line 1\n{text[:begin]}{new}{text[end:]}"})
    return mutants, files


def build(mutants, count):
    """The tree with all mutants; only what differs is written, so that make builds the rest alone."""
    texts = {file: (ROOT / file).read_bytes() for file in FILES}
    texts |= {m["file"]: m.pop("source").encode() for m in mutants}
    texts["kernels/mutant_switch.c"] = (f"#define COUNT {count}\n" + SWITCH).encode()
    for file, text in texts.items():
        path = TREE / file
        if not path.is_file() or path.read_bytes() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
            path.chmod((ROOT / file).stat().st_mode if file in FILES else 0o644)
    command = ["make", "CUDA=0", "MPI=0", "CFLAGS=-g0", "races=", "replays=", "fuzzers=", "tests"]
    if subprocess.run(command, cwd=TREE).returncode:
        raise SystemExit("kill_matrix: the tree with mutants does not build")


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
    return (wrong + [f"status {status}" if status else ""])[0], sum(after[2:4]) - sum(before[2:4])


def kept(path, key):
    """The last of each in a file of JSON lines, of which the last may have been cut off."""
    return {v[key]: v for v in map(json.loads, path.read_text().split("\n")[:-1])} if path.exists() else {}


def record(names, longest):
    """Each test without a mutant: its seconds and what it reaches, or why it is left out. Cheapest first."""
    marks, tests = HOME / "reached", []
    known = kept(HOME / "tests.jsonl", "id")
    for path in sorted((TREE / "build/tests").glob("test_*")):
        test = {"id": f"{path.name} {path.stat().st_mtime_ns}", "name": path.name}
        if not path.suffix and test["id"] not in known:
            marks.write_bytes(bytes(len(names)))
            begin = time.monotonic()
            test["failed"], test["seconds"] = run(f"build/tests/{path.name}", longest, 20 * longest,
                                                  GTMARK_REACHED=str(marks))
            test["wall"] = time.monotonic() - begin
            test["reached"] = [name for name, mark in zip(names, marks.read_bytes()) if mark]
            with open(HOME / "tests.jsonl", "a") as out:
                out.write(json.dumps(test) + "\n")
        tests += [known.get(test["id"], test)] if not path.suffix else []
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
        mutant |= {"fate": "killed" if why else "survived", "by": f"{test['name']}: {why}"}
        mutant["tried"].append(test["id"])
        if why:
            return


def summary(mutants, tests):
    fates = ("killed", "survived", "unreached", "not run")
    text = ["| room | mutants | " + " | ".join(fates) + " |", "|---|--:|" + "--:|" * len(fates)]
    for room in ROOMS:
        counts = [sum(m["fate"] == fate and m["file"].startswith(room) for m in mutants) for fate in fates]
        text.append(f"| {room} | {sum(counts)} | " + " | ".join(map(str, counts)) + " |")
    text += [f"\n{len(tests)} test programs, {sum(t['seconds'] for t in tests):.0f} s of processor; without a mutant fail:",
             *(f"{test['name']} ({test['failed']})" for test in tests if test["failed"])]
    for fate in fates[1:]:
        text += [f"\n{fate}:\n"] + [f"    {m['place']}" for m in mutants if m["fate"] == fate]
    (HOME / "summary.md").write_text("\n".join(text) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="draws the mutants, and their order within a room")
    parser.add_argument("--first", type=int, metavar="N", help="only so many, then a forecast")
    parser.add_argument("--minutes", type=float, default=180, metavar="N", help="of attacks, by the clock")
    parser.add_argument("--longest", type=int, default=30, metavar="N", help="seconds of processor of a clean test")
    arguments = parser.parse_args()
    mutants, files = draw(arguments.seed)
    build(mutants, len(files))
    tests = record(files, arguments.longest)
    earlier = kept(HOME / "mutants.jsonl", "place")
    mutants = [m | earlier.get(m["place"], {}) for m in mutants]
    random.Random(arguments.seed).shuffle(mutants)
    mutants.sort(key=lambda m: ROOMS.index(m["file"].split("/")[0] + "/"))
    begin = time.monotonic()
    for mutant in mutants[:arguments.first]:
        if mutant["fate"] != "killed":
            attack(mutant, tests, begin + 60 * arguments.minutes)
            with open(HOME / "mutants.jsonl", "a") as out:
                out.write(json.dumps(mutant) + "\n")
            print(f"{mutant['fate']:9} {mutant['place']}", flush=True)
    if arguments.first:
        print(f"{len(mutants)}: {(time.monotonic() - begin) / arguments.first * len(mutants) / 60:.0f} minutes")
    summary(mutants, tests)


if __name__ == "__main__":
    main()
