#!/bin/sh
# The runner's own sums: no way to fail may look like a pass.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# totals COMMANDS: the last line of a run of one program that does this, and the run's exit status
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
check 'silence' "$(totals :)" '0 passed, 1 failed, 0 skipped, exit 1'
check 'the environment reaches the program' "$(totals '[ "$GREETING" = hello ] && echo ok 1')" \
    '1 passed, 0 failed, 0 skipped, exit 0'
check 'a program that is not there' \
    "$(tests/run.sh "$work/nothing" | tail -n 1)" '0 passed, 1 failed, 0 skipped'
check 'what is left out counts as skipped' "$(tests/run.sh --skipped it | tail -n 1)" '0 passed, 0 failed, 1 skipped'
tap_end
