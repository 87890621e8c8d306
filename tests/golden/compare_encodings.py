#!/usr/bin/env python3
"""Times gtmark's Laplacian encoding against common alternatives: same graphs, pairs, tolerance and threads, in turn.

The encoding is lap-pyg, which PyG's transform computes. The peers, each with a residual of 1e-3 lambda:

    pyg       AddLaplacianEigenvectorPE: the Laplacian, and scipy's eigsh for the smallest algebraic values
    shift     eigsh in shift-invert mode; its time includes the factorisation of L + 1e-4
    amg       scipy's lobpcg with pyamg's smoothed aggregation as preconditioner, its setup included
    primme    PRIMME's eigsh, if it is asked for (--peers)

A peer that takes longer than --limit counts with that time. Each side's time is its best over all rounds of RUNS runs
each, after one that does not count, since other load on the machine can only add to it; gtmark starts from compressed
sparse rows, PyG from the edges in its Data. Waiting threads of the peers sleep, those of gtmark spin (--wait), which is
the faster way for either. The table gives the ratios to PyG and to the best of the peers; their least and geometric
mean stand below.
"""

import argparse
import json
import multiprocessing
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

THREADS, RUNS = "2", 3
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = THREADS  # the same for both sides
os.environ["OMP_WAIT_POLICY"] = "passive"  # of the peers; gtmark's processes do not get it

import keep_memory  # noqa: E402, F401
import numpy as np  # noqa: E402
import scipy  # noqa: E402
import scipy.sparse.linalg as sla  # noqa: E402

import torch_record  # noqa: E402
from encodings_of_gtmark import ROOT, adjacency, compute, laplacian  # noqa: E402

TOLERANCE = 1e-3


def arguments():
    p = argparse.ArgumentParser(description="LapPE against PyG, scipy and pyamg")
    p.add_argument("--graph", default="er:giant,grid,ba")
    p.add_argument("--nodes", default="1000,10000,100000")
    p.add_argument("--pairs", default="8,16")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--limit", type=float, default=120, help="time limit of a peer, seconds (default %(default)s)")
    p.add_argument("--peers", default="pyg,shift,amg", help="of " + ", ".join(PEERS) + " (default %(default)s)")
    p.add_argument("--wait", default="active", choices=("active", "passive"),
                   help="what waiting threads of gtmark do: spin (default) or sleep")
    p.add_argument("--output", type=Path, metavar="FOLDER",
                   help="adds the rows to the result files there, one of each contestant, for build/compare")
    p.add_argument("--rwse", action="store_true", help="instead: RWSE of K = 16, 20 at 1000, 2000 nodes, and a batch")
    p.add_argument("--batch", type=int, default=0, help="instead: a batch of this many graphs of 23 nodes")
    return p.parse_args()


def pyg(a, k, values):
    import torch
    from torch_geometric.data import Data
    from torch_geometric.transforms import AddLaplacianEigenvectorPE
    torch.set_num_threads(int(THREADS))
    coo = a.tocoo()
    edge = torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64))
    data = Data(edge_index=edge, num_nodes=a.shape[0])
    options = {"tol": TOLERANCE} if a.shape[0] >= 100 else {}
    transform = AddLaplacianEigenvectorPE(k, is_undirected=True, **options)
    return lambda: transform(data)


def shift(a, k, values):
    def run():
        sla.eigsh(laplacian(a, True).tocsc(), k=k + 1, sigma=-1e-4, which="LM", tol=TOLERANCE)
    return run


def amg(a, k, values):
    import pyamg

    def run():
        matrix = laplacian(a, True).tocsr()
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
        hierarchy = pyamg.smoothed_aggregation_solver(matrix + 1e-6 * sla_eye(matrix.shape[0]))
        start = np.random.default_rng(0).standard_normal((matrix.shape[0], k + 1))
        sla.lobpcg(matrix, start, M=hierarchy.aspreconditioner(), largest=False, maxiter=200,
                   tol=TOLERANCE * float(values[0]))
    return run


def sla_eye(n):
    import scipy.sparse
    return scipy.sparse.eye_array(n, format="csr")


def primme(a, k, values):
    import primme

    matrix = laplacian(a, True).tocsr()
    # Its tolerance is relative to the norm of the matrix, which is 2 at most.
    return lambda: primme.eigsh(matrix, k=k + 1, which="SA", tol=TOLERANCE * float(values[0]) / 2)


PEERS = {"pyg": pyg, "shift": shift, "amg": amg, "primme": primme}
TITLES = {"pyg": "PyG", "shift": "shift-invert", "amg": "lobpcg + AMG", "primme": "PRIMME"}
DEVICES = {"ours": "cpu", "pyg": "torch-pyg", "shift": "scipy-eigsh", "amg": "scipy-lobpcg-pyamg",
           "primme": "primme"}


def child(peer, a, k, values, pipe):
    run = PEERS[peer](a, k, values)
    pipe.send("imported")
    while pipe.recv():
        start = time.perf_counter()
        try:
            run()
            pipe.send(time.perf_counter() - start)
        except Exception as error:  # a peer that fails has no result
            print(f"{peer}: {error}", file=sys.stderr)
            pipe.send(float("inf"))


class Peer:
    """A peer in a separate process, which can be killed when it takes too long."""

    def __init__(self, name, a, k, values, limit):
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=child, args=(name, a, k, values, other), daemon=True)
        self.process.start()
        other.close()  # so that the pipe closes when the process ends
        try:
            self.pipe.recv()
        except EOFError:
            sys.exit(f"{name} does not start: is its package installed?")
        self.limit, self.times = limit, []

    def run(self):
        """The seconds of a run; the limit, without a run, once it was reached."""
        if self.times and self.times[-1] >= self.limit:
            return self.limit
        self.pipe.send(True)
        if self.pipe.poll(self.limit):
            self.times.append(min(self.limit, self.pipe.recv()))
        else:
            self.times.append(self.limit)
            self.process.terminate()
        return self.times[-1]

    def end(self):
        if self.process.is_alive():
            self.process.terminate()
        self.process.join()


def ours(o, graph, nodes, k):
    """gtmark's result file of a block of runs; the first is for warming up."""
    line = [str(ROOT / "build/bench_pe_scaling"), f"--pe=lap-pyg:{k}", f"--graph={graph}", f"--nodes={nodes}",
            "--solver=auto", f"--threads={THREADS}", "--phase=none", "--repetitions=1", f"--runs={RUNS + 1}",
            "--no-roofline", "--no-charts", "--check-budget=0", "--format=json"]
    environment = os.environ | {"OMP_WAIT_POLICY": o.wait}
    with tempfile.TemporaryDirectory() as scratch:
        line += ["--output", f"{scratch}/ours.json"]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{shlex.join(line)}: exit {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def compare(o, graph, nodes, k):
    """Blocks of all in turn: each contestant's samples, and what the peers were given."""
    once = compute(f"lap-pyg:{k}", graph, nodes, threads=THREADS)
    a = adjacency(once)
    peers = {name: Peer(name, a, k, once["eigenvalues"][0], o.limit) for name in o.peers.split(",")}
    for peer in peers.values():
        peer.run()
    rounds = []
    for _ in range(o.rounds):
        document = ours(o, graph, nodes, k)
        found = document["rows"][0]["encoding"]["time"]
        samples = {name: [peer.run() for _ in range(RUNS)] for name, peer in peers.items()}
        samples = {"ours": found["samples"][1:], **samples}
        rounds.append({"ping": found["state"].get("ping", 0), "samples": samples})
    for peer in peers.values():
        peer.end()
    record(o, document, rounds)
    return {name: min(t for r in rounds for t in r["samples"][name]) for name in ("ours", *peers)}, once


def record(o, document, rounds):
    """Rows of gtmark and of the peers that ended within the limit."""
    if not o.output:
        return
    ended = [who for who in rounds[0]["samples"] if all(t < o.limit for r in rounds for t in r["samples"][who])]
    found, given = {"encoding": rounds}, {"encoding": document["rows"][0]}
    rows = {DEVICES[who]: torch_record.row(given, who, DEVICES[who], found) for who in ended}
    torch_record.add(o.output, document, rows, {"scipy": scipy.__version__}, shlex.join(sys.argv))


def seconds(t, limit):
    return f"> {limit:.3g}" if t >= limit else f"{t:.3g}"


def table(o):
    names = o.peers.split(",")
    columns = ["graph", "nodes", "K", "gtmark, s", *(TITLES[name] for name in names), "against PyG", "the best"]
    print("| " + " | ".join(columns) + " |\n|---" + "|--:" * (len(columns) - 1) + "|")
    to_pyg, to_best = [], []
    for graph in o.graph.split(","):
        for nodes in map(int, o.nodes.split(",")):
            for k in map(int, o.pairs.split(",")):
                times, once = compare(o, graph, nodes, k)
                best = times.pop("ours")
                to_pyg.append(times.get("pyg", float("nan")) / best)
                to_best.append(min(times.values()) / best)
                wrong = "" if once["excess"] <= 1 else " (wrong)"
                cells = [seconds(times[name], o.limit) for name in names]
                print(f"| {graph} | {once['nodes']} | {k} | {best:.3g}{wrong} | {' | '.join(cells)} | "
                      f"{to_pyg[-1]:.3g} | {to_best[-1]:.3g} |", flush=True)
    for ratios, whom in (to_pyg, "PyG's transform"), (to_best, "the best peer"):
        print(f"\nAgainst {whom}: at least {min(ratios):.3g}, geometric mean {statistics.geometric_mean(ratios):.3g}.")


def datas(found):
    """The graphs of a batch as PyG data."""
    import torch
    from torch_geometric.data import Data
    a, offset, graphs = adjacency(found), found["offset"], []
    for first, end in zip(offset, offset[1:]):
        coo = a[first:end, first:end].tocoo()
        edge = torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64))
        graphs.append(Data(edge_index=edge, num_nodes=int(end - first)))
    return graphs


def transform_turns(encoding, transform, rounds, least_nodes, **words):
    """The best times of gtmark and of a PyG transform on a batch, alternating, and the number of graphs."""
    import torch
    torch.set_num_threads(int(THREADS))
    graphs = [g for g in datas(compute(encoding, **words)) if g.num_nodes >= least_nodes]
    transform(graphs[0].clone())
    ours, theirs = [], []
    for _ in range(rounds):
        ours += compute(encoding, **words, runs=RUNS)["seconds"]
        for _ in range(RUNS):
            copies = [g.clone() for g in graphs]
            start = time.perf_counter()
            for g in copies:
                transform(g)
            theirs.append(time.perf_counter() - start)
    return min(ours), min(theirs), len(graphs)


def batch(o):
    from torch_geometric.transforms import AddLaplacianEigenvectorPE
    words = dict(graph="er", nodes=23, degree=2.2, graphs=o.batch, threads=THREADS)
    # PyG fails if a graph has fewer nodes than pairs.
    ours, theirs, count = transform_turns("lap-pyg:8", AddLaplacianEigenvectorPE(8, is_undirected=True), o.rounds,
                                          10, **words)
    print(f"{o.batch} graphs of 23 nodes, LapPE K = 8: gtmark {1e3 * ours:.3g} ms, PyG {1e3 * theirs:.3g} ms for "
          f"{count} of them, {theirs / ours:.3g} times")


def rwse(o):
    from torch_geometric.transforms import AddRandomWalkPE
    print("| RWSE of | nodes | K | gtmark, ms | PyG, ms | ratio |\n|---|--:|--:|--:|--:|--:|")
    for graph, nodes, graphs in [(g, n, 1) for g in ("er", "grid", "ba") for n in (1000, 2000)] + [("er", 23, 32)]:
        for k in (16, 20):
            ours, theirs, _ = transform_turns(f"rwse:{k}", AddRandomWalkPE(k), o.rounds, 1, graph=graph,
                                              nodes=nodes, degree=5 if graphs == 1 else 2.2, graphs=graphs,
                                              threads=THREADS)
            name = graph if graphs == 1 else f"{graphs} graphs ({graph})"
            print(f"| {name} | {nodes} | {k} | {1e3 * ours:.3g} | {1e3 * theirs:.3g} | {theirs / ours:.3g} |",
                  flush=True)


if __name__ == "__main__":
    options = arguments()
    rwse(options) if options.rwse else batch(options) if options.batch else table(options)
