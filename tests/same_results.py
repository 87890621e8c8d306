#!/usr/bin/env python3
"""Do two builds say the same? For changes that should alter no figure.

    tests/same_results.py A B
        two result files, or two directories of them
    tests/same_results.py --sweeps BUILD BUILD DIR
        the default sweep of every benchmark and a few more, by both builds alternately, with 3 samples each, into DIR/a
        and DIR/b; minutes
    tests/same_results.py --times BUILD BUILD ROUNDS LINE...
        how long command lines take, as ratios of neighbouring runs
    tests/same_results.py --lines BUILD BUILD [LIST]
        command lines, good and bad: every flag with values that it may refuse, every pair of flags, and those in the
        file LIST (one a line, quoted as for a shell, the program's name first); exit codes and what messages name

Results are JSON lines, one JSON document (builds before them), or CSV. Rows are matched by their work and axes. All
fields must be equal but those of VOLATILE, under their names of today (RENAMED); null or "" is absent. Before
`--sweeps`, the first build's calibration is copied to the second's results/local. Prints each difference. Exit 0 all is
the same (of times: nowhere is the second build slower beyond the interval), 1 something differs, 2 wrong usage.
"""

import concurrent.futures
import csv
import fnmatch
import functools
import glob
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import statistics
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))

# Fields that two runs of one build do not share, as paths with wildcards, and why.
VOLATILE = (
    ("when, and by which build", "started command commit flags compiler"),
    ("the machine's state", "host.load noise.* *.noise.* *.gpu.*"),
    ("times, and samples taken within a time", "*.cold.n *.time.* *.time cold_start.* *.cold.median"
                                               " *.cold.min *.launch.median *.launch.per_entry *.eager.*"),
    ("rates and shares of times", "*gflops *.throughput *.nodes_per_second *.edges_per_second *.ratio *.percent"
                                  " forward.bandwidth step.bandwidth kernel.bandwidth *.communication.bandwidth"
                                  " encoding.break_even_*"),
    ("peak rates, and what follows from them in a state of the machine",
     "calibrations.* links.* *.roofline.* *.bound.time *.predicted.* *.profile.seconds *.profile.covered *.profile.least"
     " *.profile.bound"),
    ("fits of times", "fits.*"),
    ("resident memory", "*.memory.resident *.memory.libraries"),
    ("wording", "reason"),
)
# Of these only the presence is compared: measured and null, given and absent, must not be exchanged.
PATTERNS = [pattern for _, patterns in VOLATILE for pattern in patterns.split()]

# Not compared: they speak of the file and of the other fields, whose presence is compared.
OUTSIDE = "schema", "run", "absent", "reasons"
# Former names, as patterns of paths, and the names of today.
RENAMED = (
    (r"time\.state\.exchange", "time.state.sharing"),
    (r"^(forward|step|kernel)\.exchange\.", r"\1.communication."),
    (r"^(forward|step|kernel)\.launched\.", r"\1.eager."),
    (r"^(step\.(backward|optimizer|recompute))\.time$", r"\1.time.median"),
    (r"^(step\.\w+)\.statistics\.", r"\1.time."),
    (r"^first_answer\.", "cold_start."),
    (r"^place$", "position"),
    (r"^(fits\.\d+)\.work", r"\1.cost"),
    (r"^(calibrations\.\d+\.probes)\.exchange", r"\1.sharing"),
    (r"\.turns$", ".repetitions"),
    (r"\.other_turns$", ".other_repetitions"),
    (r"\.turn_medians$", ".repetition_medians"),
    (r"^ranks\.ghosts_max$", "ranks.halo_nodes_max"),
    (r"\.predicted\.ceilings$", ".predicted.peaks"),
    (r"^settings\.ceilings$", "settings.peaks"),
    (r"^(fits\.\d+)\.law$", r"\1.formula"),
    (r"^(fits\.\d+)\.law_", r"\1."),
)


def derived():
    """Fields that follow from others: builds before wrote them to files."""
    with open(os.path.join(HERE, "../docs/fields.md"), encoding="utf-8") as file:
        paths = re.findall(r"^\| `([^`]+)` \|[^|]*\| \(derived\)", file.read(), re.M)
    programs, phases = ["forward", "step", "kernel"], ["step.backward", "step.optimizer", "step.recompute"]
    stand_for = {"P": programs, "S": phases, "T": [f"{timed}.time" for timed in [*programs, *phases, "encoding"]]}
    found = set()
    for first, _, rest in (path.partition(".") for path in paths):
        found |= {f"{name}.{rest}" for name in stand_for.get(first, [first])}
    return found


def is_volatile(path):
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in PATTERNS)


def renamed(path):
    for pattern, name in RENAMED:
        path = re.sub(pattern, name, path)
    return path


def flat(value, path=""):
    """The leaves of nested objects by their paths, without those that are null or empty. A list is a leaf, unless of objects."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        return {} if value in (None, "") else {renamed(path): value}
    leaves = {}
    for key, inner in value.items():
        if key not in OUTSIDE:
            leaves.update(flat(inner, f"{path}.{key}" if path else key))
    return leaves


def axes():
    paths = []
    for name in sorted(glob.glob(os.path.join(HERE, "../analysis/record/*.def"))):
        with open(name, encoding="utf-8") as file:
            paths += map("".join, re.findall(r'^AXIS\(\w+, "[^"]*", ([\w.]*), (\w+),', file.read(), re.M))
    return paths


def keyed(rows):
    """Rows by work and axes; rows that agree in them are told apart by their order."""
    table = {}
    for row in map(flat, rows):
        key = tuple((path, row.get(path)) for path in ["work", *axes()])
        number = sum(k[0] == key for k in table)
        table[key, number] = row
    return table


def same(a, b):
    return type(a) is type(b) and a == b


def differences(a, b, lacking=()):
    """Of two flat objects: "PATH: A, B". `lacking`: paths that one of them may lack."""
    for path in sorted(a.keys() | b.keys()):
        if path not in a or path not in b:
            if path not in lacking:
                yield f"{path}: only in the {'first' if path in a else 'second'}"
        elif not is_volatile(path) and not same(a[path], b[path]):
            yield f"{path}: {str(a[path])[:200]}, {str(b[path])[:200]}"


def document(path):
    """A result file, what --format json prints, or CSV, as one object with `rows`."""
    with open(path, encoding="utf-8", newline="") as file:
        if path.endswith(".csv"):
            return {"rows": [{name: text or None for name, text in row.items()} for row in csv.DictReader(file)]}
        text = file.read()
    head, rows = {}, {}
    if text.startswith('{"kind":'):
        for line in map(json.loads, text.splitlines()):
            if line.pop("kind") == "row":
                rows[line.pop("id")] = line
            else:
                head |= line
    else:
        head = json.loads(text)
        rows = dict(enumerate(head.pop("rows")))
    return head | {"rows": list(rows.values())}


def compare_files(a, b):
    """Each difference once, with the first row that has it and their number."""
    records = [document(path) for path in (a, b)]
    lacking = () if a.endswith(".csv") else derived()
    rows = [keyed(record.pop("rows")) for record in records]
    yield from differences(*map(flat, records))
    if list(rows[0]) != list(rows[1]):
        yield "rows: not the same ones, or in another order"
    keys = [dict(key[0]) for key in rows[0].keys() | rows[1].keys()]
    varied = [path for path in ["work", *axes()] if len({str(key[path]) for key in keys}) > 1]
    found = {}
    for key in [*rows[0], *(key for key in rows[1] if key not in rows[0])]:
        name = " ".join(f"{path}={dict(key[0])[path]}" for path in varied)
        if key not in rows[0] or key not in rows[1]:
            yield f"row only in the {'first' if key in rows[0] else 'second'}: {name}"
            continue
        for difference in differences(rows[0][key], rows[1][key], lacking):
            found.setdefault(difference.split(":")[0], []).append(f"row {name}: {difference}")
    for texts in found.values():
        yield texts[0] + (f" (and of {len(texts) - 1} more rows)" if len(texts) > 1 else "")


def results(path):
    """Result files by name; of one file, one without a name."""
    if not os.path.isdir(path):
        return {"": path}
    names = [name for name in os.listdir(path) if name.endswith((".jsonl", ".csv"))]
    return {name: os.path.join(path, name) for name in names}


def compare_results(a, b):
    found, files = 0, [results(a), results(b)]
    for name in sorted(files[0].keys() | files[1].keys()):
        if name not in files[0] or name not in files[1]:
            found += 1
            print(f"{name}: only in {a if name in files[0] else b}")
            continue
        for difference in compare_files(files[0][name], files[1][name]):
            found += 1
            print(f"{name or a}: {difference}")
    print(f"{len(files[0])} files, {found} differences")
    return found > 0


TINY = "--hidden 16 --heads 2 --layers 2"
# Beside the default sweeps: name, program below BUILD, flags. For rows and fields that those lack.
SWEEPS = (
    ("counted", "bench_node_scaling", "--nodes 100,500 --count auto --profile --cold 3"),
    ("repetitions", "bench_node_scaling", f"--nodes 50,100 {TINY} --repetitions 2 --phase forward --seed 7"),
    ("reference", "bench_model", f"--device ref --nodes 60 {TINY} --model gin,gps,graph_transformer"),
    ("limits", "bench_node_scaling", f"--nodes 100,3k --mem-limit 30MiB {TINY}"),
    ("gates", "bench_node_scaling", f"--nodes 50,60 {TINY} --threshold step.latency:9s,memory:1KiB --tag a=b"),
    ("alone", "bench_node_scaling", f"--nodes 50 {TINY} --phase none --no-check --no-roofline --threads 1"),
    ("batches", "bench_batch_scaling", f"--graph zinc,mnist --batch 1,8 --batching ragged,padded {TINY}"),
    ("recomputed", "bench_layer_scaling", "--nodes 100 --hidden 16 --heads 2 --layers 2,4 --checkpoint none,2,layer"),
    ("presets", "bench_presets", "--preset zinc,molhiv --batch 2"),
    ("few_kernels", "bench_kernels", "--op linear,spmm --nodes 100 --cold 2"),
    ("meta_nodes", "bench_node_scaling", "--device meta --nodes 100-10M*10"),
    ("meta_kernels", "bench_kernels", "--device meta"),
    ("meta_presets", "bench_presets", "--device meta --preset all"),
    ("meta_ranks", "bench_rank_scaling", "--device meta --ranks 1-16*2 --peaks link=400Gb/s,2us"),
    ("meta_axes", "bench_model", "--device meta --nodes 200 --act gelu,relu --norm layer,batch,none --task graph,node"
                                 " --attention dense,sparse,unfused --mpnn gin,none --pe none,lap:4,rwse:8"),
    ("largest", "bench_node_scaling", "--device meta --layers 1,3 --find nodes=memory:64MiB"),
    ("encodings", "bench_pe_scaling", "--graph er --nodes 300 --pe lap:8,lap-pyg:8,rwse:8 --solver auto,lapack,iterative"
                                      " --hidden 32 --heads 2 --layers 2"),
    ("families", "bench_model", f"--graph er,grid,ba,rmat,er:giant --nodes 400 --batch 1,3 {TINY}"),
    ("device", "emulated/bench_node_scaling", f"--device cuda --nodes 20,50 {TINY}"),
)


# How builds of the version before take flags of today.
FORMER = (("--repetitions", "--turns"), ("--peaks", "--ceilings"))


def former(line):
    for now, before in FORMER:
        line = line.replace(now, before)
    return line


@functools.cache
def is_former(build):
    command = [os.path.join(build, "bench_node_scaling"), "--help"]
    return "--repetitions" not in subprocess.run(command, capture_output=True, text=True, check=False).stdout


def run_sweep(build, directory, name, program, flags):
    """Its exit status; NAME.jsonl and NAME.csv in the directory."""
    flags = former(flags) if is_former(build) else flags
    with open(os.path.join(directory, f"{name}.csv"), "w", encoding="utf-8") as out:
        words = f"--runs 3 --warmup 1 --no-charts --format csv-full {flags} --output {name}.jsonl".split()
        run = subprocess.run([os.path.join(build, program), *words], cwd=directory, stdin=subprocess.DEVNULL,
                             stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode not in (0, 1):
        print(f"{build}: {name}: exit status {run.returncode}\n{run.stderr}")
    return run.returncode


def run_sweeps(a, b, directory):
    builds, directories = [os.path.abspath(a), os.path.abspath(b)], [os.path.join(directory, side) for side in "ab"]
    kept = [os.path.join(build, "../results/local/calibration.json") for build in builds]
    for side in directories:
        os.makedirs(side, exist_ok=True)
    sweeps = [(name, name, "") for name in sorted(os.listdir(builds[0])) if re.fullmatch(r"bench_\w+", name)]
    failed = False
    for name, program, flags in [*sweeps, *SWEEPS]:
        if not all(os.path.exists(os.path.join(build, program)) for build in builds):
            continue
        print(name, flush=True)
        status = []
        for build, side in zip(builds, directories):
            status.append(run_sweep(build, side, name, program, flags))
            if os.path.exists(kept[0]):
                os.makedirs(os.path.dirname(kept[1]), exist_ok=True)
                shutil.copy(kept[0], kept[1])
        if status[0] != status[1] or status[0] not in (0, 1):
            failed = True
            print(f"{name}: exit status {status[0]}, {status[1]}")
    return compare_results(*directories) or failed


def seconds(build, line, directory):
    start = time.monotonic()
    subprocess.run([os.path.join(build, line[0]), *line[1:]], cwd=directory, stdin=subprocess.DEVNULL,
                   capture_output=True, check=True)
    return time.monotonic() - start


def compare_times(a, b, rounds, *lines):
    """The median of the ratios and its interval by ranks, of at least 95 % where rounds are independent."""
    builds, rounds, slower = [os.path.abspath(build) for build in (a, b)], int(rounds), False
    rank = max(k for k in range(rounds) if 2 * sum(math.comb(rounds, i) for i in range(k)) <= 0.05 * 2**rounds)
    for line in lines:
        times = []
        with tempfile.TemporaryDirectory() as directory:
            for build in builds:
                seconds(build, shlex.split(line), directory)
            for i in range(rounds):
                pair = {build: seconds(build, shlex.split(line), directory) for build in builds[::-1 if i % 2 else 1]}
                times.append([pair[build] for build in builds])
        ratios = sorted(second / first for first, second in times)
        low, high = (ratios[rank - 1], ratios[-rank]) if rank else (0, math.inf)
        slower |= low > 1
        medians = [statistics.median(side) for side in zip(*times)]
        print(f"{line}: {medians[0]:.4g} s, {medians[1]:.4g} s,"
              f" ratio {statistics.median(ratios):.3f} [{low:.3f}, {high:.3f}]", flush=True)
    return slower


# A value of each flag that is good, for pairs; those that are not here take the default in --help, or none.
GOOD = {
    "nodes": "8", "hidden": "16", "heads": "2", "layers": "1", "device": "cpu", "impl": "linear=ref", "op": "linear",
    "phase": "forward", "trace": "t.json", "count": "off", "seed": "1", "check-budget": "1", "budget": "1",
    "cold": "1", "runs": "2", "warmup": "0", "format": "csv", "columns": "step", "output": "x.json",
    "dump": "d", "mem-limit": "1GiB", "timeout": "5", "find": "nodes=memory:8MiB", "threshold": "latency:100s",
    "baseline": "b.json", "against": "/bin/true", "pe": "lap:4", "solver": "lapack", "graph": "grid", "threads": "1",
    "list": "ops", "data": "labels=none", "peaks": "measure", "gate": "strict",
    "flop-convention": "torch", "shard": "1/2", "tag": "a=b",
}
BAD = ("", "nonsense", "-1", "0", "1.5", "1e999", "99999999999999999999", "nan", "1 ", ",", "1,1", "1m", "1s", "2-1*2", "a\tb")
# Alone they print and exit; in a pair they would hide the other's error.
ABOUT = ("help", "version", "list", "dry-run")


def help_of(program):
    """Flag, argument and meaning of each; builds before had --help-all."""
    texts = [subprocess.run([program, flag], capture_output=True, text=True, check=False).stdout
             for flag in ("--help-all", "--help")]
    return re.findall(r"^  --([\w-]+) ([A-Z=]*)(.*)$", texts[0] or texts[1], re.M)


def flags_of(*programs):
    """The flags that are in the --help of both: by name, each with a good value, or None if it takes none."""
    known = [{name for name, _, _ in help_of(program)} for program in programs]
    known[0] |= {now.split()[0][2:] for now, before in FORMER if before.split()[0][2:] in known[0]}
    found = {}
    for name, argument, meaning in help_of(programs[1]):
        if name in known[0]:
            default = re.search(r"\(default ([^ ),]+)", meaning)
            found[name] = (GOOD.get(name) or default[1]) if argument else None
    return found


def made_lines(builds):
    for name in ("bench_node_scaling", "bench_kernels", "bench_pe_scaling"):
        flags = flags_of(*(os.path.join(build, name) for build in builds))
        good = {flag: [f"--{flag}"] if value is None else [f"--{flag}", value] for flag, value in flags.items()}
        for flag, words in good.items():
            yield [name, f"--x{flag}", "--dry-run"]
            yield [name, "--dry-run", f"--{flag}"]
            yield [name, *words, *words, "--dry-run"]
            for value in BAD:
                yield [name, f"--{flag}={value}", "--dry-run"]
        pairs = [flag for flag in good if flag not in ABOUT]
        for i, a in enumerate(pairs):
            for b in pairs[:i]:
                yield [name, *good[a], *good[b], "--dry-run"]
        for flag in good.keys() & set(ABOUT):
            yield [name, *good[flag], "--nodes", "8", "--device", "meta"]
    for name in ("compare", "plot", "findings"):
        for words in ([], ["--help"], ["none.json"], ["none.json", "none.json"], ["--nonsense"], ["/dev/null", "."]):
            yield [name, *words]
    for words in ("--format xml", "--phase none", "--margin -1", "--ignore work", "--chart", "--format md"):
        yield ["compare", *words.split(), "a.json", "b.json"]


def outcome(build, line):
    """Exit status, stdout and stderr, in an empty directory."""
    line = shlex.split(former(shlex.join(line))) if is_former(build) else line
    with tempfile.TemporaryDirectory() as directory:
        try:
            run = subprocess.run([os.path.join(build, line[0]), *line[1:]], cwd=directory, stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, errors="replace", timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return "no end", "", ""
    return run.returncode, *(text.replace(directory, ".").replace(build, "BUILD") for text in (run.stdout, run.stderr))


def named(message):
    """What a message names, apart from its wording: flags, and values in any of the forms in which they are quoted."""
    return sorted(set(re.findall(r"--[\w-]+|'[^']*'|[\w./-]*\d[\w./%-]*", message)))


def compare_line(builds, line):
    a, b = (outcome(build, line) for build in builds)
    if a[0] != b[0]:
        return "status", f"exit status {a[0]}, {b[0]}\n    {a[2].strip()}\n    {b[2].strip()}"
    if a[0] == 2 and named(a[2]) != named(b[2]):
        return "names", f"another flag or value is named\n    {a[2].strip()}\n    {b[2].strip()}"
    if a[0] == 2 and a[2] != b[2]:
        return "wording", f"\n    {a[2].strip()}\n    {b[2].strip()}"
    return "same", ""


def compare_lines(a, b, path=None):
    builds = [os.path.abspath(build) for build in (a, b)]
    lines = list(made_lines(builds))
    if path:
        with open(path, encoding="utf-8") as file:
            lines += [shlex.split(line) for line in file]
    counts = {"same": 0, "wording": 0, "names": 0, "status": 0}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for line, (kind, text) in zip(lines, pool.map(lambda line: compare_line(builds, line), lines)):
            counts[kind] += 1
            if kind != "same":
                print(f"{kind}: {shlex.join(line)}: {text}")
    print(f"{len(lines)} command lines: {counts['status']} with another exit status, {counts['names']} whose message"
          f" names something else, {counts['wording']} whose message has another wording")
    return counts["status"] + counts["names"] > 0


def main(arguments):
    modes = {"--sweeps": (run_sweeps, (3,)), "--lines": (compare_lines, (2, 3)),
             "--times": (compare_times, range(4, len(arguments) + 1))}
    mode, counts = modes.get(arguments[0] if arguments else "", (compare_results, (2,)))
    words = arguments[mode is not compare_results:]
    if len(words) not in counts:
        print(__doc__, file=sys.stderr)
        return 2
    return int(mode(*words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
