#!/bin/sh
# The verdicts of the gates on a build that is 10 % slower, and on an identical one: tests/gates.sh [TRIALS]
#
# `make soak` runs 20 trials of each kind, on a machine that should be idle. The slower build is tests/slower/slower.c;
# GTMARK_SLOWER=PERCENT sets another share. The output of each trial is kept in the directory GTMARK_GATES.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
trials=${1:-20} build=${GTMARK_BUILD:-build}
[ "$trials" -gt 0 ] || exit 2

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
kept=${GTMARK_GATES:-$scratch}
mkdir -p "$kept" || exit 1
cp "$build/bench_node_scaling" "$scratch/same" || exit 1

# run PROGRAM ARGUMENT...: runs of milliseconds; one thread leaves the other cores to the system
run()
{
    "$@" --nodes 200 --hidden 64 --threads 1 --warmup 2 --no-roofline --no-charts
}

# repeat NAME PROGRAM ARGUMENT...: keeps the output and the exit status of each trial
repeat()
{
    name=$1 trial=0
    shift
    rm -f "$kept/$name".*
    while [ $trial -lt "$trials" ]; do
        trial=$((trial + 1))
        run "$@" >"$kept/$name.$trial" 2>&1
        echo "exit status $?" >>"$kept/$name.$trial"
    done
}

# count NAME STATUS VERDICT: the number of trials with this exit status and this verdict on both programs
count()
{
    right=0
    for file in "$kept/$1".*; do
        grep -qx "exit status $2" "$file" && [ "$(grep -cE "^ *(forward|step) .*  ($3)" "$file")" -eq 2 ] &&
            right=$((right + 1))
    done
    echo "$right"
}

# range NAME PATTERN: the smallest and the largest number that this captures, in the lines of programs
range()
{
    sed -n "s/^ *[fs].*$2.*/\1/p" "$kept/$1".* | sort -g | sed -n '1p;$p' | paste -sd ' ' | sed 's/ / to /'
}
ratio='  \([0-9.]*\)  [0-9a-z]' margin='  \([0-9.]*\) %  '

repeat slower "$build/tests/slower_bench" --against "$build/bench_node_scaling" --budget 4
caught=$(grep -lx 'exit status 1' "$kept"/slower.* | wc -l)
check "--against: a build that waits for ${GTMARK_SLOWER:-10} % is caught" "$caught of $trials" "$trials of $trials"
echo "# new/old $(range slower "$ratio"); by both programs: $(count slower 1 slower)"

repeat same "$build/bench_node_scaling" --against "$scratch/same" --budget 4
check "--against: no alarm for identical builds" \
    "$(count same 0 'same|inconclusive|faster') of $trials" "$trials of $trials"
echo "# new/old $(range same "$ratio")"

run "$build/bench_node_scaling" --budget 1 --output "$scratch/base.jsonl" >"$kept/base" 2>&1
repeat baseline "$build/bench_node_scaling" --budget 1 --output "$scratch/now.jsonl" --baseline "$scratch/base.jsonl"
check "--baseline: no alarm for identical runs" \
    "$(count baseline 0 'same|inconclusive|faster') of $trials" "$trials of $trials"
echo "# new/old $(range baseline "$ratio"), margins $(range baseline "$margin") %"
tap_end
