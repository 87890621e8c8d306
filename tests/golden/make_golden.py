#!/usr/bin/env python3
"""Writes the golden results beside this script, computed by PyTorch in float64: make_golden.py [CASE...]

Each layer has a directory: output, loss and every gradient, in full. For a whole model these are the losses of
three AdamW steps and, for the first step, the output and the products of every gradient with random vectors,
from the left and (with more than one row) from the right: they depend on every entry, at a fraction of the
space. Inputs are not stored: tests/test_golden.c generates the same ones.
"""

import sys
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Callable

import numpy as np
import torch
from torch import Tensor

import reference as r

WIDTH, HEADS, EPS = 12, 3, 1e-5
LINEAR_HEADS = 2  # of 64 columns each
SEED = 7
# Nodes and edges of each graph: one has a single node, one no edges. Loops and duplicates are likely.
BATCH = r.random_structure(SEED, [61, 1, 23, 47, 5], [183, 3, 0, 141, 15])
ORDERED = r.by_receiver(BATCH)  # for models whose edges have rows of their own
NODES, EDGES = sum(BATCH.sizes), len(BATCH.receiver)
DATA = Path(__file__).resolve().parent / "data"

Parameters = dict[str, Tensor]


def parameter(name: str, rows: int, cols: int, bound: float = 1.0) -> Tensor:
    return torch.tensor(r.uniform(SEED, name, rows, cols, bound), requires_grad=True)


def save(case: str, name: str, array: np.ndarray) -> None:
    (DATA / case).mkdir(parents=True, exist_ok=True)
    np.save(DATA / case / f"{name}.npy", array)


# --- layers: parameters ("x" is the input) and function

Shapes = dict[str, tuple[int, int]]
D, FFN = WIDTH, 17
X: Shapes = {"x": (NODES, D)}
E: Shapes = {"e": (EDGES, D)}


def dense(prefix: str, inputs: int, outputs: int) -> Shapes:
    return {prefix + "weight": (outputs, inputs), prefix + "bias": (1, outputs)}


def two_dense(prefix: str, inputs: int, hidden: int) -> Shapes:
    return dense(prefix + "up.", inputs, hidden) | dense(prefix + "down.", hidden, inputs)


def gain(prefix: str, width: int) -> Shapes:
    return {prefix + "weight": (1, width), prefix + "bias": (1, width)}


def gated(prefix: str, d: int) -> Shapes:
    shapes = dense(prefix + "nodes.", d, 4 * d) | dense(prefix + "edge.", d, d)
    return shapes | gain(prefix + "norm_node.", d) | gain(prefix + "norm_edge.", d)


def mpnn_shapes(prefix: str, mpnn: str, d: int) -> Shapes:
    vectors = {prefix + "att": (1, d), prefix + "bias": (1, d)}
    return {
        "gin": two_dense(prefix, d, d),
        "gine": two_dense(prefix, d, d),
        "gatedgcn": gated(prefix, d),
        "gcn": dense(prefix + "linear.", d, d),
        "gatv2": dense(prefix + "lr.", d, 2 * d) | vectors,
        "pna": dense(prefix + "pre.", 2 * d, d)
        | dense(prefix + "post.", 4 * d, d)
        | dense(prefix + "out.", d, d),
        "gatv2-edge": dense(prefix + "lr.", d, 2 * d) | {prefix + "edge.weight": (d, d)} | vectors,
        "pna-edge": dense(prefix + "edge.", d, d)
        | dense(prefix + "pre.", 3 * d, d)
        | dense(prefix + "post.", 4 * d, d)
        | dense(prefix + "out.", d, d),
    }[mpnn]


def linear_attention_shapes(prefix: str, heads: int, d: int) -> Shapes:
    inner = heads * r.HEAD_WIDTH
    return {prefix + "qkv.weight": (3 * inner, d)} | dense(prefix + "out.", inner, d)


def projection(name: str, kind: str) -> Parameters:
    """The constant of a layer of linear attention."""
    return {name + "projection": torch.tensor(r.orthogonal(SEED, name + "projection", kind))}


def layer_shapes(prefix: str, m: r.Model, d: int, ffn: int) -> Shapes:
    """In the order in which the model declares them."""
    shapes: Shapes = {}
    if m.mpnn != "none":
        shapes |= mpnn_shapes(f"{prefix}{m.mpnn}.", m.mpnn, d) | gain(prefix + "norm_local.", d)
    if m.attention == "none":
        return shapes
    if m.attention in r.FEATURE_MAPS:
        shapes |= linear_attention_shapes(prefix + "attention.", m.heads, d)
    elif m.attention == "exphormer":
        shapes |= exphormer_shapes(prefix + "attention.", d)
    else:
        shapes |= dense(prefix + "attention.qkv.", d, 3 * d) | dense(prefix + "attention.out.", d, d)
    shapes |= gain(prefix + "norm_attention.", d) | two_dense(prefix + "ffn.", d, ffn)
    return shapes | gain(prefix + "norm_out.", d)


def gps(norm: str) -> tuple[Shapes, Callable[[Parameters], Tensor]]:
    m = r.Model("dense", "gin", 1, HEADS, "gelu", norm)
    return X | layer_shapes("layer.", m, D, FFN), lambda p: r.layer(p, "layer.", m, p["x"], BATCH)[0]


PE, PAIRS = 6, 9  # encoder width, and pairs: more than the smaller graphs have


def weight(prefix: str) -> Shapes:
    """The weights of edges by ESLapPE."""
    return dense(prefix + "weight.up.", 1, D) | dense(prefix + "weight.down.", D, 1)


def place(p: Parameters) -> Tensor:
    return r.linear(p, "encoder.", torch.tensor(r.uniform(SEED, "values", NODES, PAIRS)))


def gine(act: str, eslap: bool) -> tuple[Shapes, Callable[[Parameters], Tensor]]:
    shapes = X | E | two_dense("layer.", D, D) | (dense("encoder.", PAIRS, D) | weight("layer.") if eslap else {})
    return shapes, lambda p: r.gine(p, "layer.", p["x"], p["e"], ORDERED, act, place(p) if eslap else None)


def gatedgcn(act: str, eslap: bool) -> tuple[Shapes, Callable[[Parameters], Tensor]]:
    """Two layers, of which the second reads the edges of the first."""

    def forward(p: Parameters) -> Tensor:
        z = place(p) if eslap else None
        x, e = r.gatedgcn(p, "first.", p["x"], p["e"], ORDERED, act, EPS, place=z)
        return r.gatedgcn(p, "second.", x, e, ORDERED, act, EPS, place=z)[0]

    shapes = X | E | gated("first.", D) | gated("second.", D)
    return shapes | (dense("encoder.", PAIRS, D) | weight("first.") | weight("second.") if eslap else {}), forward


def mpnn(kind: str) -> tuple[Shapes, Callable[[Parameters], Tensor]]:
    m = r.Model("none", kind, 1, HEADS, "none")
    return X | mpnn_shapes("layer.", kind, D), lambda p: r.message_passing(p, "layer.", m, p["x"], BATCH)


def mpnn_of_edges(kind: str) -> tuple[Shapes, Callable[[Parameters], Tensor]]:
    m = r.Model("none", kind, 1, HEADS, "none")
    shapes = X | E | mpnn_shapes("layer.", kind, D)
    return shapes, lambda p: r.message_passing(p, "layer.", m, p["x"], ORDERED, p["e"])


def attention(kind: str) -> tuple[Shapes, Callable[[Parameters], Tensor]]:
    shapes = dense("layer.qkv.", D, 3 * D) | dense("layer.out.", D, D)
    return X | shapes, lambda p: r.attention(p, "layer.", kind, p["x"], BATCH, HEADS)


GLOBALS = 2


def expander_shapes(d: int) -> Shapes:
    return {"expander.edges": (1 + 2 * GLOBALS, d), "expander.globals": (GLOBALS, d)}


def exphormer_shapes(prefix: str, d: int) -> Shapes:
    return {prefix + "qkv.weight": (3 * d, d), prefix + "edge.weight": (d, d)}


def expanded() -> r.Expanded:
    """In each graph of n nodes the expander is one permutation, i to i + 3 modulo n."""
    first = torch.tensor([0, *BATCH.sizes]).cumsum(0)[BATCH.graph_of]
    nodes, size = torch.arange(NODES), BATCH.graphs.diff()[BATCH.graph_of]
    to = first + (nodes - first + 3) % size
    return r.expand(ORDERED, torch.cat([nodes, to]), torch.cat([to, nodes]), GLOBALS)


def exphormer() -> tuple[Shapes, Callable[[Parameters], Tensor]]:
    """Two layers, of which the second reads the global nodes of the first."""

    def forward(p: Parameters) -> Tensor:
        attend = r.expander_attention(p, p["e"], expanded(), len(BATCH.sizes), HEADS)
        return attend("second.", attend("first.", p["x"]))

    return X | E | expander_shapes(D) | exphormer_shapes("first.", D) | exphormer_shapes("second.", D), forward


def linear_attention(kind: str) -> tuple[Shapes, Callable[[Parameters], Tensor]]:
    shapes, w = linear_attention_shapes("layer.", LINEAR_HEADS, D), projection("layer.", kind)
    return X | shapes, lambda p: r.attention(p | w, "layer.", kind, p["x"], BATCH, LINEAR_HEADS)


def add_norm(kind: str) -> tuple[Shapes, Callable[[Parameters], Tensor]]:
    shapes = X | {"branch": (NODES, D)} | gain("layer.", D)
    return shapes, lambda p: r.norm(p, "layer.", kind, p["x"] + p["branch"], BATCH, EPS)


def linear(act: str) -> tuple[Shapes, Callable[[Parameters], Tensor]]:
    return X | dense("layer.", D, 10), lambda p: r.ACTIVATIONS[act](r.linear(p, "layer.", p["x"]))


def encoder(kind: str) -> tuple[Shapes, Callable[[Parameters], Tensor]]:
    """Concatenated with a linear layer, as in models."""
    values = torch.tensor(r.uniform(SEED, "values", NODES, PAIRS))
    eigenvalues = torch.tensor(r.uniform(SEED, "eigenvalues", len(BATCH.sizes), PAIRS))
    if kind == "rwse":
        shapes = gain("layer.norm.", PAIRS) | dense("layer.linear.", PAIRS, PE)
    else:
        shapes = dense("layer.up.", 2, 2 * PE) | dense("layer.down.", 2 * PE, PE)

    def forward(p: Parameters) -> Tensor:
        if kind == "rwse":
            encoded = r.rwse_encoder(p, "layer.", values, BATCH, EPS)
        else:
            encoded = r.lap_encoder(p, "layer.", kind, values, eigenvalues, BATCH)
        return torch.cat([r.linear(p, "input.", p["x"]), encoded], dim=1)

    return X | dense("input.", D, 10) | shapes, forward


TABLES = [5, 1, 4]


def embedding() -> tuple[Shapes, Callable[[Parameters], Tensor]]:
    """Beside a linear layer, as features are beside an encoding."""
    types = torch.tensor(r.random_types(SEED, "types", NODES, TABLES))
    shapes = X | dense("input.", D, 10) | {"layer.weight": (sum(TABLES), PE)}
    return shapes, lambda p: torch.cat(
        [r.linear(p, "input.", p["x"]), r.embedding(p, "layer.", types)], dim=1
    )


def head(kind: str) -> tuple[Shapes, Callable[[Parameters], Tensor]]:
    if kind == "halving":
        shapes = dense("head.half.", D, D // 2) | dense("head.quarter.", D // 2, D // 4)
        return X | shapes | dense("head.out.", D // 4, 5), lambda p: r.halving_head(p, "head.", p["x"], "gelu")
    if kind == "mlp":
        shapes = dense("head.hidden1.", D, D) | dense("head.hidden2.", D, D) | dense("head.out.", D, 5)
        return X | shapes, lambda p: r.mlp_head(p, "head.", p["x"], 3, "relu")
    pairs = torch.tensor(r.random_pairs(SEED, BATCH.sizes))
    return X | dense("head.", D, D), lambda p: r.pair_products(r.linear(p, "head.", p["x"]), pairs)


LAYERS: dict[str, tuple[Shapes, Callable[[Parameters], Tensor]]] = {
    **{f"linear_{act}": linear(act) for act in r.ACTIVATIONS},
    "mlp": (X | two_dense("layer.", D, FFN), lambda p: r.mlp(p, "layer.", p["x"], "gelu")),
    "gin_layer": (X | two_dense("layer.", D, D), lambda p: r.gin(p, "layer.", p["x"], BATCH, "relu")),
    **{f"{kind}_layer": mpnn(kind) for kind in ("gcn", "gatv2", "pna")},
    **{f"{kind}_layer": mpnn_of_edges(kind) for kind in ("gatv2-edge", "pna-edge")},
    "gine_layer": gine("relu", False),
    "gine_eslap_layer": gine("gelu", True),
    "gatedgcn_layers": gatedgcn("relu", False),
    "gatedgcn_eslap_layers": gatedgcn("gelu", True),
    "attention": attention("dense"),
    "sparse_attention": attention("sparse"),
    "exphormer": exphormer(),
    "performer": linear_attention("performer"),
    "performer-relu": linear_attention("performer-relu"),
    "add_norm": add_norm("layer"),
    "add_norm_batch": add_norm("batch"),
    "add_norm_graph": add_norm("graph"),
    "gps_layer": gps("layer"),
    "gps_layer_batch": gps("batch"),
    **{f"{kind}_pool": (X, lambda p, kind=kind: r.pool(kind, p["x"], BATCH)) for kind in r.POOLS},
    **{f"{kind}_encoder": encoder(kind) for kind in ("rwse", "lap", "lap-pyg")},
    "embedding": embedding(),
    **{f"{kind}_head": head(kind) for kind in ("halving", "mlp", "pairs")},
    "mse": (X, lambda p: p["x"]),
    "mae": (X, lambda p: p["x"]),
    "cross_entropy": (X, lambda p: p["x"]),
    "binary_cross_entropy": (X, lambda p: p["x"]),
}


def mse(output: Tensor) -> Tensor:
    return r.mse(output, torch.tensor(r.uniform(SEED, "targets", *output.shape)))


def mae(output: Tensor) -> Tensor:
    return r.mae(output, torch.tensor(r.uniform(SEED, "targets", *output.shape)))


def cross_entropy(output: Tensor) -> Tensor:
    labels = r.uniform_index(SEED, "labels", np.full(len(output), output.shape[1]))
    return r.cross_entropy(output, torch.tensor(labels))


def binary_cross_entropy(output: Tensor) -> Tensor:
    labels = r.uniform_index(SEED, "labels", np.full(output.numel(), 2))
    return r.binary_cross_entropy(output, torch.tensor(labels).reshape(output.shape))


# Layers whose output is the loss.
LOSSES = {"mse": mse, "mae": mae, "cross_entropy": cross_entropy, "binary_cross_entropy": binary_cross_entropy}


def gradient(p: Tensor) -> np.ndarray:
    """Zero for what no result depends on."""
    return np.zeros(p.shape) if p.grad is None else p.grad.numpy()


def make_layer(case: str) -> None:
    shapes, forward = LAYERS[case]
    parameters = {name: parameter(name, *shape) for name, shape in shapes.items()}
    output = forward(parameters)
    loss = LOSSES.get(case, mse)(output)
    loss.backward()
    if case not in LOSSES:
        save(case, "output", output.detach().numpy())
    save(case, "loss", loss.detach().numpy())
    for name, p in parameters.items():
        save(case, f"grad.{name}", gradient(p))


# --- Graphormer: its bias by distances, and by hops of two tables of types; degrees; tokens

BUCKETS, HOPS, EDGE_TABLES = 4, 3, [5, 3]


def edge_pairs(tables: list[int]) -> tuple[Tensor, Tensor]:
    types = torch.tensor(r.random_types(SEED, "edge_features", EDGES, tables))
    return r.pair_inputs(ORDERED, types, BUCKETS, HOPS, token=True)


def bias_shapes(heads: int, types: int, products: int) -> Shapes:
    shapes = {"bias.weight": (BUCKETS + 2, heads), "bias.types": (types, heads)}
    return shapes | {"bias.hops": (heads, products * heads)}


def pre_norm_shapes(layers: int, d: int, ffn: int) -> Shapes:
    shapes: Shapes = {}
    for name in (f"layer{n}." for n in range(1, layers + 1)):
        shapes |= gain(name + "norm_attention.", d) | dense(name + "attention.qkv.", d, 3 * d)
        shapes |= dense(name + "attention.out.", d, d) | gain(name + "norm_ffn.", d) | two_dense(name + "ffn.", d, ffn)
    return shapes | gain("norm.", d)


def graphormer_layer() -> tuple[Shapes, Callable[[Parameters], Tensor]]:
    """With a product more than hops, which is not read."""
    m, pairs = r.Model("dense", "none", 1, HEADS, "gelu"), edge_pairs(EDGE_TABLES)

    def forward(p: Parameters) -> Tensor:
        x, bias = r.add_tokens(p, p["x"], BATCH), r.pair_bias(p, "bias.", *pairs)
        return r.graphormer(p, m, x, r.with_tokens(BATCH), bias, r.Masks(SEED, 0))

    shapes = X | bias_shapes(HEADS, sum(EDGE_TABLES), HOPS + 1) | {"token.weight": (D, 1)}
    return shapes | pre_norm_shapes(1, D, FFN), forward


LAYERS["graphormer_layer"] = graphormer_layer()


# --- the heat kernel of the batch with every edge in both directions


def make_heat(times: int = 9) -> None:
    """By all eigenpairs of each graph, in float64. An isolated node and a component's indicator give 0."""
    adjacency = np.zeros((NODES, NODES))
    np.add.at(adjacency, (BATCH.receiver.numpy(), BATCH.sender.numpy()), 1)
    laplacian = -(adjacency + adjacency.T)
    np.fill_diagonal(laplacian, 0)
    np.fill_diagonal(laplacian, -laplacian.sum(1))
    values = np.zeros((NODES, times))
    for first, end in zip(BATCH.graphs[:-1], BATCH.graphs[1:]):
        eigenvalue, vector = np.linalg.eigh(laplacian[first:end, first:end])
        positive = eigenvalue >= 1e-8
        decay = np.exp(-np.outer(eigenvalue[positive], np.arange(1, times + 1)))
        values[first:end] = vector[:, positive] ** 2 @ decay
    save("heat", "values", values)


# --- whole models

LAYER_COUNT, HIDDEN, INNER, FEATURES, EDGE_FEATURES, CLASSES, DEGREES = 2, 96, 192, 16, 4, 16, 64


def preset(case: str, norm: str = "layer", pool: str = "mean", task: str = "graph", **others) -> r.Model:
    branches = r.PRESETS.get(case, ("dense", case.removeprefix("gps_")))
    return r.Model(*branches, LAYER_COUNT, HEADS, "gelu", norm, pool, task, **others)


PERFORMER = r.Model("performer", "gin", LAYER_COUNT, 1, "gelu")


# Together they cover every norm but none, every pool and both tasks.
MODELS = {
    "graph_transformer": preset("graph_transformer"),
    "sparse_transformer": preset("sparse_transformer", pool="sum"),
    "gin": preset("gin", task="node"),
    "gps": preset("gps", norm="batch"),
    "gps_gcn": preset("gps_gcn"),
    "gps_gatv2": preset("gps_gatv2", norm="batch"),
    "gps_pna": preset("gps_pna", norm="batch"),
    "gps_gatv2-edge": preset("gps_gatv2-edge", norm="batch"),
    "gps_pna-edge": preset("gps_pna-edge", norm="batch"),
    "gps_gine": replace(preset("gps", norm="batch"), mpnn="gine"),
    "gps_gatedgcn": replace(preset("gps", norm="batch", dropout=0.1), mpnn="gatedgcn"),
    "gps_sparse": preset("gps_sparse", norm="graph", pool="max"),
    "gps_dropout": preset("gps", dropout=0.2, attention_dropout=0.3),
    "sparse_dropout": preset("sparse_transformer", attention_dropout=0.3),
    "gps_performer": PERFORMER,
    "gps_exphormer": replace(preset("gps", norm="batch"), attention="exphormer", mpnn="gatedgcn"),
    "graphormer": preset("graphormer", pool="token", dropout=0.1, attention_dropout=0.2, name="graphormer"),
}


def model_parameters(m: r.Model) -> Parameters:
    """In the order in which the model declares them, initialised as it does."""
    shapes = dense("input.", FEATURES, HIDDEN)
    if m.mpnn in r.EDGE_STATE:
        shapes |= dense("edge_encoder.", EDGE_FEATURES, HIDDEN)
    if m.name == "graphormer":
        shapes |= {"degrees.weight": (2 * DEGREES, HIDDEN)} | bias_shapes(m.heads, EDGE_FEATURES, HOPS)
        shapes |= {"token.weight": (HIDDEN, 1)} | pre_norm_shapes(m.layers, HIDDEN, INNER)
    if m.attention == "exphormer":
        shapes |= expander_shapes(HIDDEN)
    for layer in range(1, m.layers + 1 if m.name == "gps" else 1):
        shapes |= layer_shapes(f"layer{layer}.", m, HIDDEN, INNER)
    shapes |= dense("head.", HIDDEN, CLASSES if m.task == "node" else 1)

    def initial(name: str, rows: int, cols: int) -> Tensor:
        if "norm" in name:
            value = 1.0 if name.endswith("weight") else 0.0
            return torch.full((rows, cols), value, dtype=torch.float64, requires_grad=True)
        if name.startswith(("bias.weight", "bias.types", "degrees", "expander")):
            return parameter(name, rows, cols, 1 / sqrt(2 if name.startswith("degrees") else 1))
        weight = shapes.get(name.removesuffix("bias") + "weight", (rows, cols))
        fan_in = cols // HEADS if name.endswith("att") else weight[1] if name.endswith("bias") else cols
        return parameter(name, rows, cols, 1 / sqrt(fan_in))

    return {name: initial(name, *shape) for name, shape in shapes.items()}


def save_step(case: str, output: Tensor, gradients: list[np.ndarray]) -> None:
    save(case, "output", output.detach().numpy())
    left = [g.T @ r.uniform(SEED, "left", g.shape[0], 1) for g in gradients]
    right = [g @ r.uniform(SEED, "right", g.shape[1], 1) for g in gradients if g.shape[0] > 1]
    save(case, "gradients_left", np.concatenate(left))
    save(case, "gradients_right", np.concatenate(right))


def make_model(case: str) -> None:
    parameters = model_parameters(MODELS[case])
    features = torch.tensor(r.uniform(SEED, "features", NODES, FEATURES))
    edge_features = torch.tensor(r.uniform(SEED, "edge_features", EDGES, EDGE_FEATURES))
    batch = ORDERED if MODELS[case].mpnn in r.EDGE_STATE else BATCH
    pairs = edge_pairs([EDGE_FEATURES]) if case == "graphormer" else None
    expander = expanded() if MODELS[case].attention == "exphormer" else None
    constants = {}
    for index in range(1, LAYER_COUNT + 1):
        if MODELS[case].attention in r.FEATURE_MAPS:
            constants |= projection(f"layer{index}.attention.", MODELS[case].attention)
    optimizer = torch.optim.AdamW(
        parameters.values(), lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01
    )
    losses = []
    for step in range(3):
        optimizer.zero_grad()
        p, masks = parameters | constants, r.Masks(SEED, step)
        output = r.run_model(p, MODELS[case], features, batch, masks, edge_features, pairs, expander)
        loss = cross_entropy(output) if MODELS[case].task == "node" else mse(output)
        loss.backward()
        losses.append(loss.item())
        if step == 0:
            save_step(case, output, [gradient(p) for p in parameters.values()])
        optimizer.step()
    save(case, "losses", np.array(losses).reshape(-1, 1))


if __name__ == "__main__":
    makers = {case: make_layer for case in LAYERS} | {case: make_model for case in MODELS}
    for case in sys.argv[1:] or [*makers, "heat"]:
        if case == "heat":
            make_heat()
        else:
            makers[case](case)
