"""Building blocks of the PyTorch models beside its own modules: products by oneDNN, sums over neighbours,
attention over graphs and over edges."""

from math import sqrt

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torch_batch import Batch


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
    """nn.Linear by oneDNN: PyTorch's float32 products use MKL, which does not use AVX-512 on AMD."""

    def forward(self, x):
        if torch.is_grad_enabled():
            return OneDnnProduct.apply(x, self.weight, self.bias)
        return OneDnnProduct.product(x, self.weight, self.bias)


@torch.library.custom_op("peer::neighbour_sum", mutates_args=())
def neighbour_sum(
    row: Tensor, col: Tensor, out_row: Tensor, out_col: Tensor, ones: Tensor, x: Tensor
) -> Tensor:
    """Sums over each node's in-neighbours, as a product with a sparse matrix.

    An op of its own, because torch.compile takes no sparse matrices, and because the gradient of a product
    would transpose the matrix each time: `out` is the transpose, made once. On CPUs in float32, since MKL has no such
    products in bfloat16; cuSPARSE has.
    """
    kind = x.dtype if x.is_cuda else torch.float32
    adjacency = torch.sparse_csr_tensor(row, col, ones.to(kind), (len(x), len(x)), check_invariants=False)
    return (adjacency @ x.to(kind)).to(x.dtype)


@neighbour_sum.register_fake
def _(row, col, out_row, out_col, ones, x):
    return torch.empty_like(x)


def _save_transpose(ctx, inputs, output):
    row, col, out_row, out_col, ones, _ = inputs
    ctx.save_for_backward(out_row, out_col, row, col, ones)


def _neighbour_sum_backward(ctx, grad):
    return None, None, None, None, None, neighbour_sum(*ctx.saved_tensors, grad.contiguous())


neighbour_sum.register_autograd(_neighbour_sum_backward, setup_context=_save_transpose)
neighbour_sum.register_autocast("cpu", torch.float32)


def padded_attention(qkv: Tensor, batch: Batch, heads: int) -> Tensor:
    """N x 3d -> N x d, all graphs padded to the largest: few launches for any number of graphs. With a mask, which
    FlashAttention does not take, only if sizes differ.
    """
    graphs, is_full = len(batch.sizes), min(batch.sizes) == batch.most
    padded = qkv if is_full else qkv.new_zeros(graphs * batch.most, qkv.shape[1]).index_copy(0, batch.place, qkv)
    q, k, v = padded.view(graphs, batch.most, 3, heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=None if is_full else batch.present)
    y = y.transpose(1, 2).flatten(2).flatten(0, 1)
    return y if is_full else y[batch.place]


def nested_attention(qkv: Tensor, batch: Batch, heads: int) -> Tensor:
    """N x 3d -> N x d, as nested tensors, whose attention takes rows of any lengths."""
    rows = {"offsets": batch.graphs, "min_seqlen": min(batch.sizes), "max_seqlen": batch.most}
    q, k, v = (torch.nested.nested_tensor_from_jagged(part, **rows).transpose(1, 2)
               for part in qkv.view(len(qkv), 3, heads, -1).unbind(1))
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).values().flatten(1)


WAYS = {"": None, "padded": padded_attention, "nested": nested_attention}  # of attention in several graphs


def dense_attention(qkv: Tensor, batch: Batch, heads: int) -> Tensor:
    """N x 3d -> N x d: as the batch says, else graph by graph, which is faster than padding on CPUs."""
    if WAYS[batch.way]:
        return WAYS[batch.way](qkv, batch, heads)
    parts = []
    for graph in qkv.split(batch.sizes):
        q, k, v = graph.view(1, len(graph), 3, heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        parts.append(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)[0])
    return torch.cat(parts) if len(parts) > 1 else parts[0]


def sum_rows(rows: Tensor, to: Tensor, count: int) -> Tensor:
    return rows.new_zeros(count, *rows.shape[1:]).index_add(0, to, rows)


def sparse_attention(qkv: Tensor, batch: Batch, heads: int) -> Tensor:
    """N x 3d -> N x d, over the edges to each node, by gathering and scattering."""
    nodes, receiver = len(qkv), batch.receiver
    q, k, v = qkv.view(nodes, 3, heads, -1).unbind(1)
    scores = (q[receiver] * k[batch.col]).sum(2) / sqrt(q.shape[2])
    top = scores.new_full((nodes, heads), -torch.inf)
    top = top.scatter_reduce(0, receiver[:, None].expand_as(scores), scores.detach(), "amax")
    weight = (scores - top[receiver]).exp()
    weight = weight / sum_rows(weight, receiver, nodes)[receiver]
    return sum_rows(weight[:, :, None] * v[batch.col], receiver, nodes).flatten(1)


ATTENTIONS = {"dense": dense_attention, "sparse": sparse_attention}


def mean_pool(x: Tensor, batch: Batch) -> Tensor:
    """The mean over each graph's rows."""
    if len(batch.sizes) == 1:
        return x.mean(0, keepdim=True)
    return sum_rows(x, batch.graph_of, len(batch.sizes)) / batch.graphs.diff()[:, None]
