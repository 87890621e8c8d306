#!/bin/sh
# The quick set: every benchmark once, in about five minutes.  bench/quick.sh BUILD [DEVICE]
#
# BUILD is the directory of the programs, DEVICE the value of --device. Results and charts go to results/local,
# the tables to results/local/NAME.txt and the terminal. A benchmark that fails does not stop the others; the exit
# status is then 1.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1 device=${2:-cpu}
results=results/local
# Check the device first: a missing one is reported once, and earlier results stay.
"$build/bench_node_scaling" --device "$device" --nodes 1 --dry-run >/dev/null || exit 2
mkdir -p "$results" || exit 1

# name|seconds for its samples|about how long it takes|flags
set_of()
{
    cat <<'END'
bench_node_scaling|40|105|--nodes 100,500,1000,2000 --count auto
bench_layer_scaling|25|35|
bench_batch_scaling|15|30|
bench_pe_scaling|15|25|--nodes 500,10000 --solver auto
bench_kernels|20|60|
bench_model|10|15|
END
}

left=$(set_of | awk -F'|' '{s += $3} END {print s}')
count=$(set_of | wc -l)
number=0 failed=0 files=
while IFS='|' read -r name budget takes flags; do
    number=$((number + 1))
    printf '\n== %d of %d: %s; about %d:%02d left\n' "$number" "$count" "$name" $((left / 60)) $((left % 60)) >&2
    # shellcheck disable=SC2086 # flags are words
    "$build/$name" --device "$device" --budget "$budget" --output "$results/$name.json" $flags </dev/null \
        >"$results/$name.txt"
    status=$?
    case $status in
    130 | 143) exit "$status" ;; # interrupted
    esac
    [ "$status" = 0 ] || failed="$failed $name"
    cat "$results/$name.txt"
    if [ "$status" -lt 2 ] && [ -s "$results/$name.json" ]; then # otherwise the file is from an earlier run
        files="$files $results/$name.json"
    fi
    left=$((left - takes))
done <<END
$(set_of)
END

echo
echo "Results, tables and charts are in $results: NAME.json, NAME.txt, NAME_*.png and .svg."
[ "$failed" = 0 ] || echo "These failed or have rows that are not ok:${failed#0}."
if [ -n "$files" ]; then
    echo 'Main findings:'
    # shellcheck disable=SC2086 # our own file names, without blanks
    "$build/findings" $files
fi
[ "$failed" = 0 ]
