"""Runs gtmark's encodings for the scripts that check and compare them."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse

ROOT = Path(__file__).resolve().parents[2]


def compute(encoding, graph="er", nodes=100, degree=5, graphs=1, seed=42, solver="auto", threads=2, runs=1,
            timeout=None):
    """The result, with the arrays written by dump_encoding."""
    with tempfile.TemporaryDirectory() as directory:
        words = [graph, nodes, degree, graphs, seed, encoding, solver, threads, runs, directory]
        out = subprocess.run([ROOT / "build/tests/dump_encoding", *map(str, words)], check=True, text=True,
                             stdout=subprocess.PIPE, timeout=timeout,
                             env={k: v for k, v in os.environ.items() if k != "OMP_WAIT_POLICY"})
        found = json.loads(out.stdout)
        for path in Path(directory).glob("*.npy"):
            found[path.stem] = np.load(path)
    return found


def adjacency(found):
    """The adjacency matrix with multiplicities, without loops."""
    n = len(found["row"]) - 1
    a = scipy.sparse.csr_array((np.ones(len(found["col"])), found["col"], found["row"]), shape=(n, n))
    a.sum_duplicates()
    a.setdiag(0)
    a.eliminate_zeros()
    return a


def laplacian(a, normalised):
    """D - A, or I - D^-1/2 A D^-1/2, where an isolated node has eigenvalue 1."""
    degree = a.sum(axis=1)
    if not normalised:
        return (scipy.sparse.diags_array(degree) - a).tocsr()
    scale = np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1)), 0)
    s = scipy.sparse.diags_array(scale)
    return (scipy.sparse.eye_array(len(degree)) - s @ a @ s).tocsr()


def residuals(matrix, values, vectors):
    """|L v - lambda v| / |v| of each pair, relative to its limit."""
    v = vectors.astype(np.float64)
    r = np.linalg.norm(matrix @ v - v * values, axis=0) / np.linalg.norm(v, axis=0)
    return r / np.maximum(1e-3 * values, 2e-7 * abs(matrix).sum(axis=0).max())
