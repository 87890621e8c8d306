#!/bin/sh
# Rows of another processor beside ours: GTMARK_BUILD=build/aarch64-linux-gnu-gcc tests/foreign_rows.sh [ROWS]
#
# Random configurations, the same every time. In each both builds did the same work by its id, with the same FLOPs, both
# are within the limits of error beside the reference in double, and `compare` finds every row in both files.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
ours=build theirs=$GTMARK_BUILD rows=${1:-200}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Flags of the N-th run, of at most four rows; not all can be had.
flags()
{
    awk -v seed="$1" '
        function pick(flag, list, n, part) {
            n = split(list, part, " ")
            printf " --%s %s", flag, part[1 + int(rand() * n)]
        }
        BEGIN {
            srand(seed)
            pick("nodes", "5 9 17 30,31 47 8,64 100")
            pick("batch", "1 2 3 7")
            pick("hidden", "8 12 16 24,40 60")
            pick("heads", "1 2 4")
            pick("layers", "1 1 2")
            pick("threads", "1 2 3")
            pick("graph", "er ba rmat ws sbm grid star molecule superpixel tree complete")
            pick("norm", "layer batch graph none")
            pick("act", "gelu relu silu tanh")
            pick("task", "graph graph node edge")
            pick("precision", "f32 f32 tf32 bf16")
            pick("batching", "ragged ragged padded")
            pick("pe", "none none lap:3 rwse:5 heat")
            pick("dropout", "0 0 .1")
            if (rand() < .5)
                pick("attention", "dense sparse unfused performer performer-relu exphormer")
            else
                pick("model", "gps gps_sparse graph_transformer sparse_transformer gin graphormer")
            if (rand() < .5)
                pick("mpnn", "gin gcn gatv2 gatv2-edge pna pna-edge gine gatedgcn")
            if (rand() < .2)
                printf " --bias spd:5"
            if (rand() < .2)
                printf " --mlp fused"
            if (rand() < .2)
                printf " --expander 2:1"
            if (rand() < .2)
                printf " --checkpoint layer"
        }'
}

# run BUILD NAME FLAG...: the rows, to NAME.jsonl and NAME.rows: status, work, parameters, error
run()
{
    build=$1 name=$2
    shift 2
    rm -f "$work/$name.jsonl"
    "$build/bench_node_scaling" "$@" --runs 1 --warmup 0 --repetitions 1 --budget .1 --no-roofline --no-charts --format csv \
        --columns status,work,parameters,error.norm --output "$work/$name.jsonl" >"$work/$name.rows" 2>"$work/$name.err"
}

# what NAME: everything of the rows but their errors. What qemu translates is resident memory that no plan has.
what()
{
    sed 's/,[^,]*$//; s/^wrong,a run uses more resident memory than planned,/ok,,/' "$work/$1.rows"
}

done=0 seed=0 differ_in=
while [ $done -lt "$rows" ]; do
    seed=$((seed + 1))
    # shellcheck disable=SC2046 # words
    set -- $(flags $seed)
    "$ours/bench_node_scaling" "$@" --dry-run >"$work/plan" 2>&1 || continue
    run "$ours" ours "$@"
    run "$theirs" theirs "$@"
    count=$(($(wc -l <"$work/ours.rows") - 1))
    done=$((done + count))
    joined=$("$ours/compare" "$work/ours.jsonl" "$work/theirs.jsonl" | grep -cE 'inference +~?[0-9]')
    if [ "$(what ours)" != "$(what theirs)" ] || [ "$(what theirs | grep -c '^ok,')" != $count ] || [ "$joined" != $count ]; then
        differ_in="$differ_in
$* ($joined joined):
$(cat "$work/ours.rows" "$work/theirs.rows" "$work/theirs.err")"
    fi
    paste -d , "$work/ours.rows" "$work/theirs.rows" | sed 1d >>"$work/errors"
done
check "$done rows of random configurations: work, parameters and limits of error as here, joined by compare" "$differ_in" ''
awk -F , '{ theirs = $NF; for (i = 1; i <= NF; i++) if ($i ~ /^(ok|wrong)$/ && i > 1) break
            ours = $(i - 1); if (ours > 0) { ratio = theirs / ours; if (ratio > most) most = ratio } }
          END { print "# largest ratio of errors: " most }' "$work/errors"
tap_end
