#!/bin/sh
# The page of the committed results: well-formed, below 3 MB, and without errors in the console of a browser.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

build=${GTMARK_BUILD:-build}
house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT

# skipped NAME: instead of a check
skipped()
{
    checked=$((checked + 1))
    echo "ok $checked # SKIP $1"
}

# console PAGE: what a browser prints of it in the console; its document in $house/dom
console()
{
    HOME=$house timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$house/profile" \
        --virtual-time-budget=2000 --enable-logging=stderr --dump-dom "file://$1" 2>&1 >"$house/dom" |
        grep -o 'CONSOLE.*' | sed 's/.*\] //' | cut -c1-60
}

for machine in results/[!l]*/; do
    name=$(basename "$machine")
    check "a page of $name" "$("$build/report" "$machine"*.jsonl -o "$house/$name.html" 2>&1)" "$house/$name.html"
    check 'it is below 3 MB' "$(($(wc -c <"$house/$name.html") < 3000000))" 1
    check 'it loads nothing' "$(grep -oE "(src|href|url\\()=?[\"'][^#\"'][^\"']*[\"']" "$house/$name.html" | sort -u)" 'href="data:,"'
    check 'each table scrolls on a narrow screen, by keys too' \
        "$(grep -oE '(<div class="wide" tabindex="0">)?<table' "$house/$name.html" | sort -u)" '<div class="wide" tabindex="0"><table'
    check 'no chart has the ids of another' "$(grep -oE " id=[\"'][^\"']*" "$house/$name.html" | sort | uniq -d)" ''
    if command -v xmllint >/dev/null; then
        check 'it is well-formed' "$(xmllint --noout --nonet "$house/$name.html" 2>&1)" ''
    else
        skipped 'a well-formed page: no xmllint'
    fi
done
# Texts are written by html(), which escapes them.
check 'nothing but the page writes unescaped texts' \
    "$(grep -lE 'fprintf\(out|fputs\([^",]*,' analysis/report/*.c)" analysis/report/page.c

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
page=$house/epyc-zen4-2core.html
if [ "$browser" ]; then
    check 'no errors in the console' "$(console "$page")" ''
    check 'the script ran' "$(grep -c 'class="filter"' "$house/dom" | sed 's/[1-9].*/yes/')" yes
    # As a user would: sort by the time of inference, longest first, and filter.
    sed -e '/http-equiv/d' -e 's|</body>|<script>\
        const part = Array.from(document.querySelectorAll("section.file")).find((s) => s.querySelector("h2").textContent === "bench_node_scaling");\
        const table = part.querySelector("table.rows"), head = table.tHead.rows[0].cells[2].firstChild;\
        const nodes = () => Array.from(table.tBodies[0].rows, (r) => r.hidden ? "-" : r.cells[0].textContent).join(" ");\
        const box = table.parentNode.previousElementSibling.querySelector("input");\
        head.click(); head.click(); document.title = nodes();\
        box.value = "Inconclusive"; box.dispatchEvent(new Event("input")); document.title += "; " + nodes();\
        </script></body>|' "$page" >"$house/used.html"
    check 'no errors when it is used' "$(console "$house/used.html")" ''
    check 'tables can be sorted and filtered' "$(grep -o '<title>[0-9]*[ ][0-9][^<n]*<' "$house/dom")" \
        '<title>5000 2000 1000 500 100; 5000 - - - -<'
    sed 's/"use strict";/"use strict"; /' "$page" >"$house/changed.html"
    check 'a script that was changed does not run' "$(console "$house/changed.html" | grep -c .)" 1
else
    skipped 'no errors in the console: no chromium'
fi
tap_end
