#!/bin/sh
# kill -9 of a rank at random moments of a sweep: tests/mpi_kills.sh [KILLS] (50). The launcher must end with an error
# within 10 s, and --resume find a whole file and complete it. A part of soak.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
build=${GTMARK_BUILD:-build}
kills=${1:-50}
skip_without_mpi 'kills of ranks'
house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT
sweep="$build/bench_rank_scaling --ranks 1-3+1 --nodes 12 --degree 1 --hidden 16 --heads 2 --layers 2 --batch 6,12 --runs 40
    --no-charts --no-roofline --output $house/x.json"

fail()
{
    echo "not ok 1 - kill $kill of rank $rank after $pause s: $*"
    sed 's/^/# /' "$house/log"
    exit 1
}

kill=0 interrupted=0
while [ $((kill += 1)) -le "$kills" ]; do
    rm -f "$house"/x.json*
    rank=$(awk -v seed="$kill" 'BEGIN { srand(seed); print int(3 * rand()) }')
    pause=$(awk -v seed="$kill" 'BEGIN { srand(seed); rand(); printf "%.3f", 0.3 + 3 * rand() }')
    # shellcheck disable=SC2086 # several words
    timeout 60 tests/mpirun.sh 3 $sweep >"$house/log" 2>&1 &
    launcher=$!
    sleep "$pause"
    victim=$(pgrep -f "bench_rank_scaling .*$house/x.json" | while read -r pid; do
        tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -q -x -e "OMPI_COMM_WORLD_RANK=$rank" -e "PMI_RANK=$rank" && echo "$pid"
    done | head -n 1)
    begin=$(date +%s)
    [ -z "$victim" ] || kill -9 "$victim"
    wait $launcher
    status=$?
    [ -z "$victim" ] || [ $(($(date +%s) - begin)) -le 10 ] || fail "the launcher took more than 10 s"
    if [ $status != 0 ]; then
        interrupted=$((interrupted + 1))
        # shellcheck disable=SC2086
        timeout 60 tests/mpirun.sh 3 $sweep --resume >"$house/log" 2>&1 || fail "--resume ends with status $?"
    fi
    [ "$(grep -o '"status": *"ok"' "$house/x.json" | wc -l)" = 6 ] || fail 'rows are missing'
    "$build/compare" "$house/x.json" "$house/x.json" >/dev/null 2>"$house/log" || fail 'the file cannot be read'
done
[ "$interrupted" -gt 0 ] || fail 'all sweeps were over before'
echo "ok 1 - $interrupted of $kills sweeps were ended, and complete after --resume"
echo '1..1'
