#!/bin/sh
# Builds gtmark for musl with musl-gcc (musl-tools), and Debian's cJSON, zlib, cmocka and OpenMP by tests/musl/shim.c; runs
# tests of kernels and a benchmark. Ten minutes or so, as everything is compiled.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
unset MAKEFLAGS MAKELEVEL MFLAGS

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if ! echo 'int main(void) { return 0; }' | musl-gcc -x c - -o "$work/program" 2>/dev/null; then
    echo 'ok 1 # SKIP musl: no musl-gcc (musl-tools)'
    echo '1..1'
    exit
fi
# Apart from the C library that is beside them.
lib=$PWD/build/musl
mkdir -p "$lib"
for name in cjson z cmocka gomp gcc_s; do
    file=$(readlink -f "$(gcc -print-file-name="lib$name.so")")
    [ $name != gomp ] && [ $name != gcc_s ] || file=$(readlink -f "$(gcc -print-file-name="lib$name.so.1")")
    ln -sf "$file" "$lib/lib$name.so"
    ln -sf "$file" "$lib/$(readelf -d "$file" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')"
done
musl-gcc -O -fPIC -shared tests/musl/shim.c -o "$lib/libshim.so" || exit 1

tests='ref kernels isa families analysis_record'
# shellcheck disable=SC2046,SC2086 # words
make CC="${CACHE:-} musl-gcc" CUDA=0 MPI=0 METIS=0 BLAS=none CI=true \
    CFLAGS="-idirafter /usr/include -idirafter /usr/include/$(gcc -dumpmachine)" \
    LDFLAGS="-L$lib -Wl,-rpath,$lib,--no-as-needed -lshim -Wl,--as-needed" \
    all $(printf 'build/musl-gcc/tests/test_%s ' $tests) >"$work/log" 2>&1
check 'everything is built for musl' "$? $(grep -m 5 -E 'error|undefined' "$work/log")" '0 '
check 'and with its C library' "$(readelf -d build/musl-gcc/bench_node_scaling | grep -o '\[libc\..*\]')" '[libc.so]'
for name in $tests; do
    check "test_$name" "$("build/musl-gcc/tests/test_$name" 2>&1 | grep -E 'FAILED|error|not found')" ''
done
check 'a row' "$(build/musl-gcc/bench_node_scaling --nodes 50 --hidden 16 --heads 2 --layers 1 --budget 0.1 --warmup 1 \
    --no-roofline --no-charts --output "$work/result.jsonl" --format csv --columns status 2>&1 | tail -n 1)" 'ok,,50'
tap_end
