#!/bin/sh
# The command lines of `make score` measure the works of the score, and the table of machines has their scores.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
build=${GTMARK_BUILD:-build}

house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT

wanted=$(sed -n 's/^WORK(.*"\([0-9a-f]\{16\}\)".*/\1/p' analysis/compare/score.def)
sed -n '/^score_set()/,/^}/p' bench/sets.sh | grep '|' >"$house/lines"
while IFS='|' read -r name program _ flags; do
    # shellcheck disable=SC2086 # flags are words
    "$build/$program" $flags --device meta --format csv --columns work --output "$house/$name.jsonl" 2>"$house/err" ||
        cat "$house/err" >&2
done <"$house/lines" | tr , '\n' | grep -E '^[0-9a-f]{16}$' >"$house/works"
check 'the works are those of score.def' "$(cat "$house/works")" "$wanted"
# A build of changed files has none for that reason.
check 'what was only planned has no score' \
    "$("$build/score" "$house"/score_*.jsonl 2>&1 | grep -cE 'no score: (zinc was only planned|the build is of no commit)'
    "$build/score" "$house"/*.jsonl 2>/dev/null; echo $?)" '1
1'
for directory in results/*/; do
    machine=$(basename "$directory")
    [ ! -f "$directory/score_presets.jsonl" ] ||
        check "the table has the score of $machine" \
            "$(grep -cxF "$("$build/score" --line "$machine" "$directory"score_*.jsonl)" results/README.md)" 1
done
tap_end
