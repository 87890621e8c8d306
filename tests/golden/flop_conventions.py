#!/usr/bin/env python3
"""Writes data/flop_conventions.json: what other FLOP counters say of the suite's models: flop_conventions.py

One PyTorch program per counter, for a batch of one graph, with the layers that gtmark has in the same order:

    torch       scaled_dot_product_attention, which FlopCounterMode knows as one operation; the step too, with its backward pass
    fvcore      attention as explicit products, which are all that fvcore counts of it
    deepspeed   the same, with torch.add for sums: the profiler replaces functions, and so does not see the operator +

Sums over neighbours and sparse attention gather and scatter by index, as PyG does, which none of them counts. A product
with a sparse matrix in CSR would be counted by FlopCounterMode as if the matrix were dense.

The numbers do not depend on the edges, nor on the values. tests/test_conventions.c compares them with gtmark's.
"""

import json
from itertools import product
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

OUT = Path(__file__).resolve().parent / "data" / "flop_conventions.json"
HEAD_WIDTH, HEAD_FEATURES = 64, 266  # of linear attention
NODES, EDGES, FEATURES, HIDDEN, HEADS, FFN, LAYERS = 57, 200, 16, 48, 3, 80, 2
# Attention, and whether there is message passing. `unfused` is dense attention as explicit products for every counter.
MODELS = {
    "gps": ("dense", True),
    "gps_unfused": ("unfused", True),
    "gps_sparse": ("sparse", True),
    "gps_performer": ("performer", True),
    "gin": ("none", True),
}


class LinearAttention(nn.Module):
    """As performer-pytorch computes it, by explicit products for every counter."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(HIDDEN, 3 * HEADS * HEAD_WIDTH, bias=False)
        self.out = nn.Linear(HEADS * HEAD_WIDTH, HIDDEN)
        self.register_buffer("projection", torch.randn(HEADS, HEAD_WIDTH, HEAD_FEATURES))

    def features(self, x: Tensor, dims: int | tuple[int, int]) -> Tensor:
        u = torch.matmul(HEAD_WIDTH**-0.25 * x, self.projection)
        half = ((x**2).sum(dim=-1) / 2 * HEAD_WIDTH**-0.5).unsqueeze(-1)
        return HEAD_FEATURES**-0.5 * (torch.exp(u - half - u.amax(dim=dims, keepdim=True).detach()) + 1e-4)

    def forward(self, x: Tensor, sender: Tensor, receiver: Tensor) -> Tensor:
        q, k, v = (t.unflatten(1, (HEADS, -1)).transpose(0, 1) for t in self.qkv(x).chunk(3, dim=1))
        q, k = self.features(q, -1), self.features(k, (-1, -2))
        share = torch.matmul(q, k.sum(dim=-2).unsqueeze(-1))
        y = torch.matmul(q, torch.matmul(k.transpose(1, 2), v)) / share
        return self.out(y.transpose(0, 1).flatten(1))


class Attention(nn.Module):
    """`fused`: dense attention is scaled_dot_product_attention; otherwise explicit products."""

    def __init__(self, kind: str, fused: bool):
        super().__init__()
        self.sparse, self.fused = kind == "sparse", fused and kind == "dense"
        self.qkv, self.out = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)

    def dense(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """N x H x dh, as one batch of heads."""
        q, k, v = (t.transpose(0, 1).unsqueeze(0) for t in (q, k, v))
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v)
        else:
            scores = torch.matmul(q, k.transpose(2, 3)) / q.shape[3] ** 0.5
            y = torch.matmul(F.softmax(scores, dim=3), v)
        return y.squeeze(0).transpose(0, 1)

    def of_edges(self, q: Tensor, k: Tensor, v: Tensor, sender: Tensor, receiver: Tensor) -> Tensor:
        weight = torch.exp((q[receiver] * k[sender]).sum(2) / q.shape[2] ** 0.5)
        total = torch.zeros_like(q[:, :, 0]).index_add(0, receiver, weight)
        share = weight / total[receiver]
        return torch.zeros_like(v).index_add(0, receiver, share[:, :, None] * v[sender])

    def forward(self, x: Tensor, sender: Tensor, receiver: Tensor) -> Tensor:
        q, k, v = (t.unflatten(1, (HEADS, -1)) for t in self.qkv(x).chunk(3, dim=1))
        y = self.of_edges(q, k, v, sender, receiver) if self.sparse else self.dense(q, k, v)
        return self.out(y.flatten(1))


class Layer(nn.Module):
    def __init__(self, attention: str, mpnn: bool, norm: str, fused: bool):
        super().__init__()
        make = nn.LayerNorm if norm == "layer" else nn.BatchNorm1d
        self.gin = nn.Sequential(nn.Linear(HIDDEN, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, HIDDEN)) if mpnn else None
        self.norm_local = make(HIDDEN) if mpnn else None
        self.attention = None
        if attention != "none":
            self.attention = LinearAttention() if attention == "performer" else Attention(attention, fused)
        if self.attention:
            self.norm_attention, self.norm_out = make(HIDDEN), make(HIDDEN)
            self.ffn = nn.Sequential(nn.Linear(HIDDEN, FFN), nn.GELU(), nn.Linear(FFN, HIDDEN))

    def forward(self, x: Tensor, sender: Tensor, receiver: Tensor) -> Tensor:
        h = None
        if self.gin:
            h = self.norm_local(torch.add(x, self.gin(x.index_add(0, receiver, x[sender]))))
        if not self.attention:
            return h
        a = self.norm_attention(torch.add(x, self.attention(x, sender, receiver)))
        h = a if h is None else torch.add(h, a)
        return self.norm_out(torch.add(h, self.ffn(h)))


class Model(nn.Module):
    def __init__(self, name: str, norm: str, fused: bool):
        super().__init__()
        self.input = nn.Linear(FEATURES, HIDDEN)
        self.layers = nn.ModuleList(Layer(*MODELS[name], norm, fused) for _ in range(LAYERS))
        self.head = nn.Linear(HIDDEN, 1)

    def forward(self, features: Tensor, sender: Tensor, receiver: Tensor) -> Tensor:
        x = self.input(features)
        for layer in self.layers:
            x = layer(x, sender, receiver)
        return self.head(x.mean(0, keepdim=True))


def count_torch(name: str, norm: str, step: bool, inputs: tuple[Tensor, ...]) -> int:
    model = Model(name, norm, fused=True).train(step)
    with torch.set_grad_enabled(step), FlopCounterMode(display=False) as counter:
        output = model(*inputs)
        if step:
            F.mse_loss(output, torch.zeros_like(output)).backward()
    return counter.get_total_flops()


def count_fvcore(name: str, norm: str, step: bool, inputs: tuple[Tensor, ...]) -> int:
    from fvcore.nn import FlopCountAnalysis

    analysis = FlopCountAnalysis(Model(name, norm, fused=False).train(step), inputs)
    return int(analysis.unsupported_ops_warnings(False).uncalled_modules_warnings(False).total())


def count_deepspeed(name: str, norm: str, step: bool, inputs: tuple[Tensor, ...]) -> int:
    from deepspeed.profiling.flops_profiler import FlopsProfiler

    model = Model(name, norm, fused=False).train(step)
    profiler = FlopsProfiler(model)
    profiler.start_profile()
    model(*inputs)
    flops = profiler.get_total_flops()
    profiler.end_profile()
    return int(flops)


COUNTERS = {"torch": count_torch, "fvcore": count_fvcore, "deepspeed": count_deepspeed}


def count_program(name: str, norm: str, step: bool) -> dict:
    inputs = (torch.rand(NODES, FEATURES), torch.randint(NODES, (EDGES,)), torch.randint(NODES, (EDGES,)))
    flops = {counter: count(name, norm, step, inputs) for counter, count in COUNTERS.items()}
    attention, mpnn = MODELS[name]
    model = {"model": name, "attention": attention, "mpnn": int(mpnn), "norm": norm}
    return model | {"program": "step" if step else "forward"} | flops


def main() -> None:
    from importlib.metadata import version

    golden = {
        "versions": {name: version(name) for name in COUNTERS},
        "nodes": NODES,
        "hidden": HIDDEN,
        "heads": HEADS,
        "ffn": FFN,
        "layers": LAYERS,
        "programs": [count_program(*case) for case in product(MODELS, ("layer", "batch"), (False, True))],
    }
    OUT.write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
