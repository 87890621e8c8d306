#!/bin/sh
# Everything that needs a GPU, on a machine that has one for a short time: tests/gpu.sh [OPTION]... [PART]...
#
#   --out DIR           where the results go (build/gpu)
#   --deadline SECONDS  nothing runs longer: a part that does not fit is named, and one that takes too long is cut
#   --carried ARCHIVE   runs the programs of `make gpu-archive`, and builds none
#   --plan              what each part would run, and its seconds
#   --emulated          on the emulated device (docs/cuda.md), with small workloads, without what needs a GPU
#
# Parts, in this order, or `first` or `second` of them, with the seconds that each may take where there is a deadline:
#
#   build          the programs and tests, for the GPUs of this machine
#   first, 520 s:
#   start      15  the machine, and the canonical workload with 1000 nodes, in f32, tf32 and bf16
#   ops        40  every kernel at small shapes against the reference in double, each op in a process of its own
#   nodes      75  the canonical workload to 50,000 nodes, in f32, tf32 and bf16
#   products   35  1000 and 2000 nodes in f32: profiles, with one or eight algorithms of cublasLt and 4 or 32 MiB
#   pytorch    70  against PyTorch, with 1000 and 5000 nodes, in each precision, with $PYTHON (python3)
#   compiled   60  against torch.compile with graphs, with 1000 nodes, in tf32 and bf16
#   batches    50  batches of small graphs, in f32 and bf16
#   presets    60  the models of the literature, in f32 and bf16
#   kernels    75  every op alone, at 5000 nodes, in f32, tf32 and bf16
#   models     40  whole models: outputs, loss and gradients against double; the same bits from replays and graphs
#   second, 130 s:
#   sanitizers 60  memcheck and racecheck of attention, products and norms in bf16, at small shapes
#   sparse     30  one layer on the edges, d = 64, to a million nodes
#   dense      40  one layer of dense attention, to 100,000 nodes
#   more, 60 s:
#   molecules  60  against PyTorch, and PyG if it is installed: 32 graphs of 23 atoms, as in ZINC
#
# DIR has, at any time, results.tar.gz with the logs and result files of all parts that ended, summary.txt with a line
# for each, and PART.log and the result files of the part that runs, with a row as soon as it was measured: at most 8
# files. Whatever ends the script, what was measured is there; another run with the same DIR adds to it.
# Rows that are out of memory, or of ops that the GPU has no kernel for, are results.
# Exit status 1 if no GPU answers or a part failed or was cut.
set -u
began=$(date +%s)
cd "$(dirname "$0")/.." || exit 1
first='start:15 ops:40 nodes:75 products:35 pytorch:70 compiled:60 batches:50 presets:60 kernels:75 models:40'
second='sanitizers:60 sparse:30 dense:40'
parts="$first $second molecules:60"
names="build $(echo "$parts" | sed 's/:[0-9]*//g')"

fail()
{
    echo "tests/gpu.sh: $1" >&2
    exit "$2"
}

# Of gpu and emulated one is empty, and the other is not.
gpu=yes emulated='' plan='' out=build/gpu deadline='' carried=''
while :; do
    case ${1:-} in
    --plan) plan=yes ;;
    --emulated) emulated=yes gpu='' ;;
    --out | --deadline | --carried)
        [ $# -gt 1 ] || fail "$1: it needs a value" 2
        case $1 in
        --out) out=$2 ;;
        --deadline) deadline=$2 ;;
        --carried) carried=$2 ;;
        esac
        shift
        ;;
    --*) fail "$1: --out, --deadline, --carried, --plan, --emulated, or parts: first second $names" 2 ;;
    *) break ;;
    esac
    shift
done
case $deadline in *[!0-9]* | 0*) fail "--deadline $deadline: a number of seconds" 2 ;; esac
[ ! "$carried" ] || [ -r "$carried" ] || fail "--carried $carried: no such file" 2
[ $# -gt 0 ] || set -- $names
for part; do
    shift
    case $part in
    first) set -- "$@" $(echo "$first" | sed 's/:[0-9]*//g') ;;
    second) set -- "$@" $(echo "$second" | sed 's/:[0-9]*//g') ;;
    *) set -- "$@" "$part" ;;
    esac
    case " $names first second " in *" $part "*) ;; *) fail "$part is not one of first second $names" 2 ;; esac
done
programs=build${emulated:+/emulated} bench='' own=''
# What the emulated device can do in seconds.
tiny='--hidden 16 --heads 2 --layers 1 --budget 2'
# Without what would take seconds of a short budget.
short='--budget 22 --energy no'

# run COMMAND...: runs it, or says it if only the plan is wanted
run()
{
    if [ "$plan" ]; then
        echo "    $*"
    else
        "$@"
    fi
}

# script FILE COMMAND: a program that is this command, with the arguments that it gets
script()
{
    printf '#!/bin/sh\nexec %s "$@"\n' "$2" >"$1" && chmod +x "$1"
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
        for op in $($own "$programs/bench_kernels" --device cuda --list ops | sed -n 's/^\([a-z0-9_]*\): .*/\1/p'); do
            set -- "$@" "GTMARK_OP=$op" "$programs/tests/test_cuda_kernels"
        done
        [ $# -gt 0 ] || return
    fi
    run $own tests/run.sh GTMARK_SMALL=1 $(tests_of ${gpu:+launch math} bench) "$@"
}

# measure NAME PROGRAM FLAG...: runs a sweep on the GPU, into the result file of this name
measure()
{
    rows=$out/$part$1.jsonl program=$programs/$2
    shift 2
    run $own "$program" --device cuda --no-charts --check-budget 0.2 --output "$rows" "$@"
    status=$?
    # Rows that are out of memory are results.
    [ $status = 0 ] || { [ $status = 1 ] && ! grep -qE '"status": *"(failed|wrong)"' "$rows"; }
}

# in_each 'PRECISION...' PROGRAM FLAG...: the same in each, of which one that fails stops no other
in_each()
{
    list=$1 bad=''
    shift
    for precision in $list; do
        measure "-$precision" "$@" --precision "$precision" || bad=yes
    done
    [ ! "$bad" ]
}

# With as many algorithms to choose from, and MiB of workspace: times, and how cublasLt was called, and how often, without
# addresses and times.
products()
{
    bad='' mine=$own calls=$work/cublaslt.log
    for choice in 1:4 1:32 8:4 8:32; do
        own="env GTMARK_PRODUCT_ALGORITHMS=${choice%:*} GTMARK_PRODUCT_WORKSPACE=${choice#*:}"
        own="$own CUBLASLT_LOG_LEVEL=5 CUBLASLT_LOG_FILE=$calls $mine"
        [ "$plan" ] || echo "algorithms:MiB $choice"
        measure "-$(echo $choice | tr : -)" bench_node_scaling --phase step --profile --no-check --no-roofline --cold 0 \
            --energy no ${gpu:+--nodes 1000,2000 --runs 20} ${emulated:+--nodes 16 --runs 2 $tiny} || bad=yes
        [ ! -s "$calls" ] || sed -E 's/0[xX][0-9a-fA-F]+//g; s/^(\[[^]]*\])*//' "$calls" | sort | uniq -c | sort -rn |
            head -n 100 | cut -c 1-700
        rm -f "$calls"
    done
    [ ! "$bad" ]
}

compare()
{
    if [ "$emulated" ]; then
        echo 'left out: it needs a GPU'
        return
    fi
    python=${PYTHON:-python3}
    if ! [ "$plan" ] && ! "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
        echo "left out: $python has no PyTorch with GPU support"
        return
    fi
    run "$python" -W ignore tests/golden/compare_torch.py --device cuda --model gps --rounds 3 --seconds 0.15 \
        ${bench:+--bench "$bench"} --output "$work/results/$part" "$@"
}

sanitize()
{
    tool=${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer
    tool=$(command -v compute-sanitizer || command -v "$tool") || tool=''
    if [ "$emulated" ] || ! [ "$tool$plan" ]; then
        echo "left out: it needs ${emulated:+a GPU}${gpu:+compute-sanitizer}"
        return
    fi
    set --
    for check in memcheck racecheck; do
        [ "$plan" ] || script "$work/$check" "'$tool' --tool $check --error-exitcode 1 --print-limit 5 '$programs/tests/test_cuda_kernels'"
        for op in attention attention_backward linear linear_backward add_layer_norm layer_norm_backward batch_norm \
            batch_norm_backward graph_norm graph_norm_backward; do
            set -- "$@" GTMARK_OP=$op "$work/$check"
        done
    done
    run $own tests/run.sh GTMARK_SMALL=1 GTMARK_PRECISION=bf16 "$@"
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
    nproc
    run $own "$programs/bench_node_scaling" --version
}

run_part()
{
    case $1 in
    build) run env -u CI make ${gpu:+all} ${emulated:+emulated} ${gpu:+$(tests_of launch math kernels models bench)} ;;
    start)
        [ "$plan" ] || environment
        in_each 'f32 tf32 bf16' bench_node_scaling ${gpu:+--nodes 1000 --budget 3 --energy no} ${emulated:+--nodes 16 $tiny}
        ;;
    ops) each_op ;;
    nodes) in_each 'f32 tf32 bf16' bench_node_scaling \
        ${gpu:+--nodes 100,500,1000,2000,5000,10000,50000 --timeout 5 --budget 22} ${emulated:+--nodes 16,32 $tiny} ;;
    products) products ;;
    pytorch) compare --nodes 1000,5000 --precision f32,tf32,bf16 ;;
    compiled) compare --nodes 1000 --precision tf32,bf16 --peers reduce-overhead --programs step,forward ;;
    batches) in_each 'f32 bf16' bench_batch_scaling ${gpu:+$short} ${emulated:+--nodes 8 --batch 1,4 $tiny} ;;
    presets) in_each 'f32 bf16' bench_presets ${gpu:+$short} ${emulated:+--preset all --graph er --nodes 12 --degree 3 \
        --batch 2 --layers 1 --hidden 32 --heads 4 --budget 2} ;;
    kernels) in_each 'f32 tf32 bf16' bench_kernels ${gpu:+--nodes 5000 $short} ${emulated:+--nodes 16 --hidden 16 --heads 2 \
        --budget 2} ;;
    models) run $own tests/run.sh ${emulated:+GTMARK_SMALL=1} $(tests_of models) ;;
    sanitizers) sanitize ;;
    sparse) measure '' bench_node_scaling --model gps_sparse \
        ${gpu:+--layers 1 --hidden 64 --nodes 10k,100k,1M $short} ${emulated:+--nodes 16,32 $tiny} ;;
    dense) measure '' bench_node_scaling --model graph_transformer \
        ${gpu:+--layers 1 --nodes 1k,10k,100k --budget 35 --energy no} ${emulated:+--nodes 16,32 $tiny} ;;
    molecules)
        pyg=$("${PYTHON:-python3}" -c 'import torch_geometric' 2>/dev/null && echo ,pyg)
        compare --nodes 23 --batch 32 --degree 2.1 --hidden 64 --heads 4 --layers 10 --precision f32,bf16 \
            --peers "eager,graph$pyg"
        ;;
    esac
}

# seconds_of PART: that it may take
seconds_of()
{
    echo " $parts" | sed -n "s/.* $1:\([0-9]*\).*/\1/p"
}

if [ "$plan" ]; then
    work=WORK
    [ ! "$carried" ] || programs=CARRIED
    for part; do
        echo "$part${deadline:+ $(seconds_of "$part")}"
        (run_part "$part")
    done
    exit
fi

# --- one part after another

# left: seconds in which parts can run: at the end one is stopped and packed
left()
{
    echo $((deadline - ($(date +%s) - began) - 4))
}

# stop PID: ends it and all that it started, at most in 2 s
stop()
{
    set -- $(cat /proc/[0-9]*/stat 2>/dev/null | sed 's/ (.*) [^ ]* / /' | awk -v root="$1" '
        { parent[$1] = $2 }
        END {
            for (p in parent) {
                for (q = p; q != root && q in parent; q = parent[q])
                    continue
                if (q == root)
                    print p
            }
        }')
    kill "$@" 2>/dev/null
    looks=0
    while [ $looks -lt 20 ] && ls -d $(printf '/proc/%s ' "$@") 2>/dev/null | grep -q .; do
        sleep 0.1
        looks=$((looks + 1))
    done
    kill -KILL "$@" 2>/dev/null
    return 0
}

# pack: adds the loose results to the archive; at no time is one in neither
pack()
{
    set --
    for its in $names; do
        set -- "$@" "$out/$its.log" "$out/$its.jsonl" "$out/$its"-*.jsonl
    done
    for file; do
        [ ! -f "$file" ] || cp "$file" "$work/results/"
    done
    tar -C "$work" -czf "$out/results.new" results && mv "$out/results.new" "$out/results.tar.gz" || return
    rm -f "$@"
    [ "$(wc -c <"$out/results.tar.gz")" -le 16777216 ] || echo "results.tar.gz has more than 16 MiB" >&2
}

# report PART RESULT SECONDS: the line of a part, with the last line of its output that says what it found
report()
{
    said=$(grep -aE 'passed, .* failed|ERROR SUMMARY|left out' "$out/$1.log" 2>/dev/null | tail -n 1 | cut -c 1-80)
    printf '%-10s %4d s  %-6s %s\n' "$1" "$3" "$2" "$said" | tee -a "$out/summary.txt"
}

# perform PART: runs it, until the time is over that it has
perform()
{
    part=$1 limit=590
    [ "$part" != build ] || [ ! "$carried" ] || return 0
    known=$(seconds_of "$part")
    [ ! "$emulated" ] && [ "$known" ] || known=1 # not known: until the deadline
    if [ "$deadline" ]; then
        limit=$(left)
        if [ "$limit" -lt "$known" ]; then
            printf '%-10s left out: it takes %d s, and %d are left\n' "$part" "$known" "$limit" | tee -a "$out/summary.txt"
            return
        fi
        [ "$known" = 1 ] || limit=$known
    fi
    start=$(date +%s)
    ( run_part "$part" ) >"$out/$part.log" 2>&1 &
    pid=$!
    result=FAILED
    timeout "$limit" tail -s 0.1 --pid=$pid -f /dev/null &
    wait $! || { stop $pid && result=cut; } # a signal interrupts wait alone
    wait $pid && result=ok
    pid=''
    [ "$result" = ok ] || failed=1
    report "$part" "$result" $(($(date +%s) - start))
    [ "$result" = ok ] || tail -n 8 "$out/$part.log" | cut -c 1-150
    pack
    [ "$part.$result" = build.ok ] || [ "$part" != build ] # without programs there is nothing more
}

if [ "$gpu" ]; then
    said=$(timeout 10 nvidia-smi -L 2>&1) && echo "$said" | grep '^GPU' ||
        fail "no GPU answers (nvidia-smi: $(echo "${said:-no answer in 10 s}" | head -n 1)); --emulated needs none" 1
    # Programs that share a GPU which takes one at a time must not run beside each other.
    ! timeout 10 nvidia-smi --query-gpu=compute_mode --format=csv | grep -qi exclusive || export OMP_NUM_THREADS=1
fi
work=$(mktemp -d) && mkdir -p "$out" "$work/results" || exit 1
pid=''
trap 'rm -rf "$work"' EXIT
trap '[ ! "$pid" ] || stop "$pid"; pack; exit 1' HUP INT TERM
[ ! -f "$out/results.tar.gz" ] || tar -C "$work" -xzf "$out/results.tar.gz"
pack
if [ "$carried" ]; then
    tar -C "$work" -xzf "$carried" || fail "--carried $carried: it cannot be unpacked" 2
    programs=$work/carried
    # NVIDIA's libraries are the machine's: found as on the machine where this was built, or here.
    for libraries in '' "${CUDA_HOME:-/usr/local/cuda}/lib64" /usr/local/cuda*/lib64 \
        "$("${PYTHON:-python3}" -c 'import nvidia; print(*(p + "/cu13/lib" for p in nvidia.__path__))' 2>/dev/null)"; do
        own="env LD_LIBRARY_PATH=$programs/lib${libraries:+:$libraries}"
        ! $own "$programs/bench_kernels" --device cuda --list ops >/dev/null 2>&1 || break
    done
    # PyTorch has libraries of the same names.
    bench=$work/bench_node_scaling
    script "$bench" "$own '$programs/bench_node_scaling'"
fi
failed=0
for name; do
    perform "$name" || exit 1
done
echo "commit $($own "$programs/bench_node_scaling" --version | sed -n 's/.*commit //p'); results: $out/results.tar.gz" |
    tee -a "$out/summary.txt"
exit $failed
