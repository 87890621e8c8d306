/*
 * Programs of several ranks: output, loss and all gradients are those of one rank. Ranks are threads here;
 * tests/test_mpi.sh runs the benchmarks under MPI.
 */
#include "graphs/graph.h"
#include "graphs/partition.h"
#include "kernels/rng.h"
#include "models/layers/check.h"
#include "models/layers/model.h"
#include "tests/rank_threads.h"
#include "tests/test.h"

#include <math.h>

static struct batch made(int64_t nodes, double degree, int64_t graphs, const struct ranks *r, bool by_nodes,
                         const struct partition *partition)
{
    struct graph_config c = {
        .family = "er", .nodes = nodes, .degree = degree, .graphs = graphs, .seed = 7, .by_nodes = by_nodes};
    c.partition = partition;
    if (r) {
        c.rank = r->rank;
        c.ranks = r->count;
    }
    struct batch b;
    char error[256];
    if (!batch_generate(&b, &c, error, sizeof error) || !batch_number_edges(&b, &c, error, sizeof error))
        fail_msg("%s", error);
    return b;
}

/* The stream from a position on is the stream of the whole. */
TEST(test_stream)
{
    uint64_t key = rng_key(3, "x");
    for (uint64_t n = 0; n < 100; n++)
        assert_true(rng_bits(rng_from(key, 1000), n) == rng_bits(key, 1000 + n));
}

/* --- programs */

struct trial {
    struct model_config model;
    enum dtype dtype;
    bool forward; /* not a step */
    bool divided; /* the nodes, not the graphs */
    const struct partition *partition;
    int64_t nodes, graphs;
    double degree;
    const struct backend *backend;
    struct check check;
    double loss;       /* of all ranks */
    double statistics; /* largest error of a running mean or variance */
};

static struct recording record(const struct trial *c, const struct batch *b, const struct backend *backend,
                               enum dtype dtype, const struct ranks *ranks)
{
    struct tape_config tape = {
        .backend = backend, .dtype = dtype, .threads = 1, .seed = 5, .part.ranks = ranks};
    if (ranks && c->partition && c->model.task == TASK_NODE)
        tape.part.number = c->partition->number;
    struct recording r =
        program_record(c->forward ? PROGRAM_FORWARD : PROGRAM_STEP, &c->model, b, NULL, tape);
    assert_true(tape_layout(r.tape));
    return r;
}

/* The running mean and variance of the next norm from entry e on; false: there is none. */
static bool next_statistics(const struct tape *t, int *e, struct mat *mean, struct mat *var)
{
    for (; *e < tape_entry_count(t); ++*e) {
        const struct entry *entry = tape_entry(t, *e);
        const struct batch_norm_args *one = entry->args;
        const struct move_statistics_args *several = entry->args;
        if (entry->phase != PHASE_FORWARD || (entry->op != OP_batch_norm && entry->op != OP_move_statistics))
            continue; /* recomputation moves copies */
        *mean = entry->op == OP_batch_norm ? one->running_mean : several->running_mean;
        *var = entry->op == OP_batch_norm ? one->running_var : several->running_var;
        ++*e;
        return true;
    }
    return false;
}

/* The largest error of the running statistics; NAN if they are not of as many norms. */
static double statistics_error(const struct tape *program, const struct tape *oracle)
{
    struct mat own[2], its[2];
    double error = 0;
    int p = 0, e = 0;
    while (next_statistics(oracle, &e, &its[0], &its[1])) {
        if (!next_statistics(program, &p, &own[0], &own[1]))
            return NAN;
        for (int i = 0; i < 2; i++)
            for (int64_t k = 0; k < own[i].cols; k++)
                error = fmax(error, fabs(mat_get(own[i], 0, k) - mat_get(its[i], 0, k)));
    }
    return next_statistics(program, &p, &own[0], &own[1]) ? NAN : error;
}

/* Within what float allows, as bench/row/verify.c does. */
static void check_again(struct trial *c, struct recording *r, struct recording *oracle,
                        const struct batch *whole)
{
    struct recording rounded = record(c, whole, &backend_oracle, c->dtype, NULL);
    struct check again = {0};
    assert_true(check_whole_again(&again, r, oracle, &rounded));
    c->check = again;
    tape_free(rounded.tape);
}

static void compare_with_one(struct trial *c, struct recording *r)
{
    struct batch whole = made(c->nodes, c->degree, c->graphs, NULL, false, NULL);
    struct recording oracle = record(c, &whole, &backend_oracle, F64, NULL);
    tape_init(r->tape);
    tape_init(oracle.tape);
    check_whole(&c->check, r, &oracle);
    c->statistics = statistics_error(r->tape, oracle.tape); /* before check_again runs the oracle once more */
    if (c->model.norm == NORM_BATCH &&
        c->check.excess > 1) /* gradients of biases before it are rounding errors */
        check_again(c, r, &oracle, &whole);
    if (!c->forward)
        c->loss = tape_gather_loss(r->tape, r->loss);
    tape_free(oracle.tape);
    batch_free(&whole);
}

static void run_rank(const struct ranks *r, void *trial)
{
    struct trial *c = trial;
    struct batch b = made(c->nodes, c->degree, c->graphs, r, c->divided, c->partition);
    struct recording own = record(c, &b, c->backend, c->dtype, r);
    if (r->rank == 0) {
        tape_lead(own.tape);
        compare_with_one(c, &own);
    } else
        tape_follow(own.tape);
    tape_free(own.tape);
    batch_free(&b);
}

/* gps, gps_sparse, gin and graph_transformer, as in model.c. */
static const struct {
    enum attention_kind attention;
    enum mpnn_kind mpnn;
} kinds[] = {{ATTENTION_DENSE, MPNN_GIN},
             {ATTENTION_SPARSE, MPNN_GIN},
             {ATTENTION_NONE, MPNN_GIN},
             {ATTENTION_DENSE, MPNN_NONE},
             {ATTENTION_SPARSE, MPNN_GINE}};

static struct trial trial_of(int kind, enum task_kind task, int64_t graphs)
{
    return (struct trial){.model = {.layers = 2,
                                    .hidden = 16,
                                    .heads = 2,
                                    .ffn = 24,
                                    .act = ACT_GELU,
                                    .attention = kinds[kind].attention,
                                    .mpnn = kinds[kind].mpnn,
                                    .norm = kind == 2 ? NORM_GRAPH : NORM_LAYER,
                                    .pool = kind == 3 ? POOL_MAX : POOL_MEAN,
                                    .task = task},
                          .dtype = F32,
                          .nodes = 9,
                          .graphs = graphs,
                          .degree = 1,
                          .backend = backend_cpu()};
}

static void check_trial(struct trial *c, int kind, int ranks)
{
    rank_threads_run(ranks, run_rank, c);
    if (!(c->check.excess <= 1) || *c->check.found)
        fail_msg("model %d, norm %d, forward %d, divided %d, task %d, %lld graphs, %d ranks: %s is %g times "
                 "its limit; %s",
                 kind, (int)c->model.norm, c->forward, c->divided, (int)c->model.task, (long long)c->graphs,
                 ranks, c->check.tensor, c->check.excess, c->check.found);
    /* in BF16 momentum times the limit of outputs: entries before norms are of the size of 1 */
    if (!(c->statistics <= (c->dtype == BF16 ? 0.1 * CHECK_BF16_OUTPUT : 1e-5)))
        fail_msg("%lld graphs, %d ranks: running statistics differ by %g", (long long)c->graphs, ranks,
                 c->statistics);
    assert_true(c->forward ? c->check.tensors == 1 : c->check.tensors > 2);
}

/* With degree 1 some nodes have no edges; with fewer graphs than ranks a rank has no nodes. */
TEST(test_programs)
{
    static const int64_t counts[] = {1, 3, 10};
    for (int kind = 0; kind < 5; kind++)
        for (enum task_kind task = 0; task < TASK_KINDS; task++)
            for (int k = 0; k < 3; k++)
                for (int ranks = 1; ranks <= 4; ranks++) {
                    struct trial c = trial_of(kind, task, counts[k]);
                    check_trial(&c, kind, ranks);
                }
}

/* The same with the nodes divided, for what ranks exchange then; one graph of one node leaves ranks without.
 */
static void check_divided(int kind, bool ring)
{
    static const int64_t graphs[] = {1, 1, 5}, nodes[] = {1, 30, 9};
    for (enum task_kind task = 0; task < TASK_EDGE; task++)
        for (int k = 0; k < 3; k++)
            for (int ranks = 1; ranks <= 4; ranks++) {
                struct trial c = trial_of(kind, task, graphs[k]);
                c.divided = true;
                c.nodes = nodes[k];
                c.degree = 2;
                c.model.heads = ring ? 2 : 4;
                c.model.ring = ring;
                c.model.norm = NORM_LAYER;
                c.model.pool = kind == 1 ? POOL_SUM : kind == 2 || ring ? POOL_MAX : POOL_MEAN;
                c.model.checkpoint = k == 1 ? "layer" : NULL;
                check_trial(&c, kind, ranks);
            }
}

TEST(test_divided_programs)
{
    for (int kind = 0; kind < 4; kind++)
        check_divided(kind, false);
}

/* Maxima that nodes of several ranks share: all have one type, and those without edges are equal. */
TEST(test_shared_maxima)
{
    for (int way = 0; way < 8; way++) {
        int ranks = 1 + way % 4;
        struct trial c = trial_of(2, TASK_GRAPH, 2);
        c.dtype = way < 4 ? F32 : BF16;
        c.divided = true;
        c.nodes = 12;
        c.model.norm = NORM_LAYER;
        c.model.pool = POOL_MAX;
        c.model.features = (struct feature_config){.tables = 1, .types = {1}};
        check_trial(&c, 2, ranks);
    }
}

/* Dense attention whose keys and values go around, of fewer heads than ranks. */
TEST(test_ring)
{
    check_divided(0, true);
    check_divided(3, true);
}

/*
 * Norms over rows of several ranks, in training and in inference: of whole graphs and of divided nodes, with
 * a rank without any, with segments that are computed again.
 */
TEST(test_norms)
{
    static const int64_t graphs[] = {2, 3, 5}, nodes[] = {30, 1, 9};
    for (int divided = 0; divided < 2; divided++)
        for (enum norm_kind norm = NORM_BATCH; norm <= NORM_GRAPH; norm++)
            for (enum task_kind task = 0; task < TASK_EDGE; task++)
                for (int k = 0; k < 3; k++)
                    for (int way = 0; way < 8; way++) {
                        int ranks = 1 + way % 4;
                        struct trial c = trial_of(k == 2 ? 1 : 0, task, graphs[k]);
                        c.forward = way >= 4;
                        c.divided = divided;
                        c.nodes = nodes[k];
                        c.degree = 2;
                        c.model.heads = 4;
                        c.model.norm = norm;
                        c.model.pool = POOL_MEAN;
                        c.model.checkpoint = k == 0 ? "layer" : NULL;
                        check_trial(&c, k, ranks);
                    }
}

/* In BF16, with all that ranks exchange: dense and sparse attention, halo nodes, heads, the ring, norms,
 * maxima.
 */
TEST(test_bf16)
{
    for (int kind = 0; kind < 4; kind++)
        for (int way = 0; way < 3; way++)
            for (int ranks = 2; ranks <= 4; ranks += 2) {
                struct trial c = trial_of(kind, way == 2 ? TASK_NODE : TASK_GRAPH, 5);
                c.dtype = BF16;
                c.divided = way > 0;
                c.model.ring = way == 2;
                c.model.heads = 4;
                c.model.norm = (enum norm_kind[]){NORM_LAYER, NORM_BATCH, NORM_GRAPH}[(kind + way) % 3];
                check_trial(&c, kind, ranks);
            }
}

/* With nodes of several graphs on each rank, in an order of their own, and a rank without any. */
TEST(test_partitioned_programs)
{
    static const int32_t part[] = {2, 0, 0, 2, 1, 0, 2, 2, 1, 1, 0, 2, 0, 1, 1, 0, 2, 0, 1, 2,
                                   0, 0, 1, 2, 0, 2, 1, 1, 0, 2, 2, 0, 1, 0, 2, 1, 0, 2, 1, 1};
    struct partition p;
    assert_true(partition_number(&p, part, 40, 4));
    for (int kind = 1; kind < 3; kind++)
        for (enum task_kind task = 0; task < TASK_EDGE; task++)
            for (int types = 0; types < 2; types++) {
                struct trial c = trial_of(kind, task, 5);
                c.divided = true;
                c.partition = &p;
                c.nodes = 8;
                c.degree = 2;
                c.model.norm = NORM_LAYER;
                c.model.features = (struct feature_config){.tables = 2 * types, .types = {3, 5}};
                check_trial(&c, kind, 4);
            }
    partition_free(&p);
}

/* --- planted faults */

/* The gradients of a rank alone. */
static void sum_nothing(const void *args)
{
    (void)args;
}

TEST(test_no_sum)
{
    struct kernel skipped = *backend_kernel(backend_cpu(), OP_all_reduce, F32, NULL);
    skipped.run = sum_nothing;
    struct backend spoiled = {.name = "spoiled", .kernels = &skipped, .count = 1, .base = backend_cpu()};
    struct trial c = trial_of(0, TASK_GRAPH, 10);
    c.backend = &spoiled;
    rank_threads_run(1, run_rank, &c);
    assert_true(c.check.excess <= 1);
    rank_threads_run(3, run_rank, &c);
    assert_true(c.check.excess > 1);
}

/* Rows of halo nodes that are not sent, or whose gradients do not come back, are noticed. */
TEST(test_no_halo)
{
    static const enum op ops[] = {OP_halo, OP_halo_backward, OP_scatter_heads, OP_ring_wait};
    for (int i = 0; i < 4; i++) {
        struct kernel skipped = *backend_kernel(backend_cpu(), ops[i], F32, NULL);
        skipped.run = sum_nothing;
        struct backend spoiled = {.name = "spoiled", .kernels = &skipped, .count = 1, .base = backend_cpu()};
        struct trial c = trial_of(i >= 2 ? 0 : 1, TASK_NODE, 1);
        c.divided = true;
        c.model.ring = i == 3;
        c.nodes = 30;
        c.degree = 3;
        c.backend = &spoiled;
        rank_threads_run(2, run_rank, &c);
        assert_false(c.check.excess <= 1);
    }
}

/* --- the op alone */

struct sums {
    enum dtype dtype;
    int64_t ld;
    float y[RANKS_MOST][8]; /* in BF16 in the lower half */
    double scratch[RANKS_MOST][32];
};

static struct mat sums_of(struct sums *s, int rank)
{
    return (struct mat){.data = s->y[rank], .rows = 2, .cols = 3, .ld = s->ld, .dtype = s->dtype};
}

static void sum_rows(const struct ranks *r, void *context)
{
    struct sums *s = context;
    struct mat y = sums_of(s, r->rank), all = y;
    struct all_reduce_args args = {.call.ranks = r, .y = y};
    int64_t dims[DIMS] = {[DIM_N] = 2, [DIM_M] = 3};
    all.rows = 1, all.cols = 8;
    for (int k = 0; k < 8; k++)
        mat_set(all, 0, k, k + 10 * r->rank);
    args.call.kernel = backend_kernel(&backend_ref, OP_all_reduce, s->dtype, NULL);
    args.call.scratch = s->scratch[r->rank];
    args.call.kernel->run(&args);
    if (op_sent(OP_all_reduce, &args, dims) != 6 * 4)
        abort();
}

/* Between strided rows nothing changes. BF16 is summed in F32: MPI has no such type. */
TEST(test_sums)
{
    for (int way = 0; way < 4; way++) {
        struct sums s = {.dtype = way < 2 ? F32 : BF16, .ld = 3 + way % 2};
        rank_threads_run(3, sum_rows, &s);
        for (int p = 0; p < 3; p++)
            for (int64_t k = 0; k < 8; k++) {
                bool summed = k < s.ld + 3 && k % s.ld < 3;
                assert_true(mat_get(sums_of(&s, p), 0, k) == (summed ? 3. * k + 30 : k + 10. * p));
            }
    }
}

GROUP("ranks", NULL, NULL)
