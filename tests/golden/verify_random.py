#!/usr/bin/env python3
"""Dumps steps of random configurations and verifies each in PyTorch: verify_random.py [--count N]"""

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from verify_dump import report, verify

ROOT = Path(__file__).resolve().parents[2]


def draw(rng: random.Random) -> dict[str, object]:
    """Small and awkward: widths that no vector length divides, one node, one head, isolated nodes."""
    heads = rng.randint(1, 8)
    return {
        "nodes": rng.choice([1, rng.randint(2, 40), rng.randint(41, 400)]),
        "degree": rng.choice([0, 2.5, 5]),
        "layers": rng.randint(1, 5),
        "heads": heads,
        "hidden": heads * rng.randint(1, 40),
        "ffn": rng.choice([0, rng.randint(1, 300)]),
        "act": rng.choice(["gelu", "gelu_tanh", "relu"]),
        "threads": rng.randint(1, 3),
        "seed": rng.randrange(2**32),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=10, help="configurations (10)")
    parser.add_argument("--seed", type=int, default=1, help="of the configurations (1)")
    parser.add_argument("--bench", default=ROOT / "build/bench_node_scaling", help="the benchmark to run")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    good = True
    for _ in range(arguments.count):
        flags = " ".join(f"--{name} {value}" for name, value in draw(rng).items())
        with tempfile.TemporaryDirectory() as scratch:
            dump = Path(scratch, "dump")
            command = [str(arguments.bench), *flags.split(), "--phase", "step", "--runs", "1"]
            command += ["--warmup", "0", "--no-check", "--output", f"{scratch}/row.json", "--dump", str(dump)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            good &= report(flags, verify(dump), rows=2)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
