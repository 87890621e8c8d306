/* Calls each function that count.c counts once, on three ranks, with known bytes; test_pmpi.sh has the sums.
 */
#include <mpi.h>

int main(int argc, char **argv)
{
    double from[64] = {0}, to[64];
    int rank, next, count[3], one[3] = {1, 2, 3}, at[3] = {0, 8, 16}, own;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    next = (rank + 1) % 3;
    for (int p = 0; p < 3; p++)
        count[p] = rank + 1; /* to each, so that one[] come */
    own = one[rank];
    MPI_Irecv(to, 5, MPI_DOUBLE, (rank + 2) % 3, 0, MPI_COMM_WORLD, &r);
    MPI_Send(from, 5, MPI_DOUBLE, next, 0, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Isend(from, 7, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Isend(from, 7, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD, &r); /* to itself: none */
    MPI_Recv(to, 7, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Alltoall(from, 4, MPI_FLOAT, to, 4, MPI_FLOAT, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, 4, MPI_FLOAT, MPI_COMM_WORLD);
    MPI_Alltoallv(from, count, at, MPI_INT, to, one, at, MPI_INT, MPI_COMM_WORLD);
    MPI_Ialltoallv(from, count, at, MPI_INT, to, one, at, MPI_INT, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Allgather(from, 3, MPI_BYTE, to, 3, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Iallgather(from, 3, MPI_BYTE, to, 3, MPI_BYTE, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Allgatherv(from, own, MPI_INT, to, one, at, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, one, at, MPI_INT, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(from, to, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(from, to, 6, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
    MPI_Allreduce(from, to, 9, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallreduce(from, to, 11, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Bcast(from, 13, MPI_BYTE, 2, MPI_COMM_WORLD);
    MPI_Ibcast(from, 10, MPI_BYTE, 0, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Gather(from, 6, MPI_BYTE, to, 6, MPI_BYTE, 0, MPI_COMM_WORLD);
    return MPI_Finalize();
}
