#!/usr/bin/env python3
"""Compares reference.py with PyTorch Geometric, in float64: verify_pyg.py

Linear attention with features of the softmax is compared with performer-pytorch, if that is installed.

Both get the same parameters and a batch of five graphs: one with a single node, one without edges; directed
edges with duplicates and loops. Output and every gradient must agree to LIMIT; otherwise the exit status is 1.
"""

import importlib.util
import sys
from typing import Callable, Iterator

import torch
import torch_geometric.nn as pyg
from torch import Tensor, nn
from torch.func import functional_call

import reference as r
from torch_preset import GatedGcn

LIMIT = 1e-10
SEED, D, HEADS, LAYERS = 3, 12, 3, 2
BATCH = r.random_structure(SEED, [61, 1, 23, 47, 5], [183, 3, 0, 141, 15])
EDGES = torch.stack([BATCH.sender, BATCH.receiver])
GRAPH_OF = BATCH.graph_of

Parameters = dict[str, Tensor]
Shapes = dict[str, tuple[int, int]]
Function = Callable[[Parameters], Tensor]
Case = tuple[str, Shapes, Function, Function]  # name, parameters, reference.py, PyG


# --- parameters


def dense(name: str, inputs: int, outputs: int) -> Shapes:
    return {name + "weight": (outputs, inputs), name + "bias": (1, outputs)}


def gain(name: str) -> Shapes:
    return {name + "weight": (1, D), name + "bias": (1, D)}


X = {"x": (len(GRAPH_OF), D)}
GIN = dense("gin.up.", D, D) | dense("gin.down.", D, D)
GCN = dense("gcn.linear.", D, D)
GATV2 = dense("gatv2.lr.", D, 2 * D) | {"gatv2.att": (1, D), "gatv2.bias": (1, D)}
PNA = dense("pna.pre.", 2 * D, D) | dense("pna.post.", 4 * D, D) | dense("pna.out.", D, D)
E = {"e": (len(BATCH.receiver), D)}
GATV2_EDGE = E | {name.replace("gatv2", "gatv2-edge"): shape for name, shape in GATV2.items()}
GATV2_EDGE |= {"gatv2-edge.edge.weight": (D, D)}
PNA_EDGE = E | dense("pna-edge.pre.", 3 * D, D) | dense("pna-edge.post.", 4 * D, D) | dense("pna-edge.out.", D, D)
PNA_EDGE |= dense("pna-edge.edge.", D, D)
GINE = dense("gine.up.", D, D) | dense("gine.down.", D, D) | E
ATTENTION = dense("attention.qkv.", D, 3 * D) | dense("attention.out.", D, D)
INNER = HEADS * r.HEAD_WIDTH
LINEAR = {"attention.qkv.weight": (3 * INNER, D)} | dense("attention.out.", INNER, D)
FFN = dense("ffn.up.", D, 2 * D) | dense("ffn.down.", 2 * D, D)


GATEDGCN = dense("gatedgcn.nodes.", D, 4 * D) | dense("gatedgcn.edge.", D, D) | E
GATEDGCN |= gain("gatedgcn.norm_node.") | gain("gatedgcn.norm_edge.")
MPNN = {"gin": GIN, "gine": GINE, "gatedgcn": GATEDGCN}


def gps_shapes(norm: str, mpnn: str = "gin") -> Shapes:
    norms = gain("norm_local.") | gain("norm_attention.") | gain("norm_out.")
    return MPNN[mpnn] | ATTENTION | FFN | (norms if norm != "none" else {})


def model_shapes(norm: str) -> Shapes:
    layers = range(1, LAYERS + 1)
    inner = {f"layer{l}.{name}": shape for l in layers for name, shape in gps_shapes(norm).items()}
    return X | dense("input.", D, D) | inner | dense("head.", D, 1)


def given(p: Parameters, names: dict[str, str]) -> Parameters:
    """The parameters of a module, renamed from THEIRS to OURS; vectors become one-row matrices."""
    kinds = ("weight", "bias")
    own = {theirs + kind: p[ours + kind] for theirs, ours in names.items() for kind in kinds}
    return {name: tensor[0] if len(tensor) == 1 else tensor for name, tensor in own.items()}


# --- PyG's results


def linear(p: Parameters, name: str, x: Tensor) -> Tensor:
    return nn.functional.linear(x, p[name + "weight"], p[name + "bias"][0])


def gin_module(act: nn.Module) -> nn.Module:
    return pyg.GINConv(nn.Sequential(nn.Linear(D, D), act, nn.Linear(D, D)))


def gin(p: Parameters) -> Tensor:
    names = {"nn.0.": "gin.up.", "nn.2.": "gin.down."}
    return functional_call(gin_module(nn.ReLU()), given(p, names), (p["x"], EDGES))


def gcn(p: Parameters) -> Tensor:
    own = {"lin.weight": p["gcn.linear.weight"], "bias": p["gcn.linear.bias"][0]}
    return functional_call(pyg.GCNConv(D, D), own, (p["x"], EDGES))


def gatv2(p: Parameters, name: str = "gatv2") -> Tensor:
    own = {"att": p[f"{name}.att"].reshape(1, HEADS, -1), "bias": p[f"{name}.bias"][0]}
    for kind in ("weight", "bias"):
        parts = p[f"{name}.lr.{kind}"].flatten(0, 0 if kind == "weight" else 1).chunk(2)
        own |= {f"lin_{part}.{kind}": t for part, t in zip(("l", "r"), parts)}
    if "e" not in p:
        return functional_call(pyg.GATv2Conv(D, D // HEADS, HEADS), own, (p["x"], EDGES))
    own["lin_edge.weight"] = p[f"{name}.edge.weight"]
    return functional_call(pyg.GATv2Conv(D, D // HEADS, HEADS, edge_dim=D), own, (p["x"], EDGES, p["e"]))


def pna(p: Parameters, name: str = "pna") -> Tensor:
    """As GraphGPS builds it."""
    names = {"pre_nns.0.0.": f"{name}.pre.", "post_nns.0.0.": f"{name}.post.", "lin.": f"{name}.out."}
    edges = {"edge_encoder.": f"{name}.edge."} if "e" in p else {}
    module = pyg.PNAConv(
        D, D, ["mean", "max", "sum"], ["identity"], torch.tensor([0, 1]), edge_dim=D if edges else None, divide_input=False
    )
    return functional_call(module, given(p, names | edges), (p["x"], EDGES, p.get("e")))


def gine(p: Parameters) -> Tensor:
    module = pyg.GINEConv(nn.Sequential(nn.Linear(D, D), nn.ReLU(), nn.Linear(D, D)))
    return functional_call(module, given(p, {"nn.0.": "gine.up.", "nn.2.": "gine.down."}), (p["x"], EDGES, p["e"]))


def sparse_attention(p: Parameters) -> Tensor:
    """TransformerConv has no output projection."""
    own = {}
    for kind in ("weight", "bias"):
        parts = p[f"attention.qkv.{kind}"].flatten(0, 0 if kind == "weight" else 1).chunk(3)
        own |= {f"lin_{part}.{kind}": t for part, t in zip(("query", "key", "value"), parts)}
    module = pyg.TransformerConv(D, D // HEADS, HEADS, root_weight=False)
    return linear(p, "attention.out.", functional_call(module, own, (p["x"], EDGES)))


def split_heads(p: Parameters) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Query, key and value of each graph, H x n x 64."""
    qkv = nn.functional.linear(p["x"], p["attention.qkv.weight"])
    for graph in qkv.split(BATCH.sizes):
        yield graph.view(len(graph), 3, HEADS, -1).permute(1, 2, 0, 3).unbind()


def rectified_attention(p: Parameters) -> Tensor:
    """PyG's module, graph by graph: it would count padding as keys."""
    module = pyg.attention.PerformerAttention(D, HEADS)
    names = {"q.": 0, "k.": 1, "v.": 2}
    parts = p["attention.qkv.weight"].chunk(3)
    own = {name + "weight": parts[i] for name, i in names.items()} | given(p, {"attn_out.": "attention.out."})
    own["fast_attn.projection_matrix"] = p["attention.projection"]
    graphs = p["x"].split(BATCH.sizes)
    return torch.cat([functional_call(module, own, (graph[None],))[0] for graph in graphs])


def performer_attention(p: Parameters) -> Tensor:
    from performer_pytorch import performer_pytorch as peer

    parts = []
    for q, k, v in split_heads(p):
        w = p["attention.projection"]
        phi_q = peer.softmax_kernel(q[None], projection_matrix=w, is_query=True)
        phi_k = peer.softmax_kernel(k[None], projection_matrix=w, is_query=False)
        parts.append(peer.linear_attention(phi_q, phi_k, v[None])[0].transpose(0, 1).flatten(1))
    return linear(p, "attention.out.", torch.cat(parts))


def linear_case(kind: str, theirs: Function) -> Case:
    w = {"attention.projection": torch.tensor(r.orthogonal(SEED, "attention.projection", kind))}
    return (
        f"{kind} attention",
        X | LINEAR,
        lambda p: r.attention(p | w, "attention.", kind, p["x"], BATCH, HEADS),
        lambda p: theirs(p | w),
    )


def conv_module(mpnn: str) -> nn.Module:
    """PyG has no GatedGCN: the layer of GraphGPS, whose state of the edges nothing reads here."""
    network = nn.Sequential(nn.Linear(D, D), nn.GELU(), nn.Linear(D, D))
    if mpnn == "gatedgcn":
        return GatedGcn(D, nn.GELU(), 0.0, last=True)
    return pyg.GINEConv(network) if mpnn == "gine" else pyg.GINConv(network)


def gps_module(norm: str, mpnn: str) -> nn.Module:
    """PyG's LayerNorm normalises whole graphs unless mode is "node"."""
    name = {"layer": "layer_norm", "graph": "layer_norm", "batch": "batch_norm", "none": None}[norm]
    mode = {"layer": {"mode": "node"}, "graph": {"mode": "graph"}}.get(norm)
    return pyg.GPSConv(D, conv_module(mpnn), HEADS, act="gelu", norm=name, norm_kwargs=mode)


def gps(p: Parameters, norm: str, x: Tensor, prefix: str = "", mpnn: str = "gin") -> Tensor:
    names = {"conv.nn.0.": f"{mpnn}.up.", "conv.nn.2.": f"{mpnn}.down.", "attn.in_proj_": "attention.qkv."}
    if mpnn == "gatedgcn":
        parts = ("nodes.", "edge.", "norm_node.")
        names = {"conv." + part: "gatedgcn." + part for part in parts} | {"attn.in_proj_": "attention.qkv."}
    names |= {"attn.out_proj.": "attention.out.", "mlp.0.": "ffn.up.", "mlp.3.": "ffn.down."}
    if norm != "none":
        inner = "module." if norm == "batch" else ""
        places = ("norm_local.", "norm_attention.", "norm_out.")
        names |= {f"norm{i}.{inner}": place for i, place in enumerate(places, 1)}
    own = given(p, {theirs: prefix + ours for theirs, ours in names.items()})
    edges = {"edge_attr": p["e"]} if mpnn != "gin" else {}
    return functional_call(gps_module(norm, mpnn), own, (x, EDGES), {"batch": GRAPH_OF} | edges)


POOLS = {"mean": pyg.global_mean_pool, "sum": pyg.global_add_pool, "max": pyg.global_max_pool}


def model(p: Parameters, norm: str, pool: str) -> Tensor:
    x = linear(p, "input.", p["x"])
    for layer in range(1, LAYERS + 1):
        x = gps(p, norm, x, f"layer{layer}.")
    return linear(p, "head.", POOLS[pool](x, GRAPH_OF))


# --- cases


def norm_case(kind: str, module: nn.Module, prefix: str, *arguments: Tensor) -> Case:
    return (
        f"{kind} norm",
        X | gain("norm."),
        lambda p: r.norm(p, "norm.", kind, p["x"], BATCH, 1e-5),
        lambda p: functional_call(module, given(p, {prefix: "norm."}), (p["x"], *arguments)),
    )


def gps_case(norm: str, mpnn: str = "gin") -> Case:
    m = r.Model("dense", mpnn, 1, HEADS, "gelu", norm)
    return (
        f"GPS layer, {mpnn}, norm {norm}",
        X | gps_shapes(norm, mpnn),
        lambda p: r.layer(p, "", m, p["x"], BATCH, e=p.get("e"))[0],
        lambda p: gps(p, norm, p["x"], mpnn=mpnn),
    )


def pool_case(kind: str) -> Case:
    return f"{kind} pool", X, lambda p: r.pool(kind, p["x"], BATCH), lambda p: POOLS[kind](p["x"], GRAPH_OF)


def model_case(norm: str, pool: str) -> Case:
    m = r.Model("dense", "gin", LAYERS, HEADS, "gelu", norm, pool)
    return (
        f"GPS of {LAYERS} layers, norm {norm}, pool {pool}",
        model_shapes(norm),
        lambda p: r.run_model(p, m, p["x"], BATCH),
        lambda p: model(p, norm, pool),
    )


def cases() -> Iterator[Case]:
    yield "GIN", X | GIN, lambda p: r.gin(p, "gin.", p["x"], BATCH, "relu"), gin
    for name, shapes, theirs in (
        ("gcn", GCN, gcn),
        ("gatv2", GATV2, gatv2),
        ("pna", PNA, pna),
        ("gatv2-edge", GATV2_EDGE, lambda p: gatv2(p, "gatv2-edge")),
        ("pna-edge", PNA_EDGE, lambda p: pna(p, "pna-edge")),
    ):
        m = r.Model("none", name, 1, HEADS, "none")
        ours = lambda p, m=m: r.message_passing(p, f"{m.mpnn}.", m, p["x"], BATCH, p.get("e"))  # noqa: E731
        yield name, X | shapes, ours, theirs
    yield "GINE", X | GINE, lambda p: r.gine(p, "gine.", p["x"], p["e"], BATCH, "relu"), gine
    ours = lambda p: r.attention(p, "attention.", "sparse", p["x"], BATCH, HEADS)  # noqa: E731
    yield "sparse attention", X | ATTENTION, ours, sparse_attention
    yield linear_case("performer-relu", rectified_attention)
    if importlib.util.find_spec("performer_pytorch"):
        yield linear_case("performer", performer_attention)
    yield norm_case("layer", pyg.LayerNorm(D, mode="node"), "", GRAPH_OF)
    yield norm_case("graph", pyg.LayerNorm(D, mode="graph"), "", GRAPH_OF)
    yield norm_case("batch", pyg.BatchNorm(D), "module.")
    yield from map(pool_case, POOLS)
    yield from map(gps_case, ("none", "layer", "batch", "graph"))
    yield from (gps_case("batch", mpnn) for mpnn in ("gine", "gatedgcn"))
    yield from (model_case(norm, pool) for norm, pool in zip(("layer", "batch", "graph"), POOLS))


# --- comparison


def results(shapes: Shapes, function: Function) -> Parameters:
    """The output, and the gradients of its product with a random matrix."""
    p = {
        name: torch.tensor(r.uniform(SEED, name, *shape), requires_grad=True)
        for name, shape in shapes.items()
    }
    y = function(p)
    y.backward(torch.tensor(r.uniform(SEED, "cotangent", *y.shape)))
    grads = {n: torch.zeros_like(t) if t.grad is None else t.grad for n, t in p.items()}
    return {"output": y.detach()} | grads


def largest_error(ours: Parameters, theirs: Parameters) -> r.Error:
    """The error measure of docs/methods.md, with floors, because the gradients of some biases are exactly zero."""
    arrays = [{name: t.numpy() for name, t in side.items()} for side in (ours, theirs)]
    errors = [r.error_of("output", arrays[0].pop("output"), arrays[1].pop("output"), LIMIT)]
    return max(errors + r.gradient_errors(*arrays, LIMIT), key=lambda e: e.excess)


def main() -> int:
    torch.set_default_dtype(torch.float64)
    good = True
    for name, shapes, ours, theirs in cases():
        worst = largest_error(results(shapes, ours), results(shapes, theirs))
        good &= worst.excess <= 1
        print(f"{name:40} {worst.norm:9.2e} {worst.worst_row:9.2e}  {worst.name}", flush=True)
    print("all agree" if good else f"WRONG: beyond {LIMIT}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
