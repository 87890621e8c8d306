#!/usr/bin/env python3
"""Redoes dumped steps in PyTorch: verify_dump.py DIR...

Each DIR was written by a benchmark's --dump DIR. The step is computed again in float64 from the dumped
parameters, features and targets; output, loss and every gradient must agree within the limits of METRICS.md.
Exit status 1 where they do not.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import torch

from reference import LIMIT_GRADIENT, LIMIT_OUTPUT, MODELS, Error, error_of, gradient_errors, mse


def load(directory: Path, kind: str) -> dict[str, np.ndarray]:
    """The arrays of KIND.NAME.npy, by name."""
    paths = sorted(directory.glob(f"{kind}.*.npy"))
    return {path.name[len(kind) + 1 : -len(".npy")]: np.load(path) for path in paths}


def verify(directory: Path) -> list[Error]:
    """The error of every tensor, the largest excess over its limit first."""
    model = json.loads((directory / "config.json").read_text())["model"]
    inputs, gradients = load(directory, "input"), load(directory, "grad")
    parameters = {
        name: torch.tensor(p, dtype=torch.float64, requires_grad=True)
        for name, p in load(directory, "param").items()
    }
    if sum(p.numel() for p in parameters.values()) != model["parameters"]:
        raise ValueError(f"{directory}: the parameters are not {model['parameters']} numbers")
    if gradients.keys() != parameters.keys():
        raise ValueError(f"{directory}: not every parameter has a gradient")

    features, targets = (torch.tensor(inputs[name], dtype=torch.float64) for name in ("features", "targets"))
    graphs = inputs["graphs"].flatten().tolist()
    output = MODELS[model["name"]](parameters, model, features, graphs)
    loss = mse(output, targets)
    loss.backward()

    # Where an output happens to meet its target, their difference has lost the digits that both share.
    loss_floor = 1e-2 * float((output.detach() ** 2 + targets**2).mean())
    errors = [
        error_of("output", np.load(directory / "output.npy"), output.detach().numpy(), LIMIT_OUTPUT),
        error_of("loss", np.load(directory / "loss.npy"), loss.detach().numpy(), LIMIT_OUTPUT, loss_floor),
    ]
    expected = {name: p.grad.numpy() for name, p in parameters.items()}
    errors += gradient_errors(gradients, expected, LIMIT_GRADIENT)
    return sorted(errors, key=lambda e: e.excess, reverse=True)


def report(title: str, errors: list[Error], rows: int) -> bool:
    """Prints the worst tensors; whether all are within their limits."""
    good = errors[0].excess <= 1
    print(f"{title}: {len(errors)} tensors, {'all within their limits' if good else 'WRONG'}")
    print(f"    {'tensor':40} {'error':>9} {'worst row':>9} {'of limit':>9}")
    for e in errors[:rows]:
        print(f"    {e.name:40} {e.norm:9.2e} {e.worst_row:9.2e} {e.excess:9.2%}")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directories", metavar="DIR", nargs="+", type=Path, help="what --dump DIR wrote")
    parser.add_argument("--rows", type=int, default=5, help="how many of the worst tensors to print (5)")
    arguments = parser.parse_args()
    try:
        good = [report(str(d), verify(d), arguments.rows) for d in arguments.directories]
    except (OSError, ValueError, KeyError) as error:
        parser.error(f"not a dump: {error}")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
