#!/bin/sh
# Does it compile elsewhere? Without all packages that it can do without (tests/absent.sh: without each); with a C library
# whose string functions are macros (C23; glibc 2.43); for musl; and for aarch64.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
build=${GTMARK_BUILD:-build}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
here=$PWD
packages=$(sed -n 's/^\(PACKAGES\|SQLITE\|MPI_FLAGS\) *:=//p' "$build/config.mk" | tr ' ' '\n' | grep '^-I')

# compile COMPILER FLAGS: the sources on stdin, quickly, with the Makefile's warnings; prints what is wrong
compile()
{
    # shellcheck disable=SC2086 # words
    (cd "$work" && sed "s|^|$here/|" | xargs -r $1 -c -std=c11 -O0 -Wall -Wextra -Werror -fopenmp -D_GNU_SOURCE \
        "-I$here" "-I$here/$build/obj" $packages -DREF_F32 -DISA=base -DISA_X86=0 -DBLAS_LIBRARIES= '-DMPI_ID=""' \
        '-DCUDA_ID=""' $2 2>&1 | grep -E 'error|not found' | sort -u)
}

could='HAVE_CBLAS HAVE_LAPACK HAVE_ARPACK HAVE_SQLITE HAVE_METIS HAVE_MPI HAVE_CUDA'
# shellcheck disable=SC2086 # words
without=$(printf -- '-D%s=0 ' $could)

check 'without packages' "$(grep -lwE "$(echo "$could" | tr ' ' '|')" kernels/*.c kernels/cpu/*.c kernels/oracle/*.c graphs/*.c \
    models/*/*.c bench/*.c bench/*/*.c | compile "${CC:-gcc}" "$without")" ''

cat >"$work/c23.h" <<'END'
#include <stdlib.h>
#include <string.h>
#define LIKE(at, type, call) _Generic(0 ? (at) : (void *)1, const void *: (type)(call), default: call)
#define memchr(s, c, n) LIKE(s, const void *, memchr(s, c, n))
#define strchr(s, c) LIKE(s, const char *, strchr(s, c))
#define strpbrk(s, a) LIKE(s, const char *, strpbrk(s, a))
#define strrchr(s, c) LIKE(s, const char *, strrchr(s, c))
#define strstr(s, a) LIKE(s, const char *, strstr(s, a))
#define bsearch(k, b, n, w, c) LIKE(b, const void *, bsearch(k, b, n, w, c))
END
# with_strings: the sources that use them
with_strings()
{
    grep -lE '\<(memchr|strr?chr|strpbrk|strstr|bsearch)\(' kernels/*.c kernels/*/*.c graphs/*.c models/*/*.c \
        analysis/*/*.c bench/*.c bench/*/*.c tests/*.c | grep -v '^kernels/\(mpi\|cuda\)/'
}

# What asks the C library and the system for more than C and POSIX have.
if echo '#include <malloc.h>' | musl-gcc -fsyntax-only -x c - 2>/dev/null; then
    check 'for musl' "$(printf '%s\n' kernels/*.c graphs/order.c bench/*.c bench/base/*.c bench/flops/counters.c bench/machine/*.c \
        bench/sweep/harness.c bench/time/*.c | grep -v '^bench/base/build.c' | compile musl-gcc "-fsyntax-only -UISA_X86 -DISA_X86=1 \
        $without -idirafter /usr/include -idirafter /usr/include/$(${CC:-gcc} -dumpmachine)")" ''
else
    echo "ok $((checked += 1)) # SKIP for musl: no musl-gcc (make setup tests)"
fi

# allowed COMPILER FLAGS: the instructions that it may then use, beside plain x86-64's. A processor with AVX512F has
# EVEX512; clang leaves out the underscore after AMX.
allowed()
{
    # shellcheck disable=SC2086 # flags
    { echo | $1 -march=x86-64 -dM -E -; echo | $1 $2 -dM -E -; } | sort | uniq -u |
        sed -n 's/^#define __\([A-Z0-9_]*[A-Z0-9]\)__ 1$/\1/p' | grep -v '^EVEX512$' |
        sed 's/^AMX\([A-Z]\)/AMX_\1/'
}
case $(${CC:-gcc} -dumpmachine) in
x86_64*)
    check 'all that -march adds to x86-64 is looked for in the processor' "$({ echo '#include "kernels/cpu/instructions.h"' &&
        echo '#define N(name, ...) name' && echo 'INSTRUCTIONS(N)'; } | ${CC:-gcc} -I. -E -P - | tail -n 1 |
        tr ' ' '\n' | sort -u)" "$(allowed "${CC:-gcc}" '-march=x86-64-v4 -mamx-tile -mamx-bf16' | sort)" ;;
esac

arm=aarch64-linux-gnu-gcc
macros="-fsyntax-only -include $work/c23.h $without"
if echo '#include <omp.h>' | $arm -fopenmp -fsyntax-only -x c - 2>/dev/null; then
    # Headers of other libraries are for any processor; those of the C library are the cross compiler's own.
    also="-idirafter /usr/include -idirafter /usr/include/$(${CC:-gcc} -dumpmachine)"
    check 'for aarch64, and where string functions are macros' \
        "$({ with_strings && printf '%s\n' kernels/*.c graphs/*.c models/*/*.c \
            analysis/*/*.c bench/*/*.c; } | grep -v '^bench/base/build.c' | sort -u | compile $arm "$macros $also")" ''
else
    check 'where string functions are macros' "$(with_strings | compile "${CC:-gcc}" "$macros")" ''
    echo "ok $((checked += 1)) # SKIP for aarch64: no $arm"
fi
tap_end
