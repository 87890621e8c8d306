#!/bin/sh
# Follows the recipes of docs/contributing.md: applies each patch of tests/recipes to a copy of the tree, builds it,
# writes the generated files again, and runs the tests that the patch names and those of the generated files. Twenty
# minutes or so; GTMARK_PART=1/2 follows every second recipe.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# copy TO: the tree, and what is built of it, with times, so that make builds what the patch changes
copy()
{
    mkdir "$1" && git ls-files -z --cached --others --exclude-standard | xargs -0 cp -p --parents -t "$1" &&
        cp -rp build "$1/build"
}

# followed PATCH: what goes wrong; nothing if its tests pass
followed()
{
    rm -rf "$work/tree"
    patch=$PWD/$1
    {
        copy "$work/tree" && cd "$work/tree" && git apply "$patch" && make tests &&
            GTMARK_UPDATE=1 build/tests/test_metrics && GTMARK_UPDATE=1 build/tests/test_schema
    } >"$work/log" 2>&1 || {
        tail -n 40 "$work/log"
        return
    }
    # shellcheck disable=SC2046 # names of tests
    tests/run.sh GTMARK_BUILD=build GTMARK_SMALL=1 \
        $(sed -n 's/^Tests: //p' "$patch" | tr ' ' '\n' | cat - /dev/null | sed 's|^|build/tests/test_|') \
        build/tests/test_metrics build/tests/test_schema >"$work/log" 2>&1 || cat "$work/log"
}

number=0
for patch in tests/recipes/*.patch; do
    number=$((number + 1))
    in_part $number || continue
    check "$patch: builds, and its tests pass" "$(followed "$patch")" ''
done
tap_end
