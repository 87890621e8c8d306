#!/bin/sh
# compare_all.sh BUILD PYTHON FOLDER: gtmark's operations, models, presets and encodings against other programs, and at
# the end one table of the ratios of all but the operations. FOLDER gets the result files; what a run before left there
# is replaced. From the environment: ROUNDS, 7 unless given; fewer than 6 give no intervals.
set -eu
build=$1 python=$2 folder=$3
rm -rf "$folder"

compare()
{
    what=$1
    shift
    echo "$(date +%H:%M) compare_$what.py $*" >&2
    "$python" -W ignore "tests/golden/compare_$what.py" --rounds "${ROUNDS:-7}" --output "$folder" "$@"
    echo
}

all=eager,compile,onednn,pyg
deep='--hidden 64 --layers 10 --heads 4'
compare torch --ops
compare torch --peers $all --model gps --nodes 100,1000
compare torch --peers eager,onednn --model gps --nodes 5000
compare torch --peers $all --model gps $deep --nodes 100,1000
compare torch --peers eager,onednn,pyg --model gps $deep --nodes 23 --batch 32
compare torch --peers $all --model gps_sparse --hidden 64 --layers 2 --heads 4 --degree 8 --nodes 20000
compare presets
compare encodings --limit 20
"$build/compare" "$folder/ours.json" "$folder"/[!o]*.json
