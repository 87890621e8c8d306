#!/bin/sh
# The machine code of the GPU's kernels, by what ptxas said when it made it: for every GPU the same kernels, none with
# local memory (spilled registers, indexed arrays, stacks) or more registers than kernels/cuda/plan.h states; and PTX for
# newer GPUs.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
. tests/compiled.sh

build=${GTMARK_BUILD:-build}
library=build/cuda/libgtmark_cuda.so

skip()
{
    echo "ok 1 # SKIP the machine code of GPU kernels: $*"
    checked=1
    tap_end
}

# stated NAME: a constant of plan.h
stated()
{
    sed -n "s/^ *$1 = \([0-9]*\)[,;].*/\1/p" kernels/cuda/plan.h
}

grep -q '^HAVE_CUDA *:= *1' "$build/cuda.mk" || skip 'built without CUDA'
archs=$(sed -n 's/^CUDA_ARCHS *:= *//p' "$build/cuda.mk")
kernels=$(compiled_kernels)

check 'every GPU has code' "$(echo "$kernels" | cut -d' ' -f1 | sort -Vu | xargs)" "$archs"
# Names of unnamed namespaces contain a number for each file, the same for all GPUs.
check 'all GPUs have the same kernels' "$(for arch in $archs; do
    echo "$kernels" | sed -n "s/^$arch \([^ ]*\).*/\1/p" | sort | cksum
done | sort -u | wc -l)" 1
check 'there are kernels' "$([ "$(echo "$kernels" | wc -l)" -gt 100 ] && echo yes)" yes
check 'the registers of every kernel in the library are known' "$(strings -a "$library" |
    sed -n 's/.*\.entry \([A-Za-z0-9_]*\).*/\1/p' | sort -u)" "$(echo "$kernels" | cut -d' ' -f2 | sort -u)"
check 'no kernel has local memory' "$(echo "$kernels" | awk '$4 > 0 || $5 > 0')" ''
check 'no kernel has more registers than stated' "$(echo "$kernels" | awk -v block="$(stated BLOCK_REGISTERS)" \
    -v long="$(stated LONG_REGISTERS)" -v attention="$(stated ATTENTION_REGISTERS)" '
        { limit = block }
        $2 ~ /11norm_slopesILi4ELi8E|11edge_shares.*(attend|slopes)ILi[48]ELi[24]E/ { limit = long }
        $2 ~ /(13tensor_attend|14tensor_queries|11tensor_keys)I/ { limit = attention }
        $3 == "" || limit == "" || $3 > limit + 0')" ''
check 'there is PTX for newer GPUs' "$(strings -a "$library" | grep -c "^\.target ${archs%% *}" | sed 's/^[1-9].*/some/')" some
tap_end
