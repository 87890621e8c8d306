#!/bin/sh
# The tests on another processor, cross-compiled, with their smallest shapes: tests/foreign.sh aarch64|riscv64
#
# Programs run under qemu's emulation of user programs. They need ARCH-linux-gnu-g++, qemu-ARCH-static and the libraries
# of tests/sysroot.sh. Last come 200 random configurations there and here (tests/foreign_rows.sh). Tests in shell are of
# scripts, builds and this machine, and stay out, as do ranks and GPUs, which the build leaves out.
set -u
cd "$(dirname "$0")/.." || exit 1
arch=$1 root=$PWD/build/sysroot/$1 build=build/$1-linux-gnu-gcc
for program in "$arch-linux-gnu-g++" "qemu-$arch-static"; do
    command -v "$program" >/dev/null || { echo "gtmark: no $program (make setup test)" >&2 && exit 2; }
done
tests/sysroot.sh "$arch" || exit

# Beside other builds, with variables of its own; CC with the cross compiler in the place of gcc.
unset MAKEFLAGS MAKELEVEL MFLAGS
case ${CC:=gcc} in *gcc) ;; *) CC=gcc ;; esac
make CC="$CC" CUDA=0 build/bench_node_scaling build/compare || exit
PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/$arch-linux-gnu/pkgconfig \
    make CC="${CC%gcc}$arch-linux-gnu-gcc" EMULATOR="$(command -v "qemu-$arch-static") -L $root" CFLAGS="--sysroot=$root" \
    LDFLAGS="--sysroot=$root" CUDA=0 MPI=0 METIS=0 tests || exit

# unable NAME: why the test cannot pass under qemu; nothing if it can
unable()
{
    case $1 in
    test_cuda_* | test_bias | test_saturated | test_devices) echo 'no GPU, nor one that is the host' ;;
    test_screen | test_ranges | test_verdict | test_analysis_robust)
        echo 'simulated times, in which the processor has no part' ;;
    test_address_space | test_lappe_limits | test_limits | test_control_group)
        echo 'limits of memory are those of qemu, which needs more than the program' ;;
    test_executed | test_executed_entries | test_opcodes) echo "valgrind and counters see qemu's instructions" ;;
    test_faults | test_interposed) echo 'preloaded libraries are loaded into the emulator' ;;
    test_against | test_against_rates) echo 'qemu 7.2 does not start /proc/self/exe' ;;
    test_plot | test_report) echo "qemu does not say that gnuplot, which they hide, cannot be started" ;;
    test_kills | test_resume) echo 'hundreds of starts, each of which takes the emulator seconds' ;;
    esac
}

set -- GTMARK_BUILD="$build" GTMARK_FOREIGN="$arch" GTMARK_SMALL=least
for source in tests/test_*.c; do
    name=$(basename "$source" .c) why=$(unable "$(basename "$source" .c)")
    [ "$why" ] && set -- "$@" --skipped "$name: $why" || set -- "$@" "$build/tests/$name"
done
tests/run.sh "$@" tests/foreign_rows.sh
