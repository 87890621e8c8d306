#!/bin/sh
# Which committed results `make compare-gpus` compares: those of the same benchmark, from GPUs if there are any. The
# program is `echo`, so the output lists the files it was given.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT
mkdir "$house/analysis"
cp analysis/compare_results.sh "$house/analysis"

# plant MACHINE NAME DEVICE
plant()
{
    mkdir -p "$house/results/$1"
    printf '{"kind":"row","run":"x","id":0,"device":"%s"}\n' "$3" >"$house/results/$1/$2.jsonl"
}

run()
{
    "$house/analysis/compare_results.sh" echo
}

none='no results of GPUs in results/: comparing processors
'
plant epyc nodes cpu
plant xeon nodes cpu
plant xeon sparse cpu
plant local nodes cuda:0
plant local mine cpu
check 'processors are compared, results/local is not' "$(run)" "$none
== nodes.jsonl
results/epyc/nodes.jsonl results/xeon/nodes.jsonl

== sparse.jsonl
only results/xeon/sparse.jsonl: nothing to compare it with"

plant h100 nodes cuda:0
check 'a single GPU is compared with the processors' "$(run | sed -n 2p)" \
    'results/epyc/nodes.jsonl results/h100/nodes.jsonl results/xeon/nodes.jsonl'
plant h200 nodes cuda:1
check 'GPUs are compared with one another' "$(run | sed -n 2p)" 'results/h100/nodes.jsonl results/h200/nodes.jsonl'

rm -r "$house/results"
mkdir "$house/results"
check 'without results there is a message' "$(run)" "${none%?}"
tap_end
