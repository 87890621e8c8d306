#!/usr/bin/env python3
"""Do two builds say the same? For changes that should alter no figure.

    tests/same_results.py A B                    two result files, or two directories of them
    tests/same_results.py --sweeps BUILD DIR     what to compare: the default sweep of every benchmark and a few more,
                                                 with 3 samples each, into DIR; minutes
    tests/same_results.py --lines BUILD BUILD [LIST]
                                                 command lines, good and bad: every flag with values that it may refuse,
                                                 every pair of flags, and those in the file LIST (one a line, quoted as
                                                 for a shell, the program's name first); exit codes and what messages name

Rows are matched by their work and axes. All fields must be equal but those of VOLATILE. A calibration is taken once:
`--sweeps` puts the calibration.json of an earlier DIR beside the results if it is given as a third argument, and the
roofline is then equal too. Prints each difference. Exit 0 all is the same, 1 something differs, 2 wrong usage.
"""

import concurrent.futures
import fnmatch
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# Fields that two runs of one build do not share, as paths with wildcards, and why.
VOLATILE = (
    ("when, and by which build", "run started command commit flags compiler"),
    ("the machine's state", "host.load noise.* *.noise.* *.gpu.*"),
    ("times, and samples taken within a time", "*.cold.n *.time.* *.time cold_start.* cold_start.* *.cold.median *.cold.min *.launch.median"
                                           " *.eager.*"),
    ("rates and shares of times", "*.communication.bandwidth *.percent *.roofline.fault *.roofline.calibrated"),
    ("fits of times", "fits"),
    ("resident memory", "*.memory.resident *.memory.libraries"),
    ("wording", "reason absent.*"),
)
# Of these only the presence is compared: measured and null, given and absent, must not be exchanged.
PATTERNS = [pattern for _, patterns in VOLATILE for pattern in patterns.split()]


def derived():
    """Fields that follow from others: builds before wrote them to files."""
    with open(os.path.join(HERE, "../FIELDS.md"), encoding="utf-8") as file:
        paths = re.findall(r"^\| `([^`]+)` \|[^|]*\| \(derived\)", file.read(), re.M)
    programs = "forward", "step", "kernel"
    return {re.sub(r"^P\b", program, path) for path in paths for program in programs}


def is_volatile(path):
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in PATTERNS)


def flat(value, path=""):
    """The leaves of nested objects by their paths. A list is a leaf."""
    if not isinstance(value, dict):
        return {path: value}
    leaves = {}
    for key, inner in value.items():
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


def differences(a, b):
    """Of two flat objects: "PATH: A, B"."""
    for path in sorted((a.keys() | b.keys()) - derived()):
        if path not in a or path not in b:
            yield f"{path}: only in the {'first' if path in a else 'second'}"
        elif is_volatile(path):
            if (a[path] is None) != (b[path] is None):
                yield f"{path}: {a[path]}, {b[path]}"
        elif not same(a[path], b[path]):
            yield f"{path}: {str(a[path])[:200]}, {str(b[path])[:200]}"


def document(file):
    """A result file, or what --format json prints, as one object with `rows`."""
    text = file.read()
    if not text.startswith('{"kind":'):
        return json.loads(text)
    head, rows = {}, {}
    for line in map(json.loads, text.splitlines()):
        kind = line.pop("kind")
        if kind == "row":
            rows[line.pop("id")] = line
        else:
            head |= line
    return head | {"rows": list(rows.values())}


def compare_files(a, b):
    records = []
    for path in a, b:
        with open(path, encoding="utf-8") as file:
            records.append(document(file))
    rows = [keyed(record.pop("rows")) for record in records]
    yield from differences(*map(flat, records))
    if list(rows[0]) != list(rows[1]):
        yield "rows: not the same ones, or in another order"
    for key in rows[0].keys() | rows[1].keys():
        name = " ".join(f"{path}={value}" for path, value in key[0] if value is not None)
        if key not in rows[0] or key not in rows[1]:
            yield f"row only in the {'first' if key in rows[0] else 'second'}: {name}"
            continue
        for difference in differences(rows[0][key], rows[1][key]):
            yield f"row {name}: {difference}"


def results(path):
    """Result files by name; of one file, one without a name."""
    if not os.path.isdir(path):
        return {"": path}
    names = [os.path.basename(name) for name in glob.glob(os.path.join(path, "*.jsonl"))]
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
    ("turns", "bench_node_scaling", f"--nodes 50,100 {TINY} --turns 2 --phase forward --seed 7"),
    ("reference", "bench_model", f"--device ref --nodes 60 {TINY} --model gin,gps,graph_transformer"),
    ("limits", "bench_node_scaling", f"--nodes 100,3k --mem-limit 30MiB {TINY}"),
    ("meta_nodes", "bench_node_scaling", "--device meta --nodes 100-10M*10"),
    ("meta_kernels", "bench_kernels", "--device meta"),
    ("meta_axes", "bench_model", "--device meta --nodes 200 --act gelu,relu --norm layer,batch,none --task graph,node"
                                 " --attention dense,sparse,unfused --mpnn gin,none --pe none,lap:4,rwse:8"),
    ("largest", "bench_node_scaling", "--device meta --layers 1,3 --find nodes=memory:64MiB"),
    ("encodings", "bench_pe_scaling", f"--nodes 300 --pe lap:8,lap-pyg:8,rwse:8 --solver auto,lapack,iterative {TINY}"),
    ("families", "bench_model", f"--graph er,grid,ba,rmat,er:giant --nodes 400 --batch 1,3 {TINY}"),
    ("device", "emulated/bench_node_scaling", f"--device cuda --nodes 20,50 {TINY}"),
)


def run_sweeps(build, directory, calibration=None):
    build = os.path.abspath(build)
    os.makedirs(directory, exist_ok=True)
    if calibration:
        shutil.copy(os.path.join(calibration, "calibration.json"), directory)
    sweeps = [(name, name, "") for name in sorted(os.listdir(build)) if re.fullmatch(r"bench_\w+", name)]
    failed = False
    for name, program, flags in [*sweeps, *SWEEPS]:
        program = os.path.join(build, program)
        if not os.path.exists(program):
            continue
        print(name, flush=True)
        saving = [] if "meta" in flags else ["--output", f"{name}.jsonl"]
        run = subprocess.run([program, *"--runs 3 --warmup 1 --no-charts --format json".split(), *flags.split(), *saving],
                             cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if not saving:
            with open(os.path.join(directory, f"{name}.jsonl"), "w", encoding="utf-8") as file:
                file.write(run.stdout)
        if run.returncode not in (0, 1) or not run.stdout:
            failed = True
            print(f"{name}: exit status {run.returncode}\n{run.stderr}")
    return failed


# A value of each flag that is good, for pairs; those that are not here take the default in --help, or none.
GOOD = {
    "nodes": "8", "hidden": "16", "heads": "2", "layers": "1", "device": "cpu", "impl": "linear=ref", "op": "linear",
    "phase": "forward", "trace": "t.json", "count": "off", "seed": "1", "check-budget": "1", "budget": "1",
    "cold": "1", "runs": "2", "warmup": "0", "format": "csv", "columns": "step", "output": "x.json",
    "dump": "d", "mem-limit": "1GiB", "timeout": "5", "find": "nodes=memory:8MiB", "threshold": "latency:100s",
    "baseline": "b.json", "against": "/bin/true", "pe": "lap:4", "solver": "lapack", "graph": "grid", "threads": "1",
    "list": "ops", "data": "labels=none", "ceilings": "measure", "gate": "strict",
}
BAD = ("", "nonsense", "-1", "0", "1.5", "1e999", "99999999999999999999", "nan", "1 ", ",", "1,1", "1m", "1s", "2-1*2", "a\tb")
# Alone they print and exit; in a pair they would hide the other's error.
ABOUT = ("help", "version", "list", "dry-run")


def flags_of(program):
    """Of --help: the flags by name, each with a good value, or None if it takes none."""
    text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    found = {}
    for name, argument, meaning in re.findall(r"^  --([\w-]+) ([A-Z=]*)(.*)$", text, re.M):
        default = re.search(r"\(default ([^ ),]+)", meaning)
        found[name] = (GOOD.get(name) or default[1]) if argument else None
    return found


def made_lines(build):
    for name in ("bench_node_scaling", "bench_kernels", "bench_pe_scaling"):
        flags = flags_of(os.path.join(build, name))
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
        for flag in ABOUT:
            yield [name, *good[flag], "--nodes", "8", "--device", "meta"]
    for name in ("compare", "plot", "findings"):
        for words in ([], ["--help"], ["none.json"], ["none.json", "none.json"], ["--nonsense"], ["/dev/null", "."]):
            yield [name, *words]
    for words in ("--format xml", "--phase none", "--margin -1", "--same 2", "--ignore work", "--chart", "--format md"):
        yield ["compare", *words.split(), "a.json", "b.json"]


def outcome(build, line):
    """Exit status, stdout and stderr, in an empty directory."""
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
    lines = list(made_lines(builds[0]))
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
    modes = {"--sweeps": (run_sweeps, (2, 3)), "--lines": (compare_lines, (2, 3))}
    mode, counts = modes.get(arguments[0] if arguments else "", (compare_results, (2,)))
    words = arguments[mode is not compare_results:]
    if len(words) not in counts:
        print(__doc__, file=sys.stderr)
        return 2
    return int(mode(*words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
