#include "tests/golden.h"

#include "kernels/rng.h"
#include "models/layers/check.h"
#include "tests/npy.h"
#include "tests/test.h"

enum { GRAPHS = 5, EDGES = 342 };

static const int64_t nodes[GRAPHS] = {61, 1, 23, 47, 5}, edges[GRAPHS] = {183, 3, 0, 141, 15};

#define IN_DOUBLE 1e-11

const struct way way_oracle = {&backend_oracle, F64, IN_DOUBLE, IN_DOUBLE};

void each_way(void (*test)(const struct way *way, const void *context), const void *context)
{
    test(&way_oracle, context);
    test(&(struct way){&backend_ref, F64, IN_DOUBLE, IN_DOUBLE}, context);
    test(&(struct way){&backend_ref, F32, CHECK_LIMIT_OUTPUT, CHECK_LIMIT_GRADIENT}, context);
    for (const struct backend *const *b = backend_cpu_all(); *b; b++)
        test(&(struct way){*b, F32, CHECK_LIMIT_OUTPUT, CHECK_LIMIT_GRADIENT}, context);
}

struct tape_config way_config(const struct way *way)
{
    return (struct tape_config){
        .backend = way->backend, .dtype = way->dtype, .training = true, .threads = 2, .seed = GOLDEN_SEED};
}

double golden_entry(const char *name, int64_t i)
{
    return rng_int24(rng_key(GOLDEN_SEED, name), (uint64_t)i) * 0x1p-23;
}

/* A number below the limit, as in op uniform_index. */
static int64_t choose(int64_t word, int64_t limit)
{
    uint64_t bits = rng_bits(rng_key(GOLDEN_SEED, "edges"), (uint64_t)word);
    return (int64_t)((bits >> 32) * (uint64_t)limit >> 32);
}

static void build(struct csr *g, uint64_t *edge)
{
    char error[128];
    if (!csr_build(g, GOLDEN_NODES, edge, EDGES, NEVER_CANCELLED, error, sizeof error))
        fail_msg("%s", error);
}

struct batch golden_batch(void)
{
    struct batch b = {.graphs = GRAPHS, .offset = calloc(GRAPHS + 1, sizeof *b.offset)};
    uint64_t in[EDGES], out[EDGES];
    int64_t n = 0;
    assert_non_null(b.offset);
    for (int g = 0; g < GRAPHS; g++) {
        for (int64_t end = n + edges[g]; n < end; n++) {
            int64_t from = b.offset[g] + choose(2 * n, nodes[g]);
            int64_t to = b.offset[g] + choose(2 * n + 1, nodes[g]);
            in[n] = csr_edge(from, to);
            out[n] = csr_edge(to, from);
        }
        b.offset[g + 1] = b.offset[g] + nodes[g];
        b.pairs += nodes[g] * nodes[g];
    }
    build(&b.adj, in);
    build(&b.out, out);
    char error[128];
    assert_true(batch_number_edges(&b, &(struct graph_config){0}, error, sizeof error));
    return b;
}

struct mat golden_read(const char *directory, const char *kind, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "tests/golden/data/%s/%s%s.npy", directory, kind, name);
    struct array a = npy_read(path);
    return array_mat(&a);
}
