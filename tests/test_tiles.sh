#!/bin/sh
# The machine code of the kernels on AMX tiles, also where no processor has them: the loops of products have their loads and
# products, and no other access to memory, as of what fits in no register.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

objects=$(find "${GTMARK_BUILD:-build}/obj/kernels/cpu" -name '*.amx.o')
[ "$objects" ] || { echo 'ok 1 # SKIP tiles: the compiler knows none, or leaves them out' && echo 1..1 && exit; }
# Of each loop of one block the products, loads of tiles and other accesses.
# shellcheck disable=SC2086 # words
check 'loops of products, and of the peak' "$(objdump -d --no-show-raw-insn $objects | awk '
    /^[0-9a-f]+ </ { split("", at); n = 0 }
    $1 ~ /^[0-9a-f]+:$/ {
        line[++n] = $0
        at[substr($1, 1, length($1) - 1)] = n
        if ($2 !~ /^j/ || !($3 in at)) next
        products = loads = others = jumps = 0
        for (i = at[$3]; i < n; i++) {
            products += line[i] ~ /\ttdpbf16ps/
            loads += line[i] ~ /\ttileloadd/
            others += line[i] ~ /\(%/ && line[i] !~ /\t(tileloadd|lea)/
            jumps += line[i] ~ /\tj/
        }
        if (products && !jumps) print products, loads, others
    }' | sort -u)" '4 0 0
4 4 0'
if clang --version >/dev/null 2>&1; then
    check 'clang compiles them' "$(for file in linear linear_backward; do
        clang -std=c11 -Wall -Wextra -D_GNU_SOURCE -DHAVE_CBLAS=0 -DISA=amx -march=x86-64-v4 -mamx-tile -mamx-bf16 -fopenmp -I. \
            -c "kernels/cpu/amx/$file.c" -o /dev/null 2>&1
    done)" ''
fi
tap_end
