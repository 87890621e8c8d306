#!/usr/bin/env python3
"""Writes a data set of PyTorch Geometric or OGB as a folder that gtmark reads: write_dataset.py NAME FOLDER

NAME is a data set of torch_geometric.datasets with its arguments, as 'KarateClub()' or 'TUDataset("data", "MUTAG")'; of
OGB, as 'ogbg-molhiv' or 'ogbn-arxiv'; or 'made': a few random graphs, for trying. What has to be downloaded is.

The folder has OGB's layout (graphs/ogb.h): edges with both directions as the data set has them, so read it as
file:FOLDER; features and labels beside them, unless they have more than two dimensions. `graph describe` then says
what the data set says of itself, which --check BUILD/graph compares.
"""

import argparse
import gzip
import re
import subprocess
import sys
from pathlib import Path

import numpy
import torch
from torch_geometric.data import Data


def made_graphs() -> list[Data]:
    """Graphs with loops, repeated edges, isolated nodes, and one without edges; a missing label."""
    random = torch.Generator().manual_seed(1)
    graphs = []
    for nodes, edges in [(5, 9), (1, 0), (12, 30), (3, 0), (7, 7)]:
        graphs.append(
            Data(
                edge_index=torch.randint(nodes, (2, edges), generator=random),
                x=torch.randn(nodes, 4, generator=random),
                edge_attr=torch.randint(3, (edges, 2), generator=random),
                y=torch.tensor([[0.5, float("nan") if nodes == 1 else 1.0]]),
                num_nodes=nodes,
            )
        )
    return graphs


def load_graphs(name: str) -> list[Data]:
    """The graphs of a data set."""
    if name == "made":
        return made_graphs()
    if name.startswith("ogbg-"):
        from ogb.graphproppred import PygGraphPropPredDataset

        return list(PygGraphPropPredDataset(name))
    if name.startswith("ogbn-"):
        from ogb.nodeproppred import PygNodePropPredDataset

        return list(PygNodePropPredDataset(name))
    import torch_geometric.datasets

    found = re.fullmatch(r"(\w+)\((.*)\)", name)
    if not found:
        raise SystemExit(f"{name}: a data set with its arguments, as 'KarateClub()', an ogbg-..., or made")
    # The arguments are Python, as the user's own.
    return list(eval(f"datasets.{name}", {"datasets": torch_geometric.datasets}))  # noqa: S307


def write_lines(path: Path, lines: list[str]) -> None:
    """A text, compressed; the same bytes at any time."""
    with path.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as out:
        out.write("".join(f"{line}\n" for line in lines).encode())


def number_text(value: float) -> str:
    """A value of a table: empty if it is missing."""
    return "" if numpy.isnan(value) else f"{value:.9g}"


def write_table(path: Path, parts: list[torch.Tensor | None], rows: list[int]) -> None:
    """A row for each node, edge or graph, if the data set has such a table for each of its graphs."""
    if any(part is None for part in parts):
        return
    tables = [numpy.asarray(part.detach().cpu(), dtype=numpy.float64) for part in parts]
    tables = [t.reshape(n, -1) for t, n in zip(tables, rows, strict=True) if n]
    if not tables or len({t.shape[1] for t in tables}) != 1 or tables[0].shape[1] == 0:
        return
    text = [[number_text(value) for value in row] for row in numpy.concatenate(tables)]
    # A row of one missing value would be an empty line.
    write_lines(path, [",".join(row) or "nan" for row in text])


def write_dataset(graphs: list[Data], folder: Path) -> None:
    """All files of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    nodes = [int(g.num_nodes) for g in graphs]
    edges = [int(g.edge_index.shape[1]) for g in graphs]
    ends = [f"{a},{b}" for g in graphs for a, b in g.edge_index.t().tolist()]
    write_lines(folder / "num-node-list.csv.gz", [str(n) for n in nodes])
    write_lines(folder / "num-edge-list.csv.gz", [str(e) for e in edges])
    write_lines(folder / "edge.csv.gz", ends)
    write_table(folder / "node-feat.csv.gz", [g.get("x") for g in graphs], nodes)
    write_table(folder / "edge-feat.csv.gz", [g.get("edge_attr") for g in graphs], edges)
    labels = [g.get("y") for g in graphs]
    if all(y is not None and y.dim() > 0 and y.shape[0] == n for y, n in zip(labels, nodes, strict=True)):
        write_table(folder / "node-label.csv.gz", labels, nodes)
    else:
        write_table(folder / "graph-label.csv.gz", labels, [1] * len(graphs))


def check(program: str, graphs: list[Data], folder: Path) -> bool:
    """Whether gtmark finds in the folder what was written."""
    said = subprocess.run([program, "describe", folder], capture_output=True, text=True, check=True).stdout
    print(said, end="")
    facts = {line[:18].strip(): line[19:] for line in said.splitlines()[2:]}
    both = [torch.cat([g.edge_index, g.edge_index.flip(0)], 1).unique(dim=1).shape[1] for g in graphs]
    symmetric = all(n == g.edge_index.unique(dim=1).shape[1] for n, g in zip(both, graphs, strict=True))
    wanted = {
        "graphs": (facts["graphs"].split(",")[0], str(len(graphs))),
        "nodes": (facts["nodes"].split(",")[0], str(sum(g.num_nodes for g in graphs))),
        "edges": (facts["edges"].split()[0], str(sum(g.edge_index.shape[1] for g in graphs))),
        "loops": (facts["loops"], str(sum(int((g.edge_index[0] == g.edge_index[1]).sum()) for g in graphs))),
    }
    if not symmetric:  # repeated edges may also be out of balance
        wanted["symmetric"] = (facts["symmetric"][:2], "no")
    wrong = {name: pair for name, pair in wanted.items() if pair[0] != pair[1]}
    print(f"differs: {wrong}" if wrong else "as in the data set")
    return not wrong


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", metavar="PROGRAM", help="compares with what build/graph says of the folder")
    given = parser.parse_args()
    graphs = load_graphs(given.name)
    write_dataset(graphs, given.folder)
    return 0 if not given.check or check(given.check, graphs, given.folder) else 1


if __name__ == "__main__":
    sys.exit(main())
