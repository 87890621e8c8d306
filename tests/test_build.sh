#!/bin/sh
# What make would do after a commit: link the programs, which name it in their results, and no test.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

build=${GTMARK_BUILD:-build}
# linked [FLAG]...: what make, with these flags, would link; with -n it takes the commit for a new one
linked()
{
    make -n -o build/cuda/request -o build/cuda/id "$@" tests 2>/dev/null | sed -n "s|.* -o \($build/.*\)|\1|p" | grep -v "^$build/obj/"
}

if [ "$(linked -o "$build/commit")" ]; then
    echo 'ok 1 # SKIP what a commit links: not everything is built with these settings'
    checked=1
else
    check 'a commit links every program' "$(linked | grep -v "^$build/tests/" | sort)" \
        "$(ls bench/*.c | sed "s|bench/\(.*\)\.c|$build/\1|" | sort)"
    check 'a commit links no test' "$(linked | grep "^$build/tests/")" ''
fi
tap_end
