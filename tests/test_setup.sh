#!/bin/sh
# What `make setup` does on machines with and without what is needed, for root and for others; and that make says in one
# line that it cannot write. Scripts replace the compiler, the tools and apt-get.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
. tests/fake_machine.sh
mkdir "$house/checkout"

fake apt-cache 'exit 0'
fake dpkg-query 'exit 1'
fake apt-get 'echo "apt-get $*" >>"$LOG"; exit 100'
fake sudo 'exit 1'

# setup USER [tests]: the output and the exit status of a setup by the user with this number
setup()
{
    : >"$house/log"
    fake id "echo $1"
    LOG=$house/log PATH=$house/bin:$PATH tests/machine.sh setup ${2:-} 2>&1 </dev/null
    echo $?
}

check 'nothing is missing' "$(setup 1000)" 'Nothing is missing.
0'
fake gnuplot 'exit 127'
fake valgrind 'exit 127'
optional='  gnuplot: tables and result files, but no charts
  valgrind: executed instructions cannot be counted with valgrind'
check 'others than root go on without optional packages' "$(setup 1000)" \
    "Not installed (as root: apt-get install gnuplot-nox valgrind):
$optional
0"
check 'and install nothing' "$(cat "$house/log")" ''
check 'root goes on if they cannot be installed' "$(setup 0)" \
    "apt-get update failed: using the package lists that are present.
apt-get could not install gnuplot-nox valgrind.
Not installed (as root: apt-get install gnuplot-nox valgrind):
$optional
0"
check 'having tried' "$(grep -o 'install .*' "$house/log")" 'install --no-install-recommends gnuplot-nox valgrind'
fake apt-get 'case $* in *" install "*) echo "exit 0" >"${0%/*}/gnuplot"; echo "exit 0" >"${0%/*}/valgrind" ;; esac'
check 'root installs' "$(setup 0)" 0
fake aarch64-linux-gnu-gcc 'exit 127'
fake mpicc 'exit 127'
fake mpirun 'exit 127'
fake clang 'exit 127'
check 'benchmarks need no MPI, no sanitizers and no cross compiler' "$(setup 1000)" 'Nothing is missing.
0'
check 'tests do' "$(setup 1000 tests | head -n 1)" "Not installed (as root: apt-get install libopenmpi-dev \
openmpi-bin clang libclang-rt-dev libomp-dev g++-aarch64-linux-gnu qemu-user-static llvm):"
fake aarch64-linux-gnu-gcc "$compile"
fake mpicc 'echo gcc -lmpi'
fake mpirun 'exit 0'
fake clang "$compile"
check 'and then nothing is missing' "$(setup 0)" 'Nothing is missing.
0'
fake gcc "case \"\$*\" in *'-x none -o'*) exit 1 ;; esac; $compile"
check 'a compiler that takes an option without effect for a mistake' "$(setup 0)" 'Nothing is missing.
0'
fake gcc "for file; do case \$file in *.c) grep -q shufflevector \"\$file\" && exit 1 ;; esac; done; $compile"
check 'a compiler that is too old is one line' "$(setup 1000)" \
    'gtmark: required, but not installed: gcc 12 or clang. As root: apt-get install gcc libc6-dev
2'
fake gnuplot 'exit 127'
fake gcc "case \"\$*\" in *cjson*) exit 1 ;; esac; $compile"
check 'what is required and missing is one line' "$(setup 1000)" \
    'gtmark: required, but not installed: cJSON. As root: apt-get install libcjson-dev gnuplot-nox
2'
fake gcc "$compile"
fake gnuplot 'exit 0'
fake nvidia-smi 'echo "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)"'
check 'a GPU without a toolkit is said' "$(NVCC=/nonexistent/nvcc setup 1000)" "Nothing is missing.
GPU 0: NVIDIA H100 80GB HBM3 found, but no CUDA: /nonexistent/nvcc is not a program. Install NVIDIA's toolkit 12.0 or later (Debian and Ubuntu: \
apt-get install nvidia-cuda-toolkit).
0"
check 'so is a missing TMPDIR' "$(TMPDIR=/nonexistent setup 1000)" \
    'gtmark: TMPDIR=/nonexistent: no directory that can be written
2'

# made WORDS...: the output and the exit status of make
made()
{
    make "$@" 2>&1 | sed 's/^Makefile:[0-9]*: //'
}

# installs GOAL...: what `make setup GOAL...` asks for
installs()
{
    made -n MAKE=: setup "$@" | sed -n 's/.*tests\/machine.sh setup *//p'
}

check 'make setup installs what benchmarks need' "$(installs; installs bench; installs bench-full; installs score; installs compare-torch)" ''
check 'and with a goal of tests what these need' "$(for goal in test tests tests-small soak mutants style; do installs "$goal"; done | uniq -c | tr -s ' ')" ' 6 tests'

check 'make without TMPDIR is one line' "$(TMPDIR=/nonexistent made -n all)" \
    '*** cannot be written: TMPDIR=/nonexistent.  Stop.'
cp Makefile "$house/checkout"
: >"$house/checkout/build"
check 'make in a checkout that cannot be written is one line' "$(cd "$house/checkout" && made -n all)" \
    "*** cannot be written: $house/checkout/build.  Stop."
tap_end
