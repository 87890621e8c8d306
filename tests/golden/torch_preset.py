"""gtmark's presets by PyTorch Geometric, from what --dump wrote: GPSConv around PyG's convolutions, and what PyG does
not have, GatedGCN as GraphGPS writes it, and Exphormer as its authors do.

Parameters and inputs are the dumped ones, so that results can be compared before times.
"""

import json
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
import torch_geometric.nn as pyg
from torch import Tensor, nn
from torch_geometric.utils import scatter

import torch_batch

torch.backends.mha.set_fastpath_enabled(False)  # torch_pyg.py says why
LOSSES = {"mse": F.mse_loss, "mae": F.l1_loss, "cross_entropy": F.cross_entropy, "binary_cross_entropy": F.binary_cross_entropy_with_logits}
POOLS = {"mean": pyg.global_mean_pool, "sum": pyg.global_add_pool, "max": pyg.global_max_pool}
ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU}


@dataclass(frozen=True)
class Dump:
    """A dumped step: `model` is its entry in config.json, and the arrays are by name."""

    model: dict
    batch: torch_batch.Batch
    inputs: dict[str, Tensor]
    parameters: dict[str, Tensor]
    output: Tensor
    gradients: dict[str, Tensor]


def load(directory: Path) -> Dump:
    def arrays(kind):
        paths = sorted(directory.glob(f"{kind}.*.npy"))
        return {p.name[len(kind) + 1 : -len(".npy")]: torch.from_numpy(np.load(p)) for p in paths}

    model = json.loads((directory / "config.json").read_text())["model"]
    output = torch.from_numpy(np.load(directory / "output.npy"))
    batch = torch_batch.load(directory)[0]
    return Dump(model, batch, arrays("input"), arrays("param"), output, arrays("grad"))


# --- layers; parameters have the names of gtmark


class GatedGcn(nn.Module):
    """GPSConv adds the residual connection and dropout. The new state of the edges is in `state`. With a gate, edges
    have weights by the distance of the encodings of their nodes, `place` (ESLapPE)."""

    def __init__(self, d, act, dropout, last, gate=False):
        super().__init__()
        if gate:
            self.weight = nn.ModuleDict({"up": nn.Linear(1, d), "down": nn.Linear(d, 1)})
        self.nodes, self.edge = nn.Linear(d, 4 * d), nn.Linear(d, d)
        self.norm_node, self.norm_edge = nn.BatchNorm1d(d), nn.BatchNorm1d(d)
        self.act, self.dropout, self.last, self.state = act, nn.Dropout(dropout), last, None

    def forward(self, x, edge_index, edge_attr, place=None):
        (sender, receiver), n = edge_index, len(x)
        own, sent, to, by = self.nodes(x).chunk(4, dim=1)
        h = to[receiver] + by[sender] + self.edge(edge_attr)
        gate = h.sigmoid()
        if place is not None:
            distance = (place[receiver] - place[sender]).square().sum(1, keepdim=True)
            gate = gate * self.weight["down"](self.act(self.weight["up"](distance))).sigmoid()
        total = scatter(gate * sent[sender], receiver, 0, n, "sum")
        mean = total / (scatter(gate, receiver, 0, n, "sum") + 1e-6)
        self.state = None if self.last else edge_attr + self.dropout(self.act(self.norm_edge(h)))
        return self.act(self.norm_node(own + mean))


class Expander(nn.Module):
    """The edges of exphormer's attention, global nodes behind the others; the features of those that are not of the
    graph, and the first state of global nodes."""

    def __init__(self, p, inputs):
        super().__init__()
        row = inputs["expander.row"].flatten().long()
        self.receiver = torch.repeat_interleave(torch.arange(len(row) - 1), row.diff())
        self.sender = inputs["expander.col"].flatten().long()
        self.factor = inputs["expander.factor"].flatten()
        self.edges = nn.Parameter(p["expander.edges"].clone())
        self.number = inputs["expander.globals"].flatten() if "expander.globals" in p else None
        self.globals = nn.Parameter(p["expander.globals"].clone()) if "expander.globals" in p else None

    def start(self):
        return self.edges[:0] if self.globals is None else self.globals[self.number]


class ExphormerAttention(nn.Module):
    """Of github.com/hamed1375/Exphormer, with features projected before they are repeated, which is less work."""

    def __init__(self, d, heads):
        super().__init__()
        self.qkv, self.edge, self.heads = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False), heads

    def forward(self, x, features, e):
        q, k, v = self.qkv(x).view(len(x), 3, self.heads, -1).unbind(1)
        c = self.edge(features)[e.factor].unflatten(1, (self.heads, -1))
        score = (q[e.receiver] * k[e.sender] * c).sum(2, keepdim=True) / sqrt(q.shape[2])
        score = score.clamp(-5, 5).exp()
        total = scatter(score * v[e.sender], e.receiver, 0, len(x), "sum")
        return (total / (scatter(score, e.receiver, 0, len(x), "sum") + 1e-6)).flatten(1)


class ExphormerLayer(nn.Module):
    """A layer of presets with exphormer attention; returns the states of nodes, global nodes and edges."""

    def __init__(self, m, last, gate):
        super().__init__()
        d, self.dropout, self.kind = m["hidden"], nn.Dropout(m["dropout"]), m["mpnn"]
        act = ACTIVATIONS[m["act"]]()
        gated = m["mpnn"] == "gatedgcn"
        self.add_module(self.kind, GatedGcn(d, act, m["dropout"], last, gate) if gated else pyg.GCNConv(d, d))
        self.norm_local, self.norm_attention, self.norm_out = (nn.BatchNorm1d(d) for _ in range(3))
        self.attention, self.act = ExphormerAttention(d, m["heads"]), act
        self.ffn = nn.ModuleDict({"up": nn.Linear(d, m["ffn"]), "down": nn.Linear(m["ffn"], d)})

    def forward(self, x, start, edges, features, edge_index, place, e):
        conv = getattr(self, self.kind)
        local = conv(x, edge_index, edges, place) if self.kind == "gatedgcn" else conv(x, edge_index)
        y = self.attention(torch.cat([x, start]), features, e)
        h = self.norm_local(x + self.dropout(local)) + self.norm_attention(x + self.dropout(y[: len(x)]))
        f = self.dropout(self.ffn["down"](self.dropout(self.act(self.ffn["up"](h)))))
        return self.norm_out(h + f), y[len(x) :], getattr(conv, "state", edges)


def convolution(m, last):
    d, act = m["hidden"], ACTIVATIONS[m["act"]]()
    network = nn.Sequential(nn.Linear(d, d), act, nn.Linear(d, d))
    made = {
        "gin": lambda: pyg.GINConv(network),
        "gine": lambda: pyg.GINEConv(network),
        "gcn": lambda: pyg.GCNConv(d, d),
        "gatv2": lambda: pyg.GATv2Conv(d, d // m["heads"], m["heads"]),
        "pna": lambda: pyg.PNAConv(d, d, ["mean", "max", "sum"], ["identity"], torch.tensor([0, 1])),
        "gatedgcn": lambda: GatedGcn(d, act, m["dropout"], last),
    }
    return made[m["mpnn"]]()


class PaddedOnce(pyg.GPSConv):
    """GPSConv whose padded shape is known in advance: torch.compile finds no size that depends on data."""

    def forward(self, x, edge_index, batch, **edges):
        def residual(h, norm):
            return norm(x + F.dropout(h, self.dropout, self.training))

        graphs = len(batch.sizes)
        padded = x.new_zeros(graphs * batch.most, x.shape[1]).index_copy(0, batch.place, x)
        padded = padded.unflatten(0, (graphs, -1))
        if self.attn_type == "performer":  # values of padding are zero: there is no bias
            h = self.attn(padded)
        else:
            absent = ~batch.present[:, 0, 0]
            h = self.attn(padded, padded, padded, key_padding_mask=absent, need_weights=False)[0]
        local = residual(self.conv(x, edge_index, **edges), self.norm1)
        out = local + residual(h.flatten(0, 1)[batch.place], self.norm2)
        return self.norm3(out + self.mlp(out))


def gps(m, last, known_shape):
    if m["ffn"] != 2 * m["hidden"] or m["norm"] != "batch":
        raise ValueError("GPSConv's feed-forward network has twice the width, and its norm here is batch")
    kind = {"dense": "multihead", "performer-relu": "performer"}[m["attention"]]
    dropout = {"dropout": m["attention_dropout"]}
    layer = PaddedOnce if known_shape else pyg.GPSConv
    return layer(m["hidden"], convolution(m, last), m["heads"], m["dropout"], m["act"], attn_type=kind,
                 attn_kwargs=dropout)


# GPSConv's name of each part, and gtmark's
GPS_NAMES = {"norm1.module": "norm_local", "norm2.module": "norm_attention", "norm3.module": "norm_out",
             "mlp.0": "ffn.up", "mlp.3": "ffn.down",
             "attn.out_proj": "attention.out", "attn.attn_out": "attention.out"}
OWN_NAMES = {("gcn", ""): "linear", ("pna", "lin"): "out"}
CONV_NAMES = {"nn.0": "up", "nn.2": "down", "lin": "linear", "pre_nns.0.0": "pre", "post_nns.0.0": "post"}


def name_in_gtmark(name, m):
    """gtmark's parameter for one of GPSConv's, and which of its thirds or halves."""
    part, kind = name.rsplit(".", 1)
    if m["attention"] == "exphormer":
        return name.replace("gcn.lin.", "gcn.linear.").replace("gcn.bias", "gcn.linear.bias") if m["mpnn"] == "gcn" else name, None
    if part in GPS_NAMES:
        return f"{GPS_NAMES[part]}.{kind}", None
    if kind.startswith("in_proj_"):
        return f"attention.qkv.{kind.removeprefix('in_proj_')}", None
    if part in ("attn.q", "attn.k", "attn.v"):
        return f"attention.qkv.{kind}", ("qkv".index(part[-1]), 3)
    part = part.removeprefix("conv").removeprefix(".")
    if part in ("lin_l", "lin_r"):
        return f"gatv2.lr.{kind}", ("lr".index(part[-1]), 2)
    inner = OWN_NAMES.get((m["mpnn"], part)) or CONV_NAMES.get(part, part)
    return ".".join(filter(None, (m["mpnn"], inner, kind))), None


def piece(values: Tensor, of, like: Tensor) -> Tensor:
    """A third or a half of a stacked matrix, in the shape of a module's parameter."""
    if of:
        values = values.chunk(of[1], dim=0 if len(values) > 1 else 1)[of[0]]
    return values.reshape(like.shape)


class Features(nn.Module):
    """Rows of raw features: types look up stacked tables, numbers go through a linear layer."""

    def __init__(self, p, name):
        super().__init__()
        self.weight, self.bias = nn.Parameter(p[name + ".weight"].clone()), None
        if name + ".bias" in p:
            self.bias = nn.Parameter(p[name + ".bias"][0].clone())
        self.norm = nn.BatchNorm1d(len(self.weight)) if name + ".norm.weight" in p else None

    def forward(self, raw):
        if not raw.is_floating_point():
            return F.embedding(raw, self.weight).sum(1)
        y = F.linear(raw, self.weight, self.bias)
        return F.normalize(F.relu(self.norm(y))) if self.norm else y


class Encoder(nn.Module):
    """RWSE from its diagonals, or LapPE from the pairs (v, lambda) of each node; of ESLapPE, a linear layer."""

    def __init__(self, p, inputs):
        super().__init__()
        self.walks, self.gate = "encoding.walks" in inputs, "encoding.vectors" in inputs
        if self.gate:
            self.weight, self.bias = (nn.Parameter(p[f"encoder.{name}"].clone()) for name in ("weight", "bias"))
        elif self.walks:
            self.norm = nn.BatchNorm1d(inputs["encoding.walks"].shape[1])
            self.linear = nn.Linear(*reversed(p["encoder.linear.weight"].shape))
        else:
            self.up, self.down = (nn.Linear(*reversed(p[f"encoder.{name}.weight"].shape)) for name in ("up", "down"))

    def forward(self, inputs, nodes):
        if self.gate:
            return F.linear(inputs["encoding.vectors"], self.weight, self.bias[0])
        if self.walks:
            return self.linear(self.norm(inputs["encoding.walks"]))
        h = F.relu(self.down(F.relu(self.up(inputs["encoding.pairs"]))))
        if len(h) % nodes == 0:  # as many pairs in each graph
            return h.unflatten(0, (nodes, -1)).sum(1)
        return scatter(h, inputs["node_of_pair"], 0, nodes, "sum")


class Head(nn.Module):
    """Linear layers: with an activation between them, or also normalised rows."""

    def __init__(self, m, p):
        super().__init__()
        found = [n.removesuffix(".weight") for n in p if n.startswith("head.") and n.endswith(".weight")]
        self.names = sorted((n.removeprefix("head").removeprefix(".") for n in found), key=ORDER.index)
        self.layers = nn.ModuleList(nn.Linear(*reversed(p[f"{self.of(n)}.weight"].shape)) for n in self.names)
        self.act, self.unit = ACTIVATIONS[m["act"]](), "hidden1" in self.names

    @staticmethod
    def of(name):
        return f"head.{name}" if name else "head"

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = self.act(layer(x))
            x = F.normalize(x) if self.unit else x
        return self.layers[-1](x)


ORDER = ["half", "quarter", *(f"hidden{n}" for n in range(1, 9)), "out", ""]


class Preset(nn.Module):
    """The dumped model with its dumped parameters."""

    def __init__(self, dump, known_shape):
        super().__init__()
        p, self.m, self.known_shape = dump.parameters, dump.model, known_shape
        self.input = Features(p, "input")
        self.edge_encoder = Features(p, "edge_encoder") if "edge_encoder.weight" in p else None
        self.encoder = Encoder(p, dump.inputs) if any(n.startswith("encoder.") for n in p) else None
        depth, self.expander = self.m["layers"], None
        if self.m["attention"] == "exphormer":
            self.expander = Expander(p, dump.inputs)
            gate = self.encoder is not None and self.encoder.gate
            self.layers = nn.ModuleList(ExphormerLayer(self.m, n == depth, gate) for n in range(1, depth + 1))
        else:
            self.layers = nn.ModuleList(gps(self.m, n == depth, known_shape) for n in range(1, depth + 1))
        self.head = Head(self.m, p)
        self.take(dump)

    def in_gtmark(self, name):
        """The name of one of our parameters there, and its part."""
        if name.startswith("layers."):
            _, number, rest = name.split(".", 2)
            theirs, part = name_in_gtmark(rest, self.m)
            return f"layer{int(number) + 1}.{theirs}", part
        if name.startswith("head.layers."):
            _, _, number, kind = name.split(".")
            return f"{Head.of(self.head.names[int(number)])}.{kind}", None
        return name, None

    @torch.no_grad()
    def take(self, dump):
        used = set()
        for name, parameter in self.named_parameters():
            theirs, part = self.in_gtmark(name)
            parameter.copy_(piece(dump.parameters[theirs], part, parameter))
            used.add(theirs)
        if unused := dump.parameters.keys() - used:
            raise ValueError(f"PyG's model does not have {', '.join(sorted(unused))}")
        for number, layer in enumerate(self.layers, 1):
            if self.m["attention"] == "performer-relu":
                layer.attn.fast_attn.projection_matrix.copy_(dump.inputs[f"layer{number}.attention.projection"])

    def forward(self, inputs, batch):
        x, place = self.input(inputs["features"]), None
        if self.encoder and self.encoder.gate:
            place = self.encoder(inputs, len(x))
        elif self.encoder:
            x = torch.cat([x, self.encoder(inputs, len(x))], dim=1)
        edges = {}
        if self.edge_encoder:
            edges = {"edge_attr": self.edge_encoder(inputs["edge_features"])}
        if self.expander:
            state, start = edges["edge_attr"], self.expander.start()
            features = torch.cat([state, self.expander.edges])
            for layer in self.layers:
                x, start, state = layer(x, start, state, features, batch.edge_index, place, self.expander)
        for layer in self.layers if not self.expander else []:
            x = layer(x, batch.edge_index, batch if self.known_shape else batch.graph_of, **edges)
            if self.m["mpnn"] == "gatedgcn":
                edges = {"edge_attr": layer.conv.state}
        if self.m["task"] == "graph":
            x = POOLS[self.m["pool"]](x, batch.graph_of, len(batch.sizes))
        y = self.head(x)
        if self.m["task"] == "edge":
            y = (y[inputs["pairs"][:, 0]] * y[inputs["pairs"][:, 1]]).sum(1, keepdim=True)
        return y

    def loss(self, inputs, batch):
        y, kind = self(inputs, batch), self.m["loss"]
        if kind in ("mse", "mae"):
            return LOSSES[kind](y, inputs["targets"])
        labels = inputs["labels"]
        return LOSSES[kind](y, labels.flatten() if kind == "cross_entropy" else labels.to(y.dtype))
