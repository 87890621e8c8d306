"""A batch of graphs for PyTorch: what --dump wrote, or a random graph."""

import copy
from pathlib import Path

import numpy as np
import torch
from torch import Tensor


def offsets(ascending: Tensor, rows: int) -> Tensor:
    """The start of each row."""
    return torch.cat([torch.zeros(1, dtype=torch.int64), torch.bincount(ascending, minlength=rows).cumsum(0)])


class Batch:
    """Graph g has the nodes graphs[g] .. graphs[g + 1] - 1; senders to node i are col[row[i]] ..
    col[row[i + 1] - 1]. Data that the peers need is computed here, once.
    """

    def __init__(self, graphs: Tensor, row: Tensor, col: Tensor):
        nodes = len(row) - 1
        self.graphs, self.row, self.col = graphs, row, col
        self.sizes: list[int] = graphs.diff().tolist()
        self.graph_of = torch.arange(len(self.sizes)).repeat_interleave(graphs.diff())
        self.receiver = torch.arange(nodes).repeat_interleave(row.diff())
        self.edge_index = torch.stack([col, self.receiver])  # PyG's layout: senders over receivers
        sender, order = torch.sort(col, stable=True)
        transpose = offsets(sender, nodes), self.receiver[order]
        # CSR by receiver, by sender, and a one per edge: arguments of neighbour_sum
        self.adjacency = *(a.to(torch.int32) for a in (row, col, *transpose)), torch.ones(len(col))
        # Position of each node if every graph is padded to the largest, and which positions are nodes
        self.most = max(self.sizes)
        self.place = self.graph_of * self.most + torch.arange(nodes) - graphs[:-1][self.graph_of]
        self.present = (torch.arange(self.most) < graphs.diff()[:, None])[:, None, None, :]
        self.way = ""  # of attention in several graphs, of torch_layers.WAYS

    def to(self, device: str) -> "Batch":
        """Moves the batch's tensors and returns the batch."""
        for name, value in vars(self).items():
            if isinstance(value, Tensor):
                setattr(self, name, value.to(device))
        self.adjacency = tuple(a.to(device) for a in self.adjacency)
        return self

    def but(self, **changed) -> "Batch":
        """The batch with other attributes."""
        other = copy.copy(self)
        vars(other).update(changed)
        return other


def load(dump: Path) -> tuple[Batch, Tensor]:
    """The batch dumped by a benchmark, and its node features."""
    graphs, row, col = (
        torch.from_numpy(np.load(dump / f"{name}.npy").flatten().astype(np.int64))
        for name in ("input.graphs", "graph.row_ptr", "graph.col")
    )
    if (dump / "input.token.rows.npy").exists():  # counted as nodes
        graphs = graphs - torch.arange(len(graphs))
    return Batch(graphs, row, col), torch.from_numpy(np.load(dump / "input.features.npy"))


def random_graph(nodes: int, edges: int) -> Batch:
    """A graph with `edges` directed edges: half as many random pairs, in both directions."""
    ends = torch.randint(nodes, (2, edges // 2))
    receiver, sender = torch.cat([ends, ends.flip(0)], dim=1)
    order = torch.argsort(receiver * nodes + sender)
    return Batch(torch.tensor([0, nodes]), offsets(receiver[order], nodes), sender[order])
