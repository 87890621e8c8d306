#!/bin/sh
# tests/gpu.sh says what it would run, stops at once where no GPU answers, and loses nothing that was measured, wherever it
# is cut. Scripts stand in for its programs.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
. tests/fake_machine.sh
PATH=$house/bin:$PATH

# said WORD...: the last line of the script, without its name, and its exit status
said()
{
    tests/gpu.sh "$@" >"$house/said" 2>&1
    echo "$? $(tail -n 1 "$house/said" | sed 's/^tests.gpu.sh: //')"
}

fake nvidia-smi 'echo "NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver." && exit 9'
check 'no GPU' "$(said)" \
    '1 no GPU answers (nvidia-smi: NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.); --emulated needs none'
fake timeout 'exit 124'
check 'a driver that hangs' "$(said ops)" '1 no GPU answers (nvidia-smi: no answer in 10 s); --emulated needs none'
check 'nothing else is run' "$(wc -l <"$house/said")" 1
rm "$house/bin/timeout"
check 'a part that is not known' "$(said optical | cut -c 1-40)" '2 optical is not one of first second bui'
check 'an option that is not known' "$(said --dry-run | cut -c 1-29)" '2 --dry-run: --out, --deadlin'
check 'a deadline that is no number' "$(said --deadline 5m)" '2 --deadline 5m: a number of seconds'
check 'an archive that is not there' "$(said --carried "$house/none")" "2 --carried $house/none: no such file"
fake python3 'exit 1'
plan=$(tests/gpu.sh --plan --deadline 570)
check 'the plan has all parts, in order, with their seconds' "$(echo "$plan" | sed -n '/^[a-z]/p' | tr '\n' ' ')" \
    'build  start 15 ops 40 nodes 75 products 35 pytorch 70 compiled 60 batches 50 presets 60 kernels 75 models 40 sanitizers 60 sparse 30 dense 40 molecules 60 '
for group in first:520 second:130; do
    check "$group seconds" "$(tests/gpu.sh --plan --deadline 570 ${group%:*} | awk '/^[a-z]/ { s += $2 } END { print s }')" \
        "${group#*:}"
done
check 'emulated, programs are those of the emulated device' \
    "$(tests/gpu.sh --plan --emulated sparse | sed -n '/^sparse/{n;s/ --.*//p;}')" '    build/emulated/bench_node_scaling'

# A benchmark, or a test: what $HANG names does not end after its first row.
play='before="" rows=$0
case $* in
*--version*) echo "it of gtmark, commit abc123" && exit ;;
*--list*) echo "add: simd" && exit ;;
esac
for word; do
    [ "$before" != --output ] || rows=$word
    before=$word
done
case $0 in *test_*) echo "ok 1" ;; *) echo "{\"row\":1}" >"$rows" ;; esac
case $rows in *"$HANG"*) touch "$REACHED" && sleep 600; exit 1 ;; esac
case $0 in *test_*) echo "1..1" ;; *) echo "{\"row\":2}" >>"$rows" ;; esac'
for name in bench_node_scaling bench_batch_scaling bench_presets bench_kernels tests/test_cuda_launch tests/test_cuda_math \
    tests/test_cuda_bench tests/test_cuda_kernels tests/test_cuda_models; do
    fake "../carried/$name" "$play"
done
tar -C "$house" -czf "$house/gpu.tar.gz" carried
fake nvidia-smi 'echo "GPU 0: a GPU"'
out=$house/out
HANG=none REACHED=$house/reached TMPDIR=$house
export HANG REACHED TMPDIR

# end SIGNAL WHERE PART...: sends it there, KILL to everything
end()
{
    signal=$1 HANG=$2
    shift 2
    rm -f "$REACHED"
    setsid tests/gpu.sh --carried "$house/gpu.tar.gz" --out "$out" "$@" >"$house/said" 2>&1 &
    until [ -e "$REACHED" ]; do sleep 0.05; done
    [ "$signal" = KILL ] && all=-$! || all=$!
    env kill -s "$signal" -- "$all"
    wait $! 2>/dev/null
}

# packed: what the archive has
packed()
{
    tar -tzf "$out/results.tar.gz" | sed -n 's/^results.\(.*[a-z]\)$/\1/p' | sort | tr '\n' ' '
}

end KILL start-tf32 start ops
check 'cut in the first part: its rows' "$(cat "$out/start-f32.jsonl" "$out/start-tf32.jsonl" | tr '\n' ' ')" \
    '{"row":1} {"row":2} {"row":1} '
end KILL test_cuda_kernels ops nodes
check 'cut in tests: what they said, and what was there before' "$(grep -c 'test_cuda_math.* 1 passed' "$out/ops.log") $(packed)" \
    '1 start-f32.jsonl start-tf32.jsonl start.log '
end KILL nodes-bf16 nodes products
check 'cut in the third file: its row' "$(cat "$out/nodes-bf16.jsonl")" '{"row":1}'
end KILL kernels-f32 products pytorch kernels
check 'cut later: all before is packed, its row is loose' "$(cat "$out/kernels-f32.jsonl") $(packed)" \
    '{"row":1} nodes-bf16.jsonl nodes-f32.jsonl nodes-tf32.jsonl nodes.log ops.log products-1-32.jsonl products-1-4.jsonl products-8-32.jsonl products-8-4.jsonl products.log pytorch.log start-f32.jsonl start-tf32.jsonl start.log '
check 'never more than eight files' "$([ "$(ls "$out" | wc -l)" -le 8 ] && echo yes)" yes
end TERM dense sparse dense
check 'ended by a signal: its row is packed' "$(tar -xOzf "$out/results.tar.gz" results/dense.jsonl)" '{"row":1}'
check 'and nothing is loose' "$(ls "$out" | tr '\n' ' ')" 'results.tar.gz summary.txt '

# The clock stands still, but for the part that does not end: its time is over as soon as it is there.
HANG=sparse
rm -f "$REACHED"
fake date 'echo 1000'
fake timeout 'limit=$1 && shift
case $* in *tail*) ;; *) exec "$@" ;; esac
echo "$limit" >>"$REACHED.limits"
while [ -d "/proc/$(echo "$*" | sed "s/.*--pid=\([0-9]*\).*/\1/")" ]; do
    [ ! -e "$REACHED" ] || exit 124
    sleep 0.05
done'
check 'with a deadline' "$(said --carried "$house/gpu.tar.gz" --out "$out" --deadline 50 kernels start sparse dense)" \
    "1 commit abc123; results: $out/results.tar.gz"
check 'what does not fit is named, what takes too long is cut' \
    "$(sed -n 's/  *0 s  \([a-z]*\).*/ \1/; /^[a-z]/p' "$house/said" | head -n 4 | tr '\n' ';')" \
    'kernels    left out: it takes 75 s, and 46 are left;start ok;sparse cut;dense ok;'
check 'at its seconds' "$(tr '\n' ' ' <"$REACHED.limits")" '15 30 40 '
check 'with its rows' "$(tar -xOzf "$out/results.tar.gz" results/sparse.jsonl)" '{"row":1}'
said --emulated --carried "$house/gpu.tar.gz" --out "$out" --deadline 50 nodes >"$house/last"
check 'emulated at the deadline, since seconds are those of a GPU' "$(tail -n 1 "$REACHED.limits")" 46
tap_end
