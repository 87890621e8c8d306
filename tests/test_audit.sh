#!/bin/sh
# The audit of kernels of others: right ones pass, each planted fault is named, and a library that cannot be audited is one
# line. The plug-ins are tests/plugins; of ours a few of each kind (all of them: build/audit --own).
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
build=${GTMARK_BUILD:-build}
plugins=$build/tests/plugins
audit="$build/audit --budget 0"

house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT

for right in sparse_attention own NONE blas; do
    if [ -e "$plugins/$right.so" ]; then
        $audit "$plugins/$right.so" >"$house/said" 2>&1
        check "the plug-in $right passes" "$? $(grep -c ' FAIL \| absent ' "$house/said")" '0 0'
        check "and each kernel has six verdicts" "$(($(grep -c ' pass \| note ' "$house/said") % 6))" 0
    else
        check "the plug-in $right was not built: no CBLAS" "$(grep -c '^HAVE_CBLAS *:= *1' "$build/config.mk")" 0
    fi
done

# named FAULT CHECK FINDING: the verdict of this check of the plug-in with this fault begins with the finding
named()
{
    $audit --patience "${4:-10}" "$plugins/$1.so" >"$house/said" 2>&1
    status=$?
    check "$1 is named" "$status $(grep " $2 " "$house/said" | grep -cF "$3")" "1 1"
}

named TAIL results 'where D is no multiple of 4: y (0, 0) is not written'
named HUB results 'where a node has more than 256 edges: y'
named GRADIENT results 'dx (0, 0) is not written'
named ZERO results 'y (0, 0) is not written, or follows from what is not'
named PAST_END memory 'writes past the end of y'
named BEFORE memory 'reads before the beginning of x'
named BETWEEN memory 'between their rows'
named INPUT memory 'writes its input x'
named SCRATCH memory 'writes past the end of its scratch'
named STALE memory 'reads the scratch of an earlier call'
named COUNT threads '2 threads give other bits than 1'
named RACE threads 'threads give other bits than 1'
named NOISE runs 'differs from run to run, on one thread'
named HEAP calls 'allocates memory, 3 times in 3 calls'
named THREAD calls 'starts threads, 3 in 3 calls'
named TEAM calls 'uses more threads than it may: 4'
named SLEEP calls 'waits: gives up the processor'
named CRASH results 'ends by signal 11'
named EXIT results 'ends the process, with exit status 0'
named REPORT results 'edge_mean=mine: no mean today'
named HANG results 'does not return within 2 s' 2
named IGNORE special 'hides NaN in x: y is finite'

# On the emulated device, if it was built; and where no GPU is.
if [ -e "$build/emulated/audit" ]; then
    audit="$build/emulated/audit --budget 0" plugins=$build/emulated/plugins
    $audit "$plugins/NONE.so" >"$house/said" 2>&1
    check 'the plug-in for GPUs passes' "$? $(grep -c ' pass ' "$house/said") $(grep -c ' absent ' "$house/said")" '0 4 2'
    named TAIL results 'where D is no multiple of 4: y (0, 0) is not written'
    named PAST_END memory 'writes outside of its outputs'
    named INPUT memory 'writes its input x'
    audit="$build/audit --budget 0" plugins=$build/tests/plugins
    check 'without a GPU it is refused' "$(CUDA_VISIBLE_DEVICES='' $audit "$plugins/edge_mean.cuda.so" 2>&1 |
        grep -c '^audit: .*/edge_mean.cuda.so: entries for "cuda" need a GPU: ')" 1
else
    checked=$((checked + 1))
    echo "ok $checked # SKIP plug-ins on the emulated device: they need the CUDA toolkit and x86-64"
fi

# refused LIBRARY WORDS: the line, and the exit status
refused()
{
    "$build/audit" "$@" 2>&1
    echo $?
}
check 'another version' "$(refused "$plugins/VERSION.so")" \
    "audit: $plugins/VERSION.so: of another version than here: compile it with this gtmark_plugin.h (1)
2"
check 'structs of other sizes' "$(refused "$plugins/SIZE.so")" \
    "audit: $plugins/SIZE.so: of another layout than here: compile it with this gtmark_plugin.h (1)
2"
check 'an op that we do not have' "$(refused "$plugins/OP.so")" \
    "audit: $plugins/OP.so: edge_man=mine: no such op; docs/ops.md lists them
2"
check 'an option that the op does not have' "$(refused "$plugins/OPTION.so")" \
    "audit: $plugins/OPTION.so: edge_mean=mine: options has a word that is no option of the op
2"
echo 'int other;' >"$house/other.c"
cc -shared -fPIC "$house/other.c" -o "$house/other.so"
check 'a library that is no plug-in' "$(refused "$house/other.so")" \
    "audit: $house/other.so: is no plug-in: it does not define gtmark_plugin
2"
# clash CODE WORD...: what is said of the example with this code, compiled with the words
clash()
{
    { cat docs/examples/kernel.c && echo "$1"; } >"$house/clash.c"
    shift
    cc -fopenmp -shared -fPIC -I kernels "$house/clash.c" "$@" -lm -o "$house/clash.so" && refused "$house/clash.so" |
        sed "s|of [^ ]*/|of |; s|: rename .*||"
}
check 'a name of ours, before the library is opened' \
    "$(clash 'int linear(void) { return 1; } __attribute__((constructor)) static void begin(void) { linear(); }')" \
    "audit: $house/clash.so: exports linear, but its calls would go to that of audit
2"
check 'data of such a name' "$(clash 'int models[9];')" \
    "audit: $house/clash.so: exports models, but its calls would go to that of audit
2"
check 'a name of a library of ours, and one that the C library no longer offers' "$(clash 'int compress(void) { return 1; }
    int step(void) { return 1; }' | grep -c 'exports [a-z]*, but its calls would go to that of lib[cz].so')" 1
echo 'int attention(void) { return 1; }' >"$house/needed.c"
cc -shared -fPIC "$house/needed.c" -o "$house/needed.so"
check 'a name in a library that it needs' \
    "$(clash 'int attention(void); int call(void) { return attention(); }' "$house/needed.so")" \
    "audit: $house/needed.so: exports attention, but its calls would go to that of audit
2"
clash 'int linear(void) { return 1; }' -fvisibility=hidden >"$house/said"
check 'names that nobody else sees' "$($audit "$house/clash.so" 2>&1 | grep -c ' pass \| note ')" 6
check 'in a benchmark' "$(clash 'int linear;' >"$house/said"; "$build/bench_kernels" --plugin "$house/clash.so" 2>&1 | sed 's/ of .*//')" \
    "bench_kernels: --plugin $house/clash.so: exports linear, but its calls would go to that"
check 'no library' "$(refused "$house/none.so" | tail -n 1)" 2
check 'neither a library nor --own' "$(refused | tail -n 1)" 2

check 'as JSON' "$($audit --format json "$plugins/HUB.so" 2>/dev/null | grep -o '"check":"[a-z]*","verdict":"fail"')" \
    '"check":"results","verdict":"fail"'
"$build/audit" --own --op linear,sparse_attention,edge_mean,row_dot_backward >"$house/said" 2>&1
check 'kernels of ours pass' "$? $(grep -c ' pass \| note ' "$house/said")" '0 24'

# In Python. All of it runs in the child that opens the library.
if tests/golden/python_plugin.py tests/plugins/add.py "$house/add.so" >"$house/said" 2>&1; then
    check 'the time of an empty call is said' "$(grep -c ': 1 kernels; a call takes [0-9.]* us' "$house/said")" 1
    check 'a kernel in Python passes' "$($audit "$house/add.so" | tee "$house/said" | grep -c '^add=python .* pass ')" 6
    check 'though it allocates, as it declares' "$(grep -c ' calls .* nothing that the entry does not declare' "$house/said")" 1
    "$build/bench_kernels" --plugin "$house/add.so" --op add --impl add=python --nodes 9 --hidden 8 --runs 2 --repetitions 1 \
        --no-roofline --no-charts --output "$house/rows.jsonl" >"$house/said" 2>&1
    check 'and the time of an empty call is beside that in a benchmark' \
        "$(grep -c '^kernel.python_call_seconds [0-9.e-]* (' "$house/said")" 1
    sed 's/+ b_i/+ c_i/' tests/plugins/add.py >"$house/raises.py"
    tests/golden/python_plugin.py "$house/raises.py" "$house/raises.so" >"$house/said"
    check 'what it raises is named' "$($audit "$house/raises.so" 2>&1 |
        grep -c "FAIL .* add=python: NameError: name 'c_i' is not defined")" 6
    sed 's/^    y, a, b.*/    raise SystemExit(0)/' tests/plugins/add.py >"$house/exits.py"
    tests/golden/python_plugin.py "$house/exits.py" "$house/exits.so" >"$house/said"
    check 'sys.exit too' "$($audit "$house/exits.so" 2>&1 | grep -c 'FAIL .* add=python: SystemExit: 0')" 6
elif command -v python3 >/dev/null && ! grep -q 'has no libpython' "$house/said"; then
    check 'kernels in Python' "$(cat "$house/said")" ''
else
    checked=$((checked + 1))
    echo "ok $checked # SKIP kernels in Python: $(tail -n 1 "$house/said")"
fi

# Times in turns with ours, of which there are two for this op.
"$build/audit" --budget 0.2 --over nodes=10,20 --format json "$plugins/sparse_attention.so" >"$house/said" 2>&1
check 'a right kernel is timed at each size, and beside each of ours' \
    "$? $(grep -o '"check":"times","[^}]* nodes: [^}]*FLOP/s[^}]* times that of simd' "$house/said" | wc -l) $(
        grep -o '"check":"crossover"' "$house/said" | wc -l)" '0 2 2'
check 'with figures' "$(grep -o '"nodes":20.0,"against":"simd","seconds":[0-9]' "$house/said" | wc -l)" 1
"$build/audit" --budget 0.2 --over nodes=3000 --op edge_mean "$plugins/LARGE.so" >"$house/said" 2>&1
check 'what is wrong at large sizes alone is found there' "$? $(grep -c ' times .*FAIL .*3000 nodes: wrong' "$house/said")" '1 1'
check 'an axis over which nothing is timed' "$(refused --over layers=1,2 "$plugins/NONE.so")" \
    "audit: --over layers=1,2: nodes=VALUES or degree=VALUES, as nodes=100-6400*4
2"

# In benchmarks: checked like any kernel, and named in the row.
mine="--plugin $plugins/sparse_attention.so"
# bench WORDS...: the status of its row, its reason, how it was checked, and the plug-in without the hash
bench()
{
    # shellcheck disable=SC2086 # flags
    "$build/$1" $2 --nodes 20 --hidden 18 --heads 2 --layers 1 --runs 1 --warmup 0 --no-roofline --no-charts \
        --output "$house/rows.jsonl" >"$house/said" 2>&1
    sed 1d "$house/rows.jsonl" | grep -o -e '"status":"[a-z]*"' -e '"reason":"[^"]*"' -e '"checked":"[a-z]*"' -e '"plugin":"[^"]*"' |
        sed 's/ [0-9a-f]\{16\}:/ HASH:/' | tr '\n' ' '
}
check 'a model runs with it' \
    "$(bench bench_node_scaling "$mine --impl sparse_attention=mine --model sparse_transformer")" \
    '"status":"ok" "plugin":"sparse_attention.so HASH: sparse_attention=mine" "checked":"whole" '
check 'what it refuses is skipped' \
    "$(bench bench_node_scaling "$mine --impl sparse_attention+dropout=mine --model sparse_transformer --attention-dropout 0.1 --phase step" |
        grep -o '"status.*option"')" \
    '"status":"skipped" "reason":"sparse_attention+dropout=mine: its entry does not name this option"'
# An entry that names an option is asked for it: this one computes something else.
sed 's/\.run = run/.options = "edges,dropout", .run = run/' docs/examples/kernel.c >"$house/named.c"
cc -fopenmp -shared -fPIC -I kernels "$house/named.c" -lm -o "$house/named.so"
check 'what it names is computed' \
    "$(bench bench_kernels "--plugin $house/named.so --op sparse_attention+dropout,sparse_attention+edges --impl sparse_attention+dropout=mine --impl sparse_attention+edges=mine" |
        grep -o '"status":"[a-z]*"' | tr '\n' ' ')" '"status":"wrong" "status":"wrong" '
check 'a kernel that is wrong is found' \
    "$(bench bench_kernels "--plugin $plugins/TAIL.so --op edge_mean --impl edge_mean=mine" | grep -o '"status":"[a-z]*"')" \
    '"status":"wrong"'
bench bench_kernels "--plugin $plugins/NONE.so --op edge_mean" >"$house/said"
check 'it is timed beside ours' "$(grep -o '"variant":"[a-z]*"' "$house/rows.jsonl" | sort -u | tr '\n' ' ')" \
    '"variant":"mine" "variant":"ref" "variant":"simd" '
check 'not where kernels run elsewhere' "$("$build/bench_kernels" $mine --count valgrind 2>&1; echo $?)" \
    'bench_kernels: --plugin: not with --count auto, valgrind or base, which run kernels elsewhere
2'
check 'a library that cannot be used' "$("$build/bench_kernels" --plugin "$plugins/OP.so" 2>&1 | tail -n 1)" \
    "bench_kernels: --plugin $plugins/OP.so: edge_man=mine: no such op; docs/ops.md lists them"
tap_end
