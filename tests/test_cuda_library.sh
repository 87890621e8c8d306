#!/bin/sh
# Programs run the kernels of their own build only: they look for the CUDA library where it was built and nowhere
# beside themselves, and refuse one that was made from other sources. No GPU is needed: tapes are listed.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

build=${GTMARK_BUILD:-build}
if ! grep -q '^HAVE_CUDA *:= *1' "$build/cuda.mk"; then
    echo 'ok 1 # SKIP the library of GPU kernels: built without CUDA'
    checked=1
    tap_end
    exit
fi
house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT
mkdir "$house/bin" "$house/cuda" "$house/bin/cuda"

# fake FILE [ID]: a library of that name, which says that it is ID
fake()
{
    echo "${2:+const char gtmark_cuda_id[] = \"$2\"; }int gtmark_cuda;" |
        "${CC:-gcc}" -shared -fPIC -x c - -Wl,-soname,libgtmark_cuda.so -o "$1"
}

# entries PROGRAM: the lines of a listing of kernels of the GPU, or the message why there is none
entries()
{
    "$1" --device cuda --list tape --phase forward --nodes 8 --layers 1 2>&1 | sed -n '/cublaslt/{s/.*/listed/p;q;}; /CUDA/p'
}

check 'the library is looked for in one place' \
    "$(readelf -d "$build/bench_node_scaling" | sed -n 's/.*R[UN]*PATH.*\[\([^:]*\).*\]/\1/p')" "$PWD/build/cuda"
check 'a program finds the library of its build' "$(entries "$build/bench_node_scaling")" listed

cp "$build/bench_node_scaling" "$house/bin/new"
fake "$house/cuda/libgtmark_cuda.so" planted
cp "$house/cuda/libgtmark_cuda.so" "$house/bin/cuda"
check 'a library beside a copied program is not opened' "$(cd "$house/bin" && entries ./new)" listed

# A library that is already loaded is found before any other.
fake "$house/other.so" 1-2
fake "$house/unnamed.so"
LD_PRELOAD=$house/other.so
export LD_PRELOAD
other=$(entries "$build/bench_node_scaling" | cut -d, -f1)
LD_PRELOAD=$house/unnamed.so
unnamed=$(entries "$build/bench_node_scaling" | cut -d, -f1)
unset LD_PRELOAD
check 'a library of another build is refused' "$other" \
    'bench_node_scaling: --device cuda: the CUDA library is of another build (1-2'
check 'so is one that does not say what it is' "$unnamed" \
    'bench_node_scaling: --device cuda: the CUDA library is of another build (unnamed'
tap_end
