#!/bin/sh
# Code of others (tests/plugins/guests.c) that ends the process, prints, or changes the locale or the arithmetic: a run
# with it says so or is as before. A run that does not reach its end exits with 1, and says whose code ended it.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
build=${GTMARK_BUILD:-build}
house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT
plugin=$build/tests/plugins/guests.so

# bench FUNCTIONS FLAGS...: its exit status; what it prints is in said and printed
bench()
{
    functions=$1
    shift
    "$build/bench_kernels" --plugin "$plugin" --op "${op:-function}" --impl "function=$functions" --nodes 10 --runs 6 --repetitions 3 \
        --warmup 1 --cold 0 --no-roofline --no-charts --output "$house/rows.jsonl" "$@" >"$house/printed" 2>"$house/said"
    echo $?
}

# rows MEMBER...: what rows have of these members
rows()
{
    for member in "$@"; do
        sed 1d "$house/rows.jsonl" | grep -o "\"$member\":\(\"[^\"]*\"\|[^,}]*\)" | cut -d : -f 2- | tr '\n' ' '
    done
}

# ends FUNCTION CALL HOW: a run with it exits with 1 and this line, as does one that is opened with it, if that is a way
ends()
{
    check "$1 ends a run" "$(bench "$1" --no-check --threshold latency:1s) $(tail -n 1 "$house/said")" \
        "1 bench_kernels: --plugin $plugin: $2 of function=$1 $3"
}
opens()
{
    check "$1 ends a run when the library is opened" "$(AT_OPEN=$1 bench nothing) $(tail -n 1 "$house/said")" \
        "1 bench_kernels: --plugin $plugin: opening it $2"
}
for way in call_exit call_exit_now call_quick_exit call_exec; do
    ends $way run 'ends the process, with exit status 0'
    opens $way 'ends the process, with exit status 0'
done
ends end_elsewhere run 'ends the process, with exit status 0'
ends abort run 'ends by signal 6 (Aborted)'
ends raise_segv run 'ends by signal 11 (Segmentation fault)'
ends raise_fpe run 'ends by signal 8 (Floating point exception)'
ends raise_kill run 'ends by signal 9 (Killed)'
ends end_thread run 'ends the process, with exit status 1'
ends set_up setup 'ends the process, with exit status 0'
ends tear_down teardown 'ends the process, with exit status 0'
opens raise_segv 'ends by signal 11 (Segmentation fault)'
opens end_thread 'ends the process, with exit status 1'
check 'rows that were finished before are in the file' \
    "$("$build/bench_kernels" --plugin "$plugin" --op function,add --nodes 10 --runs 2 --repetitions 1 --no-roofline --no-charts \
        --output "$house/rows.jsonl" >"$house/printed" 2>&1; echo $?) $(rows status | tr ' ' '\n' | grep -c ok)" '1 3'
check 'what ends it after its end changes nothing' "$(bench exit_at_end) $(rows status) $(grep -c '^function' "$house/printed")" \
    '0 "ok"  1'
check 'usage errors have their status' "$(bench exit_at_end --nodes x)" 2

check 'what it prints is not in the results' "$(AT_OPEN=speak bench speak --format json) $(
    grep -c 'a guest\|and writes' "$house/printed") $(grep -q 'a guest' "$house/said" && grep -q 'and writes' "$house/said"; echo $?)" '0 0 0'
check 'and they are all there' "$(grep -c '"run"' "$house/printed")" 1
check 'a list too is not in what others print' "$(AT_OPEN=speak bench nothing --list graphs) $(head -n 1 "$house/printed" | cut -c 1-2)" '0 er'

check 'other modes of arithmetic are undone' "$(AT_OPEN=change_modes bench change_modes) $(rows status)" '0 "ok" '
check 'those of threads are a fault' "$(bench change_threads --threads 2) $(rows status reason)" \
    '1 "failed" "it sets rounding, traps or flushing to zero in threads of OpenMP" '
check 'a reported error is a failed row, whenever it comes' "$(bench report) $(rows status reason)" \
    '1 "failed" "function=report: it \u001b[31mended\n" '
check 'the others go on' "$(op=function,add; bench report) $(rows status | tr ' ' '\n' | sort | uniq -c | tr -s ' \n' ' ')" \
    '1  1 "failed" 3 "ok" '
check 'and controls no terminal' "$(grep -c "$(printf '\033')" "$house/printed" "$house/said" | cut -d : -f 2 | tr '\n' ' ')" '0 0 '
for scratch in no_scratch:-1 all_scratch:9223372036854775807; do
    check "${scratch%:*} is refused" "$(bench "${scratch%:*}") $(rows status reason)" \
        "1 \"failed\" \"function=${scratch%:*}: scratch of ${scratch#*:} bytes\" "
done

# Signals: each comes once, and the parent leaves nothing behind.
# begin: starts a long run; its process and its child
begin()
{
    rm -f "$house/rows.jsonl"
    "$build/bench_kernels" --plugin "$plugin" --op function --impl function=rest --nodes 10,20 --runs 9999 --repetitions 999 --warmup 0 \
        --cold 0 --threads 1 --no-roofline --no-charts --output "$house/rows.jsonl" >"$house/printed" 2>"$house/said" &
    parent=$!
    until [ "$(grep -c '"kind":"row"' "$house/rows.jsonl" 2>/dev/null)" -ge 1 ] 2>/dev/null; do sleep 0.05; done
    child=$(grep -l "^PPid:[[:space:]]*$parent\$" /proc/[0-9]*/status 2>/dev/null | cut -d / -f 3)
}
# state PROCESS: T if it is stopped
state()
{
    sed 's/.*) \(.\).*/\1/' "/proc/$1/stat"
}
begin
kill -TSTP $parent
until [ "$(state $parent)$(state "$child")" = TT ]; do sleep 0.05; done
kill -CONT $parent
while [ "$(state "$child")" = T ]; do sleep 0.05; done
kill -TERM $parent
wait $parent
check 'a run that is stopped goes on, and SIGTERM ends it in order' \
    "$? $(grep -c 'SIGTERM: ended with [12] of 2 rows in .*; to continue, repeat the command with --resume' "$house/said")" '143 1'
begin
kill -KILL $parent
wait $parent 2>/dev/null
for _ in $(seq 100); do
    [ ! -e "/proc/$child" ] || sleep 0.05
done
check 'nothing is left of a run whose parent was killed' "$([ -e "/proc/$child" ] && state "$child")" ''

# A locale with a decimal comma.
if localedef -i de_DE -f UTF-8 "$house/de_DE.UTF-8" 2>"$house/said"; then
    export LOCPATH="$house" LC_ALL=de_DE.UTF-8
    check 'numbers have points in every locale' "$(AT_OPEN=change_locale bench change_locale --format csv) $(
        rows median | grep -c '[0-9]\.[0-9]') $(
        awk -F , 'NR == 1 { while ($++i != "kernel.time.median"); next } { print $i ~ /^[0-9]+[.][0-9]+(e-?[0-9]+)?$/ }' "$house/printed")" \
        '0 1 1'
    check 'and the file is read' "$("$build/query" "$house/rows.jsonl" >"$house/printed" 2>&1; echo $?)" 0
    check 'the text of an audit too' "$(AT_OPEN=change_locale "$build/audit" --budget 0 "$plugin" >"$house/printed"; echo $?) $(
        grep -c 'error at most [0-9]*\.[0-9]* of' "$house/printed")" '0 1'
    unset LOCPATH LC_ALL
else
    checked=$((checked + 1))
    echo "ok $checked # SKIP a locale with a decimal comma: $(tail -n 1 "$house/said")"
fi
tap_end
