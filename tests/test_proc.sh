#!/bin/sh
# Where /proc has nothing, or nothing can be written there, rows are what they are elsewhere, without what the system
# does not say.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
build=${GTMARK_BUILD:-build}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# with MOUNT COMMAND...: runs the command after this mount, which nothing else sees
with()
{
    mount=$1
    shift
    # shellcheck disable=SC2016,SC2086 # for the shell inside; words
    unshare $user -m sh -c 'mount $0 && exec "$@"' "$mount" "$@" 2>"$work/errors"
}

empty='-t tmpfs none /proc' fixed='-o bind,ro /proc /proc' user=
with "$empty" true || user=-r
if ! with "$empty" true || ! with "$fixed" true; then
    for what in '/proc without files' '/proc that is not written' 'free memory that is not known'; do
        echo "ok $((checked += 1)) # SKIP $what: mounts are not allowed"
    done
    tap_end
fi

# row MOUNT: status and memory of a row, and why there is no more of it
row()
{
    with "$1" "$build/bench_node_scaling" --nodes 50 --hidden 16 --heads 2 --layers 1 --phase step --budget 0.1 \
        --warmup 1 --no-roofline --no-charts --output "$work/result.json" --format csv \
        --columns status,step.memory.resident,step.memory.planned | tail -n 1 | sed 's/,[1-9][0-9]*$/,planned/'
    sed -n 's/.*"step.memory.resident": *"\([^"]*\)".*/\1/p' "$work/result.json"
    rm -f "$work/result.json"
}

without='ok,,50,,planned
the kernel does not say, or cannot reset its high-water mark (/proc/self)'
check '/proc without files' "$(row "$empty")" "$without"
check '/proc that is not written' "$(row "$fixed")" "$without"
check 'free memory that is not known' \
    "$(with "$empty" "$build/bench_node_scaling" --find nodes=memory --device meta; echo $?; cat "$work/errors")" "2
bench_node_scaling: --find nodes=memory: how much is free is not known here: nodes=memory:4GiB or --mem-limit"
tap_end
