# The CUDA toolkit and the GPUs of this machine, for tests/machine.sh, which reads this file.
#
# nvcc is NVCC, else CUDACXX, else that of CUDA_HOME or CUDA_PATH, else the first in PATH, else that of a usual place. Its
# host compiler is nvcc's own choice, which NVCC_CCBIN overrides; if CC is neither plain gcc nor clang, it is CC's C++
# compiler.

# The least toolkit whose libraries have what kernels/cuda calls.
cuda_least=12.0

# reason TEXT: why there is no CUDA, beside the consequence
reason()
{
    lack="$lack: $1"
    return 1
}

# Sets `nvcc`. False if there is none.
find_nvcc()
{
    nvcc=${NVCC:-${CUDACXX:-}}
    if [ -n "$nvcc" ]; then
        command -v "$nvcc" >/dev/null || reason "$nvcc is not a program"
        return
    fi
    home=${CUDA_HOME:-${CUDA_PATH:-}}
    if [ -n "$home" ]; then
        nvcc=$home/bin/nvcc
        [ -x "$nvcc" ] || reason "$home (CUDA_HOME or CUDA_PATH) has no bin/nvcc"
        return
    fi
    nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc || command -v /opt/cuda/bin/nvcc) ||
        reason 'no nvcc'
}

# The GPUs of this machine, as sm_NN; a driver that does not answer is none.
gpus_here()
{
    timeout 10 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
        sed -n 's/^\([0-9]*\)\.\([0-9]\)$/sm_\1\2/p' | sort -Vu
}

# The toolkit that compiles for this GPU, where this one does not.
toolkit_for()
{
    case $1 in
    sm_[1-4]?) echo 'no toolkit that gtmark can use' ;;
    sm_5? | sm_6? | sm_7[0-2]) echo 'toolkit 12' ;;
    sm_100 | sm_101 | sm_120) echo 'toolkit 12.8' ;;
    sm_103 | sm_121) echo 'toolkit 12.9' ;;
    *) echo 'a newer toolkit' ;;
    esac
}

# Sets `archs`, the architectures to compile for, the oldest first: CUDA_ARCH, else those of the GPUs of this machine,
# else the oldest generation that gtmark supports and this nvcc knows; and `left_out`, what is said of those that this
# nvcc does not know. A GPU that is newer than all of them runs the PTX.
choose_archs()
{
    known=$($nvcc --list-gpu-code 2>/dev/null | grep -x 'sm_[0-9]*' | sort -V)
    newest=$(echo "$known" | tail -n 1) archs='' left_out=''
    here=
    if [ -n "$CUDA_ARCH" ]; then
        wanted=$(echo "$CUDA_ARCH" | tr -s ', ' '\n\n' | sort -Vu)
    else
        here=$(gpus_here) wanted=${here:-$(echo "${known:-sm_80}" | grep -m 1 '_[89].$\|_...$')}
    fi
    for arch in $wanted; do
        if [ -z "$known" ] || echo "$known" | grep -qx "$arch"; then
            archs="$archs $arch"
        elif [ -n "$CUDA_ARCH" ]; then
            refuse "CUDA_ARCH=$CUDA_ARCH: nvcc $nvcc_release knows $(echo $known)" || return
        elif [ "${arch#sm_}" -gt "${newest#sm_}" ]; then
            left_out="$left_out; this machine's $arch runs PTX ($(toolkit_for "$arch") compiles for it)"
        else
            left_out="$left_out; CUDA ${nvcc_release%%.*} has no $arch of this machine ($(toolkit_for "$arch") has)"
        fi
    done
    case $archs:$left_out in :*PTX*) archs=$newest ;; esac
    archs=$(echo $archs)
    [ -n "$archs" ] || reason "${left_out#; }"
}

# A program that calls what kernels/cuda includes and links.
cuda_program()
{
    cat <<'END'
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cusparse.h>
#include <nvtx3/nvToolsExt.h>
__global__ void kernel() {}
int main()
{
    kernel<<<1, 1>>>();
    return !cublasCreate(0) + !cublasLtCreate(0) + !cusparseCreate(0) + nvtxRangePop();
}
END
}

# compile_cuda: whether the program can be made for `archs`. Sets `trace`, what nvcc and the linker said.
compile_cuda()
{
    oldest=${archs%% *} codes=
    for arch in $archs "compute_${oldest#sm_}"; do
        codes="$codes -gencode arch=compute_${oldest#sm_},code=$arch"
    done
    cuda_program >"$work/kernel.cu"
    trace=$($nvcc $codes -Xlinker --trace -o "$work/kernel" "$work/kernel.cu" -lcublas -lcublasLt -lcusparse 2>&1) &&
        [ -x "$work/kernel" ] && return
    allowed=$(echo "$trace" | sed -n 's/.*gcc versions later than \([0-9]*\) are not supported.*/\1/p' | head -n 1)
    [ -z "$allowed" ] || reason "nvcc $nvcc_release takes gcc to $allowed: make NVCC_CCBIN=g++-$allowed" || return
    said=$(echo "$trace" | grep -m 1 -iE 'error|fatal|unsupported|cannot|not found' || echo "$trace" | tail -n 1)
    reason "${said:-$nvcc made no program, and gave no reason}"
}

# Where programs load cuBLAS from: where the linker found it, or beside the stubs, which only link.
cublas_directory()
{
    file=$(echo "$trace" | grep -m 1 '/libcublas\.so') || return
    directory=$(dirname "$(readlink -f "$file")")
    directory=${directory%/stubs}
    ! ls "$directory"/libcublas.so* >/dev/null 2>&1 || echo "$directory"
}

# The folders of headers that nvcc adds to those of the system, for compilers other than nvcc.
cuda_headers()
{
    $nvcc --dryrun -c -x cu /dev/null 2>&1 | sed -n 's/^#\$ INCLUDES=//p' | tr -d '"' | tr ' ' '\n' | sed -n 's/^-I//p' |
        while read -r folder; do
            folder=$(readlink -f "$folder")
            [ "$folder" = /usr/include ] || echo "-isystem $folder"
        done
}

# The CUDA code is a library beside the programs, built without sanitizers.
find_cuda()
{
    [ "$CUDA" = 0 ] && found="left out: $lack" && return
    find_nvcc || return
    where=$nvcc cuda_host=${NVCC_CCBIN:-}
    case ${CC##* } in
    gcc | cc | */gcc | */cc | *clang*) ;;
    *) : "${cuda_host:=$(echo "${CC##* }" | sed 's/gcc\([^/]*\)$/g++\1/')}" ;;
    esac
    nvcc="$nvcc${cuda_host:+ -ccbin $cuda_host}"
    nvcc_release=$($nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p')
    [ "$(printf '%s\n' "$cuda_least" "${nvcc_release:-0}" | sort -V | head -n 1)" = "$cuda_least" ] ||
        reason "$where is release ${nvcc_release:-unknown}; gtmark needs $cuda_least" || return
    choose_archs && compile_cuda || return
    cuda_lib=$(cublas_directory) cuda_include=$(echo $(cuda_headers))
    have_cuda=1 found="release $nvcc_release of $where, for $archs$left_out"
    case $FLAGS in *-fsanitize*) found="$found, without sanitizers" ;; esac
}

# A GPU, but no toolkit: what to install, which is too large to be installed unasked.
say_gpu_without_toolkit()
{
    gpu=$(timeout 10 nvidia-smi -L 2>/dev/null | grep -m 1 '^GPU') || return 0
    lack='no CUDA'
    find_cuda || echo "${gpu%% (UUID*} found, but $lack. Install NVIDIA's toolkit $cuda_least or later \
(Debian and Ubuntu: apt-get install nvidia-cuda-toolkit)."
}
