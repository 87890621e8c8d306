#!/bin/sh
# The recipes of docs/contributing.md, each followed once in a patch (tests/recipes): does it still apply, and does it
# touch no more files than the recipe says? `make soak` also builds and tests them (tests/recipes.sh).
#
# A patch begins with the lines "Recipe: TITLE", as the section is titled, and "Tests: NAME..."; generated files are not in
# it. The section's title ends with the number of files: "### An op (3 files)".
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

# The numbers of files in docs/contributing.md, one line each: NUMBER TITLE
stated=$(sed -n 's/^### \(.*\) (\([0-9]*\) files\{0,1\})$/\2 \1/p' docs/contributing.md)

# excess PATCH: "TOUCHED files, STATED are stated" if it touches more than its recipe says
excess()
{
    recipe=$(sed -n 's/^Recipe: //p' "$1")
    files=$(grep -c '^diff --git' "$1")
    limit=$(echo "$stated" | sed -n "s/^\([0-9]*\) $recipe\$/\1/p")
    [ "$files" -le "${limit:-0}" ] || echo "$files files; docs/contributing.md states ${limit:-none} for '$recipe'"
}

for patch in tests/recipes/*.patch; do
    check "$patch applies" "$(git apply --check "$patch" 2>&1)" ''
    check "$patch touches as many files as its recipe says" "$(excess "$patch")" ''
done
check 'every recipe that states a number of files has a patch' "$(echo "$stated" | sed 's/^[0-9]* //' | sort)" \
    "$(sed -n 's/^Recipe: //p' tests/recipes/*.patch | sort)"

planted=$(mktemp) || exit 1
trap 'rm -f "$planted"' EXIT
sed 's/^\( .*\)$/\1 planted/' tests/recipes/op.patch >"$planted"
check 'a patch that does not apply is found' "$(git apply --check "$planted" 2>/dev/null || echo found)" found
{ cat tests/recipes/op.patch && for i in 1 2 3 4 5 6 7 8 9; do echo "diff --git $i"; done; } >"$planted"
check 'a patch of too many files is found' "$(excess "$planted" | grep -c 'docs/contributing.md states')" 1
tap_end
