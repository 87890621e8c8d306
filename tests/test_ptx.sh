#!/bin/sh
# What nvcc made of the GPU's kernels, in the PTX that their library contains as text (with line numbers, for each GPU once
# more): four neighbouring floats are loaded and stored at once by every kernel of width 4.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

build=${GTMARK_BUILD:-build}

skip()
{
    echo "ok 1 # SKIP the PTX of GPU kernels: $*"
    checked=1
    tap_end
    exit
}

# divided: reads PTX; of kernels whose first argument is 4, accesses to four neighbouring floats by more than one
# instruction, as "KERNEL st [REGISTER]"
divided()
{
    awk '
        /\.entry / {
            kernel = $0
            sub(/.*\.entry /, "", kernel)
            sub(/[^A-Za-z0-9_].*/, "", kernel)
            delete seen
        }
        kernel !~ /ILi4E/ || !/(ld|st)\.global.*32[ \t]/ || /\.v4\./ { next }
        {
            does = /st\.global/ ? "st" : "ld"
            at = $0
            sub(/.*\[/, "", at)
            sub(/\].*/, "", at)
            split(at, part, "+")
            seen[does, part[1], part[2] + 0] = 1
            if (/\.v2\./)
                seen[does, part[1], part[2] + 4] = 1
            for (first = part[2] - 12; first <= part[2] + 0; first += 4)
                if ((does, part[1], first) in seen && (does, part[1], first + 4) in seen &&
                    (does, part[1], first + 8) in seen && (does, part[1], first + 12) in seen)
                    print kernel, does, "[" part[1] "]"
        }' | sort -u
}

grep -q '^HAVE_CUDA *:= *1' "$build/cuda.mk" || skip 'built without CUDA'
ptx=$(mktemp) || exit 1
trap 'rm -f "$ptx"' EXIT
strings -a build/cuda/libgtmark_cuda.so | grep -E '\.entry |(ld|st)\.global' >"$ptx"

check 'four stores and loads in place of one are found' "$(printf '%s\n' '.visible .entry _Z1kILi4EE(' \
    '	st.global.f32 	[%rd7], %f1;' '	st.global.v2.f32 	[%rd7+4], {%f2, %f3};' '	st.global.u32 	[%rd7+12], %r4;' \
    '	st.global.f32 	[%rd8], %f1;' '	st.global.f32 	[%rd8+4], %f2;' '	st.global.f32 	[%rd8+8], %f3;' \
    '	ld.global.f32 	%f5, [%rd7+16];' '	ld.global.v4.f32 	{%f1, %f2, %f3, %f4}, [%rd7];' |
    divided)" '_Z1kILi4EE st [%rd7]'
check 'there are kernels of width 4' "$([ "$(grep -c '\.entry .*ILi4E' "$ptx")" -gt 50 ] && echo yes)" yes
check 'kernels of width 4 access four neighbouring floats at once' "$(divided <"$ptx" | c++filt)" ''
tap_end
