#!/bin/sh
# Functions of others that are no ops, and the sections and metrics that plug-ins report: in the row, the trace, the
# report and below the table; as thresholds; and what is reported wrongly. The functions are docs/examples/loader.c and tests/plugins/functions.c.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
build=${GTMARK_BUILD:-build}
house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT

# bench FUNCTION FLAGS...: its exit status; what it prints is in said
bench()
{
    function=$1
    shift
    "$build/bench_kernels" --plugin "$build/tests/plugins/${library:-loader}.so" --op function --impl "function=$function" \
        --nodes 10 --runs 6 --repetitions 3 --warmup 1 --cold 0 --no-roofline --no-charts --output "$house/rows.jsonl" "$@" \
        >"$house/said" 2>&1
    echo $?
}

# field NAME: its value in the row
field()
{
    sed 1d "$house/rows.jsonl" | grep -o "\"$1\":\(\"[^\"]*\"\|\[[^]]*\]\|[^,}]*\)" | head -n 1 | cut -d : -f 2-
}

check 'a function is measured' "$(bench loader --profile --trace "$house/trace.json") $(field status) $(field checked)" \
    '0 "ok" "none"'
check 'its sections' "$(sed 1d "$house/rows.jsonl" | grep -o '"sections":{[^}]*"seconds"')" \
    '"sections":{"runs":2,"name":["kernel.kernel.read","kernel.kernel.read.decode"],"metadata":["from memory",""],"calls":[8.0,8.0],"seconds"'
check 'its metrics' "$(sed 1d "$house/rows.jsonl" | grep -o '"metrics":{[^}]*}')" \
    '"metrics":{"name":["kernel.hit_rate","kernel.read_bytes"],"value":[0.5,512.0]}'
check 'what it computes is not known' "$(field analytic)$(field attainable)$(field gflops)" ''
check 'metrics stand below the table' "$(grep -c '^kernel.hit_rate 0.5 (\|^kernel.read_bytes 512 (' "$house/said")" 2
check 'sections with --profile' "$(grep -c '^kernel.kernel.read *8.00 .* from memory$' "$house/said")" 1
check 'sections in the trace' "$(grep -c '"name": "read"\|"metadata": "from memory"' "$house/trace.json")" 16
"$build/report" --output "$house/report.html" "$house/rows.jsonl" >"$house/said" 2>&1
check 'both in the report' "$(grep -c '>kernel.kernel.read.decode<\|>kernel.hit_rate<' "$house/report.html")" 2
if grep -q '^SQLITE *:= *-' "$build/config.mk"; then
    "$build/query" --store "$house/store.db" import "$house/rows.jsonl" >"$house/said" 2>&1
    check 'and in a store' "$("$build/query" --store "$house/store.db" \
        --sql "SELECT json_extract(json, '\$.metrics.value[0]') value FROM texts" | tail -n 1 | tr -d ' ')" 0.5
fi

check 'a threshold that is kept' "$(bench loader --gate allow-unchecked --threshold least.hit_rate:0.5,kernel.most.read_bytes:512)" 0
check 'and some that are missed' \
    "$(bench loader --gate allow-unchecked --threshold least.hit_rate:0.6,most.read_bytes:500,most.none:1) $(
        grep 'kernel\..* at ' "$house/said" | tr -s ' ')" \
    '1  kernel.least.hit_rate 0.5 at least 0.6
kernel.most.read_bytes 512 at most 500
 kernel.most.none none at most 1'
check 'one without a metric' "$(bench loader --threshold most:1) $(cat "$house/said")" \
    '2 bench_kernels: --threshold most:1: after most: the name of a metric and a number, as in 1e-4'

library=functions
check 'it is set up for each turn, and closed after it' "$(bench closed) $(grep -c '^closed' "$house/said")" '0 3'
# fails FUNCTION REASON
fails()
{
    check "$1 fails" "$(bench "$1") $(field status) $(field reason)" "1 \"failed\" \"$2\""
}
fails refuses 'setup: there are no records'
fails open 'kernel: section read is not closed'
fails twice 'kernel: section read is closed, and not open'
fails outer 'kernel: section read is closed before one within it'
fails nan 'kernel: metric hit_rate is not finite'
fails both 'kernel: metric hits is recorded both as a sum and as a mean'
fails long 'kernel: section a_section_of_a_name_that_is_too_long has a name that is not 1 to 31 of a-z, 0-9, _ and -'
fails deep 'kernel: section read is within 8 others, which is the most'
fails many 'kernel: there are more than 256 sections of different names'

check 'there is nothing to audit in them' "$("$build/audit" "$build/tests/plugins/functions.so" 2>&1; echo $?)" \
    "audit: $build/tests/plugins/functions.so: has no kernel to check
2"
check 'no function without a plug-in' "$("$build/bench_kernels" --op function 2>&1; echo $?)" \
    'bench_kernels: --op function: --plugin has functions
2'
tap_end
