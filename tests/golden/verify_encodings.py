#!/usr/bin/env python3
"""Compares gtmark's Laplacian encodings with numpy's and scipy's, and with PyG's transform, on seeded graphs.

For each graph: all eigenvalues against a dense solver in float64; residuals recomputed by scipy; the projector
onto every cluster of equal eigenvalues; and whether the columns of PyG's AddLaplacianEigenvectorPE have the same
eigenvalues. Exit status 1 beyond the limits of docs/methods.md.
"""

import argparse
import sys

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import AddLaplacianEigenvectorPE

from encodings_of_gtmark import adjacency, compute, laplacian, residuals

CASES = [("er", 5), ("er", 1.2), ("er:giant", 5), ("grid", 0), ("ba", 5), ("rmat", 5)]


def arguments():
    p = argparse.ArgumentParser(description="gtmark's encodings against numpy, scipy and PyG")
    p.add_argument("--count", type=int, default=20, help="graphs (default %(default)s)")
    p.add_argument("--seed", type=int, default=1, help="of the first (default %(default)s)")
    return p.parse_args()


def clusters(values, tolerance=1e-4):
    """Ranges of eigenvalues closer to each other than their accuracy."""
    start = 0
    for i in range(1, len(values) + 1):
        if i == len(values) or values[i] - values[i - 1] > tolerance * max(values[i], 1e-3):
            yield start, i
            start = i


def check_projectors(ours, values, vectors, first):
    """The largest difference of the projectors onto clusters that the encoding contains completely."""
    worst = 0
    for start, end in clusters(values):
        if start < first or end - first > ours.shape[1]:
            continue
        gap = min(values[start] - values[start - 1] if start else np.inf,
                  values[end] - values[end - 1] if end < len(values) else np.inf)
        u, v = ours[:, start - first:end - first], vectors[:, start:end]
        # The accuracy of vectors is their residual over the gap to the rest of the spectrum.
        allowed = 1e-4 + 4e-3 * max(values[end - 1], 1e-4) / gap
        worst = max(worst, np.abs(u @ u.T - v @ v.T).max() / allowed)
    return worst


def pyg_columns(a, k):
    coo = a.tocoo()
    repeat = coo.data.astype(int)
    edge = np.stack([np.repeat(coo.row, repeat), np.repeat(coo.col, repeat)])
    data = Data(edge_index=torch.from_numpy(edge.astype(np.int64)), num_nodes=a.shape[0])
    return AddLaplacianEigenvectorPE(k, is_undirected=True)(data).laplacian_eigenvector_pe.double().numpy()


def check_pyg(a, k, values):
    """How far the Rayleigh quotients of PyG's columns are from eigenvalues, and how many it left out.

    Beyond 100 nodes PyG calls ARPACK, which may find fewer copies of a multiple eigenvalue than there are: that
    is PyG's to answer for, and is printed.
    """
    theirs = pyg_columns(a, k)
    quotients = np.sort(np.einsum("ik,ik->k", theirs, laplacian(a, True) @ theirs))
    distance = np.abs(quotients[:, None] - values[None, :]).min(axis=1)
    skipped = int((quotients > values[1:k + 1] + 1e-4).any())
    return (distance / (1e-4 * np.maximum(quotients, 1e-3))).max(), skipped


def check(index, seed, solver):
    family, degree = CASES[index % len(CASES)]
    nodes, k = 60 + 37 * index % 400, (4, 8, 16)[index % 3]
    worst = {}
    for kind in ("lap", "lap-pyg"):
        first = int(kind == "lap-pyg")
        found = compute(f"{kind}:{k}", family, nodes, degree, 1, seed, solver)
        a = adjacency(found)
        matrix = laplacian(a, kind == "lap-pyg")
        values, vectors = np.linalg.eigh(matrix.toarray())
        ours = found["eigenvalues"][0].astype(np.float64)
        truth = np.maximum(values[first:first + k], 0)
        worst[f"{kind} eigenvalues"] = (np.abs(ours - truth) / (1e-4 * truth + 1e-10)).max()
        worst[f"{kind} residuals"] = residuals(matrix, ours, found["values"]).max()
        # With a multiple zero eigenvalue, which vector is dropped is arbitrary.
        several = first and values[1] < 1e-9
        if not several:
            worst[f"{kind} projectors"] = check_projectors(found["values"].astype(np.float64), values, vectors, first)
        if kind == "lap-pyg":
            worst["PyG"], skipped = check_pyg(a, k, values)
    note = "; PyG left some out" if skipped else ""
    return f"{family} of {a.shape[0]} nodes, degree {degree}, K = {k}, {solver}{note}", worst


def main():
    o = arguments()
    failed = 0
    for i in range(o.count):
        for solver in ("auto", "iterative", "lapack"):
            name, worst = check(i, o.seed + i, solver)
            bad = {key: value for key, value in worst.items() if not value <= 1}
            failed += bool(bad)
            most = max(worst, key=worst.get)
            print(f"{'WRONG' if bad else 'ok':5} {name}: at most {worst[most]:.2g} of the limit, in {most}")
    print(f"{failed} wrong" if failed else "all right")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
