#!/bin/sh
# The machine code of the kernels on AMX tiles: compiled anywhere, also where no processor has them. The loop of the products
# has its four loads and four products and nothing that the compiler added but its counters.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for cc in gcc clang; do
    if ! $cc -march=x86-64-v4 -mamx-tile -mamx-bf16 -E -x c /dev/null >/dev/null 2>&1; then
        echo "ok $((checked += 1)) # SKIP tiles by $cc: there is none that knows them"
        continue
    fi
    for file in kernels/cpu/amx/*.c kernels/cpu/peak.c; do
        # As in the Makefile.
        $cc -std=c11 -Wall -Wextra -Werror -Wno-pass-failed -D_GNU_SOURCE -DHAVE_CBLAS=0 -DISA=amx -O3 -fopenmp -ffp-contract=fast \
            -fno-math-errno -fno-trapping-math -march=x86-64-v4 -mprefer-vector-width=512 -mamx-tile -mamx-bf16 -D__AMX_TILE__ -D__AMX_BF16__ -I. -S "$file" \
            -o - || echo "$cc $file" >>"$work/failed"
    done >"$work/$cc.s"
    # Of each loop of one block the products, loads of tiles and other accesses to memory.
    awk '
        /^[A-Za-z_.].*:/ { label = $1; sub(/:.*/, "", label); products = loads = others = 0; next }
        /^\ttdpbf16ps/ { products++; next }
        /^\ttileloadd/ { loads++; next }
        /^\t[a-z].*\(%/ && !/^\tlea/ { others++ }
        /^\tj[a-z]+\t/ && $2 == label && products { print products, loads, others }
        /^\t(j[a-z]+|ret)/ { label = "" }' "$work/$cc.s" | sort | uniq -c | awk '{ print $2, $3, $4 }' >"$work/loops"
    check "tiles compile with $cc" "$(cat "$work/failed" 2>/dev/null)" ''
    check "the loops of products by $cc, and of the peak" "$(cat "$work/loops")" '4 0 0
4 4 0'
done
tap_end
