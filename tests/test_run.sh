#!/bin/sh
# The runner's totals: no kind of failure may look like a pass.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# totals COMMANDS: the last line of a run of one program with these commands, and the run's exit status
totals()
{
    printf '#!/bin/sh\n%s\n' "$1" >"$work/program"
    chmod +x "$work/program"
    tests/run.sh GREETING=hello "$work/program" >"$work/output"
    status=$?
    echo "$(tail -n 1 "$work/output"), exit $status"
}

check 'a pass' "$(totals 'echo ok 1 - a; echo 1..1')" '1 passed, 0 failed, 0 skipped, exit 0'
check 'a pass, a failure, two skipped' \
    "$(totals 'echo 1..4; echo ok 1; echo not ok 2; echo "not ok 3 # SKIP"; echo "ok 4 # SKIP"; exit 1')" \
    '1 passed, 1 failed, 2 skipped, exit 1'
check 'a failure that the exit status hides' "$(totals 'echo not ok 1')" '0 passed, 1 failed, 0 skipped, exit 1'
check 'an exit status without a failure' "$(totals 'echo ok 1; exit 3')" '1 passed, 1 failed, 0 skipped, exit 1'
check 'a crash' "$(totals 'echo ok 1; kill -SEGV $$')" '1 passed, 1 failed, 0 skipped, exit 1'
check 'an end before the last test' "$(totals 'echo 1..2; echo ok 1')" '1 passed, 1 failed, 0 skipped, exit 1'
check 'the end names the failed tests' \
    "$(totals 'echo ok 1 - a; echo not ok 2 - b' >"$work/last"; tail -n 4 "$work/output" | tr '\n' ' ')" \
    "failed: $work/program     ok 1 - a     not ok 2 - b 1 passed, 1 failed, 0 skipped "
check 'or the exit status and what was said last' \
    "$(totals 'echo ok 1 - a; echo why; exit 3' >"$work/last"; tail -n 5 "$work/output" | tr '\n' ' ')" \
    "failed: $work/program     ok 1 - a     why     exit status 3 (124: stopped, it ran too long) 1 passed, 1 failed, 0 skipped "
fatal='echo ok 1; echo "==1==LeakSanitizer has encountered a fatal error."; exit 1'
check 'a leak check that could not be made is repeated' \
    "$(totals "cd $work; [ -e looked ] && echo ok 1 && exit; touch looked; $fatal")" '1 passed, 0 failed, 0 skipped, exit 0'
check 'and fails if it never can' "$(totals "$fatal")" '1 passed, 1 failed, 0 skipped, exit 1'
check 'silence' "$(totals :)" '0 passed, 1 failed, 0 skipped, exit 1'
check 'the environment reaches the program' "$(totals '[ "$GREETING" = hello ] && echo ok 1')" \
    '1 passed, 0 failed, 0 skipped, exit 0'
check 'a program that does not exist' \
    "$(tests/run.sh "$work/nothing" | tail -n 1)" '0 passed, 1 failed, 0 skipped'
check 'omitted tests count as skipped' "$(tests/run.sh --skipped it | tail -n 1)" '0 passed, 0 failed, 1 skipped'
check 'the shell that runs a program is killed' \
    "$(totals 'kill -KILL $(cut -d" " -f4 /proc/$PPID/stat)' 2>/dev/null)" '0 passed, 1 failed, 0 skipped, exit 1'

# make_program NAME COMMANDS
make_program()
{
    printf '#!/bin/sh\ncd "$(dirname "$0")" || exit\n%s\n' "$2" >"$work/$1"
    chmod +x "$work/$1"
}

# Each waits until the other has begun.
meet='touch began.$$; for i in $(seq 300); do set -- began.*; [ $# -eq 2 ] && echo ok 1 && exit; sleep 0.1; done'
make_program left "$meet"
make_program right "$meet"
if [ "$(nproc)" -gt 1 ]; then
    check 'programs run side by side' "$(tests/run.sh "$work/left" "$work/right" | tail -n 1)" \
        '2 passed, 0 failed, 0 skipped'
else
    checked=$((checked + 1))
    echo "ok $checked # SKIP programs side by side: one processor"
fi

lines='for i in 1 2 3; do echo "$0 line $i"; sleep 0.1; done; echo not ok 1'
make_program first "$lines"
make_program second "$lines"
check 'the lines of two programs do not mix' \
    "$(tests/run.sh "$work/first" "$work/second" | sed "/^failed:/,\$d" | grep -o '[a-z]* line .' | uniq -c -w 5 | awk '{print $1}')" '3
3'
tap_end
