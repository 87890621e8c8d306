#!/bin/sh
# Everything that needs a GPU, on a machine with one: tests/gpu.sh [--plan] [--emulated] [PART]...
#
#   build       the programs and these tests, for the GPUs of this machine
#   ops         every kernel against the reference in double, each op in a process of its own
#   models      whole models: outputs, loss and gradients against double; the same bits from replays and graphs; the
#               benchmark itself, including its records
#   canonical   the benchmark's default workload
#   batches     batches of small graphs
#   dense       one layer of dense attention, to 100,000 nodes
#   sparse      one layer on the edges, d = 64, to a million nodes
#   presets     the models of the literature
#   pytorch     the canonical workload against PyTorch, and PyG if it is installed, with $PYTHON (python3)
#   pytorch_batch    the same for a batch of small molecules (32 graphs of 23 atoms, as in ZINC)
#   memcheck, racecheck, initcheck, synccheck    the small shapes of the kernels' tests under compute-sanitizer
#
# Without a PART, all of them in this order. --plan says what each would run. --emulated runs them on the emulated device
# (docs/cuda.md), with small workloads, and without the parts that need a GPU's own tools.
#
# Each part takes at most ten minutes and leaves PART.log, result files and charts in build/gpu, which the last line
# names as one archive to send. Rows that are out of memory, or of ops that the GPU has no kernel for, are results.
# Exit status 1 if no GPU answers or a part failed.
#
# Libraries need not be installed: if packages were only unpacked below a directory P, the build and its programs find
# them through these variables, with T = $(gcc -dumpmachine); gnuplot must have that name.
#
#   CPATH=P/usr/include:P/usr/include/T:P/usr/include/T/openblas-pthread
#   LIBRARY_PATH=P/usr/lib/T:P/usr/lib/T/openblas-pthread  LD_LIBRARY_PATH: the same  PATH=P/usr/bin:$PATH
set -u
cd "$(dirname "$0")/.." || exit 1
parts='build ops models canonical batches dense sparse presets pytorch pytorch_batch memcheck racecheck initcheck synccheck'
out=build/gpu

fail()
{
    echo "tests/gpu.sh: $1" >&2
    exit "$2"
}

# Of these two one is empty, and the other is not.
gpu=yes emulated='' plan=''
while :; do
    case ${1:-} in
    --plan) plan=yes ;;
    --emulated) emulated=yes gpu='' ;;
    --run) break ;;
    --*) fail "$1: --plan, --emulated, or parts: $parts" 2 ;;
    *) break ;;
    esac
    shift
done
programs=build${emulated:+/emulated}
# What the emulated device can do in a minute.
tiny='--hidden 16 --heads 2 --layers 1 --budget 5'

# run COMMAND...: runs it, or says it if only the plan is wanted
run()
{
    if [ "$plan" ]; then
        echo "    $*"
    else
        "$@"
    fi
}

# tests_of NAME...: the programs that test these things
tests_of()
{
    printf "$programs/tests/test_cuda_%s " "$@"
}

# each_op: a process for each op, so that a kernel that fails stops no other
each_op()
{
    if [ "$plan" ]; then
        set -- GTMARK_OP=OP "$programs/tests/test_cuda_kernels"
    else
        set --
        for op in $(build/bench_kernels --device cuda --list ops 2>/dev/null | sed -n 's/^\([a-z0-9_]*\): .*/\1/p'); do
            set -- "$@" "GTMARK_OP=$op" "$programs/tests/test_cuda_kernels"
        done
        [ $# -gt 0 ] || return
    fi
    run tests/run.sh ${emulated:+GTMARK_SMALL=1} $(tests_of build ${gpu:+launch math}) "$@"
}

# scale NAME PROGRAM FLAG...: runs a sweep on the GPU; writes a result file, charts and CSV
scale()
{
    name=$out/$1 program=$programs/$2
    shift 2
    set -- "$program" --device cuda --format csv-full --output "$name.jsonl" "$@"
    if [ "$plan" ]; then
        run "$@"
        return
    fi
    "$@" >"$name.csv"
    status=$?
    # Rows that are out of memory are results.
    [ $status = 0 ] || { [ $status = 1 ] && ! grep -qE '"status": *"(failed|wrong)"' "$name.jsonl"; }
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
    run "$python" tests/golden/compare_torch.py --device cuda --model gps --peers "$peers" --rounds 3 --seconds 0.3 "$@"
}

sanitize()
{
    sanitizer=$(command -v compute-sanitizer ||
        command -v "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer") || {
        echo 'left out: compute-sanitizer not found'
        return
    }
    run env GTMARK_SMALL=1 CMOCKA_MESSAGE_OUTPUT=TAP "$sanitizer" --tool "$1" --error-exitcode 1 --print-limit 5 \
        build/tests/test_cuda_kernels
}

run_part()
{
    case $1 in
    build) run env -u CI make ${gpu:+all} ${emulated:+all emulated} ${gpu:+$(tests_of build launch math kernels models bench)} ;;
    ops) each_op ;;
    models) run tests/run.sh ${emulated:+GTMARK_SMALL=1} $(tests_of models bench) ;;
    canonical) scale canonical bench_node_scaling \
        ${gpu:+--nodes 100,500,1000,2000,5000 --budget 120} ${emulated:+--nodes 16,32 $tiny} ;;
    batches) scale batches bench_batch_scaling ${gpu:+--budget 120} ${emulated:+--nodes 8 --batch 1,4 $tiny} ;;
    dense) scale dense bench_node_scaling --model graph_transformer \
        ${gpu:+--layers 1 --nodes 1k,10k,100k --budget 120} ${emulated:+--nodes 16,32 $tiny} ;;
    sparse) scale sparse bench_node_scaling --model gps_sparse \
        ${gpu:+--layers 1 --hidden 64 --nodes 10k,100k,1M --budget 120} ${emulated:+--nodes 16,32 $tiny} ;;
    presets) scale presets bench_presets ${gpu:+--budget 240} ${emulated:+--preset all --graph er --nodes 12 --degree 3 \
        --batch 2 --layers 1 --hidden 32 --heads 4 --budget 5} ;;
    pytorch | pytorch_batch | *check)
        if [ "$emulated" ]; then
            echo 'left out: it needs a GPU'
        elif [ "$1" = pytorch ]; then
            compare --nodes 100,500,1000,2000,5000
        elif [ "$1" = pytorch_batch ]; then
            compare --nodes 23 --batch 32 --degree 2.1 --hidden 64 --heads 4 --layers 10
        else
            sanitize "$1"
        fi
        ;;
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
                ms(p ".eager.median"), ms(p ".eager.host"))
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
    [ ! -f "$out/canonical.jsonl" ] || transfers "$out/canonical.jsonl"
    set --
    for sweep in canonical batches dense sparse; do
        [ ! -s "$out/$sweep.csv" ] || set -- "$@" "$out/$sweep.csv"
    done
    [ $# = 0 ] || figures "$@"
    cat "$out/pytorch.log" "$out/pytorch_batch.log" 2>/dev/null | awk '/^\| nodes/ && !head++ || /^\| [0-9]/'
}

# environment: what else decides the figures
environment()
{
    fields=name,driver_version,compute_mode,persistence_mode,ecc.mode.current,power.limit,power.max_limit
    fields=$fields,clocks.current.sm,clocks.max.sm,clocks.current.memory,clocks.max.memory,temperature.gpu,memory.used
    timeout 10 nvidia-smi --query-gpu=$fields --format=csv
    echo 'processes on it:'
    timeout 10 nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv,noheader
    uname -srm
    git describe --always --dirty
}

# archive: everything in $out but earlier archives, as one file
archive()
{
    set -- "$out"/*.jsonl
    [ ! -f "$1" ] || build/report "$@" --output "$out/report.html" >/dev/null 2>&1
    name=gtmark-${emulated:+emulated-}gpu-$(git describe --always --dirty --abbrev=12).tar.gz
    tar -C build -czf "build/$name" gpu && echo "To send: build/$name"
}

# One part in a separate process, so that a time limit applies to everything it runs.
if [ "${1:-}" = --run ]; then
    run_part "$2"
    exit
fi

all=''
[ $# -gt 0 ] || { eval "set -- $parts" && all=yes; }
for part; do
    case " $parts " in
    *" $part "*) ;;
    *) fail "$part is not one of $parts" 2 ;;
    esac
done
if [ "$plan" ]; then
    for part; do
        echo "$part"
        run_part "$part"
    done
    exit
fi
if [ "$gpu" ]; then
    said=$(timeout 10 nvidia-smi -L 2>&1) && echo "$said" | grep '^GPU' ||
        fail "no GPU answers (nvidia-smi: $(echo "${said:-no answer in 10 s}" | head -n 1)); --emulated needs none" 1
fi
[ ! "$all" ] || rm -rf "$out"
mkdir -p "$out" || exit 1
environment 2>&1 | tee "$out/environment.log"
# Programs that share a GPU which takes one at a time must not run beside each other.
! grep -qi exclusive "$out/environment.log" || export OMP_NUM_THREADS=1
failed=0
for part; do
    echo "--- $part"
    start=$(date +%s)
    timeout 590 tests/gpu.sh ${emulated:+--emulated} --run "$part" >"$out/$part.log" 2>&1 && result=ok || result=FAILED
    report "$part" "$result" $(($(date +%s) - start))
    [ "$result" = ok ] && continue
    failed=1
    tail -n 15 "$out/$part.log"
    [ "$part" != build ] || break
done
echo
summary | cut -c 1-150 | head -n 39
archive
exit $failed
