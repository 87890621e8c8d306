#!/bin/sh
# Everything that needs a GPU, in parts of at most ten minutes each: tests/gpu.sh [PART]...
#
#   build       for the GPUs of this machine
#   ops         every kernel against the reference in double
#   models      whole models: outputs, loss and gradients in double; the same bits from replays and from graphs
#   memcheck, racecheck, initcheck, synccheck    the small shapes of the kernels' tests under compute-sanitizer
#   canonical   the benchmark's own workload, entry by entry and as one graph
#   dense       one layer of dense attention, to 100,000 nodes
#   sparse      one layer on the edges, d = 64, to a million nodes
#
# Without a PART all of them. What a part found stays in build/gpu: PART.log, result files and charts, and in one
# line PART.line. The last thing printed is the table of all lines so far. Exit 1 if a part that was asked for failed.
set -u
cd "$(dirname "$0")/.." || exit 1
parts='build ops models memcheck racecheck initcheck synccheck canonical dense sparse'
out=build/gpu
bench=build/bench_node_scaling

tests()
{
    tests/run.sh GTMARK_BUILD=build "$@"
}

sanitize()
{
    if ! command -v compute-sanitizer; then
        echo 'left out: there is no compute-sanitizer'
        return
    fi
    GTMARK_SMALL=1 CMOCKA_MESSAGE_OUTPUT=TAP compute-sanitizer --tool "$1" --error-exitcode 1 --print-limit 5 \
        build/tests/test_cuda_kernels
}

# scale NAME FLAG...: a sweep on the GPU, its table below the name
scale()
{
    name=$1
    shift
    echo "$name"
    "$bench" --device cuda --no-roofline --output "$out/$name.json" "$@"
}

run_part()
{
    case $1 in
    build) make -j"$(nproc)" all tests && "$bench" --list-devices ;;
    ops) tests build/tests/test_cuda_build build/tests/test_cuda_launch build/tests/test_cuda_math \
        build/tests/test_cuda_kernels ;;
    models) tests build/tests/test_cuda_models ;;
    memcheck | racecheck | initcheck | synccheck) sanitize "$1" ;;
    canonical)
        scale canonical --nodes 100,500,1000,2000,5000 --budget 90 &&
            scale canonical_graph --cuda-graph --nodes 100,500,1000,2000,5000 --budget 90
        ;;
    dense) scale dense --model graph_transformer --layers 1 --nodes 1k,10k,100k --budget 120 ;;
    sparse) scale sparse --model gps_sparse --layers 1 --hidden 64 --nodes 10k,100k,1M --budget 120 ;;
    esac
}

# The line of a part: what it says at its end.
tell()
{
    said=$(grep -aE 'passed, .* failed|ERROR SUMMARY|left out|^cuda:0' "$out/$1.log" | tail -n 1 | cut -c 1-80)
    printf '%-10s %4d s  %-6s %s\n' "$1" "$3" "$2" "$said" >"$out/$1.line"
}

# A part by itself, so that a limit of time holds for all that it runs.
[ "${1:-}" != --run ] || { run_part "$2" && exit; exit 1; }

[ $# -gt 0 ] || eval "set -- $parts"
mkdir -p "$out" || exit 1
failed=0
for part; do
    case " $parts " in
    *" $part "*) ;;
    *) echo "tests/gpu.sh: $part is none of $parts" >&2 && exit 2 ;;
    esac
done
for part; do
    echo "--- $part"
    start=$(date +%s)
    timeout 590 tests/gpu.sh --run "$part" >"$out/$part.log" 2>&1 && result=ok || result=FAILED
    tell "$part" $result $(($(date +%s) - start))
    [ $result = ok ] || { failed=1 && tail -n 15 "$out/$part.log"; }
done
echo
for part in $parts; do
    [ ! -f "$out/$part.line" ] || cat "$out/$part.line"
done
for part in canonical dense sparse; do
    [ ! -f "$out/$part.log" ] || grep -avE '^$|: |^\r' "$out/$part.log"
done | cut -c 1-150 | head -n 28
exit $failed
