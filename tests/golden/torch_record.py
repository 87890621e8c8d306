"""Result files of gtmark (FIELDS.md) with the times of peers, so that build/compare and build/query read them.

A peer's row is gtmark's of the same work, with the peer as its device: what defines the work stays, times are the
peer's, and what nobody measured there is null. A round is a turn.
"""

import copy
import json
import statistics
from pathlib import Path

import torch

WORK = ("status", "reason", "work", "preset", "model", "attention", "mpnn", "device", "dtype", "nodes", "degree",
        "batch", "batching", "layers", "hidden", "heads", "ffn", "act", "norm", "pool", "task", "dropout",
        "attention_dropout", "checkpoint", "graph", "pe", "solver", "threads", "seed", "published", "parameters")
FEWEST_TURNS = 7  # below these gtmark gives no verdict
NOT_HERE = "not measured in comparisons with other programs"


def nothing(value):
    """The same groups, all of whose fields are null."""
    return {name: nothing(part) for name, part in value.items()} if isinstance(value, dict) else None


def times(empty, rounds, who):
    """The fields of a time; each round is a turn, in the state in which gtmark found the machine."""
    blocks = [r["samples"][who] for r in rounds]
    samples, medians = sum(blocks, []), [statistics.median(block) for block in blocks]
    pings = [r["ping"] for r in rounds]
    few = f"{len(rounds)} turns, fewer than {FEWEST_TURNS}" if len(rounds) < FEWEST_TURNS else ""
    return empty | {
        "samples": samples, "blocks": [float(len(block)) for block in blocks], "turns": len(rounds), "other_turns": 0,
        "turn_medians": medians, "noisy": few, "n": len(samples), "mean": statistics.fmean(samples),
        "min": min(samples), "max": max(samples), "median": statistics.median(medians), "range_low": min(medians),
        "range_high": max(medians), "range_confidence": 1 - 2.0 ** (1 - len(rounds)),
        "state": empty["state"] | {"ping": statistics.median(pings), "ping_probes": [p for p in pings for _ in "12"]},
    }


def row(rows, who, found):
    """gtmark's row of each program, by its name, and the rounds of each: as one row of `who`."""
    result = copy.deepcopy(next(iter(rows.values())))
    kept = {path: why for path, why in result["reasons"].items() if path.split(".")[0] in WORK}
    for name, value in result.items():
        if name not in (*WORK, "reasons"):
            result[name] = nothing(value)
            kept[name] = NOT_HERE
    for kind, rounds in found.items():
        result[kind] = nothing(rows[kind][kind])
        result[kind]["time"] = times(result[kind]["time"], rounds, who)
    result["device"] = "cpu" if who == "ours" else f"torch-{who}"
    result["reasons"] = kept
    return result


def write(path: Path, document, rows, command):
    """A file with rows of one program: gtmark's document says the rest."""
    device = rows[0]["device"]
    head = {name: value for name, value in document.items() if name != "rows"}
    if device != "cpu":
        head |= {"devices": [device], "libraries": {"torch": torch.__version__}, "compiler": "", "flags": ""}
    path.write_text(json.dumps(head | {"command": command, "rows": rows, "fits": [], "calibrations": []}) + "\n")
