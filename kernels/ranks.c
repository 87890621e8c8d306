/*
 * Ranks, opened on demand, as the CUDA backend is (plugin.c), and only in a process that a launcher of MPI
 * started: MPI takes a tenth of a second to start, and a process that is alone needs none.
 */
#include "kernels/ranks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What launchers tell the processes that they start: Open MPI's mpirun; Hydra, the mpiexec of MPICH, and its
 * kin; whatever starts processes by PMIx, such as srun --mpi=pmix. What only says that a Slurm job runs is
 * none.
 */
static const char *const told[] = {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK"};
enum { TOLD = sizeof told / sizeof *told };

static bool launched(void)
{
    bool any = false;
    for (int i = 0; i < TOLD; i++)
        any = any || getenv(told[i]);
    return any;
}

#if HAVE_MPI
/* Processes that a rank starts are no ranks. */
static void forget_launch(void)
{
    for (int i = 0; i < TOLD; i++)
        unsetenv(told[i]);
}

/* A launcher of another MPI starts processes that each believe to be alone. */
static bool of_launcher(const struct ranks *r, char *error, size_t error_size)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    if (!size)
        size = getenv("PMI_SIZE");
    if (!size || atoi(size) == r->count)
        return true;
    snprintf(error, error_size,
             "the launcher started %.9s ranks, but %s knows of %d: a launcher of another MPI?", size, r->mpi,
             r->count);
    return false;
}

const struct ranks *ranks_open_pieces(int64_t piece, char *error, size_t error_size)
{
    *error = 0;
    if (!launched())
        return NULL;
    void *library = dlopen("libgtmark_mpi.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(error, error_size, "the MPI library cannot be loaded: run make, which builds it (%s)",
                 dlerror());
        return NULL;
    }
    const char *id = dlsym(library, "gtmark_mpi_id");
    const struct ranks *(*open)(int64_t) =
        (const struct ranks *(*)(int64_t))dlsym(library, "gtmark_mpi_open");
    if (!open || !id || strcmp(id, MPI_ID) != 0) {
        snprintf(error, error_size, "the MPI library is of another build (%.40s, not %s): run make",
                 id ? id : "unnamed", MPI_ID);
        return NULL;
    }
    const struct ranks *r = open(piece);
    if (!r)
        snprintf(error, error_size, "MPI does not start");
    else if (!of_launcher(r, error, error_size)) {
        r->close(r);
        return NULL;
    }
    forget_launch();
    return r;
}
#else
const struct ranks *ranks_open_pieces(int64_t piece, char *error, size_t error_size)
{
    (void)piece;
    snprintf(error, error_size, launched() ? "this build has no MPI (`make probe` says why)" : "");
    return NULL;
}
#endif

const struct ranks *ranks_open(char *error, size_t error_size)
{
    return ranks_open_pieces(1 << 30, error, error_size);
}
