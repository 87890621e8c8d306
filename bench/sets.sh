#!/bin/sh
# A set of benchmarks, one after the other, or a page of their results:
# bench/sets.sh quick|full|score|results|report|submit BUILD [DEVICE [MACHINE]]
#
# BUILD is the directory of the programs, DEVICE the value of --device. `quick` is short enough for a laptop, `full`
# has the whole default axis of every benchmark. Results, charts and tables go to results/local, or, to be published,
# to results/MACHINE, where the tables have the warnings below them. Rows that are out of memory, and those that are
# skipped since the device has no kernel for an op, are results too; a benchmark that fails, or has other rows that are
# not ok, does not stop the others, but the exit status is then 1.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$2 device=${3:-cpu} results=results/${4:-local} machine=${4:-}

# result|benchmark|seconds (--budget)|flags
quick_set()
{
    cat <<'END'
bench_node_scaling|bench_node_scaling|75|--nodes 100,500,1000,2000 --count auto
bench_layer_scaling|bench_layer_scaling|45|--layers 2,4,8,16 --count auto
bench_batch_scaling|bench_batch_scaling|35|
bench_pe_scaling|bench_pe_scaling|50|--nodes 500,5000 --solver auto --count auto
bench_kernels|bench_kernels|70|
bench_model|bench_model|15|
END
}
full_set()
{
    cat <<'END'
bench_node_scaling|bench_node_scaling|150|--count auto
gps_sparse|bench_node_scaling|370|--model gps_sparse --nodes 1k-1M*10 --hidden 64 --heads 4 --layers 2
bench_layer_scaling|bench_layer_scaling|90|--count auto
bench_batch_scaling|bench_batch_scaling|80|
bench_pe_scaling|bench_pe_scaling|210|--count auto
bench_kernels|bench_kernels|60|
bench_model|bench_model|40|
bench_presets|bench_presets|240|
END
}

# The works of analysis/compare/score.def.
score_set()
{
    cat <<'END'
score_presets|bench_presets|75|--preset zinc,molhiv --no-charts
score_dense|bench_node_scaling|45|--nodes 2000 --no-charts
score_sparse|bench_node_scaling|60|--model gps_sparse --nodes 100k --hidden 64 --heads 4 --layers 2 --no-charts
END
}
# What results/MACHINE holds already.
results_set()
{
    { full_set && score_set; } | while IFS='|' read -r name rest; do
        [ ! -f "$results/$name.jsonl" ] || echo "$name|$rest"
    done
}
score_files=$(score_set | sed "s#^\([a-z_]*\)|.*#$results/\1.jsonl#")

# submit: what others need to believe a score: the rows, the score, a page of both. What a refusal leaves is nothing.
submit()
{
    sent="$results/score.txt $results/score.html $results/score.tar.gz"
    # shellcheck disable=SC2086 # our own file names, without blanks
    rm -f $sent
    # shellcheck disable=SC2046,SC2086
    if ! { "$build/score" $score_files >"$results/score.txt" && "$build/score" --line MACHINE $score_files; }; then
        echo "bench/sets.sh: no score to submit: make score first" >&2
    elif "$build/report" $score_files --output "$results/score.html" >/dev/null &&
        tar -czf "$results/score.tar.gz" -C "$results" score.txt score.html $(basename -a $score_files); then
        echo "$results/score.tar.gz: send it; the line above is for the table of results/README.md"
        return
    fi
    # shellcheck disable=SC2086
    rm -f $sent
    return 1
}

# make_page: of the results that there are
make_page()
{
    set --
    for name in $(full_set | cut -d'|' -f1); do
        [ ! -s "$results/$name.jsonl" ] || set -- "$@" "$results/$name.jsonl"
    done
    if [ $# = 0 ]; then
        echo "bench/sets.sh: $PWD/$results: no result files: make bench" >&2
        return 2
    fi
    "$build/report" "$@" --output "$results/report.html"
}

case $1 in
quick | full | score | results) set_of=${1}_set ;;
report)
    make_page
    exit
    ;;
submit)
    submit
    exit
    ;;
*) echo "bench/sets.sh: $1: quick, full, score, results, report or submit" >&2 && exit 2 ;;
esac

# Check the device first: a missing one is reported once, and earlier results stay.
"$build/bench_node_scaling" --device "$device" --nodes 1 --dry-run >/dev/null || exit 2
if ! mkdir -p "$results" 2>/dev/null || ! [ -w "$results" ]; then
    echo "bench/sets.sh: $PWD/$results: cannot be written" >&2
    exit 2
fi

# What the machine was warned of by one benchmark is not said by the others.
GTMARK_TOLD=$results/.told
: >"$GTMARK_TOLD"
export GTMARK_TOLD
trap 'rm -f "$GTMARK_TOLD"' EXIT

# measure BENCHMARK RESULT FLAG...: the table in RESULT.txt, if it is to be published with the messages
measure()
{
    program=$build/$1 base=$results/$2
    shift 2
    if [ "$machine" ]; then
        : >"$base.txt"
        "$program" --device "$device" --output "$base.jsonl" "$@" </dev/null >>"$base.txt" 2>>"$base.txt"
    else
        "$program" --device "$device" --output "$base.jsonl" "$@" </dev/null >"$base.txt"
    fi
}

# only_left_out RESULT: whether its rows are ok, out of memory or skipped, and some are not ok
only_left_out()
{
    others=$(grep -o '"status":"[a-z]*"' "$results/$1.jsonl" 2>/dev/null | sed 's/.*: *//' | grep -v '"ok"')
    [ "$others" ] && ! echo "$others" | grep -qv -e '"oom"' -e '"skipped"'
}

lines=$($set_of)
if [ -z "$lines" ]; then
    echo "bench/sets.sh: $PWD/$results: no result files: make bench-full MACHINE=$machine" >&2
    exit 2
fi
left=$(echo "$lines" | awk -F'|' '{s += $3} END {print s}')
count=$(echo "$lines" | wc -l)
number=0 failed='' left_out='' files=''
while IFS='|' read -r result name takes flags; do
    number=$((number + 1))
    printf '\n== %d of %d: %s; about %d:%02d left\n' "$number" "$count" "$result" $((left / 60)) $((left % 60)) >&2
    # shellcheck disable=SC2086 # flags are words
    measure "$name" "$result" --budget "$takes" $flags
    status=$?
    case $status in
    0) ;;
    129 | 130 | 131 | 143) exit "$status" ;; # interrupted
    *)
        if [ "$status" = 1 ] && only_left_out "$result"; then
            left_out="$left_out $result"
        else
            failed="$failed $result"
        fi
        ;;
    esac
    printf '\n%s\n' "$result"
    cat "$results/$result.txt"
    if [ "$status" -lt 2 ] && [ -s "$results/$result.jsonl" ]; then # otherwise the file is from an earlier run
        files="$files $results/$result.jsonl"
    fi
    left=$((left - takes))
done <<END
$lines
END

if [ "$1" = score ]; then
    # shellcheck disable=SC2086
    "$build/score" $score_files
    exit
fi
echo
echo "In $results: NAME.jsonl, NAME.txt, charts NAME_*.png and .svg; on one page: make report."
[ -z "$left_out" ] || echo "These have rows for which the device lacks memory or an op:$left_out."
[ -z "$failed" ] || echo "These failed or have rows that are not ok:$failed."
if [ -n "$files" ]; then
    echo 'Main findings:'
    # shellcheck disable=SC2086 # our own file names, without blanks
    "$build/findings" $files
fi
[ -z "$failed" ]
