"""Result files of gtmark (docs/fields.md) with the times of peers, so that build/compare and build/query read them.

A peer's row is gtmark's of the same work, with the peer as its device: what defines the work stays, times are the
peer's, and what nobody measured there is absent. A round is a repetition; as in gtmark, those in the state of the machine that
most of them were in count. A folder has a file for each contestant, to which every comparison adds its rows.
"""

import json
import statistics
from pathlib import Path

OURS = ("cpu", "cuda")  # as names of gtmark's devices begin
SAME = ("work", "preset", "model", "attention", "mpnn", "dtype", "nodes", "degree", "batch", "batching", "layers",
        "hidden", "heads", "ffn", "act", "norm", "pool", "task", "dropout", "attention_dropout", "bias", "checkpoint",
        "graph", "pe", "solver", "seed")  # in which rows of the same work agree
WORK = (*SAME, "status", "reason", "device", "threads", "published", "parameters")
FEWEST_TURNS = 7  # below these gtmark gives no verdict


def by_state(rounds):
    """The rounds in each state in which gtmark found the machine."""
    states = []
    for r in sorted(rounds, key=lambda r: r["ping"]):
        if states and r["ping"] <= 1.5 * states[-1][-1]["ping"]:
            states[-1].append(r)
        else:
            states.append([r])
    return states


def times(measured, who):
    """The fields of a time."""
    rounds = max(by_state(measured), key=len)
    blocks = [r["samples"][who] for r in measured]
    samples = sum((r["samples"][who] for r in rounds), [])
    medians = [statistics.median(r["samples"][who]) for r in rounds]
    few = f"{len(rounds)} repetitions, fewer than {FEWEST_TURNS}" if len(rounds) < FEWEST_TURNS else ""
    return {
        "samples": sum(blocks, []), "blocks": [float(len(block)) for block in blocks],
        "repetition_medians": medians, "noisy": few, "n": len(samples), "mean": statistics.fmean(samples),
        "min": min(samples), "max": max(samples), "median": statistics.median(medians),
        "state": {"ping": statistics.median(r["ping"] for r in rounds),
                  "ping_probes": [r["ping"] for r in measured for _ in "12"]},
    }


def row(rows, who, device, found):
    """gtmark's row of each program, by its name, and the rounds of each: as one row of `who`, a device."""
    result = {name: value for name, value in next(iter(rows.values())).items() if name in WORK}
    for kind, rounds in found.items():
        result[kind] = {"time": times(rounds, who)}
    result |= {"device": device, "checked": "none"}
    return result


def add(folder: Path, document, rows, libraries, command):
    """Adds a row of each contestant, by its device, to the files of the folder, in the place of one of the same work.
    gtmark's document says the rest.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for device, its in rows.items():
        path = folder / f"{'ours' if device.startswith(OURS) else device}.json"
        before = json.loads(path.read_text())["rows"] if path.exists() else []
        others = [old for old in before if any(old.get(name) != its.get(name) for name in SAME)]
        head = {name: value for name, value in document.items() if name != "rows"}
        if not device.startswith(OURS):
            head |= {"devices": [device], "libraries": libraries, "compiler": "", "flags": ""}
        head |= {"command": command, "rows": [*others, its], "fits": [], "calibrations": []}
        path.write_text(json.dumps(head) + "\n")
