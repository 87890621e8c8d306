#!/usr/bin/env python3
"""Compares RWSE with PyTorch Geometric's AddRandomWalkPE, from dumps: verify_rwse.py DUMP ...

A dump is a directory written by `--pe rwse:K --dump DUMP`. PyTorch Geometric merges parallel edges, which changes
the graph, so graphs with parallel edges are refused here. Exit status 1 if an entry differs by more than a
relative 1e-6, or by more than 1e-7 if it is below 0.1.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import AddRandomWalkPE

ABSOLUTE, RELATIVE = 1e-7, 1e-6


def graphs_of(dump: Path) -> list[Data]:
    bounds = np.load(dump / "input.graphs.npy").flatten()
    rows, senders = (np.load(dump / f"graph.{name}.npy").flatten() for name in ("row_ptr", "col"))
    receivers = np.repeat(np.arange(len(rows) - 1), np.diff(rows))
    edges = np.stack([senders, receivers]).astype(np.int64)
    if np.unique(edges, axis=1).shape != edges.shape:
        raise ValueError(f"{dump}: an edge occurs several times")
    own = [edges[:, (first <= receivers) & (receivers < end)] - first for first, end in zip(bounds, bounds[1:])]
    sizes = np.diff(bounds).tolist()
    return [Data(edge_index=torch.tensor(e), num_nodes=n) for e, n in zip(own, sizes)]


def largest_excess(dump: Path) -> float:
    """The largest difference relative to its limit."""
    ours = np.load(dump / "input.encoding.walks.npy").astype(np.float64)
    transform = AddRandomWalkPE(ours.shape[1], attr_name="pe")
    theirs = torch.cat([transform(g).pe for g in graphs_of(dump)]).double().numpy()
    return float(np.max(np.abs(ours - theirs) / np.maximum(ABSOLUTE, RELATIVE * theirs)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="RWSE against PyTorch Geometric")
    parser.add_argument("dump", nargs="+", type=Path)
    wrong = 0
    for path in parser.parse_args().dump:
        excess = largest_excess(path)
        wrong += not excess <= 1
        print(f"{path}: {excess:.2f} of the limit")
    sys.exit(wrong > 0)
