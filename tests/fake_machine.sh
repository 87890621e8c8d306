# Shared by the tests of what a build finds: scripts, in a folder before all others in PATH, that stand in for compilers
# and tools. Sets `house`, a folder that goes with the test, and `compile`, a compiler that makes an empty program of
# everything.
unset MAKEFLAGS MAKELEVEL MFLAGS CC BLAS MPI METIS CUDA NVCC CUDACXX CUDA_HOME CUDA_PATH NVCC_CCBIN CUDA_ARCH

house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT
mkdir "$house/bin"

# fake NAME COMMANDS: a program
fake()
{
    mkdir -p "$(dirname "$house/bin/$1")"
    printf '#!/bin/sh\n%s\n' "$2" >"$house/bin/$1"
    chmod +x "$house/bin/$1"
}

compile='while [ $# -gt 1 ]; do [ "$1" = -o ] && echo "#!/bin/sh" >"$2" && chmod +x "$2"; shift; done; exit 0'
fake gcc "$compile"
fake clang "$compile"
fake aarch64-linux-gnu-gcc "$compile"
fake musl-gcc "$compile"
fake mpicc 'echo gcc -lmpi'
for name in aarch64-linux-gnu-g++ qemu-aarch64-static llvm-mca readelf clang-format pkg-config python3 valgrind gnuplot mpirun; do
    fake $name 'exit 0'
done
