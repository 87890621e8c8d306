#!/bin/sh
# tests/gpu.sh from end to end, on the emulated device: every part ends well, and the archive has their results; and what
# was measured is there wherever it is cut. `make gpu-archive`: its programs start where there is nothing else.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT
out=$house/out

said=$(tests/gpu.sh --emulated --out "$out")
check 'it ends well' $? 0
check 'with every part' "$(echo "$said" | grep -cE '^[a-z]+ +[0-9]+ s  ok')" 15
for file in start.log ops.log nodes-bf16.jsonl products-8-32.jsonl batches-f32.jsonl presets-bf16.jsonl kernels-tf32.jsonl models.log \
    sparse.jsonl dense.jsonl; do
    check "$file is in the archive" "$(tar -tzf "$out/results.tar.gz" "results/$file")" "results/$file"
done
check 'rows are ok' "$(tar -xOzf "$out/results.tar.gz" results/nodes-f32.jsonl | grep -c '"status":"ok"')" 2

# In the middle of a part: in its second file there is a row, or in its log a test.
for place in start:start-tf32.jsonl ops:ops.log nodes:nodes-bf16.jsonl batches:batches-bf16.jsonl dense:dense.jsonl; do
    rm -rf "$out"
    setsid tests/gpu.sh --emulated --out "$out" sparse "${place%:*}" >"$house/said" 2>&1 &
    until grep -qE '"status":|passed' "$out/${place#*:}" 2>/dev/null; do
        sleep 0.1
        kill -0 $! 2>/dev/null || break
    done
    env kill -s KILL -- "-$!"
    wait $! 2>/dev/null
    check "cut in ${place%:*}: the part before" "$(tar -xOzf "$out/results.tar.gz" results/sparse.jsonl | grep -c '"status":"ok"')" 2
    check 'and its rows so far' "$(cat "$out/${place#*:}" | grep -qE '"status":"ok"|passed' && echo there)" there
done

said=$(tests/gpu.sh --emulated --out "$out" --deadline 20 ops sparse)
check 'a deadline cuts' "$(echo "$said" | sed -n 's/^ops .* \([a-z]*\) *$/\1/p')" cut

make gpu-archive >&2 || exit 1
root=$house/root
mkdir -p "$root/bin" "$root/proc" "$root/dev" "$root/tmp" "$root/some/where"
cp "$(command -v bash)" $(dpkg -L coreutils | grep -E '^(/usr)?/bin/.') "$root/bin"
{
    ldd "$root"/bin/* 2>/dev/null | sed -n 's/.*[[:space:]]\(\/[^ ]*\) (0x.*/\1/p'
    ls /lib/*/libm.so.? /lib/*/libdl.so.? /lib/*/librt.so.? /lib/*/libpthread.so.?
} | sort -u | while read -r library; do
    mkdir -p "$root$(dirname "$library")" && cp "$library" "$root$library"
done
tar -C "$root/some/where" -xzf build/gpu.tar.gz
inside="mount --rbind /proc '$root/proc' && mount --rbind /dev '$root/dev' && exec chroot '$root' /bin/bash -c"
for program in bench_node_scaling bench_batch_scaling bench_presets bench_kernels; do
    check "$program starts in an empty root" \
        "$(unshare -rm sh -c "$inside '/some/where/carried/$program --version'" 2>&1 | sed -n '1s/,.*//p')" "$program of gtmark"
done
for program in "$root"/some/where/carried/tests/*; do
    program=$(basename "$program")
    check "$program too" "$(unshare -rm sh -c "$inside '/some/where/carried/tests/$program'" 2>&1 |
        grep -cE '^\[==========\] [0-9]* test\(s\) run')" 1
done
tap_end
