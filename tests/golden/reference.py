"""The suite's mathematics in PyTorch, in float64, and its measure of error.

Written from the definitions and not from the C sources, so that the two can be compared. Matrices are those
of the suite: biases, gains and the loss are matrices of one row.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "none": lambda x: x,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "relu": F.relu,
}

LIMIT_OUTPUT, LIMIT_GRADIENT = 1e-5, 1e-4  # of float32; a single row may have ten times as much


# --- layers: p holds the parameters by name, `name` is the layer's


def linear(p: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
    return x @ p[name + "weight"].T + p[name + "bias"]


def mlp(p: dict[str, Tensor], name: str, x: Tensor, act: str) -> Tensor:
    return linear(p, name + "down.", ACTIVATIONS[act](linear(p, name + "up.", x)))


def add_norm(p: dict[str, Tensor], name: str, x: Tensor, branch: Tensor, eps: float) -> Tensor:
    return F.layer_norm(x + branch, x.shape[1:], eps=eps) * p[name + "weight"] + p[name + "bias"]


def attention(p: dict[str, Tensor], name: str, x: Tensor, graphs: list[int], heads: int) -> Tensor:
    """Dense within each graph: nodes graphs[g] .. graphs[g + 1] - 1 attend to one another."""
    parts = []
    for first, end in zip(graphs, graphs[1:]):
        qkv = linear(p, name + "qkv.", x[first:end])
        q, k, v = (t.unflatten(1, (heads, -1)).transpose(0, 1) for t in qkv.chunk(3, dim=1))
        scores = q @ k.transpose(1, 2) / sqrt(q.shape[2])
        parts.append((scores.softmax(dim=2) @ v).transpose(0, 1).flatten(1))
    return linear(p, name + "out.", torch.cat(parts))


def mean_pool(x: Tensor, graphs: list[int]) -> Tensor:
    return torch.stack([x[first:end].mean(0) for first, end in zip(graphs, graphs[1:])])


def mse(y: Tensor, target: Tensor) -> Tensor:
    return ((y - target) ** 2).mean().reshape(1, 1)


def graph_transformer(p: dict[str, Tensor], model: dict, features: Tensor, graphs: list[int]) -> Tensor:
    """`model` is the entry of that name in a dump's config.json."""
    x = linear(p, "input.", features)
    for layer in range(1, model["layers"] + 1):
        name = f"layer{layer}."
        branch = attention(p, name + "attention.", x, graphs, model["heads"])
        x = add_norm(p, name + "norm_attention.", x, branch, model["eps"])
        x = add_norm(p, name + "norm_out.", x, mlp(p, name + "ffn.", x, model["act"]), model["eps"])
    return linear(p, "head.", mean_pool(x, graphs))


MODELS = {"graph_transformer": graph_transformer}


# --- random numbers (kernels/rng.h, kernels/ref/uniform.c)


def _mix(z: np.ndarray) -> np.ndarray:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _key(seed: int, name: str) -> np.ndarray:
    fnv = 0xCBF29CE484222325
    for byte in name.encode():
        fnv = (fnv ^ byte) * 0x100000001B3 % 2**64
    return _mix(np.array([fnv], np.uint64) ^ _mix(np.array([seed], np.uint64)))


def uniform(seed: int, name: str, rows: int, cols: int, bound: float = 1.0) -> np.ndarray:
    """The matrix of that name under a seed, uniform on [-bound, bound)."""
    counter = np.arange(1, rows * cols + 1, dtype=np.uint64)
    bits = _mix(_key(seed, name) + counter * np.uint64(0x9E3779B97F4A7C15))
    integers = (bits >> np.uint64(40)).astype(np.int64) - 2**23
    return integers.reshape(rows, cols) * float(np.float32(bound * 2.0**-23))


# --- error


@dataclass
class Error:
    name: str
    norm: float  # |a - r| / max(|r|, floor)
    worst_row: float  # the same of a single row, over at least the root-mean-square row norm
    limit: float

    @property
    def excess(self) -> float:
        """The error over its limit: beyond 1 the tensor is wrong. What is not a number is infinite."""
        excess = max(self.norm / self.limit, self.worst_row / (10 * self.limit))
        return excess if excess == excess else float("inf")


def error_of(name: str, ours: np.ndarray, oracle: np.ndarray, limit: float, floor: float = 0.0) -> Error:
    if ours.shape != oracle.shape:
        raise ValueError(f"{name} is {ours.shape}, but should be {oracle.shape}")
    difference = np.linalg.norm(ours.astype(np.float64) - oracle, axis=1)
    rows = np.linalg.norm(oracle, axis=1)
    size = max(np.linalg.norm(rows), floor)

    def ratio(d: np.ndarray, s: np.ndarray) -> float:
        return float(np.max(np.divide(d, s, out=np.where(d == 0, 0.0, np.inf), where=(s > 0) | np.isnan(d))))

    return Error(
        name,
        ratio(np.atleast_1d(np.linalg.norm(difference)), np.atleast_1d(size)),
        ratio(difference, np.maximum(rows, size / sqrt(len(rows)))),
        limit,
    )


def gradient_errors(ours: dict[str, np.ndarray], oracle: dict[str, np.ndarray], limit: float) -> list[Error]:
    """A gradient that is exactly zero is judged by the size of all: floor 1e-2 |g| sqrt(n / n_all)."""
    size = sqrt(sum(float(np.sum(g**2)) for g in oracle.values()))
    entries = sum(g.size for g in oracle.values())
    return [
        error_of("grad." + name, ours[name], g, limit, 1e-2 * size * sqrt(g.size / entries))
        for name, g in oracle.items()
    ]
