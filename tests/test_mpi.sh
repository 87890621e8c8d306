#!/bin/sh
# Benchmarks on several ranks, under MPI: results are those of one rank, and what cannot run together is refused. Two
# slots are enough, for root too: tests/mpirun.sh has the command line.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
build=${GTMARK_BUILD:-build}
small='--nodes 12 --degree 1 --hidden 16 --heads 2 --layers 2 --repetitions 1 --warmup 1 --no-charts --no-roofline'

skip_without_mpi 'programs on several ranks'
house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT

# bench RANKS FLAG...: of bench_rank_scaling on so many started ranks, the columns asked for, and the exit status
bench()
{
    ranks=$1
    shift
    # shellcheck disable=SC2086 # several flags
    tests/mpirun.sh "$ranks" "$build/bench_rank_scaling" $small --runs 3 --output "$house/x.json" "$@" 2>"$house/err"
    echo $?
}

# said: the lines of the program, without those of mpirun
said()
{
    grep '^bench_rank_scaling:' "$house/err"
}

for model in gps gps_sparse gin graph_transformer; do
    check "$model on 1 to 4 ranks, one of them without nodes" \
        "$(bench 4 --ranks 1-4+1 --batch 3 --model $model --format csv --columns ranks.count,checked)" \
        'status,reason,ranks.count,checked
ok,,1,whole
ok,,2,whole
ok,,3,whole
ok,,4,whole
0'
done
check 'nodes divided among 1 to 4 ranks' \
    "$(bench 4 --ranks 1-4+1 --parallel halo --batch 1 --model gps_sparse,gin --format csv --columns ranks.count,checked)" \
    'status,reason,model,ranks.count,checked
ok,,gps_sparse,1,whole
ok,,gps_sparse,2,whole
ok,,gps_sparse,3,whole
ok,,gps_sparse,4,whole
ok,,gin,1,whole
ok,,gin,2,whole
ok,,gin,3,whole
ok,,gin,4,whole
0'
# with_metis RANKS FLAG...: the same of a partition
with_metis()
{
    bench "$@" --partition metis --model gps_sparse --format csv --columns ranks.count,ranks.partition,checked
}
metis=$(grep '^HAVE_METIS *:= 1' "$build/config.mk")
if [ -n "$metis" ]; then
    for task in graph node; do
        check "nodes divided by METIS, task $task" \
            "$(with_metis 4 --ranks 1-4+1 --parallel halo --batch 2 --task $task)" \
            'status,reason,ranks.count,ranks.partition,checked
ok,,1,metis,whole
ok,,2,metis,whole
ok,,3,metis,whole
ok,,4,metis,whole
0'
    done
    check 'METIS divides only what rows of halo nodes connect' "$(with_metis 2 --ranks 2 --parallel data)" 2
    check 'and says so' "$(said)" \
        'bench_rank_scaling: --ranks 2: not with --partition metis (--parallel halo)'
else
    check 'a build without METIS refuses it' "$(with_metis 2 --ranks 2 --parallel halo)" 2
    check 'and says so' "$(said)" 'bench_rank_scaling: --partition metis: this build has no METIS (make setup tests)'
fi
check 'nodes and heads divided among 2 ranks' \
    "$(bench 2 --ranks 2 --batch 1 --parallel ulysses --model gps,graph_transformer --format csv --columns checked,ranks.nodes_min)" \
    'status,reason,model,checked,ranks.nodes_min
ok,,gps,whole,6
ok,,graph_transformer,whole,6
0'
check 'keys and values going around 1 to 4 ranks' \
    "$(bench 4 --ranks 1-4+1 --parallel ring --batch 3 --model gps,graph_transformer --format csv --columns ranks.count,checked)" \
    'status,reason,model,ranks.count,checked
ok,,gps,1,whole
ok,,gps,2,whole
ok,,gps,3,whole
ok,,gps,4,whole
ok,,graph_transformer,1,whole
ok,,graph_transformer,2,whole
ok,,graph_transformer,3,whole
ok,,graph_transformer,4,whole
0'
check 'heads that are fewer than ranks do not divide' "$(bench 3 --ranks 3 --parallel ulysses)" 2
check 'but may stay whole' "$(said)" \
    'bench_rank_scaling: --ranks 3 --parallel ulysses: not with fewer heads than ranks (--parallel ring)'
check 'sparse attention has nothing to go around' "$(bench 2 --ranks 2 --parallel ring --model gps_sparse)" 2
check 'and says what it has' "$(said)" \
    'bench_rank_scaling: --ranks 2 --parallel ring: not with a model without dense attention (--parallel halo)'
check 'dense attention needs heads to divide, or keys that go around' "$(bench 2 --ranks 2 --parallel halo)" 2
check 'and says so' "$(said)" \
    'bench_rank_scaling: --ranks 2 --parallel halo: not with dense attention (--parallel ulysses or ring)'
check 'weak scaling has a batch for each rank' \
    "$(bench 2 --ranks 1,2 --batch 2 --weak --format csv --columns ranks.count,batch,ranks.nodes_max)" \
    'status,reason,ranks.count,batch,ranks.nodes_max
ok,,1,2,
ok,,2,4,24
0'
check 'or as many nodes' \
    "$(bench 2 --ranks 1,2 --batch 1 --weak --parallel halo --model gin --format csv --columns ranks.count,nodes,ranks.nodes_max)" \
    'status,reason,ranks.count,nodes,ranks.nodes_max
ok,,1,12,
ok,,2,24,12
0'
check 'but not where work grows with their square' "$(bench 2 --ranks 2 --weak --parallel ulysses)" 2
check 'however that is shared' "$(bench 2 --ranks 2 --weak --parallel ring)" 2
check 'the parts of the ranks: sizes of four graphs, shared by two and by three' \
    "$(bench 3 --ranks 2,3 --batch 4 --no-check --format csv \
        --columns ranks.count,ranks.hosts,ranks.nodes_max,ranks.nodes_min,ranks.edges_max,ranks.edges_min,graph.edges)" \
    'status,reason,ranks.count,ranks.hosts,ranks.nodes_max,ranks.nodes_min,ranks.edges_max,ranks.edges_min,graph.edges
ok,,2,1,24,24,26,24,50
ok,,3,1,24,6,26,6,50
0'
check 'as many as were started, by default' \
    "$(bench 2 --batch 2 --no-check --format csv --columns ranks.count)" 'status,reason,ranks.count
ok,,1
ok,,2
0'
check 'another benchmark' \
    "$(tests/mpirun.sh 2 "$build/bench_node_scaling" $small --runs 3 --ranks 2 --batch 4 --output "$house/y.json" --format csv \
        --columns checked 2>/dev/null)" 'status,reason,nodes,checked
ok,,12,whole'
check 'more ranks than were started' "$(bench 2 --ranks 3)" 2
check 'say so' "$(said)" \
    'bench_rank_scaling: --ranks 3: 2 ranks were started; begin the command with mpirun -n 3'
check 'norms over graphs that ranks divide' \
    "$(bench 3 --ranks 3 --norm batch,graph --parallel data,ring --batch 2 --phase forward,step --format csv \
        --columns norm,ranks.parallel,checked)" 'status,reason,norm,ranks.parallel,checked
ok,,batch,data,whole
ok,,batch,ring,whole
ok,,graph,data,whole
ok,,graph,ring,whole
0'
check 'the maximum of nodes that ranks divide' \
    "$(bench 3 --ranks 3 --pool max --parallel ring --batch 2 --phase forward,step --format csv --columns checked)" \
    'status,reason,nodes,checked
ok,,12,whole
0'
check 'rows of heads and keys have half the bytes in bf16' \
    "$(bench 2 --ranks 2 --precision f32,tf32,bf16 --parallel ulysses,ring --batch 1 --task node --phase forward \
        --format csv --columns dtype,ranks.parallel,checked,forward.communication.bytes)" \
    'status,reason,dtype,ranks.parallel,checked,forward.communication.bytes
ok,,f32,ulysses,whole,2048
ok,,f32,ring,whole,2048
ok,,tf32,ulysses,whole,2048
ok,,tf32,ring,whole,2048
ok,,bf16,ulysses,whole,1024
ok,,bf16,ring,whole,1024
0'
check 'norms of edges' "$(bench 2 --ranks 2 --model gps --mpnn gatedgcn)" 2
check 'are refused' "$(said)" 'bench_rank_scaling: --ranks 2: not with batch norm of edges or features'
check 'a part of a sweep' "$(bench 2 --ranks 1 --batch 2,4 --shard 1/2)" 2
check 'is refused too' "$(said)" 'bench_rank_scaling: --shard 1/2: not with 2 ranks'
check 'a bad flag' "$(bench 2 --ranks 2 --nodes x)" 2
check 'is said once' "$(said | grep -c nodes)" 1
# parts FLAG... : FLAG...: two ranks with flags of their own
parts()
{
    tests/mpirun.sh 1 timeout 60 "$build/bench_rank_scaling" $small --output "$house/x.json" --batch 2 "$1" \
        : -n 1 timeout 60 "$build/bench_rank_scaling" $small --output "$house/x.json" --batch 2 "$2" >/dev/null 2>"$house/err"
    echo $?
}
check 'ranks with other arguments' "$(parts --runs=3 --runs=4)" 2
check 'are refused' "$(said)" 'bench_rank_scaling: rank 1 was started with other arguments, or is of another build'
check 'a rank that refuses its arguments' "$(parts --runs=3 --runs=x)" 2
check 'is one of these' "$(said)" 'bench_rank_scaling: rank 1 was started with other arguments, or is of another build'
check 'rank 0 that refuses its arguments' "$(parts --runs=x --runs=3)" 2
check 'says so' "$(said | cut -d: -f2)" ' --runs x'
# Sizes of two graphs are apart: the larger is that of rank 1, and does not fit
check 'a rank without memory for its part' \
    "$(bench 2 --ranks 2 --batch 2 --seed 5 --mem-limit 220B --format csv --columns ranks.count)" \
    'status,reason,nodes,ranks.count
oom,rank 1: building the graph needs 320 B (320 bytes); --mem-limit is 220 B,12,2
1'
if grep -q avx2 /proc/cpuinfo; then
    check 'ranks with other instruction sets' "$(tests/mpirun.sh 1 env GTMARK_ISA=base "$build/bench_rank_scaling" $small \
        --output "$house/x.json" --batch 2 : -n 1 "$build/bench_rank_scaling" $small --output "$house/x.json" --batch 2 \
        >/dev/null 2>"$house/err"; echo $?)" 2
    check 'are refused, too' "$(said | sed 's/cpu-a[a-z0-9]*/cpu-x/')" \
        'bench_rank_scaling: rank 1 has kernels cpu-x and rank 0 cpu-base, which round differently; set one GTMARK_ISA for all'
fi
check 'help' "$(bench 2 --help | head -n 1 | cut -d: -f1)" bench_rank_scaling
# A calibration between the ranks, in a directory of its own, where the ceilings of this busy machine are kept too
cp "$build/bench_rank_scaling" "$house"
GTMARK_BUILD=$(cd "$build" && pwd) root=$PWD
export GTMARK_BUILD
# shellcheck disable=SC2086 # several flags
(cd "$house" && "$root/tests/mpirun.sh" 2 ./bench_rank_scaling ${small% *} --phase step --batch 3 --ranks 1,2 --runs 3 --output x.json \
    --format csv --columns ranks.count,step.communication.predicted,step.communication.error >x.csv 2>err)
check 'the exchange of two ranks is predicted, with the error of that' "$(sed 's/,[0-9.e-]*[0-9],[-0-9.e]*[0-9]$/,x,y/' "$house/x.csv")" \
    'status,reason,ranks.count,step.communication.predicted,step.communication.error
ok,,1,,
ok,,2,x,y'
check 'by a calibration in the file' "$(grep -c '"links": *\[' "$house/x.json")" 1
check 'which predicts more ranks' "$("$build/bench_rank_scaling" $small --phase step --batch 4 --device meta --ranks 4 --peaks link="$house/x.json" \
    --format csv --columns step.communication.link 2>/dev/null | grep -o 'of a sum on 2 ranks of 1 host')" \
    'of a sum on 2 ranks of 1 host'
# sent RUNS RANKS FLAG...: the bytes of sums and of messages, by each rank's count of MPI's calls, of a sweep with so many
# steps
sent()
{
    runs=$1
    ranks=$2
    shift 2
    rm -f "$house"/sent.*
    # shellcheck disable=SC2086 # several flags
    PMPI_BYTES=$house/sent tests/mpirun.sh "$ranks" env LD_PRELOAD="$PWD/$build/tests/pmpi/libcount.so" "$build/bench_rank_scaling" \
        $small --phase step --runs "$runs" --ranks "$ranks" "$@" --output "$house/x.json" >/dev/null 2>&1
    for file in "$house"/sent.*; do
        awk '$1 == "MPI_Iallreduce" || $1 == "MPI_Isend" { n += $3 } END { print n }' "$file"
    done
}

# bytes NAME RANKS FLAG...: a step sends what the row says, from the rank that sends most. One more of --runs is three: a
# sample, and a whole run and one of nothing else for the time of exchange
bytes()
{
    name=$1
    shift
    sent 3 "$@" >"$house/few"
    sent 4 "$@" >"$house/many"
    field=$(sed -n '/"step": *{/,$p' "$house/x.json" | tr ',' '\n' |
        sed -n '/"communication": *{/,$s/.*"bytes": *\([0-9]*\).*/\1/p' | head -n 1)
    check "bytes of a row are those that MPI sends: $name" \
        "$(paste "$house/few" "$house/many" | awk '$2 - $1 > most { most = $2 - $1 } END { print most / 3 }')" "${field:-none}"
}
bytes data 2 --batch 3
bytes halo 2 --parallel halo --model gps_sparse --batch 3
[ -z "$metis" ] || bytes 'halo by METIS' 2 --parallel halo --model gps_sparse --batch 3 --partition metis
bytes ulysses 2 --parallel ulysses --batch 3
bytes ring 2 --parallel ring --batch 3
bytes 'batch norm' 2 --batch 3 --norm batch
bytes 'graph norm and maxima' 2 --parallel halo --model gps_sparse --batch 3 --norm graph --pool max
bytes 'halo nodes, graph norm and maxima in bf16' 2 --parallel halo --model gps_sparse --batch 3 --norm graph --pool max --precision bf16
bytes 'ring in bf16' 2 --parallel ring --batch 3 --precision bf16
small="--nodes 2 ${small#--nodes 12 }"
check 'keys and values go around where a rank has no nodes' \
    "$(bench 3 --ranks 3 --parallel ring --batch 1 --format csv --columns checked,ranks.nodes_min)" \
    'status,reason,nodes,checked,ranks.nodes_min
ok,,2,whole,0
0'
bytes 'ring, a rank without nodes' 3 --parallel ring --batch 1
small="--nodes 11 ${small#--nodes 2 }"
bytes 'ring, blocks of unequal sizes' 3 --parallel ring --batch 1
tap_end
