#!/bin/sh
# Compares the machines whose results are committed: analysis/compare_results.sh COMPARE
#
# COMPARE is the program. The files results/MACHINE/NAME.json of the same NAME are one comparison: those measured on
# GPUs where there are some, with those of a processor where there is one GPU only; else those of processors.
set -u
cd "$(dirname "$0")/.." || exit 1
compare=$1

on_gpu='"device": *"cuda'
if [ -z "$(find results -path results/local -prune -o -name '*.json' -exec grep -lE "$on_gpu" {} +)" ]; then
    echo 'no results of GPUs in results/: comparing processors'
    echo
fi

status=0
for name in $(find results -path results/local -prune -o -name '*.json' -print | sed 's|.*/||' | sort -u); do
    set --
    for file in results/*/"$name"; do
        case $file in
        results/local/*) ;;
        *) set -- "$@" "$file" ;;
        esac
    done
    [ $# -gt 0 ] || continue
    gpus=$(grep -lE "$on_gpu" "$@")
    # shellcheck disable=SC2086 # names of files of ours, without blanks
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
