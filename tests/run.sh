#!/bin/sh
# Runs tests and adds up what they report: tests/run.sh [NAME=VALUE | PROGRAM | --skipped WHAT]...
#
# NAME=VALUE goes into the environment of the programs after it. A program speaks TAP (testanything.org): lines
# "ok", "not ok", and with "# SKIP" those left out; cmocka's programs do when asked. A program that ends with an
# error though nothing failed, reports nothing, or less than it announced ("1..9"), has failed once more. The output
# of a program with failures is shown. The last line is "N passed, N failed, N skipped"; exit 1 if any failed.
set -u
export CMOCKA_MESSAGE_OUTPUT=TAP ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
passed=0 failed=0 skipped=0

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

# tell NAME SECONDS PASSED FAILED SKIPPED
tell()
{
    passed=$((passed + $3)) failed=$((failed + $4)) skipped=$((skipped + $5))
    printf '%-44s %3d s %4d passed' "$1" "$2" "$3"
    [ "$4" -eq 0 ] || printf ', %d FAILED' "$4"
    [ "$5" -eq 0 ] || printf ', %d skipped' "$5"
    echo
}

run()
{
    start=$(date +%s)
    timeout "$([ "${GTMARK_SOAK:-}" ] && echo 2h || echo 10m)" "$1" >"$output" 2>&1
    status=$?
    result=$(count $status <"$output")
    # shellcheck disable=SC2086 # three numbers
    tell "$1" $(($(date +%s) - start)) $result
    case $result in
    *' 0 '*) grep -a ' # SKIP' "$output" | sed 's/^/    /' ;;
    *) sed 's/^/    /' "$output" && echo "    exit status $status (124: stopped, it ran too long)" ;;
    esac
}

output=$(mktemp) || exit 1
trap 'rm -f "$output"' EXIT
while [ $# -gt 0 ]; do
    case $1 in
    --skipped)
        shift
        tell "$1" 0 0 0 1
        ;;
    *=*) export "${1?}" ;;
    *) run "$1" ;;
    esac
    shift
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
