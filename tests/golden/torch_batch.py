"""A batch of graphs for PyTorch: what --dump wrote, or a random graph."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor


def offsets(ascending: Tensor, rows: int) -> Tensor:
    """Where each row starts."""
    return torch.cat([torch.zeros(1, dtype=torch.int64), torch.bincount(ascending, minlength=rows).cumsum(0)])


class Batch:
    """Graph g has the nodes graphs[g] .. graphs[g + 1] - 1; senders to node i are col[row[i]] ..
    col[row[i + 1] - 1]. What the peers want of it is made here, once.
    """

    def __init__(self, graphs: Tensor, row: Tensor, col: Tensor):
        nodes = len(row) - 1
        self.graphs, self.row, self.col = graphs, row, col
        self.sizes: list[int] = graphs.diff().tolist()
        self.graph_of = torch.arange(len(self.sizes)).repeat_interleave(graphs.diff())
        self.receiver = torch.arange(nodes).repeat_interleave(row.diff())
        self.edge_index = torch.stack([col, self.receiver])  # as PyG has edges: senders over receivers
        sender, order = torch.sort(col, stable=True)
        transpose = offsets(sender, nodes), self.receiver[order]
        # CSR by receiver, by sender, and a one for each edge: what neighbour_sum takes
        self.adjacency = *(a.to(torch.int32) for a in (row, col, *transpose)), torch.ones(len(col))


def load(dump: Path) -> tuple[Batch, Tensor]:
    """The batch that a benchmark dumped, and the features of its nodes."""
    graphs, row, col = (
        torch.from_numpy(np.load(dump / f"{name}.npy").flatten().astype(np.int64))
        for name in ("input.graphs", "graph.row_ptr", "graph.col")
    )
    return Batch(graphs, row, col), torch.from_numpy(np.load(dump / "input.features.npy"))


def random_graph(nodes: int, edges: int) -> Batch:
    """One graph of `edges` directed edges: half as many drawn at random, in both directions."""
    ends = torch.randint(nodes, (2, edges // 2))
    receiver, sender = torch.cat([ends, ends.flip(0)], dim=1)
    order = torch.argsort(receiver * nodes + sender)
    return Batch(torch.tensor([0, nodes]), offsets(receiver[order], nodes), sender[order])
