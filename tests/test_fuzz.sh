#!/bin/sh
# Fuzzers of command lines, encodings, result files, graph files and tables. Their seeds (tests/corpus) are replayed with any
# compiler. The fuzzers themselves, built by clang-san, start from the seeds and run for a few seconds each,
# deterministically; with GTMARK_SOAK a minute each, with a new seed in every run, and what they find of use is kept in
# build/corpus for the next run.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
build=${GTMARK_BUILD:-build}

output=$(mktemp -d) || exit 1
trap 'rm -rf "$output"' EXIT

# replayed NAME: what is wrong with a seed
replayed()
{
    "$build/tests/replay_$1" "tests/corpus/$1"/* 2>&1 || echo "exit status $?"
}

# amount NAME: flags for the amount; result files take longest
amount()
{
    case ${GTMARK_SOAK:-}$1 in
    1*) echo -max_total_time=60 ;;
    record) echo -seed=1 -runs=200 ;;
    graph | command_line) echo -seed=1 -runs=1000 ;;
    matrix_market | metis | ogb | table | tu) echo -seed=1 -runs=300 ;;
    *) echo -seed=1 -runs=5000 ;;
    esac
}

# found NAME: the first failed requirement or sanitizer error, and the input that causes it
found()
{
    grown=$([ "${GTMARK_SOAK:-}" ] && echo "build/corpus/$1" || echo "$output/$1")
    mkdir -p "$grown" || return
    # shellcheck disable=SC2046 # two words
    "build/clang-san/tests/fuzz_$1" $(amount "$1") -max_len=256 -len_control=0 -timeout=60 \
        -artifact_prefix="$output/" "$grown" "tests/corpus/$1" >"$output/log" 2>&1 && return
    tail -n 60 "$output/log"
    for input in "$output"/*-*; do
        echo "base64 of the input: $(base64 -w 0 "$input")"
    done
}

for source in tests/fuzz_*.c; do
    name=$(basename "$source" .c)
    name=${name#fuzz_}
    check "the seeds of fuzz_$name are as required" "$(replayed "$name")" ''
    if [ -x "build/clang-san/tests/fuzz_$name" ]; then
        check "fuzz_$name finds nothing wrong" "$(found "$name")" ''
    else
        checked=$((checked + 1))
        echo "ok $checked # SKIP fuzz_$name: no clang with libFuzzer (make setup tests)"
    fi
done
tap_end
