#!/bin/sh
# The figures of the README's tables stand in the published results, its file of ceilings has some, and its lines for
# other programs read a result file.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

# unpublished PAGE: rows of its first table that no published output contains
unpublished()
{
    grep -E '^ +[0-9]+ .* ok' "$1" | sed 's/^ *//' | while read -r row; do
        cat results/[!l]*/*.txt | grep -qF -e "$row" || echo "$row"
    done
}

# unmeasured PAGE: ratios of the rows "| model of width D | nodes | inference | training step |" that no row of the
# comparison with PyTorch has as its least
unmeasured()
{
    awk -F ' *[|] *' '
        function least(text, ratio, n, parts, i) {
            n = split(text, parts, ", ")
            ratio = parts[1] + 0
            for (i = 2; i <= n; i++)
                if (parts[i] + 0 < ratio)
                    ratio = parts[i] + 0
            return ratio
        }
        FNR == 1 { page = page + 1 }
        page == 1 && $2 ~ /^[0-9]+$/ { measured[$2, $3, least($(NF - 3))] = 1 }
        page == 2 && NF == 6 && $3 ~ /^[0-9]+$/ {
            if (!measured[$3, "forward", $4 + 0] || !measured[$3, "step", $5 + 0])
                print $2 ", " $3 " nodes: " $4 ", " $5
        }' results/epyc-zen5-2core/pytorch.md "$1"
}

planted=$(mktemp -d) || exit 1
trap 'rm -rf "$planted"' EXIT
sed -E 's/^( +100 +)[0-9]/\19/; s/^(\|.*\| 100 \| )[0-9]/\19/' README.md >"$planted/README.md"
check 'times of the README' "$(unpublished README.md)" ''
check 'ratios of the README' "$(unmeasured README.md)" ''
check 'times that nobody measured are found' "$(unpublished "$planted/README.md" | wc -l)" 1
check 'ratios that nobody measured are found' "$(unmeasured "$planted/README.md" | wc -l)" 2
for file in $(grep -o -e '--ceilings results/[^ `]*' README.md | cut -d' ' -f2); do
    "${GTMARK_BUILD:-build}/bench_node_scaling" --device meta --nodes 8 --ceilings "$file" --no-charts --output "$planted/x.json" \
        >"$planted/said" 2>&1
    check "the ceilings of $file" $? 0
done

# reads PROGRAM ROW: the README's line for the program prints two lines with this pattern, of a file with two rows
reads()
{
    said=$(sed -n "/^    $1 /{:more; /\\\\\$/{N; b more}; p}" README.md | (cd "$planted" && sh 2>&1))
    check "$1 reads a result file" "$(printf '%s\n' "$said" | grep -c "$2")" 2
}

mkdir -p "$planted/results/local"
"${GTMARK_BUILD:-build}/bench_node_scaling" --nodes 8,9 --hidden 8 --heads 1 --layers 1 --phase step --runs 3 --no-charts \
    --no-roofline --output "$planted/results/local/bench_node_scaling.jsonl" >"$planted/said" 2>&1
command -v jq >/dev/null && reads jq '^\[[89],[0-9.e-]*\]$'
python3 -c 'import pandas' 2>/dev/null && reads python3 '[0-9].* row$'
command -v sqlite3 >/dev/null && reads sqlite3 '^[89].[0-9.e-]*$'
tap_end
