"""The graph transformer of models/graph_transformer.c in PyTorch, and the two programs that are timed.

The work is the same: one graph of N nodes, 16 features a node, post-norm layers of dense multi-head attention
and a feed-forward network with exact GELU, mean pooling, one output, mean squared error, AdamW. Weights and
inputs are of the same distributions, not the same numbers.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

FEATURES = 16
PROGRAMS = ("forward", "step")
PEERS = ("eager", "compile", "onednn")


@dataclass(frozen=True)
class Config:
    """Widths of the model; `heads` must divide `hidden`."""

    layers: int
    hidden: int
    heads: int
    ffn: int


class OneDnnProduct(torch.autograd.Function):
    """x weight' + bias by oneDNN, in both directions."""

    @staticmethod
    def product(a, b_transposed, bias=None):
        return torch.ops.mkldnn._linear_pointwise(a, b_transposed, bias, "none", [], "")

    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return OneDnnProduct.product(x, weight, bias)

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        grad_x = OneDnnProduct.product(grad, weight.t()) if ctx.needs_input_grad[0] else None
        return grad_x, OneDnnProduct.product(grad.t(), x.t()), grad.sum(0)


class OneDnnLinear(nn.Linear):
    """nn.Linear by oneDNN: PyTorch's float32 products are MKL's, which leaves AVX-512 unused on AMD."""

    def forward(self, x):
        if torch.is_grad_enabled():
            return OneDnnProduct.apply(x, self.weight, self.bias)
        return OneDnnProduct.product(x, self.weight, self.bias)


class Layer(nn.Module):
    """x = LayerNorm(x + attention(x)); x = LayerNorm(x + FFN(x))."""

    def __init__(self, config, linear):
        super().__init__()
        d = config.hidden
        self.heads = config.heads
        self.qkv, self.out = linear(d, 3 * d), linear(d, d)
        self.up, self.down = linear(d, config.ffn), linear(config.ffn, d)
        self.norm_attention, self.norm_out = nn.LayerNorm(d), nn.LayerNorm(d)

    def attention(self, x):
        """N x d -> N x d: a batch of one graph, since all nodes attend to all."""
        nodes, d = x.shape
        qkv = self.qkv(x).view(1, nodes, 3, self.heads, d // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(nodes, d))

    def forward(self, x):
        x = self.norm_attention(x + self.attention(x))
        return self.norm_out(x + self.down(F.gelu(self.up(x))))


class GraphTransformer(nn.Module):
    """Node features N x 16 of one graph -> 1 x 1."""

    def __init__(self, config, linear=nn.Linear):
        super().__init__()
        self.input = linear(FEATURES, config.hidden)
        self.layers = nn.Sequential(*(Layer(config, linear) for _ in range(config.layers)))
        self.head = nn.Linear(config.hidden, 1)

    def forward(self, features):
        return self.head(self.layers(self.input(features)).mean(0, keepdim=True))


def parameters(config):
    """Number of parameters."""
    with torch.device("meta"):
        return sum(p.numel() for p in GraphTransformer(config).parameters())


def program(kind, peer, config, nodes):
    """A function without arguments that runs `kind` of PROGRAMS once, as `peer` of PEERS does it.

    Compiled programs are compiled for this size alone. AdamW is the fused one, the faster on CPUs.
    """
    torch.compiler.reset()
    model = GraphTransformer(config, OneDnnLinear if peer == "onednn" else nn.Linear)
    features, target = torch.rand(nodes, FEATURES) * 2 - 1, torch.rand(1, 1) * 2 - 1

    def loss():
        return F.mse_loss(model(features), target)

    compiled = peer == "compile"
    if kind == "forward":
        infer = torch.compile(model.eval(), dynamic=False) if compiled else model.eval()
        return torch.inference_mode()(lambda: infer(features))
    train = torch.compile(loss, dynamic=False) if compiled else loss
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        train().backward()
        optimizer.step()

    return step
