"""Opens a trace (--trace FILE) with Perfetto's trace processor and checks the result.

    build/bench_node_scaling --nodes 100,500 --trace trace.json
    python3 verify_trace.py trace.json                       with the processor from `pip install perfetto`
    python3 verify_trace.py --engine DIRECTORY trace.json    with the WebAssembly one of Perfetto's user interface,
                                                             in node (see trace_engine.js for DIRECTORY)

Nothing may be lost or misread: every event is a slice with the same time, name and lane; ops are nested in the
spans they name; the counter has a value for every op. Exit status 0 on success.
"""

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

from perfetto.trace_processor import TraceProcessor

HERE = os.path.dirname(os.path.abspath(__file__))

SLICES = """
select slice.id as id, slice.parent_id as parent_id, slice.name as name, slice.ts as ts, slice.dur as dur,
       slice.depth as depth, process.name as process, process.pid as pid,
       thread.name as lane, extract_arg(slice.arg_set_id, 'args.span') as span,
       extract_arg(slice.arg_set_id, 'args.entry') as entry, extract_arg(slice.arg_set_id, 'args.FLOPs') as flops,
       extract_arg(slice.arg_set_id, 'args.bytes') as bytes, extract_arg(slice.arg_set_id, 'args.variant') as variant
from slice join thread_track on slice.track_id = thread_track.id join thread using (utid) join process using (upid)
"""
COUNTERS = """
select process.pid as pid, counter.ts as ts, counter.value as value
from counter join process_counter_track as track on counter.track_id = track.id join process using (upid)
where track.name like 'live memory%' order by counter.ts, counter.id
"""
FAULTS = "select name, value from stats where severity = 'error' and value > 0"


class Served:
    """The WebAssembly processor, behind a socket."""

    def __init__(self, engine, trace):
        self.place = tempfile.TemporaryDirectory()
        socket = os.path.join(self.place.name, "engine.sock")
        self.node = subprocess.Popen(["node", os.path.join(HERE, "trace_engine.js"), engine, trace, socket],
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        while True:
            line = self.node.stdout.readline()
            if not line:
                sys.exit("verify_trace: the engine ended before it was ready")
            if line.strip() == "ready":
                break
        self.processor = TraceProcessor(remote=socket)

    def close(self):
        self.node.kill()
        self.node.wait()
        self.place.cleanup()


def nanoseconds(microseconds):
    return round(1000 * microseconds)


def path_of(slices, one):
    """The names of a slice's ancestors, without the replay's."""
    names = []
    while one.parent_id is not None:
        one = slices[one.parent_id]
        names.insert(0, one.name)
    return ".".join(names[1:])


def check_events(events, slices, start, fail):
    """The multisets of events and slices are equal."""
    wanted = collections.Counter((e["pid"], e["name"], nanoseconds(e["ts"]), nanoseconds(e["dur"]))
                                 for e in events if e["ph"] == "X")
    found = collections.Counter((s.pid, s.name, s.ts - start, s.dur) for s in slices.values())
    for event, count in (wanted - found).items():
        fail(f"{count} events {event} are no slices")
    for event, count in (found - wanted).items():
        fail(f"{count} slices {event} are no events")


def check_process(slices, counters, title, fail):
    lanes = collections.defaultdict(list)
    for one in slices.values():
        lanes[one.lane].append(one)
    program = lanes.get("program") or lanes.get("GPU stream") or []
    ops = {s.entry: s for s in program if s.entry is not None}
    roots = [s for s in program if s.depth == 0]
    if len(roots) != 1 or roots[0].name != title:
        fail(f"{title}: {len(roots)} replays at the top of the program's lane")
        return
    for op in ops.values():
        if path_of(slices, op) != op.span:
            fail(f"{title}: {op.name} of {op.span} is in {path_of(slices, op)}")
        if op.flops is None or op.bytes is None or not op.variant:
            fail(f"{title}: {op.name} of {op.span} has lost arguments")
    if sorted(ops) != list(range(len(ops))):
        fail(f"{title}: entries are missing")
    if sum(op.dur for op in ops.values()) > roots[0].dur:
        fail(f"{title}: the ops are longer than the replay")
    phases = [s.name for s in sorted(lanes["phases"], key=lambda s: s.ts)]
    if phases not in (["forward"], ["forward", "backward", "optimizer"]):
        fail(f"{title}: phases {phases}")
    if len(counters) != len(ops) + 1 or counters[-1].value != 0 or min(c.value for c in counters[:-1]) <= 0:
        fail(f"{title}: {len(counters)} values of live memory for {len(ops)} ops")
    print(f"{title}: {len(ops)} ops, depth {max(s.depth for s in program)}, "
          f"peak of live memory {max(c.value for c in counters) / 2**20:.1f} MiB")


def check(processor, trace):
    failures = []
    with open(trace, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    for fault in processor.query(FAULTS):
        failures.append(f"the processor counts {fault.value} of {fault.name}")
    slices = {s.id: s for s in processor.query(SLICES)}
    counters = collections.defaultdict(list)
    for value in processor.query(COUNTERS):
        counters[value.pid].append(value)
    check_events(events, slices, min(s.ts for s in slices.values()), failures.append)
    for event in events:
        if event["name"] == "process_name":
            own = {key: s for key, s in slices.items() if s.pid == event["pid"]}
            check_process(own, counters[event["pid"]], event["args"]["name"], failures.append)
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("--engine", help="directory of engine_bundle.js and trace_processor.wasm")
    args = parser.parse_args()
    served = Served(args.engine, args.trace) if args.engine else None
    try:
        processor = served.processor if served else TraceProcessor(trace=args.trace)
        failures = check(processor, args.trace)
        processor.close()
    finally:
        if served:
            served.close()
    for failure in failures[:20]:
        print("verify_trace:", failure)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
