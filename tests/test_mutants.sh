#!/bin/sh
# Is the list of mutants (tests/mutants.txt) sound, and does each mutant still apply? `make mutants` also builds and runs them.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

planted=$(mktemp) || exit 1
trap 'rm -f "$planted"' EXIT

# complaint LINE...: what the check says of a list of these lines
complaint()
{
    printf '%s\n' "$@" >"$planted"
    GTMARK_MUTANTS=$planted tests/mutants.sh --check | sed -n '/^# wanted/q; s/^#  *//p' | grep -v '^got:'
}

check 'the list is sound' "$(tests/mutants.sh --check | grep -A 3 '^not ok')" ''
file=kernels/rng.h
check 'a text that does not occur is found' "$(complaint "mutant a $file none" 'old nowhere' 'new x' 'why so')" \
    "'nowhere' does not occur exactly once in $file"
check 'a text that occurs twice is found' "$(complaint "mutant a $file none" 'old rng_mix(' 'new x' 'why so')" \
    "'rng_mix(' does not occur exactly once in $file"
check 'a survivor without a reason is found' "$(complaint "mutant a $file none" 'old (counter + 1)' 'new counter')" \
    'no reason why it may survive'
check 'a mutant that nothing can catch is found' \
    "$(complaint "mutant a $file both" 'old (counter + 1)' 'new counter' 'tests kernels')" \
    "'both' by row '' and tests 'kernels': both, row, tests or none, and what does so"
check 'a row that the benchmark refuses is found' \
    "$(complaint "mutant a $file row" 'old (counter + 1)' 'new counter' 'row bench_node_scaling --graph zinc' |
        grep -o 'stand-in determines this axis')" 'stand-in determines this axis'
tap_end
