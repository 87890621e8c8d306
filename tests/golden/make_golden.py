#!/usr/bin/env python3
"""Writes the golden results beside this script, computed by PyTorch in float64: make_golden.py

Layers stand in a directory each: output, loss and every gradient, in full. Of a whole model there are the
losses of three steps of AdamW, and of the first step the output and the products of every gradient with
random vectors, from the left and (of more than one row) from the right: every entry is in them, in a
fraction of the space. Inputs are not stored: tests/test_golden.c makes the same from the same recipe.
"""

from math import sqrt
from pathlib import Path
from typing import Callable

import numpy as np
import torch
from torch import Tensor

import reference as r

GRAPHS = [0, 61, 62, 137]  # three graphs; the one in the middle is a single node
NODES, WIDTH, HEADS, EPS = GRAPHS[-1], 12, 3, 1e-5
SEED = 7
DATA = Path(__file__).resolve().parent / "data"

Parameters = dict[str, Tensor]


def parameter(name: str, rows: int, cols: int, bound: float = 1.0) -> Tensor:
    return torch.tensor(r.uniform(SEED, name, rows, cols, bound), requires_grad=True)


def save(case: str, name: str, array: np.ndarray) -> None:
    (DATA / case).mkdir(parents=True, exist_ok=True)
    np.save(DATA / case / f"{name}.npy", array)


# --- layers: their parameters, of which "x" is the input, and what they compute


def dense(prefix: str, inputs: int, outputs: int) -> dict[str, tuple[int, int]]:
    return {prefix + "weight": (outputs, inputs), prefix + "bias": (1, outputs)}


D = WIDTH
X = {"x": (NODES, D)}
LAYERS: dict[str, tuple[dict[str, tuple[int, int]], Callable[[Parameters], Tensor]]] = {
    f"linear_{act}": (
        {**X, **dense("layer.", D, 10)},
        lambda p, act=act: r.ACTIVATIONS[act](r.linear(p, "layer.", p["x"])),
    )
    for act in r.ACTIVATIONS
}
LAYERS |= {
    "mlp": (
        {**X, **dense("layer.up.", D, 17), **dense("layer.down.", 17, D)},
        lambda p: r.mlp(p, "layer.", p["x"], "gelu"),
    ),
    "add_norm": (
        {**X, "branch": (NODES, D), "layer.weight": (1, D), "layer.bias": (1, D)},
        lambda p: r.add_norm(p, "layer.", p["x"], p["branch"], EPS),
    ),
    "attention": (
        {**X, **dense("layer.qkv.", D, 3 * D), **dense("layer.out.", D, D)},
        lambda p: r.attention(p, "layer.", p["x"], GRAPHS, HEADS),
    ),
    "mean_pool": (X, lambda p: r.mean_pool(p["x"], GRAPHS)),
    "mse": (X, lambda p: p["x"]),
}


def make_layer(case: str) -> None:
    shapes, forward = LAYERS[case]
    parameters = {name: parameter(name, *shape) for name, shape in shapes.items()}
    output = forward(parameters)
    loss = r.mse(output, torch.tensor(r.uniform(SEED, "targets", *output.shape)))
    loss.backward()
    if case != "mse":  # whose output is the loss
        save(case, "output", output.detach().numpy())
    save(case, "loss", loss.detach().numpy())
    for name, p in parameters.items():
        save(case, f"grad.{name}", p.grad.numpy())


# --- a whole model

MODEL = {"layers": 2, "hidden": 96, "heads": HEADS, "ffn": 192, "act": "gelu", "eps": EPS}
FEATURES = 16


def model_parameters() -> Parameters:
    """In the order in which the model declares them, initialised as it does."""
    d, f = MODEL["hidden"], MODEL["ffn"]
    shapes = dense("input.", FEATURES, d)
    for layer in range(1, MODEL["layers"] + 1):
        name = f"layer{layer}."
        shapes |= dense(name + "attention.qkv.", d, 3 * d) | dense(name + "attention.out.", d, d)
        shapes |= {name + "norm_attention.weight": (1, d), name + "norm_attention.bias": (1, d)}
        shapes |= dense(name + "ffn.up.", d, f) | dense(name + "ffn.down.", f, d)
        shapes |= {name + "norm_out.weight": (1, d), name + "norm_out.bias": (1, d)}
    shapes |= dense("head.", d, 1)

    def initial(name: str, rows: int, cols: int) -> Tensor:
        if "norm" in name:
            value = 1.0 if name.endswith("weight") else 0.0
            return torch.full((rows, cols), value, dtype=torch.float64, requires_grad=True)
        fan_in = shapes[name.removesuffix("bias") + "weight"][1] if name.endswith("bias") else cols
        return parameter(name, rows, cols, 1 / sqrt(fan_in))

    return {name: initial(name, *shape) for name, shape in shapes.items()}


def make_model() -> None:
    parameters = model_parameters()
    features = torch.tensor(r.uniform(SEED, "features", NODES, FEATURES))
    targets = torch.tensor(r.uniform(SEED, "targets", len(GRAPHS) - 1, 1))
    optimizer = torch.optim.AdamW(
        parameters.values(), lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01
    )
    losses = []
    for step in range(3):
        optimizer.zero_grad()
        output = r.graph_transformer(parameters, MODEL, features, GRAPHS)
        loss = r.mse(output, targets)
        loss.backward()
        losses.append(loss.item())
        if step == 0:
            save("graph_transformer", "output", output.detach().numpy())
            gradients = [p.grad.numpy() for p in parameters.values()]
            left = [g.T @ r.uniform(SEED, "left", g.shape[0], 1) for g in gradients]
            right = [g @ r.uniform(SEED, "right", g.shape[1], 1) for g in gradients if g.shape[0] > 1]
            save("graph_transformer", "gradients_left", np.concatenate(left))
            save("graph_transformer", "gradients_right", np.concatenate(right))
        optimizer.step()
    save("graph_transformer", "losses", np.array(losses).reshape(-1, 1))


if __name__ == "__main__":
    for layer in LAYERS:
        make_layer(layer)
    make_model()
