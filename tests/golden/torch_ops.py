"""Single operations in PyTorch, as the peers run them, outside a model."""

import time
from dataclasses import dataclass
from typing import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import torch_batch
from torch_batch import Batch
from torch_layers import OneDnnLinear, neighbour_sum, sparse_attention

WARMUP = 0.1  # seconds, at least one run, as in gtmark
FEWEST, MOST = 3, 200  # runs per block
KINDS = ("forward", "forward+backward")


@dataclass(frozen=True)
class Shape:
    nodes: int = 20000
    edges: int = 160000
    hidden: int = 64
    heads: int = 4


Op = Callable[[Tensor], Tensor]


def timed(run: Callable[[], object]) -> float:
    """Seconds of one run on the CPU."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def timed_on_gpu(run: Callable[[], object]) -> float:
    """Seconds between two events around one run's launches on an idle GPU, as gtmark measures it."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    run()
    end.record()
    end.synchronize()
    return 1e-3 * begin.elapsed_time(end)


TIMED = {"cpu": timed, "cuda": timed_on_gpu}


def block(run: Callable[[], object], seconds: float, device: str = "cpu") -> list[float]:
    """The times of a block of runs of about this duration, after a warm-up."""
    sample = TIMED[device]
    start = time.perf_counter()
    sample(run)
    while time.perf_counter() - start < WARMUP:
        sample(run)
    samples: list[float] = []
    while len(samples) < FEWEST or (sum(samples) < seconds and len(samples) < MOST):
        samples.append(sample(run))
    return samples


# --- the operations: for a shape and a graph, the input's columns and each peer's function


def aggregate(shape: Shape, batch: Batch) -> tuple[int, dict[str, Op]]:
    """x plus the sum over in-neighbours: a sparse matrix product and a sum, as in the models, or both at once (which is
    faster forward, but transposes the matrix in every backward pass), or gather and scatter in PyG.
    """
    import torch_geometric.nn as pyg

    conv = pyg.GINConv(nn.Identity())
    row, col, _, _, ones = batch.adjacency
    adjacency = torch.sparse_csr_tensor(row, col, ones, (shape.nodes, shape.nodes))
    return shape.hidden, {
        "eager": lambda x: x + neighbour_sum(*batch.adjacency, x),
        "addmm": lambda x: torch.addmm(x, adjacency, x),
        "pyg": lambda x: conv(x, batch.edge_index),
    }


class Part(nn.Module):
    """One of the three thirds of the columns."""

    def __init__(self, index: int):
        super().__init__()
        self.index = index

    def forward(self, x: Tensor) -> Tensor:
        return x.chunk(3, dim=1)[self.index]


def attention(shape: Shape, batch: Batch) -> tuple[int, dict[str, Op]]:
    """Attention over edges, without its projections."""
    import torch_geometric.nn as pyg

    d, heads = shape.hidden, shape.heads
    conv = pyg.TransformerConv(d, d // heads, heads, root_weight=False)
    conv.lin_query, conv.lin_key, conv.lin_value = (Part(index) for index in range(3))

    def eager(qkv: Tensor) -> Tensor:
        return sparse_attention(qkv, batch, heads)

    peers: dict[str, Op] = {"eager": eager, "compile": torch.compile(eager, dynamic=False)}
    return 3 * d, peers | {"pyg": lambda qkv: conv(qkv, batch.edge_index)}


def biased_attention(shape: Shape, batch: Batch) -> tuple[int, dict[str, Op]]:
    """Dense attention with a bias for each pair and head, which has a gradient too."""
    n, d, heads = shape.nodes, shape.hidden, shape.heads
    bias = nn.Parameter(torch.rand(1, heads, n, n) * 2 - 1)

    def attended(qkv: Tensor, attend: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Tensor:
        bias.grad = None  # written, not added
        y = attend(*qkv.view(1, n, 3, heads, d // heads).permute(2, 0, 3, 1, 4).unbind(0))
        return y.transpose(1, 2).reshape(n, d)

    def sdpa(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)

    def products(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return (q @ k.transpose(2, 3) * (d // heads) ** -0.5 + bias).softmax(3) @ v

    compiled = torch.compile(products, dynamic=False)
    return 3 * d, {"sdpa": lambda x: attended(x, sdpa), "eager": lambda x: attended(x, products),
                   "compile": lambda x: attended(x, compiled)}


def layer_norm(shape: Shape, batch: Batch) -> tuple[int, dict[str, Op]]:
    """Of the sum of two matrices, as after each branch."""
    norm, residual = nn.LayerNorm(shape.hidden), torch.rand(shape.nodes, shape.hidden) * 2 - 1

    def eager(x: Tensor) -> Tensor:
        return norm(x + residual)

    return shape.hidden, {"eager": eager, "compile": torch.compile(eager, dynamic=False)}


def ffn(shape: Shape, batch: Batch) -> tuple[int, dict[str, Op]]:
    """d -> 2d -> d with exact GELU."""
    d = shape.hidden

    def network(linear: type[nn.Linear]) -> nn.Module:
        return nn.Sequential(linear(d, 2 * d), nn.GELU(), linear(2 * d, d))

    eager = network(nn.Linear)
    compiled = torch.compile(eager, dynamic=False)
    return d, {"eager": eager, "compile": compiled, "onednn": network(OneDnnLinear)}


OPS = {"aggregate": aggregate, "sparse_attention": attention, "biased_attention": biased_attention,
       "layer_norm": layer_norm, "ffn": ffn}
SHAPES = {"biased_attention": Shape(nodes=1000, edges=5000)}  # where not Shape()


def program(op: Op, kind: str, nodes: int, columns: int) -> Callable[[], object]:
    """A run of KINDS; computes gradients of the input and of parameters, if any."""
    x = torch.rand(nodes, columns) * 2 - 1
    if kind == "forward":
        return torch.inference_mode()(lambda: op(x))
    x.requires_grad_()
    grad = torch.rand_like(op(x).detach())

    def run() -> None:
        x.grad = None  # as a step's zero_grad: gradients are written, not added
        op(x).backward(grad)

    return run


def programs(name: str, kind: str, shape: Shape) -> dict[str, Callable[[], object]]:
    """An operation of OPS, by peer, on a random graph."""
    torch.compiler.reset()
    columns, peers = OPS[name](shape, torch_batch.random_graph(shape.nodes, shape.edges))
    return {peer: program(op, kind, shape.nodes, columns) for peer, op in peers.items()}
