#include "graphs/partition.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if HAVE_METIS
#include <metis.h>

_Static_assert(CSR_MAX_EDGES <= IDX_MAX && CSR_MAX_NODES <= IDX_MAX, "METIS counts nodes and edges in idx_t");
#endif

bool partition_possible(void)
{
    return HAVE_METIS;
}

bool partition_allocate(struct partition *p, int64_t nodes, int parts)
{
    *p = (struct partition){.parts = parts,
                            .nodes = nodes,
                            .first = calloc((size_t)parts + 1, sizeof *p->first),
                            .number = reallocarray(NULL, (size_t)nodes, sizeof *p->number)};
    if (p->first && p->number)
        return true;
    partition_free(p);
    return false;
}

void partition_free(struct partition *p)
{
    free(p->first);
    free(p->number);
    *p = (struct partition){0};
}

bool partition_number(struct partition *p, const int32_t *part, int64_t nodes, int parts)
{
    int64_t *next = calloc((size_t)parts, sizeof *next);
    bool room = next && partition_allocate(p, nodes, parts);
    for (int64_t i = 0; i < nodes && room; i++)
        p->first[part[i] + 1]++;
    for (int k = 0; k < parts && room; k++) {
        p->first[k + 1] += p->first[k];
        next[k] = p->first[k];
    }
    for (int64_t i = 0; i < nodes && room; i++)
        p->number[i] = (int32_t)next[part[i]]++;
    free(next);
    return room;
}

int32_t *partition_list(const struct partition *p)
{
    int32_t *list = reallocarray(NULL, (size_t)p->nodes, sizeof *list);
    for (int64_t i = 0; i < p->nodes && list; i++)
        list[p->number[i]] = (int32_t)i;
    return list;
}

#if HAVE_METIS
/* A graph as METIS wants it: no edge twice, no loop. */
struct plain {
    idx_t *row, *col;
};

static bool copy_plain(struct plain *to, const struct csr *g)
{
    idx_t edges = 0;
    to->row = reallocarray(NULL, (size_t)g->nodes + 1, sizeof *to->row);
    to->col = reallocarray(NULL, (size_t)g->edges, sizeof *to->col);
    if (!to->row || !to->col)
        return false;
    for (int64_t i = 0; i < g->nodes; i++) {
        to->row[i] = edges;
        for (int64_t e = g->row_ptr[i], last = i; e < g->row_ptr[i + 1]; last = g->col[e++])
            if (g->col[e] != last && g->col[e] != i)
                to->col[edges++] = g->col[e];
    }
    to->row[g->nodes] = edges;
    return true;
}

/* What METIS may say against a graph is that there is no memory. */
static bool call_metis(const struct csr *g, int parts, uint64_t seed, int32_t *part)
{
    idx_t nodes = (idx_t)g->nodes, constraints = 1, count = parts, cut, option[METIS_NOPTIONS];
    struct plain plain;
    METIS_SetDefaultOptions(option);
    option[METIS_OPTION_SEED] = (idx_t)(seed & INT32_MAX);
    return copy_plain(&plain, g) &&
           METIS_PartGraphKway(&nodes, &constraints, plain.row, plain.col, NULL, NULL, NULL, &count, NULL,
                               NULL, option, &cut, part) == METIS_OK;
}
#else
static bool call_metis(const struct csr *g, int parts, uint64_t seed, int32_t *part)
{
    (void)g, (void)parts, (void)seed, (void)part;
    return false;
}
#endif

/* The child's part: it ends with its parent, or by a signal, and frees nothing. */
static void run_metis_in_child(const struct csr *g, int parts, uint64_t seed, int32_t *part)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    _exit(call_metis(g, parts, seed, part) ? 0 : 1);
}

/* Whether a child ends well; a cancelled one is killed. */
static bool wait_for(pid_t child, struct cancel cancel)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (is_cancelled(cancel))
            kill(child, SIGKILL);
        nanosleep(&pause, NULL);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/*
 * METIS takes SIGTERM for an error of its own and leaves by longjmp, whichever thread the signal comes to;
 * and it cannot be stopped. So it runs in a child of one thread, which writes the parts to shared memory.
 */
static bool run_metis(int32_t *part, const struct csr *g, int parts, const struct graph_config *c)
{
    size_t bytes = (size_t)g->nodes * sizeof *part;
    int32_t *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return false;
    pid_t child = fork();
    if (child == 0)
        run_metis_in_child(g, parts, c->seed, shared);
    bool done = child > 0 && wait_for(child, c->limits.cancel);
    if (done)
        memcpy(part, shared, bytes);
    munmap(shared, bytes);
    return done;
}

/* Without edges, or with a node or none for each part, there is nothing to choose. */
static bool fill_parts(int32_t *part, const struct csr *g, int parts, const struct graph_config *c)
{
    if (g->edges > 0 && g->nodes > parts)
        return run_metis(part, g, parts, c);
    for (int64_t i = 0; i < g->nodes; i++)
        part[i] = (int32_t)(i * parts / g->nodes);
    return true;
}

/* Peak bytes beside the graph, of our copy and of METIS: a little more than was measured (docs/ranks.md). */
static int64_t bytes_needed(const struct csr *g)
{
    enum { NODE = 72, EDGE = 72 };
    return NODE * g->nodes + EDGE * g->edges;
}

bool partition_make(struct partition *p, struct batch *b, const struct graph_config *c, int parts,
                    char *error, size_t error_size)
{
    int64_t nodes = b->adj.nodes;
    if (!batch_can_alloc(b, c, csr_bytes(&b->adj) + bytes_needed(&b->adj), error, error_size))
        return false;
    int32_t *part = reallocarray(NULL, (size_t)nodes, sizeof *part);
    bool done = part && fill_parts(part, &b->adj, parts, c) && partition_number(p, part, nodes, parts);
    free(part);
    if (done && is_cancelled(c->limits.cancel)) {
        partition_free(p);
        done = false;
    }
    if (!done)
        snprintf(error, error_size, "%s a graph of %" PRId64 " nodes and %" PRId64 " edges",
                 is_cancelled(c->limits.cancel) ? "stopped while partitioning" : "no memory to partition",
                 nodes, b->adj.edges);
    return done;
}
