#!/bin/sh
# Every relative link in the committed Markdown pages refers to an existing file, and to a heading in it.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

# The anchors of page $1 as GitHub creates them: lower case, punctuation removed, blanks replaced by hyphens.
anchors()
{
    awk '/^```/ { fence = !fence } !fence && sub(/^#+ +/, "")' "$1" | tr '[:upper:] ' '[:lower:]-' | sed 's/[^a-z0-9_-]//g'
}

# The broken links of page $1. Lines indented by four blanks are code.
broken()
{
    grep -v '^    ' "$1" | grep -oE '\]\([^)]*\)' | sed 's/^](//; s/)$//' | sort -u | while read -r link; do
        case $link in
        *://*) continue ;;
        '#'*) page=$1 anchor=${link#?} ;;
        *'#'*) page=$(dirname "$1")/${link%%#*} anchor=${link#*#} ;;
        *) page=$(dirname "$1")/$link anchor= ;;
        esac
        if [ ! -e "$page" ]; then
            echo "$1: $link: no such file"
        elif [ "$anchor" ] && ! anchors "$page" | grep -qx -e "$anchor"; then
            echo "$1: $link: no such heading"
        fi
    done
}

for page in *.md docs/*.md docs/*/*.md results/*.md results/[!l]*/*.md tests/golden/README.md; do
    check "links of $page" "$(broken "$page")" ''
done

# misnamed PAGE: the files of a directory that a line of the table names and that are not there
misnamed()
{
    sed -n 's/^| \[\([^]]*\)\].*| \(.*\) |$/\1 \2/p' "$1" | while read -r directory text; do
        for name in $(echo "$text" | grep -oE '`([a-z_]+\.[a-z]+|(bench|gps|rank|score)_[a-z_]+)`' | tr -d '`'); do
            case $name in *.*) ;; *) name=$name.jsonl ;; esac
            [ -e "$(dirname "$1")/$directory/$name" ] || echo "$directory/$name"
        done
    done
}
check 'results/README.md names files that exist' "$(misnamed results/README.md)" ''

planted=$(mktemp -d) || exit 1
trap 'rm -rf "$planted"' EXIT
printf '# What `a_b` is, and why\n\n[x](#what-a_b-is-and-why) [y](#what) [z](none.md) [w](page.md#what)\n' >"$planted/page.md"
check 'broken links are found' "$(broken "$planted/page.md" | sed 's/^[^:]*: //')" '#what: no such heading
none.md: no such file
page.md#what: no such heading'
mkdir "$planted/a" && : >"$planted/a/bench_b.jsonl"
printf '| [a](a) | x | `bench_b`, `bench_c`, `bench_b.json` and `report.png` of `gpt` |\n' >"$planted/README.md"
check 'so are files that are not there' "$(misnamed "$planted/README.md")" 'a/bench_c.jsonl
a/bench_b.json
a/report.png'
tap_end
