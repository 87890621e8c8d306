#!/bin/sh
# The machine code of the GPU's kernels for every generation, in a copy of the tree: tests/test_machine_code.sh, which
# `make test` runs for the oldest.
set -u
cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 cp -p --parents -t "$work"
cd "$work" || exit 1
make CUDA_ARCH='sm_80 sm_90 sm_100' MPI=0 build/cuda/libgtmark_cuda.so >log 2>&1 || { tail -n 20 log && exit 1; }
GTMARK_BUILD=build tests/test_machine_code.sh
