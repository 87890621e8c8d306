#!/usr/bin/env python3
"""Times gtmark's presets against PyTorch Geometric, interleaved, as compare_torch.py times its own models.

A case is a preset, with other values of some axes: cifar10:mpnn=gatv2. The default cases have each kind of message
passing and of attention that PyG implements. Before anything is timed, output, loss and gradients of a step without
dropout must agree, with gtmark's parameters and inputs on both sides (linear attention: of a single graph, because
PyG counts padding as keys), and what was compiled must give what was not. Timed steps have the preset's dropout.

All programs are made and compiled before the first round: rounds wait for an idle machine.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import compare_torch as c  # first: it prepares the environment
import torch
import torch_graphormer
import torch_model
import torch_preset

CASES = ("zinc", "zinc:mpnn=gin", "cifar10", "cifar10:mpnn=gcn", "cifar10:mpnn=gatv2", "cifar10:mpnn=pna",
         "malnet:attention=performer-relu", "graphormer-slim", "exphormer-cifar10")
PEERS = ("pyg", "eager", "compile")
LIMIT_OUTPUT, LIMIT_GRADIENT = 1e-4, 1e-2  # of the norms; float32, both sides, batch norms in a row


def arguments():
    p = argparse.ArgumentParser(description="gtmark's presets against PyTorch Geometric, interleaved")
    p.add_argument("--preset", default=",".join(CASES), help="comma list of cases (default %(default)s)")
    p.add_argument("--peers", default=",".join(PEERS),
                   help="pyg: GPSConv; eager: with a padded size known in advance; pyg-compile, compile: compiled")
    p.add_argument("--programs", default=",".join(torch_model.PROGRAMS))
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--rounds", type=int, default=7, help="in one state of the machine (default %(default)s)")
    p.add_argument("--seconds", type=float, default=0.4, help="length of a block (default %(default)s)")
    p.add_argument("--patience", type=float, default=20, metavar="SECONDS",
                   help="seconds of waiting and discarded rounds per row (default %(default)s)")
    p.add_argument("--output", type=Path, metavar="FOLDER", help=c.OUTPUT)
    p.add_argument("--bench", type=Path, default=c.ROOT / "build/bench_node_scaling")
    a = p.parse_args()
    a.device, a.precision = "cpu", "f32"
    return a


def axes_of(case):
    """The axes of a case: preset, and the values that differ."""
    preset, *others = case.split(":")
    return {"preset": preset, **dict(other.split("=", 1) for other in others)}


def dump(args, axes, scratch):
    """What gtmark's step reads and computes."""
    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        where = Path(directory, "dump")
        c.call([*c.command(args, "step", axes), "--runs", "1", "--warmup", "0", "--output", f"{directory}/row.json",
                "--dump", str(where)])
        return torch_preset.load(where)


def distance(a, b):
    """|a - b| / |b| of lists of tensors."""
    norm = lambda tensors: sum(float(t.double().square().sum()) for t in tensors) ** 0.5  # noqa: E731
    return norm([x - y for x, y in zip(a, b)]) / norm(b)


def model_of(dumped, known_shape):
    kinds = {"graphormer": torch_graphormer.Graphormer}
    return kinds.get(dumped.model["name"], torch_preset.Preset)(dumped, known_shape)


def errors(dumped, known_shape):
    """Of output and gradients, relative to gtmark's."""
    model = model_of(dumped, known_shape).train()
    y = model(dumped.inputs, dumped.batch)
    model.loss(dumped.inputs, dumped.batch).backward()
    ours, theirs = [], []
    for name, parameter in model.named_parameters():
        where, part = model.in_gtmark(name)
        ours.append(torch_preset.piece(dumped.gradients[where], part, parameter))
        theirs.append(torch.zeros_like(parameter) if parameter.grad is None else parameter.grad)
    return distance([y.detach()], [dumped.output]), distance(theirs, ours)


def check(args, case, scratch):
    """Exits unless both sides compute the same step."""
    axes = axes_of(case) | {"dropout": 0, "attention-dropout": 0}
    dumped = dump(args, axes, scratch)
    if dumped.model["attention"].startswith("performer"):
        dumped = dump(args, axes | {"batch": 1}, scratch)
    for known_shape in (False, True):
        output, gradient = errors(dumped, known_shape)
        if not (output <= LIMIT_OUTPUT and gradient <= LIMIT_GRADIENT):
            sys.exit(f"{case}: output and gradients differ by {output:.1e} and {gradient:.1e}")
    return output, gradient


def peer_programs(args, kind, dumped):
    """Torch blocks by peer, made and compiled; their outputs agree."""
    made, outputs = {}, {}
    for peer in args.peers.split(","):
        if peer.startswith("pyg") and dumped.model["name"] == "graphormer":
            continue  # PyG has none
        model = model_of(dumped, known_shape=not peer.startswith("pyg"))
        run = torch_model.timed_program(kind, "default" if peer.endswith("compile") else None, model,
                                        lambda m=model: m(dumped.inputs, dumped.batch),
                                        lambda m=model: m.loss(dumped.inputs, dumped.batch))
        made[peer] = c.Torch(run, args)
        if kind == "forward":
            outputs[peer] = run()
    for peer, output in outputs.items():
        if distance([output], [next(iter(outputs.values()))]) > LIMIT_OUTPUT:
            sys.exit(f"the output of {peer} differs from that of {next(iter(outputs))}")
    return made


def rows(args, case, scratch):
    """Prints and records the lines of one case; gtmark's last document."""
    torch.compiler.reset()
    agree = check(args, case, scratch)
    axes, kinds = axes_of(case), args.programs.split(",")
    dumped = dump(args, axes, scratch)
    prepared = {kind: {"ours": c.Gtmark(args, kind, axes, scratch), **peer_programs(args, kind, dumped)}
                for kind in kinds}
    print(f"{case}: output and gradients agree to {agree[0]:.0e} and {agree[1]:.0e}", file=sys.stderr, flush=True)
    found, given = {}, {}
    for kind, contestants in prepared.items():
        rounds, tried = c.measure(contestants, args)
        print(c.line_of([case, kind], args.peers.split(","), rounds, tried), flush=True)
        document = contestants["ours"].document
        if rounds:
            found[kind], given[kind] = rounds, document["rows"][0]
    c.record(args, document, given, found)
    return document


def main():
    args = arguments()
    torch.set_num_threads(args.threads)
    torch._dynamo.config.recompile_limit = 64  # for pyg-compile: sizes depend on data, so parts of layers are compiled
    c.heading(["case", "program"], args.peers.split(","))
    with tempfile.TemporaryDirectory() as scratch:
        for case in args.preset.split(","):
            document = rows(args, case, scratch)
    print(f"\n{args.threads} threads; above 1: gtmark is faster\n\n{c.versions(document)}")


if __name__ == "__main__":
    try:
        main()
    except c.Failed as failed:
        sys.exit(str(failed))
