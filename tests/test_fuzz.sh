#!/bin/sh
# Fuzzers of command lines, result files and graph files, built by clang-san: a few seconds each, deterministically; with
# GTMARK_SOAK a minute each, with a new seed in every run.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

output=$(mktemp -d) || exit 1
trap 'rm -rf "$output"' EXIT

# amount PROGRAM: flags for the amount; a result file takes a hundred times as long as a command line
amount()
{
    case ${GTMARK_SOAK:-}$1 in
    1*) echo -max_total_time=60 ;;
    *record) echo -seed=1 -runs=200 ;;
    *graph) echo -seed=1 -runs=1000 ;;
    *) echo -seed=1 -runs=20000 ;;
    esac
}

# found PROGRAM: the first failed requirement or sanitizer error, and the input that causes it
found()
{
    # shellcheck disable=SC2046 # two words
    "$1" $(amount "$1") -max_len=256 -len_control=0 -timeout=60 -artifact_prefix="$output/" >"$output/log" 2>&1 && return
    tail -n 60 "$output/log"
    for input in "$output"/*-*; do
        echo "base64 of the input: $(base64 -w 0 "$input")"
    done
}

for source in tests/fuzz_*.c; do
    program=build/clang-san/tests/$(basename "$source" .c)
    if [ -x "$program" ]; then
        check "$program finds nothing wrong" "$(found "$program")" ''
    else
        checked=$((checked + 1))
        echo "ok $checked # SKIP $program: no clang with libFuzzer (make setup)"
    fi
done
tap_end
