#!/bin/sh
# Which of the tools and libraries that the build, the tests and the charts use are installed.
#
#   tests/machine.sh probe FILE   report what is installed, what is missing and what that means; write FILE, and
#                                 cuda.mk beside it, for make; with QUIET=1 report only what `setup` would install
#   tests/machine.sh setup        install what is missing of what gtmark itself uses with apt-get; where that takes another
#                                 system or rights that we do not have, print the command, and fail only if something
#                                 required is missing
#   tests/machine.sh setup tests  the same with what only tests use, and ranks
#
# A library counts as installed if a program that calls it compiles and links; that a file exists is not enough. CBLAS,
# LAPACK and ARPACK, which programs open only when they need them (kernels/blas.c), must be shared libraries. From
# the environment: CC, FLAGS (for compiling and linking), BLAS, MPI (the compiler of MPI), METIS (0: none), CUDA,
# CUDA_ARCH, what tests/machine_cuda.sh reads, and REQUEST and CUDA_REQUEST, which the files repeat, so that make
# notices if they were written for other settings.
set -u
: "${CC:=gcc}" "${FLAGS:=-fopenmp}" "${BLAS:=openblas}" "${CUDA:=1}" "${MPI:=mpicc}" "${METIS:=1}"
: "${EMULATOR:=}" "${CUDA_ARCH:=}" "${REQUEST:=}" "${CUDA_REQUEST:=}"
. "${0%/*}/machine_cuda.sh"

# key|name|required, optional or for tests|packages of Debian|of Fedora|of Arch|the consequence if it is missing
needs()
{
    cat <<'END'
cc|gcc 12 or clang|required|gcc libc6-dev|gcc|gcc|nothing can be built
cxx|C++ compiler|required|g++|gcc-c++|gcc|FLOPs cannot be counted
openmp|OpenMP|required|libgomp1|libgomp|gcc|no threads
cjson|cJSON|required|libcjson-dev|cjson-devel|cjson|no result files
zlib|zlib|required|zlib1g-dev|zlib-devel|zlib|no graphs from files
sqlite|SQLite|optional|libsqlite3-dev|sqlite-devel|sqlite|no store of result files (query)
pkgconfig|pkg-config|optional|pkg-config|pkgconf-pkg-config|pkgconf|libraries are searched only in the usual places
cblas|CBLAS|optional|libopenblas-dev|openblas-devel|openblas|matrix products by gtmark's own loops, many times slower
lapack|LAPACK|optional|liblapack-dev|lapack-devel|lapack|no Laplacian encodings
arpack|ARPACK|optional|libarpack2-dev|arpack-devel|arpack|no second eigensolver for comparison
simd|SIMD|optional||||portable code only: this compiler has no -march=x86-64-v3 and -v4
mpi|MPI|tests|libopenmpi-dev openmpi-bin|openmpi-devel|openmpi|no ranks: programs of one process only
metis|METIS|tests|libmetis-dev|metis-devel|metis|nodes are divided among ranks by their numbers only (--partition)
cuda|CUDA toolkit|optional||||no CUDA
cmocka|cmocka|tests|libcmocka-dev|libcmocka-devel|cmocka|no `make test`
gnuplot|gnuplot|optional|gnuplot-nox|gnuplot|gnuplot|tables and result files, but no charts
clang|clang|tests|clang libclang-rt-dev libomp-dev|clang compiler-rt libomp-devel|clang openmp|tests without sanitizers
archer|archer|tests|clang libclang-rt-dev libomp-dev|clang compiler-rt libomp-devel|clang openmp|no search for data races in the kernels
fuzzer|libFuzzer|tests|libclang-rt-dev|compiler-rt|compiler-rt|no fuzzing of command lines and of result files
clangformat|clang-format|tests|clang-format|clang-tools-extra|clang|no `make style`
aarch64|g++, qemu, mca|tests|g++-aarch64-linux-gnu qemu-user-static llvm||aarch64-linux-gnu-gcc qemu-user-static llvm|nothing is compiled for aarch64, or run there
musl|gcc for musl|tests|musl-tools|musl-gcc|musl|nothing is compiled for musl
jsonschema|jsonschema|tests|python3-jsonschema|python3-jsonschema|python-jsonschema|result files are not validated by a second program
valgrind|valgrind|optional|valgrind|valgrind|valgrind|executed instructions cannot be counted with valgrind
END
}

# try PROGRAM LANGUAGE FLAG...: whether it compiles and links
try()
{
    program=$1 language=$2
    shift 2
    printf '#include <stdio.h>\n%b' "$program" >"$work/program.$language" &&
        $CC $FLAGS "$work/program.$language" "$@" -o "$work/program"
} 2>/dev/null

# link PROGRAM FLAGS...: sets `found` to the first of these sets of flags with which it links
link()
{
    caller=$1
    shift
    for found; do
        [ -n "$found" ] && try "$caller" c $found && return
    done
    return 1
}

# needed: the shared libraries that the program just linked needs
needed()
{
    readelf -d "$work/program" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p'
}

# opens SYMBOL: whether SYMBOL is found in the shared libraries that the program just linked needs, and an empty one does
# not, when a program opens them; adds them to `blas_libraries`
opens()
{
    libraries=$(needed)
    try 'int main(void) { return 0; }' c && libraries=$(echo "$libraries" | grep -vxF "$(needed)")
    try '#include <dlfcn.h>\nint main(int n, char **v) {
for (int i = 2; i < n; i++) if (!dlopen(v[i], RTLD_LAZY | RTLD_GLOBAL)) return 1;
return !dlsym(RTLD_DEFAULT, v[1]); }' c -D_GNU_SOURCE -ldl &&
        OPENBLAS_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0 $EMULATOR "$work/program" "$1" $libraries 2>/dev/null &&
        blas_libraries="$blas_libraries $libraries"
}

pkg()
{
    pkg-config --cflags --libs "$1" 2>/dev/null
}

# refuse MESSAGE: what was asked for cannot be had; make stops with the first of these
refuse()
{
    : "${problem:=$1}"
    return 1
}

# find_KEY: whether it is installed. Sets `found`, and the variables for config.mk.

find_cc()
{
    try 'typedef int four __attribute__((vector_size(16)));
int main(void) { four v = {0}; return __builtin_shufflevector(v, v, 3, 2, 1, 0)[0]; }' c && found=$($CC --version | head -n 1)
}

find_cxx()
{
    # clang before 17 needs one more option: its function sanitizer needs the C++ library.
    for cxx in '' ' -fno-sanitize=function'; do
        cxx="-std=c++17 -fno-exceptions -fno-rtti$cxx"
        try 'struct real {};\nint main() { return sizeof(real) != 1; }' c++ $cxx && found="$CC $cxx" && return
    done
    return 1
}

find_openmp()
{
    link '#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }' -fopenmp
}

find_cjson()
{
    link '#include <cjson/cJSON.h>\nint main(void) { cJSON_Delete(cJSON_CreateRaw("1")); return 0; }' \
        "$(pkg libcjson)" -lcjson && packages="$packages $found"
}

find_zlib()
{
    link '#include <zlib.h>\nint main(void) { return !zlibVersion(); }' "$(pkg zlib)" -lz &&
        packages="$packages $found"
}

find_sqlite()
{
    link '#include <sqlite3.h>\n#if SQLITE_VERSION_NUMBER < 3031000\n#error\n#endif
int main(void) { return !sqlite3_libversion(); }' "$(pkg sqlite3)" -lsqlite3 && sqlite=$found
}

find_pkgconfig()
{
    found=$(pkg-config --version 2>/dev/null)
}

find_cblas()
{
    case $BLAS in
    none) found="left out: $lack" && return ;;
    openblas) set -- "$(pkg openblas)" -lopenblas ;;
    *) set -- "$BLAS" ;;
    esac
    link 'void cblas_sgemm(void);\nint main(int n, char **v) { if (n > 9) cblas_sgemm(); return !v; }' "$@" &&
        opens cblas_sgemm && cblas=$found have_cblas=1
}

# OpenBLAS contains LAPACK; with another CBLAS it is a separate library.
find_lapack()
{
    [ "$BLAS" = none ] && found="left out: $lack" && return
    caller='void dsyevr_(void);\nint main(int n, char **v) { if (n > 9) dsyevr_(); return !v; }'
    if try "$caller" c $cblas; then
        have_lapack=1 found='in the CBLAS'
    else
        link "$caller" "$(pkg lapack)" -llapack && opens dsyevr_ && have_lapack=1
    fi
}

find_arpack()
{
    [ "$BLAS" = none ] && found="left out: $lack" && return
    link 'void dsaupd_(void), dseupd_(void);\nint main(int n, char **v) { if (n > 9) dsaupd_(), dseupd_(); return !v; }' \
        "$(pkg arpack)" -larpack && opens dsaupd_ && have_arpack=1
}

find_simd()
{
    found='portable code'
    case $($CC -dumpmachine 2>/dev/null) in x86_64*) ;; *) return ;; esac
    try 'int main(void) { return 0; }' c -march=x86-64-v3 -march=x86-64-v4 -mprefer-vector-width=512 &&
        isas='base avx2 avx512' isa_x86=1 found='baseline, AVX2 and AVX-512, chosen at run time'
    [ $isa_x86 = 1 ] && try '#include <immintrin.h>\nint main(void) { _tile_release(); return 0; }' c -march=x86-64-v4 -mamx-tile -mamx-bf16 &&
        isas="$isas amx" found='baseline, AVX2, AVX-512 and AMX, chosen at run time'
}

# The flags of MPI are what its compiler says that it adds; its launcher has the same ending: mpicc.mpich, mpirun.mpich.
find_mpi()
{
    [ "$MPI" = 0 ] && found="left out: $lack" && return
    mpirun=mpirun${MPI##*mpicc}
    link '#include <mpi.h>\nint main(int n, char **v) { return MPI_Init(&n, &v); }' "$($MPI -show 2>/dev/null | cut -d ' ' -f 2-)" &&
        command -v "$mpirun" >/dev/null && mpi_flags=$found found="$mpirun $($mpirun --version | sed -n 's/.*(Open MPI)/(Open MPI)/p; s/^ *Version: */(MPICH) /p')"
}

find_metis()
{
    [ "$METIS" = 0 ] && found="left out: $lack" && return
    link '#include <metis.h>\nint main(void) { idx_t o[METIS_NOPTIONS]; return METIS_SetDefaultOptions(o) != METIS_OK; }' \
        "$(pkg metis)" -lmetis && packages="$packages $found" have_metis=1
}

find_cmocka()
{
    link '#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <cmocka.h>
int main(void) { cmocka_set_message_output(CM_OUTPUT_TAP); return 0; }' "$(pkg cmocka)" -lcmocka && cmocka=$found
}

find_gnuplot()
{
    found=$(gnuplot --version 2>/dev/null)
}

find_clang()
{
    (CC=clang FLAGS='-fopenmp -fsanitize=address,undefined' find_openmp) &&
        found=$(clang --version | head -n 1) clang=clang
}

# What ThreadSanitizer must be told of OpenMP, as a library in the program.
find_archer()
{
    races='-Wl,--whole-archive -larcher_static -Wl,--no-whole-archive -rdynamic -lstdc++'
    (CC=clang FLAGS='-fopenmp -fsanitize=thread' && try 'int main(void) {
#pragma omp parallel\n
;\n
return 0; }' c $races) && archer=$races found='of clang'
}

find_fuzzer()
{
    (CC=clang FLAGS='-fopenmp -fsanitize=address,undefined' &&
        try 'int LLVMFuzzerTestOneInput(const char *d, size_t n) { return !d && n; }' c -fsanitize=fuzzer) &&
        fuzzer=1 found='of clang'
}

find_clangformat()
{
    found=$(clang-format --version 2>/dev/null)
}

find_aarch64()
{
    (CC=aarch64-linux-gnu-gcc FLAGS=-fopenmp find_openmp) && aarch64-linux-gnu-g++ --version >/dev/null 2>&1 &&
        qemu-aarch64-static --version >/dev/null 2>&1 && llvm-mca --version >/dev/null 2>&1 &&
        found=$(aarch64-linux-gnu-gcc --version | head -n 1)
}

find_musl()
{
    (CC=musl-gcc FLAGS= && try 'int main(void) { return 0; }' c) && found=musl-gcc
}

find_jsonschema()
{
    found=$(python3 -c 'import jsonschema, importlib.metadata; print(importlib.metadata.version("jsonschema"))' 2>/dev/null)
}

find_valgrind()
{
    found=$(valgrind --version 2>/dev/null)
}

probe()
{
    packages='' sqlite='' cmocka='' clang='' archer='' fuzzer='' cxx='' isas=base isa_x86=0 have_cblas=0 have_lapack=0 have_arpack=0 have_cuda=0 mpi_flags='' mpirun='' have_metis=0 nvcc='' nvcc_release='' archs='' cuda_host='' cuda_lib='' cuda_include='' missing='' problem=''
    [ "${QUIET:-}" ] || echo "What this machine has for $CC:"
    while IFS='|' read -r key name level debian fedora arch lack; do
        told=${QUIET:-}
        if ! find_"$key"; then
            found="NOT FOUND: $lack"
            [ "$level" != required ] || missing="$missing $name,"
            [ "$level" = tests ] || [ ! "$debian" ] || told=
        fi
        [ "$told" ] || printf '  %-15s %s\n' "$name" "$found"
    done <"$work/needs"
    [ -z "$missing" ] || problem="missing:${missing%,}. \`make setup\` installs what gtmark needs"
    case $BLAS:$have_cblas in
    openblas:* | none:* | *:1) ;;
    *) refuse "BLAS=$BLAS: links no shared library with CBLAS. Allowed: openblas, none, or link flags" ;;
    esac
    if [ -n "$problem" ]; then
        # Only for the make that restarts after this probe; a later make probes again.
        echo "\$(if \$(MAKE_RESTARTS),\$(error $problem))" >"$1"
        return
    fi
    cat >"$work/config.mk" <<END
CONFIGURED  := $REQUEST
PACKAGES    :=$packages
SQLITE      := $sqlite
CXX_FLAGS   := $cxx
ISAS        := $isas
ISA_X86     := $isa_x86
HAVE_CBLAS  := $have_cblas
HAVE_LAPACK := $have_lapack
HAVE_ARPACK := $have_arpack
BLAS_LIBRARIES := $blas_libraries
MPI_FLAGS   := $mpi_flags
MPIRUN      := $mpirun
HAVE_METIS  := $have_metis
CMOCKA      := $cmocka
CLANG       := $clang
ARCHER      := $archer
FUZZER      := $fuzzer
END
    cat >"$work/cuda.mk" <<END
CUDA_CONFIGURED := $CUDA_REQUEST
HAVE_CUDA    := $have_cuda
CUDA_NVCC    := $nvcc
NVCC_RELEASE := $nvcc_release
CUDA_ARCHS   := $archs
CUDA_HOST    := $cuda_host
CUDA_LIB     := $cuda_lib
CUDA_INCLUDE := $cuda_include
END
    for file in config cuda; do
        cmp -s "$work/$file.mk" "${1%/*}/$file.mk" || cp "$work/$file.mk" "${1%/*}/$file.mk"
    done
}

installed()
{
    dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

# Sets `missing` to the packages of $system that would bring what is wanted and not found, and `required` to the names of what is
# indispensable; the file `lost` gets a line for each of the others.
survey()
{
    missing='' required='' packages=''
    : >"$work/lost"
    while IFS='|' read -r key name level debian fedora arch lack; do
        { [ -z "$debian" ] || [ "$level" = tests ] && [ ! "$with_tests" ] || find_"$key"; } && continue
        case $system in
        fedora) missing="$missing $fedora" ;;
        arch) missing="$missing $arch" ;;
        *) missing="$missing $debian" ;;
        esac
        case $level in
        required) required="$required, $name" ;;
        *) echo "  $name: $lack" >>"$work/lost" ;;
        esac
    done <"$work/needs"
    missing=$(echo $(printf '%s\n' $missing | awk 'NF && !seen[$0]++'))
}

# Sets `sudo` to what lets a command run as root. False if there is no way, or one that needs a password and nobody
# can be asked.
become_root()
{
    sudo=
    [ "$(id -u)" = 0 ] && return
    sudo=sudo
    command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }
}

apt_install()
{
    apt='env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=5 -o DPkg::Lock::Timeout=300'
    $sudo $apt update >&2 || echo 'apt-get update failed: using the package lists that are present.' >&2
    install=
    for package in $missing; do
        installed "$package" && continue
        if apt-cache show "$package" >/dev/null 2>&1; then
            install="$install $package"
        else
            echo "This system has no package $package: continuing without it." >&2
        fi
    done
    [ -z "$install" ] || $sudo $apt install --no-install-recommends $install >&2 ||
        echo "apt-get could not install$install." >&2
}

setup()
{
    if command -v apt-get >/dev/null; then
        system=debian how='apt-get install'
    elif command -v dnf >/dev/null; then
        system=fedora how='dnf install'
    elif command -v pacman >/dev/null; then
        system=arch how='pacman -S'
    else
        system=other how='install what Debian calls'
    fi
    survey
    [ "$missing" ] || echo 'Nothing is missing.'
    if [ "$missing" ] && [ $system = debian ] && become_root; then
        apt_install
        survey
    fi
    [ -z "$required" ] || fail "required, but not installed:${required#,}. As root: $how $missing"
    if [ -s "$work/lost" ]; then
        echo "Not installed (as root: $how $missing):"
        cat "$work/lost"
    fi
    say_gpu_without_toolkit
}

fail()
{
    echo "gtmark: $*" >&2
    exit 2
}

cblas='' blas_libraries=''
work=$(mktemp -d 2>/dev/null) || fail "TMPDIR=${TMPDIR:-/tmp}: no directory that can be written"
trap 'rm -rf "$work"' EXIT
needs >"$work/needs"
case ${1:-} in
probe) probe "$2" ;;
setup) with_tests=${2:-} && setup ;;
*) fail "machine.sh: '${1:-}' is neither probe nor setup" ;;
esac
