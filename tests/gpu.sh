#!/bin/sh
# Everything that needs a GPU, in parts of at most ten minutes each: tests/gpu.sh [PART]...
#
#   build       for the GPUs of this machine
#   ops         every kernel against the reference in double
#   models      whole models: outputs, loss and gradients against double; the same bits from replays and graphs; the
#               benchmark itself, including its records
#   memcheck, racecheck, initcheck, synccheck    the small shapes of the kernels' tests under compute-sanitizer
#   canonical   the benchmark's default workload
#   dense       one layer of dense attention, to 100,000 nodes
#   sparse      one layer on the edges, d = 64, to a million nodes
#   pytorch     the canonical workload against PyTorch, and PyG if it is installed, with $PYTHON (python3)
#   pytorch_batch    the same for a batch of small molecules (32 graphs of 23 atoms, as in ZINC)
#
# Without a PART, all of them. The results of a part are kept in build/gpu: PART.log, result files and charts, and one
# line in PART.line. Prints a summary of less than 40 lines: the parts so far; transfer rates; medians in milliseconds
# of samples, which are replays of a graph, of runs with a cold L2, of runs launched op by op, and of launching these on
# the host; and the comparison. Exit status 1 if a requested part failed.
#
# Libraries need not be installed: if packages were only unpacked below a directory P, the build and its programs find
# them through these variables, with T = $(gcc -dumpmachine); gnuplot must have that name.
#
#   CPATH=P/usr/include:P/usr/include/T:P/usr/include/T/openblas-pthread
#   LIBRARY_PATH=P/usr/lib/T:P/usr/lib/T/openblas-pthread  LD_LIBRARY_PATH: the same  PATH=P/usr/bin:$PATH
set -u
cd "$(dirname "$0")/.." || exit 1
parts='build ops models memcheck racecheck initcheck synccheck canonical dense sparse pytorch pytorch_batch'
out=build/gpu
bench=build/bench_node_scaling

tests()
{
    tests/run.sh GTMARK_BUILD=build "$@"
}

sanitize()
{
    sanitizer=$(command -v compute-sanitizer ||
        command -v "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer") || {
        echo 'left out: compute-sanitizer not found'
        return
    }
    GTMARK_SMALL=1 CMOCKA_MESSAGE_OUTPUT=TAP "$sanitizer" --tool "$1" --error-exitcode 1 --print-limit 5 \
        build/tests/test_cuda_kernels
}

# scale NAME FLAG...: runs a sweep on the GPU; writes a result file and CSV
scale()
{
    name=$1
    shift
    "$bench" --device cuda --no-roofline --format csv-full --output "$out/$name.json" "$@" >"$out/$name.csv"
}

compare()
{
    python=${PYTHON:-python3}
    if ! "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
        echo "left out: $python has no PyTorch with GPU support"
        return
    fi
    peers=eager,compile
    "$python" -c 'import torch_geometric' 2>/dev/null && peers=$peers,pyg
    "$python" tests/golden/compare_torch.py --device cuda --model gps --peers "$peers" --rounds 3 --seconds 0.3 "$@"
}

run_part()
{
    case $1 in
    build) make -j"$(nproc)" all tests && "$bench" --list-devices ;;
    ops) tests build/tests/test_cuda_build build/tests/test_cuda_launch build/tests/test_cuda_math \
        build/tests/test_cuda_kernels ;;
    models) tests build/tests/test_cuda_models build/tests/test_cuda_bench ;;
    memcheck | racecheck | initcheck | synccheck) sanitize "$1" ;;
    canonical) scale canonical --nodes 100,500,1000,2000,5000 --budget 120 ;;
    dense) scale dense --model graph_transformer --layers 1 --nodes 1k,10k,100k --budget 120 ;;
    sparse) scale sparse --model gps_sparse --layers 1 --hidden 64 --nodes 10k,100k,1M --budget 120 ;;
    pytorch) compare --nodes 100,500,1000,2000,5000 ;;
    pytorch_batch) compare --nodes 23 --batch 32 --degree 2.1 --hidden 64 --heads 4 --layers 10 ;;
    esac
}

# report PART RESULT SECONDS: the line of a part, with the last line of its output
report()
{
    said=$(grep -aE 'passed, .* failed|ERROR SUMMARY|left out|^cuda:0' "$out/$1.log" | tail -n 1 | cut -c 1-80)
    printf '%-13s %4d s  %-6s %s\n' "$1" "$3" "$2" "$said" >"$out/$1.line"
}

# transfers FILE: the rates of copies between host and device in a result file
transfers()
{
    { tr -d ' \n' <"$1" && echo; } | sed -n 's/.*"transfer":{"bytes":\([0-9]*\),"to_device":{\([^}]*\)},"from_device":{\([^}]*\)}.*/'\
'transfers, GB\/s and s: to the device {\2}, back {\3}/p' | tr -d '"{}' | sed 's/\(\.[0-9][0-9]\)[0-9]*/\1/g'
}

# figures FILE...: a table of sweeps in CSV
figures()
{
    awk '
        function cells(line, to, n) {
            split("", to)
            for (n = 0; line != ""; line = substr(line, RLENGTH + 2)) {
                if (!match(line, /^"([^"]|"")*"/))
                    match(line, /^[^,]*/)
                to[++n] = substr(line, 1, RLENGTH)
            }
        }
        function ms(field) { return cell[at[field]] == "" ? "-" : sprintf("%.3f", 1e3 * cell[at[field]]) }
        function four(p) {
            return sprintf("%9s %9s %9s %8s", ms(p ".time.median"), ms(p ".cold.median"),
                ms(p ".launched.median"), ms(p ".launched.host"))
        }
        FNR == 1 {
            cells($0, name)
            for (i in name) at[name[i]] = i
            sweep = FILENAME
            gsub(/.*\/|\.csv$/, "", sweep)
            next
        }
        {
            cells($0, cell)
            rate = cell[at["step.gflops"]]
            line[++count] = sprintf("%-18s %s  |%s %8s  %s", sweep " " cell[at["nodes"]], four("forward"),
                four("step"), rate == "" ? "-" : sprintf("%.0f", rate), cell[at["status"]])
        }
        END {
            head = sprintf("%9s %9s %9s %8s", "ms", "cold", "launched", "host")
            if (count) printf "%-18s %s  |%s %8s\n", "forward | step", head, head, "GFLOP/s"
            for (i = 1; i <= count; i++)
                print line[i]
        }' "$@"
}

# A table of everything in $out.
summary()
{
    for part in $parts; do
        [ ! -f "$out/$part.line" ] || cat "$out/$part.line"
    done
    echo
    [ ! -f "$out/canonical.json" ] || transfers "$out/canonical.json"
    set --
    for sweep in canonical dense sparse; do
        [ ! -s "$out/$sweep.csv" ] || set -- "$@" "$out/$sweep.csv"
    done
    [ $# = 0 ] || figures "$@"
    cat "$out/pytorch.log" "$out/pytorch_batch.log" 2>/dev/null | awk '/^\| nodes/ && !head++ || /^\| [0-9]/'
}

# One part in a separate process, so that a time limit applies to everything it runs.
[ "${1:-}" != --run ] || { run_part "$2" && exit; exit 1; }

[ $# -gt 0 ] || eval "set -- $parts"
mkdir -p "$out" || exit 1
failed=0
for part; do
    case " $parts " in
    *" $part "*) ;;
    *) echo "tests/gpu.sh: $part is not one of $parts" >&2 && exit 2 ;;
    esac
done
for part; do
    echo "--- $part"
    start=$(date +%s)
    timeout 590 tests/gpu.sh --run "$part" >"$out/$part.log" 2>&1 && result=ok || result=FAILED
    report "$part" "$result" $(($(date +%s) - start))
    [ "$result" = ok ] || { failed=1 && tail -n 15 "$out/$part.log"; }
done
echo
summary | cut -c 1-150 | head -n 39
exit $failed
