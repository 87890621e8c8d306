#!/bin/sh
# The behaviour of `make bench` for different exit statuses of benchmarks. Scripts replace the programs: they exit with
# the status in the file `status`, and write a result file, the file `rows`, only if it is below 2.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT
mkdir "$house/bench" "$house/build"
cp bench/sets.sh "$house/bench"
cat >"$house/build/bench" <<'END'
#!/bin/sh
case "$*" in
*"--device gpu "*--dry-run) exit 2 ;;
*--dry-run) exit 0 ;;
esac
read -r status <status
while [ "$1" != --output ]; do shift; done
[ "$status" -ge 2 ] || cat rows >"$2"
echo table
echo warning >&2
exit "$status"
END
for name in node_scaling layer_scaling batch_scaling pe_scaling kernels model presets; do
    cp "$house/build/bench" "$house/build/bench_$name"
done
printf '#!/bin/sh\necho "$# files"\n' >"$house/build/findings"
printf '#!/bin/sh\necho "$*"\nfor last; do :; done\n: >"$last"\n' >"$house/build/report"
printf '#!/bin/sh\necho "score of $*"\nexit "$(cat no_score)"\n' >"$house/build/score"
echo 0 >"$house/no_score"
chmod +x "$house"/build/*

echo '  {"status":"ok"}, {"status":"failed"}, {"status":"oom"}' >"$house/rows"

# run STATUS [DEVICE [SET [MACHINE]]]: its exit status and the last line of its output
run()
{
    echo "$1" >"$house/status"
    "$house/bench/sets.sh" "${3:-quick}" build "${2:-}" "${4:-}" >"$house/out" 2>/dev/null
    echo "$?: $(tail -n 1 "$house/out")"
}

check 'without results there is no page' "$("$house/bench/sets.sh" report build 2>&1; echo $?)" \
    "bench/sets.sh: $house/results/local: no result files: make bench
2"
check 'findings cover all files' "$(run 0)" '0: 6 files'
check 'a page of all results' "$("$house/bench/sets.sh" report build)" "$(for name in node_scaling layer_scaling \
    batch_scaling pe_scaling kernels model; do printf 'results/local/bench_%s.jsonl ' $name; done)--output results/local/report.html"
check 'findings cover rows that are not ok, and the exit status is 1' "$(run 1)" '1: 6 files'
check 'benchmarks that did not run have no findings, though older files exist' "$(run 2 | cut -c1-19)" '1: These failed or '
files=$(printf ' results/local/score_%s.jsonl' presets dense sparse)
check 'a score is that of its three files' "$(run 0 '' score)" "0: score of$files"
check 'what was scored is one archive' \
    "$("$house/bench/sets.sh" submit build | tail -n 1; tar -tzf "$house/results/local/score.tar.gz" 2>&1 | wc -l)" \
    "results/local/score.tar.gz: send it; the line above is for the table of results/README.md
5"
echo 1 >"$house/no_score"
check 'without a score the exit status is 1' "$(run 0 '' score | cut -c1-8)" '1: score'
check 'and nothing is sent, nor left of what was sent before' \
    "$("$house/bench/sets.sh" submit build 2>&1; echo $?; ls "$house/results/local" | grep '^score\.')" \
    "bench/sets.sh: no score to submit: make score first
1"
check 'only what a machine has is measured again' \
    "$(mkdir "$house/results/some" && touch "$house/results/some/bench_model.jsonl" && run 0 '' results some)" '0: 1 files'
check 'a machine without results has nothing to measure again' "$(run 0 '' results none | cut -c1-2)" 2:
check 'an interrupt ends the run' "$(run 130)$(run 129)" '130: 129: '
check 'a crash does not end the run' "$(run 139 | cut -c1-19)" '1: These failed or '
echo table >"$house/results/local/bench_model.txt"
check 'a missing device ends the run before anything is written' \
    "$(run 0 gpu) $(cat "$house/results/local/bench_model.txt")" '2:  table'
check 'the full set goes on after rows that are not ok' "$(run 1 '' full)" '1: 8 files'
check 'published tables have the messages below them' \
    "$(run 0 '' full mine) $(cat "$house/results/mine/bench_model.txt" | tr '\n' ' ')" '0: 8 files table warning '
printf '   "status":"ok",\n   "status":"oom",\n   "status":"skipped",\n' >"$house/rows"
check 'rows that are out of memory or skipped are results' "$(run 1 '' full) $(grep memory "$house/out")" \
    '0: 8 files These have rows for which the device lacks memory or an op: bench_node_scaling gps_sparse bench_layer_scaling bench_batch_scaling bench_pe_scaling bench_kernels bench_model bench_presets.'
echo '   "status":"ok",' >"$house/rows"
check 'a failure beside good rows is a failure' "$(run 1)" '1: 6 files'
check 'there are two sets' "$(run 0 '' all)" '2: '
rm -r "$house/results"
: >"$house/results"
check 'a place that cannot be written is one line' "$("$house/bench/sets.sh" quick build 2>&1; echo $?)" \
    "bench/sets.sh: $house/results/local: cannot be written
2"
tap_end
