"""gtmark's Graphormer in plain PyTorch, from what --dump wrote, as microsoft/Graphormer does it: graphs padded to the
largest, a bias of all pairs, and for paths a batched product of each hop.

What depends on the graphs alone is computed once. Paths are embedded for the pairs that there are, not for padding.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torch_preset import Preset


class Graphormer(Preset):
    """The dumped model with its dumped parameters, whose names have `_` for dots."""

    def __init__(self, dump, known_shape):
        nn.Module.__init__(self)
        self.m, self.names = dump.model, {name.replace(".", "_"): name for name in dump.parameters}
        self.p = nn.ParameterDict({own: nn.Parameter(dump.parameters[name].clone()) for own, name in self.names.items()})
        sizes, rows = torch.tensor(dump.batch.sizes) + 1, dump.batch.most + 1
        graph = torch.arange(len(sizes)).repeat_interleave(sizes**2)
        at = torch.arange(len(graph)) - (sizes**2).cumsum(0).sub(sizes**2)[graph]
        self.pair = (graph * rows + at // sizes[graph]) * rows + at % sizes[graph]
        self.node = dump.batch.graph_of * rows + dump.batch.place % dump.batch.most + 1
        self.shape = len(sizes), rows
        self.absent = torch.where(torch.arange(rows) < sizes[:, None], 0.0, -torch.inf)[:, None, None]
        types = len(dump.parameters["bias.types"])
        path = dump.inputs["encoding.paths"].T.contiguous()
        self.types = torch.where(path > 0, (path - 1) % types + 1, 0)  # by hop; 0: none
        self.factor = dump.inputs["encoding.path_factors"]

    def in_gtmark(self, name):
        return self.names[name.removeprefix("p.")], None

    def linear(self, name: str, x: Tensor) -> Tensor:
        return F.linear(x, self.p[name + "_weight"], self.p[name + "_bias"][0])

    def norm(self, name: str, x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], self.p[name + "_weight"][0], self.p[name + "_bias"][0], self.m["eps"])

    def drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.m["dropout"], self.training)

    def bias(self, inputs) -> Tensor:
        """Graphs x heads x rows x rows."""
        heads, (graphs, rows) = self.m["heads"], self.shape
        edge = F.embedding(self.types, F.pad(self.p["bias_types"], (0, 0, 1, 0)))  # hops x pairs x heads
        product = self.p["bias_hops"].view(heads, -1, heads).permute(1, 2, 0)[: len(edge)]
        along = torch.bmm(edge, product).sum(0) * self.factor
        bias = F.embedding(inputs["encoding.distances"].flatten(), self.p["bias_weight"]) + along
        padded = bias.new_zeros(graphs * rows * rows, heads).index_copy(0, self.pair, bias)
        return padded.view(graphs, rows, rows, heads).permute(0, 3, 1, 2) + self.absent

    def attention(self, name: str, x: Tensor, bias: Tensor) -> Tensor:
        qkv = self.linear(name + "_qkv", x).unflatten(2, (3, self.m["heads"], -1))
        drop = self.m["attention_dropout"] if self.training else 0.0
        y = F.scaled_dot_product_attention(*qkv.permute(2, 0, 3, 1, 4).unbind(0), attn_mask=bias, dropout_p=drop)
        return self.linear(name + "_out", y.transpose(1, 2).flatten(2))

    def forward(self, inputs, batch):
        graphs, rows = self.shape
        x = F.embedding(inputs["features"], self.p["input_weight"]).sum(1)
        x = x + F.embedding(inputs["degrees"], self.p["degrees_weight"]).sum(1)
        x = x.new_zeros(graphs * rows, x.shape[1]).index_copy(0, self.node, x).view(graphs, rows, -1)
        x = torch.cat([self.p["token_weight"].T.expand(graphs, 1, -1), x[:, 1:]], dim=1)
        x, bias = self.drop(x), self.bias(inputs)
        for n in range(1, self.m["layers"] + 1):
            h = self.attention(f"layer{n}_attention", self.norm(f"layer{n}_norm_attention", x), bias)
            x = x + self.drop(h)
            h = F.gelu(self.linear(f"layer{n}_ffn_up", self.norm(f"layer{n}_norm_ffn", x)))
            x = x + self.drop(self.linear(f"layer{n}_ffn_down", h))
        return self.linear("head", self.norm("norm", x)[:, 0])
