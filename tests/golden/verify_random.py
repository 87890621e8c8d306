#!/usr/bin/env python3
"""Dumps steps of random configurations and verifies each in PyTorch: verify_random.py [--count N]

With --statuses, the benchmark's own check of each is judged instead: all are right, so none may be `wrong`.

Exit status 1 if a step is wrong; one beyond the limits is not necessarily wrong: see `judge`.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import reference as r
from verify_dump import judge

ROOT = Path(__file__).resolve().parents[2]


def draw_parts(rng: random.Random) -> dict[str, object]:
    """A model whose branches are sometimes replaced; at least one branch remains."""
    parts = {
        "model": rng.choice(list(r.PRESETS)),
        "attention": rng.choice(["model", "model", "dense", "sparse", "unfused", *r.FEATURE_MAPS, "none"]),
        "mpnn": rng.choice(["model", "model", "gin", "gcn", "gatv2", "pna", "gine", "gatedgcn", "gatv2-edge", "pna-edge", "none"]),
    }
    if parts["attention"] == "none" and parts["mpnn"] in ("model", "none"):
        parts["mpnn"] = "gin"
    if parts["model"] == "gin" and parts["attention"] == "model" and parts["mpnn"] == "none":
        parts["mpnn"] = "model"
    if parts["attention"] in ("dense", "unfused"):
        parts["attention-dropout"] = rng.choice([0, 0.2, 0.5])
    return parts | {
        "dropout": rng.choice([0, 0.1, 0.5]),
        "norm": rng.choice(["layer", "batch", "graph", "none"]),
        "pool": rng.choice(["mean", "sum", "max"]),
        "task": rng.choice(["graph", "graph", "node", "edge"]),
    }


def draw_graphs(rng: random.Random, scratch: str) -> dict[str, object]:
    """A graph family, or a list of directed edges with loops, duplicates and isolated nodes, and features of any size."""
    nodes = rng.choice([1, rng.randint(2, 40), rng.randint(41, 400)])
    if rng.random() < 0.3:
        ends = [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(rng.randint(1, 3 * nodes))]
        path = Path(scratch, "edges.txt")
        path.write_text("".join(f"{sender} {receiver}\n" for sender, receiver in ends))
        rows = len({end for pair in ends for end in pair})
        features = np.random.default_rng(rng.randrange(2**32)).uniform(-1, 1, (rows, rng.randint(1, 20)))
        np.save(Path(scratch, "features.npy"), (features * 10.0 ** rng.randint(-3, 6)).astype(np.float32))
        return {"graph": f"file:{path}", "features": f"{scratch}/features.npy"}
    return {
        "graph": rng.choice(["er", "er", "grid", "ba", "rmat"]),
        "nodes": nodes,
        "batch": rng.choice([1, 1, rng.randint(2, 6)]),
        "degree": rng.choice([0, 2.5, 5]),
    }


# Published models: types, encoders, heads and losses that have no flag. Few layers of few graphs.
PUBLISHED = ["zinc", "zinc-lap", "pattern", "cluster", "mnist", "cifar10", "malnet", "peptides-func"]
PUBLISHED += ["peptides-struct", "pcqm-contact", "molhiv", "pcqm4m-deep"]


def published_flags(rng: random.Random) -> dict[str, object]:
    flags = {"preset": rng.choice(PUBLISHED), "batch": rng.randint(2, 4), "layers": rng.randint(1, 3)}
    if rng.random() < 0.5:
        flags |= {"mpnn": rng.choice(["gine", "gatedgcn"]), "pe": rng.choice(["eslap:5", "heat:4", "lap:5:6", "none"])}
    return flags | {"threads": rng.randint(1, 3), "seed": rng.randrange(2**32)}


def random_flags(rng: random.Random, scratch: str) -> dict[str, object]:
    """Small and awkward: widths not divisible by the vector length, one node, one head, isolated nodes."""
    if rng.random() < 0.3:
        return published_flags(rng)
    heads = rng.randint(1, 8)
    parts, graphs = draw_parts(rng), draw_graphs(rng, scratch)
    if parts["norm"] == "batch" and parts["task"] == "graph" and graphs.get("batch", 1) == 1:
        # The mean and the sum of batch norm's output do not depend on its input: gradients are exactly zero,
        # and only rounding errors would be compared.
        parts["pool"] = "max"
    return {
        **parts,
        **graphs,
        "layers": rng.randint(1, 5),
        "heads": heads,
        "hidden": heads * rng.randint(1, 40),
        "ffn": rng.choice([0, rng.randint(1, 300)]),
        "act": rng.choice(["gelu", "gelu_tanh", "relu"]),
        "threads": rng.randint(1, 3),
        "seed": rng.randrange(2**32),
    }


def verdict(flags: str, command: list[str], record: Path) -> bool:
    """Whether the benchmark calls both programs ok; prints what it says otherwise."""
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    row = next(line for line in map(json.loads, record.read_text().splitlines()) if line["kind"] == "row")
    if row["status"] != "ok":
        print(f"{flags}: {row['status']}: {row['reason']}", flush=True)
    return row["status"] == "ok"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=10, help="configurations (10)")
    parser.add_argument("--seed", type=int, default=1, help="of the configurations (1)")
    parser.add_argument("--bench", default=ROOT / "build/bench_node_scaling", help="the benchmark to run")
    parser.add_argument("--statuses", action="store_true", help="judge the benchmark's check, without PyTorch")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    good = True
    for _ in range(arguments.count):
        with tempfile.TemporaryDirectory() as scratch:
            flags = " ".join(f"--{name} {value}" for name, value in random_flags(rng, scratch).items())
            dump, record = Path(scratch, "dump"), Path(scratch, "row.jsonl")
            command = [str(arguments.bench), *flags.split(), "--runs", "1", "--warmup", "0", "--output", str(record)]
            if arguments.statuses:
                command += ["--repetitions", "1", "--no-roofline", "--no-charts"]
                good &= verdict(flags, command, record)
                continue
            command += ["--phase", "step", "--no-check", "--dump", str(dump)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            good &= judge(flags, dump, rows=2)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
