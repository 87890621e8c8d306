#!/bin/sh
# Fuzzers, which clang-san builds, over command lines and result files: some seconds of each, in the same order every
# time; with GTMARK_SOAK a minute of each, from another place at every run.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

output=$(mktemp -d) || exit 1
trap 'rm -rf "$output"' EXIT

# amount PROGRAM: how much of it; a result file takes a hundred times as long as a command line
amount()
{
    case ${GTMARK_SOAK:-}$1 in
    1*) echo -max_total_time=60 ;;
    *record) echo -seed=1 -runs=200 ;;
    *) echo -seed=1 -runs=20000 ;;
    esac
}

# found PROGRAM: what it found, and the input that shows it; it ends at the first failed requirement or sanitizer's error
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
