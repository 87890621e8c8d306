#!/usr/bin/env python3
"""Recomputes dumped steps in PyTorch: verify_dump.py DIR...

Each DIR was written by a benchmark's --dump DIR. The step is recomputed in float64 from the dumped parameters
and inputs; output, loss and every gradient must agree within the limits of docs/methods.md, or have at most ten times
the error of PyTorch in float32, in the worst of several roundings. Exit status 1 otherwise.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

import reference as r
from reference import LIMIT_GRADIENT, LIMIT_OUTPUT, Error


CONDITION = 10  # our errors may exceed the limits by up to this factor times PyTorch's float32 errors
ROUNDINGS = 16  # of PyTorch in float32, for that


def load(directory: Path, kind: str) -> dict[str, np.ndarray]:
    """The arrays of KIND.NAME.npy, by name."""
    paths = sorted(directory.glob(f"{kind}.*.npy"))
    return {path.name[len(kind) + 1 : -len(".npy")]: np.load(path) for path in paths}


@dataclass(frozen=True)
class Step:
    """The results of a step."""

    output: np.ndarray
    loss: np.ndarray
    gradients: dict[str, np.ndarray]


def dumped(directory: Path) -> Step:
    arrays = (np.load(directory / f"{name}.npy") for name in ("output", "loss"))
    return Step(*arrays, load(directory, "grad"))


def edges_of(row_ptr: np.ndarray, col: np.ndarray, by_row: bool) -> np.ndarray:
    """All edges as words of receiver and sender, ascending; rows are receivers, or in a transpose senders."""
    row = np.repeat(np.arange(len(row_ptr) - 1), np.diff(row_ptr.flatten()))
    other = col.flatten().astype(np.int64)
    return np.sort((row << 32 | other) if by_row else (other << 32 | row))


def load_structure(directory: Path, inputs: dict[str, np.ndarray]) -> r.Structure:
    """From the program's inputs, of nodes without tokens; a model without edges has none, unless it reads degrees."""
    graphs = inputs["graphs"]
    if "token.rows" in inputs:
        graphs = graphs - np.arange(len(graphs))[:, None]
    if "degrees" in inputs and "adjacency.row" not in inputs:
        return r.structure(graphs, *(np.load(directory / f"graph.{name}.npy") for name in ("row_ptr", "col")))
    if "adjacency.row" not in inputs:
        return r.structure(graphs, np.zeros(graphs[-1, 0] + 1, np.int64), np.zeros(0, np.int64))
    row, col = inputs["adjacency.row"], inputs["adjacency.col"]
    if "adjacency.out_row" in inputs:
        transpose = edges_of(inputs["adjacency.out_row"], inputs["adjacency.out_col"], by_row=False)
        if not np.array_equal(edges_of(row, col, by_row=True), transpose):
            raise ValueError(f"{directory}: adjacency.out is not the transpose of adjacency")
    return r.structure(graphs, row, col)


def load_pairs(given: dict[str, torch.Tensor], parameters: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor | None] | None:
    """What r.pair_inputs makes, from the program's inputs: paths are data."""
    if "encoding.distances" not in given:
        return None
    row = given["encoding.distances"].flatten()
    if "encoding.paths" not in given:
        return row, None
    types, at = len(parameters["bias.types"]), given["encoding.paths"]
    tables = round(1 / float(given["encoding.path_factors"].max()))
    at = at.unflatten(1, (-1, tables))
    hop = torch.arange(at.shape[1])[None, :, None]
    if not torch.equal(torch.where(at > 0, (at - 1) // types, hop), hop.expand_as(at)):
        raise ValueError("encoding.paths has rows of other hops")
    return row, torch.where(at > 0, (at - 1) % types, -1)


def load_parameters(directory: Path, count: int, dtype: torch.dtype, nudge: int) -> dict[str, torch.Tensor]:
    """Changed by up to 2^-23 of themselves, at random, if `nudge`, a seed, is not 0."""
    arrays, rng = load(directory, "param"), np.random.default_rng(nudge)
    if nudge:
        arrays = {name: a * (1 + rng.uniform(-1, 1, a.shape) * 2.0**-23) for name, a in arrays.items()}
    if sum(a.size for a in arrays.values()) != count:
        raise ValueError(f"{directory}: expected {count} parameters")
    return {name: torch.tensor(a, dtype=dtype, requires_grad=True) for name, a in arrays.items()}


@dataclass(frozen=True)
class Floors:
    output: float
    loss: float


def floors_of(
    p: dict[str, torch.Tensor], last: str, x: torch.Tensor, y: torch.Tensor, targets: torch.Tensor | None, power: int
) -> Floors:
    """Cancellation in an output, or in a loss near its target, loses digits on both sides. `last`: the last layer."""
    terms = x.norm() * p[last + "weight"].norm() + len(y) ** 0.5 * p[last + "bias"].norm()
    sizes = 0.0 if targets is None else (y.abs() ** power + targets.abs() ** power).mean()
    return Floors(1e-2 * float(terms), 1e-2 * float(sizes))


LOSSES = {"mse": r.mse, "mae": r.mae, "cross_entropy": r.cross_entropy, "binary_cross_entropy": r.binary_cross_entropy}


def computed(directory: Path, dtype: torch.dtype, nudge: int = 0) -> tuple[Step, Floors]:
    """The step in PyTorch, and the floors of its errors."""
    config = json.loads((directory / "config.json").read_text())
    entry = config["model"]
    m, inputs = r.model_of(entry), load(directory, "input")
    parameters = load_parameters(directory, entry["parameters"], dtype, nudge)
    structure, masks = load_structure(directory, inputs), r.Masks(config["seed"], 0)
    given = {n: torch.tensor(a, dtype=dtype if a.dtype.kind == "f" else None) for n, a in inputs.items()}
    constants = {name: a for name, a in given.items() if "projection" in name}
    edge_features = given.get("edge_features", torch.zeros((0, 4), dtype=dtype))
    pairs = load_pairs(given, parameters)
    x = r.head_input(parameters | constants, m, given["features"], structure, masks, edge_features, given, pairs)
    rows, last = r.head_rows(parameters, x, m.act)
    output, floors = r.linear(parameters, last, rows), Floors(0.0, 0.0)
    if m.task == "edge":
        output = r.pair_products(output, given["pairs"])
    loss = LOSSES[m.loss](output, given["targets" if m.loss in ("mse", "mae") else "labels"])
    if m.task == "graph":
        with torch.no_grad():
            floors = floors_of(parameters, last, rows, output, given.get("targets"), 1 if m.loss == "mae" else 2)
    loss.backward()
    for name in r.unread_parameters(m):
        parameters[name].grad = torch.zeros_like(parameters[name])
    if unused := [name for name, p in parameters.items() if p.grad is None]:
        raise ValueError(f"{directory}: the model does not have {', '.join(unused)}")
    gradients = {name: p.grad.numpy() for name, p in parameters.items()}
    return Step(output.detach().numpy(), loss.detach().numpy(), gradients), floors


def errors_of(ours: Step, oracle: Step, floors: Floors) -> list[Error]:
    """The error of every tensor, the largest excess over its limit first."""
    if ours.gradients.keys() != oracle.gradients.keys():
        raise ValueError("not every parameter has a gradient")
    errors = [
        r.error_of("output", ours.output, oracle.output, LIMIT_OUTPUT, floors.output),
        r.error_of("loss", ours.loss, oracle.loss, LIMIT_OUTPUT, floors.loss),
        *r.gradient_errors(ours.gradients, oracle.gradients, LIMIT_GRADIENT),
    ]
    return sorted(errors, key=lambda e: e.excess, reverse=True)


def verify(directory: Path) -> list[Error]:
    return errors_of(dumped(directory), *computed(directory, torch.float64))


def float32_excess(directory: Path) -> float:
    """The largest error of PyTorch in float32, which shows how well the step is conditioned. Of several runs with
    other rounding errors: a rectifier near 0 or a maximum near a tie may fall to either side.
    """
    oracle = computed(directory, torch.float64)
    return max(errors_of(computed(directory, torch.float32, n)[0], *oracle)[0].excess for n in range(ROUNDINGS))


def report(title: str, errors: list[Error], rows: int) -> bool:
    """Prints the worst tensors; returns whether all are within their limits."""
    good = errors[0].excess <= 1
    print(f"{title}: {len(errors)} tensors, {'all within their limits' if good else 'beyond their limits'}")
    print(f"    {'tensor':40} {'error':>9} {'worst row':>9} {'of limit':>9}")
    for e in errors[:rows]:
        print(f"    {e.name:40} {e.norm:9.2e} {e.worst_row:9.2e} {e.excess:9.2%}")
    return good


def judge(title: str, dump: Path, rows: int) -> bool:
    """Beyond the limits a step may still be right: gradients that are exactly zero, as of a bias before batch norm,
    are rounding alone, and a rectifier near 0 may fall to the other side. Then PyTorch's own float32 is beyond them,
    too, or nearly so.
    """
    if report(title, errors := verify(dump), rows):
        return True
    ratio = errors[0].excess / float32_excess(dump)
    print(f"    {ratio:.1f} times the error of PyTorch in float32; {CONDITION} times are allowed")
    return ratio <= CONDITION


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directories", metavar="DIR", nargs="+", type=Path, help="what --dump DIR wrote")
    parser.add_argument("--rows", type=int, default=5, help="how many of the worst tensors to print (5)")
    arguments = parser.parse_args()
    try:
        good = [judge(str(d), d, arguments.rows) for d in arguments.directories]
    except (OSError, ValueError, KeyError) as error:
        parser.error(f"not a dump: {error}")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
