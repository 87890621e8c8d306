#!/bin/sh
# On aarch64: the reference's kernels and the CPU's at their smallest shapes, under qemu (make test-aarch64 runs all
# tests), and the machine code of the loops that should reach the processor's peak.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

gcc=aarch64-linux-gnu-gcc root=$PWD/build/sysroot/aarch64
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

skip()
{
    echo "ok $((checked += 1)) # SKIP $*"
}

$gcc --version >"$work/version" 2>&1 || { skip "kernels and loops of aarch64: no $gcc (make setup test)" && tap_end; }
here=$PWD
absent=$(printf -- '-DHAVE_%s=0 ' CBLAS LAPACK ARPACK MPI METIS CUDA)
fast='-ffp-contract=fast -fno-math-errno -fno-trapping-math' # as in the Makefile

# compile FOLDER FLAG...: the sources on stdin to objects (or, with -S, assembly) in this folder of $work
compile()
{
    mkdir -p "$work/$1" && cd "$work/$1" && shift &&
        # shellcheck disable=SC2086 # words
        sed "s|^|$here/|" | xargs "$gcc" -std=c11 -Wall -Wextra -Werror -Wno-maybe-uninitialized -fopenmp -D_GNU_SOURCE -DISA=base \
            -DISA_X86=0 -DBLAS_LIBRARIES= '-DMPI_ID=""' $absent "-I$here" "$@"
}

# Its loops have 24 multiply-adds each, the peak's and the tiles'.
printf 'kernels/cpu/%s.c\n' gemm peak | (compile tight -O3 $fast -S) || exit 1
: >"$work/spilled"
awk -v least=24 -v spilled="$work/spilled" -f tests/loops.awk "$work"/tight/*.s >"$work/loops"
tiles=$(sed -n 's/.*BEGIN tiles_GEMM_\([A-Z]*\)_.*/\1/p' "$work/loops" | sort | xargs)
check 'tiles of every kind of product, by rows and, as they are, by columns' "$tiles" 'BIASED GRADIENTS PROBABILITIES STORE STORE WEIGHTS'
check 'no sum of a tile leaves its register' "$(cat "$work/spilled")" ''
for cpu in neoverse-n1 neoverse-v2 neoverse-v1; do
    llvm-mca -mtriple=aarch64 -mcpu=$cpu -iterations=200 "$work/loops" 2>/dev/null |
        awk '/^\[/ { name = $NF } /^Total Cycles/ { print name, $NF }' >"$work/cycles"
    [ -s "$work/cycles" ] || continue
    check "every tile has at least 90 % of the peak on $cpu" "$(sort "$work/cycles" |
        awk '/^run_chains/ { peak = $2 } !peak || peak < .9 * $2 { print $0 " cycles of 200 turns, peak " peak }')" ''
    [ $cpu = neoverse-n1 ] || break
done
[ -s "$work/cycles" ] || skip 'how near tiles are to the peak: no llvm-mca that knows Neoverse'

ls kernels/cpu/*.c | grep -v '/\(gemm\|peak\)\.c' | (compile cpu -Og $fast -c) || exit 1
for way in F32 F64; do
    ls kernels/ref/*.c kernels/oracle/*.c | (compile $way -O0 -DREF_$way -c) || exit 1
done
if ! qemu-aarch64-static --version >"$work/version" 2>&1 || [ ! -e "$root/ready" ]; then
    skip 'kernels of aarch64 under qemu: no qemu-aarch64-static, or no libraries (make setup test)'
    tap_end
fi
sysroot=--sysroot=$root
ls kernels/*.c bench/audit/operands*.c bench/audit/guarded.c tests/every_row.c tests/test_kernels.c | (compile once $sysroot -O0 -c) || exit 1
# Nothing here calls the reference's loops over the type that counts, which would take as long as all others to compile.
$gcc $sysroot -fopenmp "$work"/*/*.[so] -Wl,--unresolved-symbols=ignore-all -lcmocka -lm -o "$work/test_kernels" || exit 1
env -u LD_PRELOAD -u CMOCKA_MESSAGE_OUTPUT GTMARK_SMALL=least OMP_WAIT_POLICY=passive qemu-aarch64-static -L "$root" \
    "$work/test_kernels" >"$work/said" 2>&1
check 'kernels at the smallest shapes, under qemu' "$? $(grep -v '^\[\|^cpu leaves\|^ *$\|^ [0-9]* SKIPPED' "$work/said" | head -n 20)" '0 '
tap_end
