"""The models by PyTorch Geometric: GPSConv and GINConv, and TransformerConv for attention over edges."""

import torch
import torch_geometric.nn as pyg
from torch import nn

from torch_model import FEATURES, MODELS

# GPSConv passes a mask of padding, with which the fast path of MultiheadAttention, for inference only, takes three
# times as long as the usual path on CPUs: without this, inference is slower than training.
torch.backends.mha.set_fastpath_enabled(False)


def gin_conv(d):
    return pyg.GINConv(nn.Sequential(nn.Linear(d, d), nn.GELU(), nn.Linear(d, d)))


class DenseLayer(nn.Module):
    """GPSConv, with or without GIN; it pads all graphs to the largest."""

    def __init__(self, config):
        super().__init__()
        d = config.hidden
        if config.ffn != 2 * d:
            raise ValueError("GPSConv's feed-forward network has twice the width")
        conv = gin_conv(d) if MODELS[config.model][1] else None
        per_node = {"mode": "node"}
        self.conv = pyg.GPSConv(d, conv, config.heads, act="gelu", norm="layer_norm", norm_kwargs=per_node)
        if conv is None:
            self.conv.norm1 = None  # GIN's

    def forward(self, x, batch):
        return self.conv(x, batch.edge_index, batch.graph_of)


class SparseLayer(nn.Module):
    """The same layer with attention over edges, which GPSConv does not offer."""

    def __init__(self, config):
        super().__init__()
        d, heads = config.hidden, config.heads
        self.gin = gin_conv(d) if MODELS[config.model][1] else None
        self.norm_local = nn.LayerNorm(d) if self.gin else None
        self.attention = pyg.TransformerConv(d, d // heads, heads, root_weight=False)
        self.attention.lin_skip = None  # belongs to the root weight
        self.out, self.norm_attention = nn.Linear(d, d), nn.LayerNorm(d)
        self.ffn = nn.Sequential(nn.Linear(d, config.ffn), nn.GELU(), nn.Linear(config.ffn, d))
        self.norm_out = nn.LayerNorm(d)

    def forward(self, x, batch):
        h = self.norm_attention(x + self.out(self.attention(x, batch.edge_index)))
        if self.gin:
            h = h + self.norm_local(x + self.gin(x, batch.edge_index))
        return self.norm_out(h + self.ffn(h))


class GinLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gin, self.norm = gin_conv(config.hidden), nn.LayerNorm(config.hidden)

    def forward(self, x, batch):
        return self.norm(x + self.gin(x, batch.edge_index))


LAYERS = {"dense": DenseLayer, "sparse": SparseLayer, None: GinLayer}


class Model(nn.Module):
    """Node features N x 16 -> one row per graph."""

    def __init__(self, config):
        super().__init__()
        layer = LAYERS[MODELS[config.model][0]]
        self.input = nn.Linear(FEATURES, config.hidden)
        self.layers = nn.ModuleList(layer(config) for _ in range(config.layers))
        self.head = nn.Linear(config.hidden, 1)

    def forward(self, features, batch):
        x = self.input(features)
        for layer in self.layers:
            x = layer(x, batch)
        return self.head(pyg.global_mean_pool(x, batch.graph_of))
