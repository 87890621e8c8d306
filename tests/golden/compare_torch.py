#!/usr/bin/env python3
"""Times gtmark's models against PyTorch and PyG: same graphs, work, threads and machine, interleaved.

A round is one block of gtmark followed by one block of each peer, every block with its own warm-up. The ratio of a row
is the median over the rounds of (peer's median / gtmark's median in the same round), for the peer that was fastest over
all rounds, and beside it stands its 95 % interval, [low, high], by ranks as in docs/methods.md (time). With fewer than
six rounds there is none, and the smallest and the largest ratio of a round stand there: (low to high). Rounds in which
gtmark found the machine in different states (docs/methods.md, time) have ratios of their own. "gtmark / bound" is
gtmark's time over its bound in the same round (docs/methods.md, roofline).

Load from other programs is measured: a round in which they used more than BUSY of the cores is discarded and
repeated, up to a limit, because a parallel program slows down out of proportion when one of its threads waits
for a core. On a GPU (--device cuda) the cores only launch work, and no round is discarded; both sides time runs with
events. gtmark replays a graph, as the peers graph and reduce-overhead do, and its rounds are the repetitions of one process,
before the peers', since opening a GPU takes longer than a block.

--ops compares single operations instead, at 20000 nodes and 160000 edges; attention with a bias at 1000 nodes.
"""

import argparse
import copy
import functools
import itertools
import json
import math
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Both sides choose their own kernels and threads: settings for one must not affect the other. gtmark gets the
# environment as it was before PyTorch's libraries could change it.
for _name in [n for n in os.environ if n.startswith(("OPENBLAS_", "OMP_", "GOMP_", "KMP_", "MKL_"))]:
    del os.environ[_name]
ENVIRONMENT = dict(os.environ)

import keep_memory  # noqa: E402, F401
import torch  # noqa: E402
import torch_batch  # noqa: E402
import torch_model  # noqa: E402
import torch_ops  # noqa: E402
import torch_record  # noqa: E402
from torch_ops import FEWEST, MOST  # noqa: E402

BUSY = 0.05  # share of the cores that other programs may use during a round
WAITED = 1e-5  # seconds: pings from here on waited for another program, so that their round is in no state
FEWEST_OF_INTERVAL = 6  # rounds
ROOT = Path(__file__).resolve().parents[2]
OUTPUT = "adds the rows to the result files there, one of each contestant, for build/compare"


def arguments():
    p = argparse.ArgumentParser(description="gtmark against PyTorch, interleaved")
    p.add_argument("--ops", nargs="?", const=",".join(OPS), metavar="LIST",
                   help="single operations instead of models: all, or these of " + ", ".join(OPS))
    p.add_argument("--model", default="graph_transformer", choices=torch_model.MODELS)
    p.add_argument("--nodes", default="100,500,1000,2000",
                   help="comma list, of each graph on average (default %(default)s)")
    p.add_argument("--batch", type=int, default=1, help="graphs")
    p.add_argument("--graph", default="er", help="a family of gtmark's (default %(default)s)")
    p.add_argument("--degree", type=float, default=5, help="mean degree (default %(default)s)")
    p.add_argument("--hidden", default="256", help="comma list (default %(default)s)")
    p.add_argument("--layers", type=int, default=6)
    p.add_argument("--heads", type=int, default=8)
    p.add_argument("--ffn", type=int, default=0, help="0: twice the width (default)")
    p.add_argument("--precision", default="f32", metavar="LIST", help="of both sides: f32 (default), tf32 on a GPU, "
                   "bf16: each peer with autocast, and as a bfloat16 model")
    p.add_argument("--device", default="cpu", choices=torch_ops.TIMED, help="default %(default)s")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--programs", default=",".join(torch_model.PROGRAMS))
    p.add_argument("--peers", help="of " + ", ".join(torch_model.PEERS) + " (default eager,compile; on a GPU "
                   "eager,graph: eager as it is, and captured as a CUDA graph)")
    p.add_argument("--rounds", type=int, default=7, help="in one state of the machine (default %(default)s)")
    p.add_argument("--seconds", type=float, default=0.4, help="length of a block (default %(default)s)")
    p.add_argument("--patience", type=float, default=20, metavar="SECONDS",
                   help="seconds of waiting and discarded rounds per row (default %(default)s)")
    p.add_argument("--output", type=Path, metavar="FOLDER", help=OUTPUT)
    p.add_argument("--bench", type=Path, default=ROOT / "build/bench_node_scaling")
    a = p.parse_args()
    a.peers = a.peers or ("eager,compile" if a.device == "cpu" else "eager,graph")
    here = [peer for peer, devices in torch_model.PEERS.items() if a.device in devices]
    for text, known in ((a.programs, torch_model.PROGRAMS), (a.peers, here), (a.ops or "ffn", OPS),
                        (a.precision, torch_model.CASTS)):
        for unknown in set(text.split(",")) - set(known):
            p.error(f"{unknown}: not one of {', '.join(known)}")
    if a.device != "cpu" and a.ops:
        p.error(f"--device {a.device}: --ops are for the CPU")
    if a.device == "cpu" and "tf32" in a.precision.split(","):
        p.error("--precision tf32: PyTorch has it on GPUs only")
    if a.precision != "f32" and (a.ops or "onednn" in a.peers.split(",")):
        p.error(f"--precision {a.precision}: --ops and the peer onednn are in f32")
    if a.device == "cuda" and not torch.cuda.is_available():
        p.error("--device cuda: PyTorch finds no GPU")
    if not a.bench.is_file():
        p.error(f"{a.bench}: no such program; build it with make")
    return a


class Gtmark:
    """Blocks of one gtmark program, each a separate process."""

    def __init__(self, args, kind, axes, scratch):
        self.kind, self.runs, self.seconds = kind, FEWEST, args.seconds
        self.command = [*command(args, kind, axes, "--repetitions=1"), f"--device={args.device}",
                        f"--precision={args.precision}", "--format", "json", "--output", f"{scratch}/ours.json"]
        self.document, self.ping, self.samples, self.bound = {}, 0, [], None

    def median(self):
        self.document = json.loads(call([*self.command, "--runs", str(self.runs)]))
        program = self.document["rows"][0][self.kind]
        found, self.bound = program["time"], program.get("bound", {}).get("time")
        self.ping, self.samples = found.get("state", {}).get("ping", 0), found["samples"]
        self.runs = min(max(math.ceil(self.seconds / found["median"]), FEWEST), MOST)
        return found["median"]


class GtmarkOnGpu:
    """The repetitions of one process for all programs, in the place of rounds. The first is once more the last, since the
    first block of a contestant does not count."""

    def __init__(self, args, axes, scratch):
        kinds = args.programs.split(",")
        budget = 2 + 2 * args.rounds * args.seconds * len(kinds)
        self.document = json.loads(call([
            *command(args, args.programs, axes, f"--repetitions={args.rounds}"), f"--device={args.device}",
            f"--precision={args.precision}", f"--budget={budget}", "--energy=no", "--cold=0", "--format", "json",
            "--output", f"{scratch}/ours.json"]))

    def of(self, kind):
        """The contestant for one program."""
        other = copy.copy(self)
        program = self.document["rows"][0][kind]
        samples, blocks = iter(program["time"]["samples"]), program["time"]["blocks"]
        other.turns = itertools.cycle([list(itertools.islice(samples, int(n))) for n in blocks])
        other.ping, other.samples, other.bound = 0, [], program.get("bound", {}).get("time")
        return other

    def median(self):
        self.samples = next(self.turns)
        return statistics.median(self.samples)


class Failed(Exception):
    """A program of either side, with its reason."""


def command(args, kind, axes, *flags):
    axes = [f"--{axis}={value}" for axis, value in axes.items()]
    return [str(args.bench), "--phase", kind, *axes, f"--threads={args.threads}", "--no-check",
            *(flags or ("--repetitions=1", "--no-roofline"))]


def call(line):
    """The output of a gtmark program."""
    done = subprocess.run(line, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"{' '.join(line)}: exit {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def batch_of(args, workload):
    """gtmark's graphs and features, on the device, dumped by a small model of the same workload."""
    small = {"model": "gin", "layers": 1, "hidden": 1, "heads": 1}
    with tempfile.TemporaryDirectory() as scratch:
        call([*command(args, "step", {**workload, **small}), "--runs", "1", "--warmup", "0", "--output",
              f"{scratch}/row.json", "--dump", f"{scratch}/dump"])
        batch, features = torch_batch.load(Path(scratch, "dump"))
    return batch.to(args.device), features.to(args.device)


class Torch:
    """Blocks of one peer program, in this process."""

    def __init__(self, run, args):
        self.run, self.seconds, self.device, self.samples = run, args.seconds, args.device, []
        run()  # includes compilation, if any

    @classmethod
    def fastest(cls, name, runs, args):
        """Of several ways to do the same, each a function that makes a run; None if none runs."""
        made = {}
        for way, make in runs.items():
            try:
                made[way] = cls(make(), args)
            except (RuntimeError, NotImplementedError) as error:  # of a library that lacks something, on some GPUs
                if args.device == "cpu":
                    raise
                print(f"{' '.join([name, way]).strip()} left out: {str(error).splitlines()[0]}", file=sys.stderr)
        if len(made) < 2:
            return next(iter(made.values()), None)
        times = {way: peer.median() for way, peer in made.items()}
        told = ", ".join(f"{way} {1e3 * seconds:.3f} ms" for way, seconds in times.items())
        print(f"{name}: the fastest of {told}", file=sys.stderr)
        return made[min(times, key=times.get)]

    def median(self):
        self.samples = torch_ops.block(self.run, self.seconds, self.device)
        return statistics.median(self.samples)


class Others:
    """The share of the cores used by other processes since the object was created."""

    def __init__(self):
        self.before = self.now()

    @staticmethod
    def now():
        user, nice, system, _, _, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
        busy = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
        return busy - sum(os.times()[:4]), time.perf_counter()

    def share(self):
        (busy, end), (busy_before, start) = self.now(), self.before
        return (busy - busy_before) / (end - start) / os.cpu_count()


def await_idle(until):
    """Waits until other processes leave the cores idle, or until `until`."""
    while time.perf_counter() < until:
        others = Others()
        time.sleep(0.5)
        if others.share() <= BUSY:
            return


def median_of(values):
    """The median and its interval."""
    values, n = sorted(values), len(values)
    median = f"{statistics.median(values):.2f}"
    if n < FEWEST_OF_INTERVAL:
        return f"{median} ({values[0]:.2f} to {values[-1]:.2f})" if n > 1 else median
    left = 0  # so many are left out at either end
    while 2 * sum(math.comb(n, k) for k in range(left + 2)) <= 0.01 * 2**n:
        left += 1
    return f"{median} [{values[left]:.2f}, {values[-1 - left]:.2f}]"


def ratios_of(rounds, over, under):
    """The ratio in each state of the machine, with its interval."""
    states = torch_record.by_state(rounds)
    shown = [median_of([r[over] / r[under] for r in state]) for state in states]
    named = [f"{m} in state {1e9 * s[0]['ping']:.0f} ns" for m, s in zip(shown, states)]
    return ", ".join(named) if len(states) > 1 else shown[0]


def measure(contestants, args):
    """Medians and samples of every contestant in every quiet round, with the ping of gtmark's block, and the number of
    rounds tried: until one state of the machine has as many rounds as asked for, or all three times as many.
    """
    for contestant in contestants.values():
        contestant.median()
    rounds, tried, until = [], 0, time.perf_counter() + args.patience
    on_cores = args.device == "cpu"

    def wanted():
        return len(rounds) < 3 * args.rounds and max(map(len, torch_record.by_state(rounds)), default=0) < args.rounds

    while wanted() and (time.perf_counter() < until or not tried):
        if on_cores:
            await_idle(until)
        others, start = Others(), time.perf_counter()
        medians = {name: contestant.median() for name, contestant in contestants.items()}
        tried += 1
        ping, bound = (getattr(contestants["ours"], name, None) or 0 for name in ("ping", "bound"))
        if not on_cores or (others.share() <= BUSY and ping < WAITED):
            samples = {name: getattr(contestant, "samples", []) for name, contestant in contestants.items()}
            rounds.append({**medians, "ping": ping, "bound": bound, "samples": samples})
            until += time.perf_counter() - start
    if not rounds:
        print(f"busy: in each of {tried} rounds other programs used more than {BUSY:.0%} of the cores", file=sys.stderr)
    return rounds, tried


def record(args, document, rows, found):
    """Adds what was found of each program, by its name, to the files of --output; gtmark's rows are by program, too."""
    if not (args.output and found):
        return
    contestants = {who: None for rounds in found.values() for who in rounds[0]["samples"]}
    own = next(iter(rows.values()))["device"]
    devices = {who: own if who == "ours" else f"torch-{who}" for who in contestants}
    rows = {device: torch_record.row(rows, who, device,
                                     {kind: rounds for kind, rounds in found.items() if who in rounds[0]["samples"]})
            for who, device in devices.items()}
    torch_record.add(args.output, document, rows, {"torch": torch.__version__}, shlex.join(sys.argv))


def peers_of(args):
    """The peers, by name: eager, or eager-autocast and eager-bfloat16; each with its cast."""
    casts = torch_model.CASTS[args.precision]
    return {f"{peer}-{cast}".rstrip("-"): (peer, cast) for peer in args.peers.split(",") for cast in casts}


def row(args, kind, config, workload, ours):
    """A line of the table, and the rounds."""
    batch, features = batch_of(args, workload)
    peers = {}
    for name, (peer, cast) in peers_of(args).items():
        runs = {way: functools.partial(torch_model.program, kind, peer, cast, config, batch.but(way=way), features)
                for way in torch_model.ways(peer, config, batch, features)}
        if made := Torch.fastest(name, runs, args):
            peers[name] = made
    rounds, tried = measure({"ours": ours, **peers}, args)
    theirs, here = torch_model.parameters(config), ours.document["rows"][0]["parameters"]
    if theirs != here:
        raise Failed(f"the numbers of parameters differ: {here} here, {theirs} in PyTorch")
    return line_of([workload["nodes"], config.hidden, kind], peers_of(args), rounds, tried), rounds


def line_of(cells, peers, rounds, tried):
    """A line of the table: the first cells, medians over the rounds, and the ratio to the best peer that ran."""
    if rounds:
        typical = {name: statistics.median(r[name] for r in rounds) for name in ("ours", *peers) if name in rounds[0]}
        best = min(typical.keys() - {"ours"}, key=typical.get, default="-")
        cells += [*(f"{1e3 * typical[name]:.2f}" if name in typical else "-" for name in ("ours", *peers)), best,
                  ratios_of(rounds, best, "ours") if best in typical else "-", over_bound(rounds)]
    else:
        cells += ["busy"] * (len(peers) + 4)
    return "| " + " | ".join(map(str, [*cells, f"{len(rounds)} of {tried}"])) + " |"


def over_bound(rounds):
    """gtmark's time over its bound, in each state of the machine; "-" if no round found peak rates for its state."""
    known = [r for r in rounds if r["bound"]]
    return ratios_of(known, "ours", "bound") if known else "-"


def versions_on_gpu(document):
    """Description of a comparison on a GPU."""
    gpu = document["devices"][0]
    return (f"gtmark {document['commit']}: {gpu['name']}, CUDA {gpu['cuda_runtime']}, cuBLAS {gpu['cublas']}\n\n"
            f"torch {torch.__version__}: {torch.cuda.get_device_name()}, CUDA {torch.version.cuda}")


def versions(document):
    """Description of a comparison, in a few lines."""
    shown = torch.__config__.show()
    parts = [re.search(pattern, shown) for pattern in (r"Math Kernel Library Version \S+", r"MKL-DNN v\S+",
                                                       r"CPU capability usage: \S+", r"BLAS_INFO=\w+")]
    host, libraries = document["host"], document["libraries"]
    return (f"gtmark {document['commit']}: {host['instruction_set']}; {libraries['blas']}\n\n"
            f"torch {torch.__version__}: {', '.join(p.group() for p in parts if p)}")


def heading(columns, peers):
    columns = [*columns, "gtmark ms", *(f"torch {p} ms" for p in peers), "best", "best / gtmark [95 %]",
               "gtmark / bound", "quiet rounds"]
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|", flush=True)


def rows_of(args, config, workload, scratch):
    """Prints and records the rows of all programs; gtmark's last JSON document."""
    axes = {**workload, **vars(config)}
    on_gpu = GtmarkOnGpu(args, axes, scratch) if args.device == "cuda" else None
    found, rows = {}, {}
    for kind in args.programs.split(","):
        ours = on_gpu.of(kind) if on_gpu else Gtmark(args, kind, axes, scratch)
        line, rounds = row(args, kind, config, workload, ours)
        print(line, flush=True)
        if rounds:
            found[kind], rows[kind] = rounds, ours.document["rows"][0]
    record(args, ours.document, rows, found)
    return ours.document


def table(args):
    """One row per width, number of nodes and program; gtmark's last JSON document. On a GPU a row that fails does not
    end it; None if all do.
    """
    heading(["nodes", "hidden", "program"], peers_of(args))
    document = None
    with tempfile.TemporaryDirectory() as scratch:
        for hidden in map(int, args.hidden.split(",")):
            config = torch_model.Config(args.model, args.layers, hidden, args.heads, args.ffn or 2 * hidden)
            for nodes in map(int, args.nodes.split(",")):
                workload = {"nodes": nodes, "batch": args.batch, "graph": args.graph, "degree": args.degree}
                try:
                    document = rows_of(args, config, workload, scratch)
                except Failed as failed:
                    if args.device == "cpu":
                        raise
                    print(f"{nodes} nodes, {args.precision} left out: {failed}", file=sys.stderr, flush=True)
    return document


# gtmark's ops for an operation of torch_ops, forward and backward, as in a training step.
OPS = {
    "aggregate": ("spmm", "spmm_backward"),
    "sparse_attention": ("sparse_attention", "sparse_attention_backward"),
    "biased_attention": ("attention+bias", "attention_backward+bias"),
    "layer_norm": ("add_layer_norm", "layer_norm_backward"),
    "ffn": ("mlp", "mlp_backward"),
}


class GtmarkOp:
    """Blocks of an operation in gtmark: bench_kernels with its ops, warm."""

    def __init__(self, args, name, kind, shape, scratch):
        ops = OPS[name][: 1 + (kind == "forward+backward")]
        axes = {"nodes": shape.nodes, "degree": shape.edges / shape.nodes, "hidden": shape.hidden,
                "ffn": 2 * shape.hidden, "heads": shape.heads, "threads": args.threads,
                "budget": args.seconds * len(ops)}
        flags = [f"--impl={op}={'flash' if '+bias' in op else 'simd'}" for op in ops]
        self.command = [str(args.bench.parent / "bench_kernels"), "--op", ",".join(ops), *flags,
                        *(f"--{axis}={value}" for axis, value in axes.items()), "--repetitions=1", "--cold=0", "--no-check",
                        "--no-charts", "--format=json", "--output", f"{scratch}/ours.json"]
        self.ping, self.bound = 0, None

    def median(self):
        programs = [row["kernel"] for row in json.loads(call(self.command))["rows"]]
        bounds = [program.get("bound", {}).get("time") for program in programs]  # absent without peak rates
        self.ping = programs[0]["time"].get("state", {}).get("ping", 0)
        self.bound = sum(bounds) if all(bounds) else None
        return sum(program["time"]["median"] for program in programs)


def ops_row(args, name, kind, shape, scratch):
    """One row of the table: medians over quiet rounds, and the ratio to the best peer."""
    peers = {peer: Torch(run, args) for peer, run in torch_ops.programs(name, kind, shape).items()}
    rounds, tried = measure({"ours": GtmarkOp(args, name, kind, shape, scratch), **peers}, args)
    if not rounds:
        return f"| {name} | {kind} | busy | | | | 0 of {tried} |"
    typical = {who: statistics.median(r[who] for r in rounds) for who in ("ours", *peers)}
    best = min(peers, key=typical.get)
    others = ", ".join(f"{peer} {1e3 * typical[peer]:.3f}" for peer in peers)
    return (f"| {name} | {kind} | {1e3 * typical['ours']:.3f} | {others} | {best}: "
            f"{ratios_of(rounds, best, 'ours')} | {over_bound(rounds)} | {len(rounds)} of {tried} |")


def ops_table(args):
    print("| op | pass | gtmark ms | peers ms | best / gtmark [95 %] | gtmark / bound | quiet rounds |")
    print("|---" * 7 + "|")
    with tempfile.TemporaryDirectory() as scratch:
        for name in args.ops.split(","):
            for kind in torch_ops.KINDS:
                shape = torch_ops.SHAPES.get(name, torch_ops.Shape())
                print(ops_row(args, name, kind, shape, scratch), flush=True)
    print(f"\n{args.threads} threads; {torch_ops.Shape()}, {torch_ops.SHAPES}; torch {torch.__version__}; above 1: gtmark is faster")


def in_precision(args):
    """The table of one precision, and what it is of; whether there is one."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = args.precision == "tf32"
    document = table(args)
    if not document:
        return False
    where = f"{args.threads} threads" if args.device == "cpu" else args.device
    print(f"\n{args.model}: {where}, {args.precision}, {args.layers} layers, {args.heads} heads; {args.graph} of "
          f"degree {args.degree:g}, {args.batch} in a batch; above 1: gtmark is faster\n")
    print(versions(document) if args.device == "cpu" else versions_on_gpu(document), flush=True)
    return True


def main():
    args = arguments()
    torch.set_num_threads(args.threads)
    torch.manual_seed(42)
    if args.ops:
        ops_table(args)
        return
    good = [in_precision(argparse.Namespace(**{**vars(args), "precision": p})) for p in args.precision.split(",")]
    sys.exit(not all(good))


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        sys.exit(str(failed))
