"""gtmark's models in PyTorch, and the two timed programs.

The work is the same: the same graphs and features; post-norm layers of attention, sums over neighbours or both,
with exact GELU and LayerNorm per node; mean pooling, one output per graph, mean squared error, AdamW. Weights and
targets have the same distributions, not the same values.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torch_batch import Batch
from torch_layers import ATTENTIONS, OneDnnLinear, mean_pool, neighbour_sum

FEATURES = 16
PROGRAMS = ("forward", "step")
PEERS = {  # and the devices that have them
    "eager": ("cpu", "cuda"), "compile": ("cpu", "cuda"), "pyg": ("cpu", "cuda"), "onednn": ("cpu",),
    "graph": ("cuda",), "reduce-overhead": ("cuda",),
}
CASTS = {"f32": ("",), "tf32": ("",), "bf16": ("autocast", "bfloat16")}  # ways in which PyTorch has a precision
MODELS = {  # attention, and whether GIN runs in parallel
    "graph_transformer": ("dense", False),
    "sparse_transformer": ("sparse", False),
    "gin": (None, True),
    "gps": ("dense", True),
    "gps_sparse": ("sparse", True),
}


@dataclass(frozen=True)
class Config:
    """A model of MODELS and its widths; `heads` must divide `hidden`."""

    model: str
    layers: int
    hidden: int
    heads: int
    ffn: int


class Gin(nn.Module):
    """LayerNorm(x + MLP(x + the sum over in-neighbours))."""

    def __init__(self, config, linear):
        super().__init__()
        d = config.hidden
        self.up, self.down, self.norm = linear(d, d), linear(d, d), nn.LayerNorm(d)

    def forward(self, x, batch):
        gathered = x + neighbour_sum(*batch.adjacency, x)
        return self.norm(x + self.down(F.gelu(self.up(gathered))))


class Attention(nn.Module):
    """LayerNorm(x + attention(x))."""

    def __init__(self, config, linear):
        super().__init__()
        d = config.hidden
        self.heads, self.attention = config.heads, ATTENTIONS[MODELS[config.model][0]]
        self.qkv, self.out, self.norm = linear(d, 3 * d), linear(d, d), nn.LayerNorm(d)

    def forward(self, x, batch):
        return self.norm(x + self.out(self.attention(self.qkv(x), batch, self.heads)))


class Layer(nn.Module):
    """h = the sum of the branches; LayerNorm(h + FFN(h)). GIN alone is its branch."""

    def __init__(self, config, linear):
        super().__init__()
        attention, gin = MODELS[config.model]
        kinds = [Gin] * gin + [Attention] * (attention is not None)
        self.branches = nn.ModuleList(kind(config, linear) for kind in kinds)
        self.has_ffn = attention is not None
        if self.has_ffn:
            d = config.hidden
            self.up, self.down, self.norm = linear(d, config.ffn), linear(config.ffn, d), nn.LayerNorm(d)

    def forward(self, x, batch):
        h = self.branches[0](x, batch)
        for branch in self.branches[1:]:
            h = h + branch(x, batch)
        return self.norm(h + self.down(F.gelu(self.up(h)))) if self.has_ffn else h


class Model(nn.Module):
    """Node features N x 16 -> one row per graph."""

    def __init__(self, config, linear=nn.Linear):
        super().__init__()
        self.input = linear(FEATURES, config.hidden)
        self.layers = nn.ModuleList(Layer(config, linear) for _ in range(config.layers))
        self.head = nn.Linear(config.hidden, 1)

    def forward(self, features, batch):
        x = self.input(features)
        for layer in self.layers:
            x = layer(x, batch)
        return self.head(mean_pool(x, batch))


def parameters(config):
    """Number of parameters."""
    with torch.device("meta"):
        return sum(p.numel() for p in Model(config).parameters())


def build(peer, config):
    if peer == "pyg":
        import torch_pyg  # not needed by the other peers

        return torch_pyg.Model(config)
    return Model(config, OneDnnLinear if peer == "onednn" else nn.Linear)


def ways(peer, config, batch: Batch, features: Tensor):
    """The ways of attention that a peer may take."""
    several = features.is_cuda and len(batch.sizes) > 1 and MODELS[config.model][0] == "dense" and peer != "pyg"
    return ("padded", "nested") if several else ("",)


def program(kind, peer, cast, config, batch: Batch, features: Tensor):
    """A function without arguments that runs `kind` of PROGRAMS once, as `peer` of PEERS does it, where the
    features are, in this way of CASTS: autocast has parameters in float32, bfloat16 has nothing in float32.
    """
    torch.compiler.reset()
    model = build(peer, config).to(features.device)
    if sum(p.numel() for p in model.parameters()) != parameters(config):
        raise ValueError(f"{peer}: not the parameters of {config.model}")
    target = (torch.rand(len(batch.sizes), 1) * 2 - 1).to(features.device)
    if cast == "bfloat16":
        model, features, target = model.bfloat16(), features.bfloat16(), target.bfloat16()
        if features.is_cuda:
            batch = batch.but(adjacency=(*batch.adjacency[:4], batch.adjacency[4].bfloat16()))
    runs = (lambda: model(features, batch)), (lambda: F.mse_loss(model(features, batch), target))
    if cast == "autocast":
        runs = map(torch.autocast(features.device.type, torch.bfloat16), runs)
    mode = {"compile": "default", "reduce-overhead": "reduce-overhead"}.get(peer)
    run = timed_program(kind, mode, model, *runs, captured=peer == "graph")
    return capture(run) if peer == "graph" else run


def capture(run):
    """Replays of a run as one CUDA graph, after runs in which libraries allocate what they keep."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def timed_program(kind, mode, model, infer, loss, captured=False):
    """One run of `kind`: `infer` or a step on `loss`, compiled in this mode, if any, for these inputs alone. AdamW is
    the fused one, the fastest.
    """
    model.train(kind == "step")
    run = infer if kind == "forward" else loss
    if mode:
        run = torch.compile(run, dynamic=False, mode=mode)
    if kind == "forward":
        return torch.inference_mode()(run)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01, fused=True, capturable=captured)

    def step():
        optimizer.zero_grad(set_to_none=True)
        run().backward()
        optimizer.step()

    return step
