#!/bin/sh
# This repository's own exact gate: what is planned for some models is what tests/planned.jsonl says, for one set of
# instructions. Where a change is meant: GTMARK_UPDATE=1 tests/test_planned.sh
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
build=${GTMARK_BUILD:-build}

house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT

# plan FLAG...: the planned rows, in x.jsonl
plan()
{
    GTMARK_ISA=avx2 "$build/bench_node_scaling" --device meta --model gps,gps_sparse,gin,graph_transformer \
        --nodes 100,1000 --threads 2 --no-charts --output "$house/x.jsonl" "$@" 2>&1 >/dev/null
}

if [ "${GTMARK_UPDATE:-}" ]; then
    plan && cp "$house/x.jsonl" tests/planned.jsonl
    exit
fi
check 'plans are as before' "$(plan --baseline tests/planned.jsonl | sed -n '/^A:/,$p')" 'A: the baseline; B: this run
exact: 64 figures as in the baseline'
# A byte in the baseline is more than that now.
sed '2,$s/"planned":[0-9]*/"planned":1/' tests/planned.jsonl >"$house/less.jsonl"
check 'and more is found' "$(plan --baseline "$house/less.jsonl" | grep -c 'forward.memory'; plan --baseline "$house/less.jsonl" >/dev/null; echo $?)" \
    '8
1'
tap_end
