#!/bin/sh
# Compares the machines with committed results: analysis/compare_results.sh COMPARE
#
# COMPARE is the program. Files results/MACHINE/NAME.jsonl of the same NAME are one comparison: of GPUs if there are at
# least two, else of all machines.
set -u
cd "$(dirname "$0")/.." || exit 1
compare=$1

on_gpu='"device": *"cuda'
if [ -z "$(find results -path results/local -prune -o -name '*.jsonl' -exec grep -lE "$on_gpu" {} +)" ]; then
    echo 'no results of GPUs in results/: comparing processors'
    echo
fi

status=0
for name in $(find results -path results/local -prune -o -name '*.jsonl' -print | sed 's|.*/||' | sort -u); do
    set --
    for file in results/*/"$name"; do
        case $file in
        results/local/*) ;;
        *) set -- "$@" "$file" ;;
        esac
    done
    [ $# -gt 0 ] || continue
    gpus=$(grep -lE "$on_gpu" "$@")
    # shellcheck disable=SC2086 # our file names contain no blanks
    [ "$(echo "$gpus" | wc -w)" -lt 2 ] || set -- $gpus
    echo "== $name"
    if [ $# -lt 2 ]; then
        echo "only $1: nothing to compare it with"
    else
        "$compare" "$@" || status=1
    fi
    echo
done
exit $status
