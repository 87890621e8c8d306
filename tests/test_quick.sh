#!/bin/sh
# The behaviour of `make bench` for different exit statuses of benchmarks. Scripts replace the programs: they exit with
# the status in the file `status`, and write a result file only if it is below 2.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT
mkdir "$house/bench" "$house/build"
cp bench/quick.sh "$house/bench"
cat >"$house/build/bench" <<'END'
#!/bin/sh
case "$*" in
*"--device gpu "*--dry-run) exit 2 ;;
*--dry-run) exit 0 ;;
esac
read -r status <status
[ "$status" -ge 2 ] || echo rows >"results/local/${0##*/}.json"
exit "$status"
END
for name in node_scaling layer_scaling batch_scaling pe_scaling kernels model; do
    cp "$house/build/bench" "$house/build/bench_$name"
done
printf '#!/bin/sh\necho "$# files"\n' >"$house/build/findings"
chmod +x "$house"/build/*

# run STATUS [DEVICE]: its exit status and the last line of its output
run()
{
    echo "$1" >"$house/status"
    "$house/bench/quick.sh" build "${2:-}" >"$house/out" 2>/dev/null
    echo "$?: $(tail -n 1 "$house/out")"
}

check 'findings cover all files' "$(run 0)" '0: 6 files'
check 'findings cover rows that are not ok, and the exit status is 1' "$(run 1)" '1: 6 files'
check 'benchmarks that did not run have no findings, though older files exist' "$(run 2 | cut -c1-19)" '1: These failed or '
check 'an interrupt ends the run' "$(run 130)" '130: '
check 'a crash does not end the run' "$(run 139 | cut -c1-19)" '1: These failed or '
echo table >"$house/results/local/bench_model.txt"
check 'a missing device ends the run before anything is written' \
    "$(run 0 gpu) $(cat "$house/results/local/bench_model.txt")" '2:  table'
tap_end
