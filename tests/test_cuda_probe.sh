#!/bin/sh
# Which CUDA toolkit the build takes, for which GPUs, and why it takes none; and that a toolkit which cannot compile the
# kernels costs nobody the programs for the CPU. Scripts replace nvcc, nvidia-smi and the compilers.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
. tests/fake_machine.sh

# A toolkit of RELEASE, for the GPUs in KNOWN, with HEADERS and cuBLAS in LIBS; programs that match REFUSED get SAID.
fake toolkit/bin/nvcc 'case "$*" in
*--version*) echo "Cuda compilation tools, release ${RELEASE:-13.0}, V1" && exit ;;
*--list-gpu-code*) printf "%s\n" ${KNOWN:-sm_75 sm_80 sm_90 sm_90a sm_100 sm_120} && exit ;;
*--dryrun*) echo "#\$ INCLUDES=\"-I${HEADERS:-/usr/include}\"  " >&2 && exit ;;
esac
for source; do case $source in *.cu) break ;; esac; done
if [ "${REFUSED:-}" ] && grep -q "$REFUSED" "$source" 2>/dev/null; then echo "$SAID" >&2 && exit 1; fi
printf "%s\n" ${LIBS:-}
'"$compile"
toolkit=$house/bin/toolkit
# gpus CAPABILITY...: the GPUs of the machine
gpus()
{
    fake nvidia-smi "echo \"\$*\" >>'$house/asked'; printf '%s\n' $*"
}
fake nvidia-smi 'exit 9'

# line: what the probe says of CUDA; cuda.mk is then $house/cuda.mk
line()
{
    rm -f "$house"/*.mk
    PATH=$house/bin:$PATH tests/machine.sh probe "$house/config.mk" | sed -n 's/^  CUDA toolkit  *//p'
}
of()
{
    sed -n "s/^$1 *:= *//p" "$house/cuda.mk"
}
# The usual case of a test: this toolkit, chosen by CUDA_HOME.
CUDA_HOME=$toolkit
export CUDA_HOME
here="$toolkit/bin/nvcc"

check 'the architectures of no GPU in particular' "$(line)" "release 13.0 of $here, for sm_80"
old='sm_50 sm_70 sm_80 sm_90 sm_90a'
check 'of which this nvcc knows' "$(KNOWN='sm_90 sm_100' line)" "release 13.0 of $here, for sm_90"
gpus 12.0
check 'a GPU newer than nvcc runs the newest PTX' "$(RELEASE=12.4 KNOWN=$old line)" \
    "release 12.4 of $here, for sm_90; this machine's sm_120 runs PTX (toolkit 12.8 compiles for it)"
gpus 8.0 12.0
check 'and that of an older GPU beside it' "$(RELEASE=12.4 KNOWN=$old line)" \
    "release 12.4 of $here, for sm_80; this machine's sm_120 runs PTX (toolkit 12.8 compiles for it)"
gpus 7.0
check 'a GPU older than nvcc' "$(line)" \
    'NOT FOUND: no CUDA: CUDA 13 has no sm_70 of this machine (toolkit 12 has)'
gpus 7.0 9.0
check 'does not take the other with it' "$(line)" \
    "release 13.0 of $here, for sm_90; CUDA 13 has no sm_70 of this machine (toolkit 12 has)"
rm "$house/asked"
check 'CUDA_ARCH is taken as it is' "$(CUDA_ARCH=sm_120,sm_80 line)" "release 13.0 of $here, for sm_80 sm_120"
check 'without asking for GPUs' "$(cat "$house/asked" 2>/dev/null)" ''
check 'CUDA_ARCH that nvcc does not know' "$(CUDA_ARCH=sm_70 line)" 'NOT FOUND: no CUDA'
check 'is one line of make' "$(cat "$house/config.mk")" \
    '$(if $(MAKE_RESTARTS),$(error CUDA_ARCH=sm_70: nvcc 13.0 knows sm_75 sm_80 sm_90 sm_100 sm_120))'
fake timeout '[ "$1" = 10 ] && exit 124'
check 'nvidia-smi that hangs is given up' "$(line)" "release 13.0 of $here, for sm_80"
rm "$house/bin/timeout"
fake nvidia-smi 'echo "NVIDIA-SMI has failed" && exit 9'
check 'so is one that prints an error' "$(line)" "release 13.0 of $here, for sm_80"

check 'a toolkit that is too old' "$(RELEASE=11.8 line)" \
    "NOT FOUND: no CUDA: $here is release 11.8; gtmark needs 12.0"
check 'what kernels include is tried' "$(REFUSED=nvtx3 SAID='fatal error: nvtx3/nvToolsExt.h: No such file' line)" \
    'NOT FOUND: no CUDA: fatal error: nvtx3/nvToolsExt.h: No such file'
check 'a part of the toolkit that is missing is named' "$(REFUSED=kernel SAID='sh: 1: ptxas: not found' line)" \
    'NOT FOUND: no CUDA: sh: 1: ptxas: not found'
check 'and so is what no pattern knows' "$(REFUSED=kernel SAID='Killed' line)" 'NOT FOUND: no CUDA: Killed'
SAID='host_config.h:143:2: error: #error -- unsupported GNU version! gcc versions later than 13 are not supported!'
export SAID
check 'gcc that is too new gets the remedy' "$(RELEASE=12.4 REFUSED=kernel line)" \
    'NOT FOUND: no CUDA: nvcc 12.4 takes gcc to 13: make NVCC_CCBIN=g++-13'

line >/dev/null
check "the host compiler is nvcc's choice" "$(of CUDA_NVCC)" "$here"
fake gcc-12 "$compile"
CC=gcc-12 line >/dev/null
check "or CC's C++ compiler" "$(of CUDA_NVCC)" "$here -ccbin g++-12"
CC=gcc-12 NVCC_CCBIN=g++-11 line >/dev/null
check 'or NVCC_CCBIN' "$(of CUDA_NVCC)" "$here -ccbin g++-11"
line >/dev/null
check "the system's headers are not named again" "$(of CUDA_INCLUDE)" ''
mkdir -p "$house/conda/include" "$house/conda/lib/stubs"
: >"$house/conda/lib/libcublas.so"
: >"$house/conda/lib/stubs/libcublas.so"
HEADERS=$house/conda/include LIBS=$house/conda/lib/libcublas.so line >/dev/null
check 'other headers are' "$(of CUDA_INCLUDE)" "-isystem $house/conda/include"
check 'libraries are where the linker found them' "$(of CUDA_LIB)" "$house/conda/lib"
LIBS=$house/conda/lib/stubs/libcublas.so line >/dev/null
check 'or beside their stubs' "$(of CUDA_LIB)" "$house/conda/lib"

for name in a b c; do
    ln -s "$toolkit" "$house/$name"
done
ln -s "$here" "$house/bin/nvcc"
unset CUDA_HOME
chosen()
{
    line | sed 's/release 13.0 of \(.*\), for .*/\1/'
}
check 'nvcc in PATH' "$(chosen)" "$house/bin/nvcc"
check 'gives way to CUDA_PATH' "$(CUDA_PATH=$house/a chosen)" "$house/a/bin/nvcc"
check 'to CUDA_HOME' "$(CUDA_PATH=$house/a CUDA_HOME=$house/b chosen)" "$house/b/bin/nvcc"
check 'to CUDACXX' "$(CUDA_HOME=$house/b CUDACXX=$house/c/bin/nvcc chosen)" "$house/c/bin/nvcc"
check 'and to NVCC' "$(CUDACXX=$house/c/bin/nvcc NVCC=$here chosen)" "$here"
check 'NVCC that is not there takes CUDA alone' "$(NVCC=/nonexistent/nvcc line)" \
    'NOT FOUND: no CUDA: /nonexistent/nvcc is not a program'
check 'so does a wrong CUDA_HOME' "$(CUDA_HOME=/nonexistent line)" \
    'NOT FOUND: no CUDA: /nonexistent (CUDA_HOME or CUDA_PATH) has no bin/nvcc'

# A checkout of one program and two kernels, which these compilers build.
tree=$house/tree
mkdir -p "$tree/bench/base" "$tree/kernels/cuda" "$tree/tests"
cp Makefile "$tree"
cp tests/machine.sh tests/machine_cuda.sh "$tree/tests"
for file in bench/bench_one.c bench/base/build.c kernels/mat.c kernels/mat.h kernels/ops.def kernels/cuda/one.cu; do
    : >"$tree/$file"
done
echo refused >"$tree/kernels/cuda/two.cu"
# built WORD...: what make builds in that checkout, and says in the end
built()
{
    (cd "$tree" && PATH=$house/bin:$PATH make -j1 MPI=0 METIS=0 NVCC="$here" V=1 "$@" all 2>&1) |
        sed -n 's/.* -o \(build[^ ]*\).*/\1/p; /^gtmark/p; /Error/p'
}
check 'kernels that cannot be built cost no program, and are said last' \
    "$(REFUSED=refused SAID='two.cu: refused' built | tail -n 3 | sed 's/ \[.*\]//')" 'build/cuda/libgtmark_cuda.so
gtmark: the CUDA kernels cannot be built (see above); the programs for the CPU are ready. make CUDA=0 leaves CUDA out
make: *** Error 1'
check 'the program is there' "$(ls "$tree/build/bench_one")" "$tree/build/bench_one"
check 'the next make builds the rest' "$(built)" 'build/cuda/obj/kernels/cuda/two.cu.o
build/cuda/libgtmark_cuda.so'
rm "$tree/build/bench_one" "$tree"/build/cuda/obj/kernels/cuda/*.o
check 'the stages are said, each once' \
    "$(cd "$tree" && PATH=$house/bin:$PATH make -j1 MPI=0 METIS=0 NVCC="$here" all 2>&1 | grep '^  [a-z]*$')" '  linking
  nvcc'
rm "$tree/build/bench_one"
check 'on stderr' \
    "$(cd "$tree" && PATH=$house/bin:$PATH make -j1 MPI=0 METIS=0 NVCC="$here" all 2>/dev/null)" ''
check 'the program is there again' "$(ls "$tree/build/bench_one")" "$tree/build/bench_one"
check 'another CUDA_ARCH builds kernels' "$(built CUDA_ARCH=sm_90)" 'build/cuda/obj/kernels/cuda/one.cu.o
build/cuda/obj/kernels/cuda/two.cu.o
build/cuda/libgtmark_cuda.so'
tap_end
