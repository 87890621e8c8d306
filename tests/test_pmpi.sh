#!/bin/sh
# The bytes counted by tests/pmpi are those of known calls, also of calls by the library that programs open; and that
# library is opened only if it is of the same build.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

build=${GTMARK_BUILD:-build}
skip_without_mpi 'bytes between ranks'
house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT

# bytes RANKS PROGRAM...: what each rank sent to others, one line for each: FUNCTION CALLS BYTES, ...
bytes()
{
    rm -f "$house"/sent.*
    count=$1
    shift
    PMPI_BYTES=$house/sent tests/mpirun.sh "$count" env LD_PRELOAD="$PWD/$build/tests/pmpi/libcount.so" "$@" >"$house/log" 2>&1 ||
        cat "$house/log"
    for file in "$house"/sent.*; do
        sed 's/MPI_//' "$file" | paste -s -d ,
    done
}

# known RANK_PLUS_1 BCAST IBCAST GATHER: of a rank of the known calls
known()
{
    echo "Send 1 40,Isend 2 0,Alltoall 2 64,Alltoallv 1 $((8 * $1)),Ialltoallv 1 $((8 * $1)),Allgather 1 6,Iallgather 1 6,$(
        )Allgatherv 2 $((16 * $1)),Reduce_scatter_block 1 48,Reduce 1 48,Allreduce 1 72,Iallreduce 1 44,$(
        )Bcast 1 $2,Ibcast 1 $3,Gather 1 $4"
}

check 'known calls' "$(bytes 3 "$build/tests/pmpi/known")" "$(known 1 0 20 0
known 2 0 0 6
known 3 26 0 6)"

# Three ranks exchange (known_bytes of test_ranks.c) and sum 10 floats, in pieces of 8 bytes; what follows is of finding
# out how many hosts there are.
check 'calls of the library' "$(bytes 3 "$build/tests/test_ranks" bytes 3 | sed 's/,Ibcast.*//')" \
    'Isend 2 6,Iallreduce 5 40
Isend 3 12,Iallreduce 5 40
Isend 4 20,Iallreduce 5 40'

# refused [ID]: what a rank says of a library that has this id
refused()
{
    echo "${1:+const char gtmark_mpi_id[] = \"$1\"; }int gtmark_mpi_open;" |
        "${CC:-gcc}" -shared -fPIC -x c - -Wl,-soname,libgtmark_mpi.so -o "$house/other.so"
    LD_PRELOAD=$house/other.so PMI_RANK=0 "$build/tests/test_ranks" whole 1 2>&1 | cut -d, -f1
}

check 'a library of another build is refused' "$(refused 1-2)" '# no ranks: the MPI library is of another build (1-2'
check 'so is one that does not say what it is' "$(refused)" '# no ranks: the MPI library is of another build (unnamed'
LC_ALL=C sed 's/libgtmark_mpi/libgtmark_mpx/g' "$build/tests/test_ranks" >"$house/none" && chmod +x "$house/none"
check 'one that was not built is to be built' "$(PMI_RANK=0 "$house/none" whole 1 2>&1 | sed 's/ (.*//')" \
    '# no ranks: the MPI library cannot be loaded: run make, which builds it'
check 'a launcher of another MPI is noticed' \
    "$(PMI_RANK=0 PMI_SIZE=3 "$build/tests/test_ranks" whole 1 2>&1 | sed 's/, but .* knows/, but MPI knows/')" \
    '# no ranks: the launcher started 3 ranks, but MPI knows of 1: a launcher of another MPI?'
check 'the library is looked for in one place' \
    "$(readelf -d "$build/bench_node_scaling" | sed -n 's/.*R[UN]*PATH.*\[\(.*\)\]/\1/p' | tr : '\n' | grep '/mpi$')" "$PWD/$build/mpi"
tap_end
