#!/bin/sh
# Runs tests and sums up their reports: tests/run.sh [NAME=VALUE | PROGRAM | --skipped WHAT]...
#
# NAME=VALUE is added to the environment of the programs after it. Programs print TAP (testanything.org): lines "ok",
# "not ok", and "# SKIP" for skipped tests; those of cmocka do so on request. A program that exits with an error though
# no test failed, reports nothing, or less than planned ("1..9"), counts as one more failure. The output of a program
# with failures is shown, and its failed tests once more at the end. Seconds are of processor time. The last line is
# "N passed, N failed, N skipped"; exit status 1 if any failed.
#
# One program more than there are processors runs at a time, since some wait: no test may depend on being alone. Those
# of tests/longest.txt start first, so that none of them is left for the end.
set -u
export CMOCKA_MESSAGE_OUTPUT=TAP ASAN_OPTIONS=detect_leaks=1:quarantine_size_mb=16:malloc_context_size=8 UBSAN_OPTIONS=print_stacktrace=1

# count STATUS: "passed failed skipped" of the TAP on stdin
count()
{
    awk -v status="$1" '
        /^1\.\.[0-9]+/                       { announced += substr($1, 4) }
        /^(not )?ok/ && / # SKIP/            { skipped++; next }
        /^ok/                                { passed++ }
        /^not ok/                            { failed++ }
        END {
            reported = passed + failed + skipped
            if (reported == 0 || reported < announced || (status != 0 && !failed))
                failed++
            print passed + 0, failed + 0, skipped + 0
        }'
}

# report NAME SECONDS PASSED FAILED SKIPPED
report()
{
    echo "$3 $4 $5" >>"$work/counts"
    printf '%-44s %3d s %4d passed' "$1" "$2" "$3"
    [ "$4" -eq 0 ] || printf ', %d FAILED' "$4"
    [ "$5" -eq 0 ] || printf ', %d skipped' "$5"
    echo
}

run()
{
    output=$(mktemp "$work/output.XXXXXX")
    # LeakSanitizer cannot always stop OpenMP's threads, or fails in the storage of threads of loaded libraries, and then
    # says nothing about the program. Without that storage it takes what the dynamic linker keeps there for leaks.
    for leaks in '' '' use_tls=0:suppressions=tests/leaks.txt; do
        LSAN_OPTIONS=$leaks timeout "$([ "${GTMARK_SOAK:-}${GTMARK_FOREIGN:-}" ] && echo 2h || echo 10m)" "$1" >"$output" 2>&1
        status=$?
        grep -aq 'LeakSanitizer has encountered a fatal error' "$output" || break
    done
    times >"$output.times"
    seconds=$(awk -F '[ms ]+' 'NR == 2 { printf "%.0f", 60 * ($1 + $3) + $2 + $4 }' "$output.times")
    result=$(count $status <"$output")
    exec 9>"$work/lock"
    flock 9 # held until this shell ends: lines of two programs do not mix
    # shellcheck disable=SC2086 # three numbers
    report "$1" $seconds $result
    case $result in
    *' 0 '*) grep -a ' # SKIP' "$output" | sed 's/^/    /' ;;
    *)
        echo "exit status $status (124: stopped, it ran too long)" >>"$output"
        sed 's/^/    /' "$output"
        grep -a -B 3 '^not ok' "$output" | grep -a -v ' # SKIP' >"$output.failed"
        grep -aq '^not ok' "$output.failed" || tail -n 10 "$output" >"$output.failed"
        { echo "failed: $1" && tail -n 20 "$output.failed" | sed 's/^/    /'; } >>"$work/failures"
        ;;
    esac
}

# Called by the lines below, as run.sh --at POSITION WORK ARGUMENT...: runs the program that is this argument.
if [ "${1:-}" = --at ]; then
    position=$2 work=$3
    shift 3
    for argument; do
        position=$((position - 1))
        case $position:$argument in
        0:*) run "$argument" && exit ;;
        *=*) export "${argument?}" ;;
        esac
    done
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
touch "$work/counts" "$work/programs" "$work/failures"
position=0 programs=0 skip=
for argument; do
    position=$((position + 1))
    case $skip$argument in
    --skipped) skip=: && continue ;;
    :*) report "$argument" 0 0 0 1 && skip= ;;
    *=*) continue ;;
    *) echo "$position $argument" >>"$work/programs" ;;
    esac
    programs=$((programs + 1))
done
# Threads that spin while they wait take the processors from the programs beside them.
OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 \
    xargs -r -I POSITION -P $(($(nproc) + 1)) "$0" --at POSITION "$work" "$@" <<END
$(awk 'NR == FNR { rank[$1] = FNR; next } { print $2 in rank ? rank[$2] : FNR + 1000, $1 }' tests/longest.txt \
    "$work/programs" | sort -n | cut -d ' ' -f 2)
END
cat "$work/failures" # again, since the end of a long output is what is seen first
# A program that was not counted did not run.
awk -v programs=$programs '
    { passed += $1; failed += $2; skipped += $3 }
    END {
        failed += programs - NR
        print passed + 0 " passed, " failed + 0 " failed, " skipped + 0 " skipped"
        exit failed > 0
    }' "$work/counts"
