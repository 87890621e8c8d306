#!/bin/sh
# Builds and tests gtmark on other releases of Debian, as root: tests/distributions.sh [SUITE]... (trixie and sid)
#
# Each is installed by debootstrap in build/distributions/SUITE, once, and its gcc and clang build all programs with warnings as
# errors, without CUDA and MPI, and some tests. Prints the table of docs/validation/distributions.md. A quarter of an hour or
# so for a suite.
set -u
cd "$(dirname "$0")/.." || exit 1
roots=$PWD/build/distributions
tests='ref kernels isa gradients families models golden encoding command_line analysis_record schema bench caches calibrate noise threads'

# within SUITE COMMANDS: runs them there, in the copy of the tree
within()
{
    chroot "$roots/$1" sh -c "cd /gtmark && $2"
}

# install SUITE: debootstrap's system, what `make setup test` takes, and the newest clang; a mirror may be older than its lists say
install()
{
    [ -e "$roots/$1/gtmark" ] && return
    mkdir -p "$roots" && debootstrap --variant=minbase "$1" "$roots/$1" >&2 && mkdir "$roots/$1/gtmark" &&
        echo 'Acquire::Check-Valid-Until "false";' >"$roots/$1/etc/apt/apt.conf.d/99gtmark"
}

# measure SUITE COMPILER: a row of the table
measure()
{
    start=$(date +%s)
    programs=$(printf "build/$2/tests/test_%s " $tests | sed 's|build/gcc/|build/|g')
    made="make CC=$2 CUDA=0 MPI=0 CI=true"
    within "$1" "$made all $programs" >"$roots/$1.$2.log" 2>&1 && built=yes || built=no
    within "$1" "GTMARK_BUILD=build/$2 tests/run.sh $programs" >>"$roots/$1.$2.log" 2>&1
    result=$(tail -n 1 "$roots/$1.$2.log" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 | \2 | \3/p')
    echo "| $(within "$1" '. /etc/os-release; echo "$PRETTY_NAME"') | $(uname -m) | $(within "$1" "$2 --version | head -n 1") |" \
        "$built | ${result:-- | - | -} | $(($(date +%s) - start)) |"
}

echo '| distribution | architecture | compiler | built | passed | failed | skipped | seconds |'
echo '|---|---|---|---|--:|--:|--:|--:|'
for suite in ${@:-trixie sid}; do
    install "$suite" || exit 1
    git ls-files -z | xargs -0 cp -p --parents -t "$roots/$suite/gtmark"
    within "$suite" 'apt-get -q update && apt-get -q -y install make git && tests/machine.sh setup tests' \
        >"$roots/$suite.log" 2>&1 || exit 1
    for compiler in gcc clang; do
        measure "$suite" $compiler
    done
done
