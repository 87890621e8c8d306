/*
 * Whole models on the GPU: a step against the same step in double, comparing output, loss and every gradient;
 * op by op from each op's actual inputs; and identical bits from two replays, from reused and unshared
 * memory, and from a captured graph. Skipped without a GPU. GTMARK_SMALL=1 uses smaller graphs;
 * GTMARK_MODEL=NAME tests one model, without its replays.
 */
#include "bench/audit/operands.h"
#include "graphs/batching.h"
#include "models/layers/check.h"
#include "models/tape/count.h"
#include "models/tape/tape_internal.h"
#include "tests/batches.h"
#include "tests/encodings.h"
#include "tests/test.h"

#include <dlfcn.h>

struct subject {
    const char *name;
    struct model_config parts;
    const struct opened_device *device;
    const char *spmm; /* variant of both aggregations; null: the default */
    enum dtype dtype; /* none: F32 */
    bool padded;
};

static struct subject subjects[] = {
    {.name = "gps", .parts = {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN}},
    {.name = "gps, graph norm, sum",
     .parts = {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .norm = NORM_GRAPH, .pool = POOL_SUM}},
    {.name = "gps, batch norm, checkpoints",
     .parts = {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .norm = NORM_BATCH, .checkpoint = "layer"}},
    {.name = "gps_sparse, no norm, max",
     .parts = {.attention = ATTENTION_SPARSE, .mpnn = MPNN_GIN, .norm = NORM_NONE, .pool = POOL_MAX}},
    {.name = "gps unfused", .parts = {.attention = ATTENTION_UNFUSED, .mpnn = MPNN_GIN}},
    {.name = "graph_transformer, nodes", .parts = {.attention = ATTENTION_DENSE, .task = TASK_NODE}},
    {.name = "sparse_transformer", .parts = {.attention = ATTENTION_SPARSE}},
    {.name = "exphormer, nodes", .parts = {.attention = ATTENTION_EXPHORMER, .task = TASK_NODE}},
    {.name = "gin, nodes, graph norm", .parts = {.mpnn = MPNN_GIN, .norm = NORM_GRAPH, .task = TASK_NODE}},
    {.name = "gps, gine, dropout",
     .parts = {.attention = ATTENTION_DENSE, .mpnn = MPNN_GINE, .dropout = 0.2}},
    {.name = "gatedgcn, nodes, graph norm, dropout",
     .parts = {.mpnn = MPNN_GATEDGCN, .norm = NORM_GRAPH, .task = TASK_NODE, .dropout = 0.1}},
    {.name = "gps, graph norm, max, bf16",
     .parts = {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .norm = NORM_GRAPH, .pool = POOL_MAX},
     .dtype = BF16},
    {.name = "sparse gatedgcn, edges, batch norm, bf16",
     .parts = {.attention = ATTENTION_SPARSE, .mpnn = MPNN_GATEDGCN, .norm = NORM_BATCH, .task = TASK_EDGE},
     .dtype = BF16},
    {.name = "graphormer",
     .parts = {.layer = LAYER_GRAPHORMER,
               .attention = ATTENTION_DENSE,
               .pool = POOL_TOKEN,
               .features = {.degrees = 64},
               .pe = {.buckets = 3, .hops = 2},
               .hop_products = 3}},
    {.name = "graphormer, nodes, types of edges, dropout",
     .parts = {.layer = LAYER_GRAPHORMER,
               .attention = ATTENTION_DENSE,
               .pool = POOL_TOKEN,
               .task = TASK_NODE,
               .dropout = 0.1,
               .edge_features = {.tables = 2, .types = {3, 4}},
               .pe = {.buckets = 3, .hops = 2}}},
    {.name = "graphormer, bf16",
     .parts =
         {.layer = LAYER_GRAPHORMER, .attention = ATTENTION_DENSE, .pool = POOL_TOKEN, .pe = {.buckets = 3}},
     .dtype = BF16},
    {.name = "exphormer, gatedgcn, eslap",
     .parts = {.attention = ATTENTION_EXPHORMER,
               .mpnn = MPNN_GATEDGCN,
               .norm = NORM_NONE,
               .pe = {.kind = ENCODING_ESLAP, .k = 4, .expander = 1, .globals = 2}}},
    {.name = "exphormer, gine, eslap, batch norm, bf16",
     .parts = {.attention = ATTENTION_EXPHORMER,
               .mpnn = MPNN_GINE,
               .norm = NORM_BATCH,
               .pe = {.kind = ENCODING_ESLAP, .k = 4, .expander = 2}},
     .dtype = BF16},
    {.name = "gps, padded, bias",
     .parts = {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .pe = {.buckets = 3}},
     .padded = true},
    {.name = "graph_transformer, padded, sum, bf16",
     .parts = {.attention = ATTENTION_DENSE, .pool = POOL_SUM},
     .dtype = BF16,
     .padded = true},
    {.name = "gin by cuSPARSE", .parts = {.mpnn = MPNN_GIN}, .spmm = "cusparse"},
};

static struct model_config sized(const struct subject *s, enum activation act)
{
    struct model_config c = s->parts;
    c.layers = 2;
    c.hidden = 40;
    c.heads = 5;
    c.ffn = 72;
    c.act = act;
    c.pe.width = c.pe.kind ? 8 : 0;
    return c;
}

static struct tape_config on_device(const struct subject *s)
{
    return (struct tape_config){.backend = s->device->backend,
                                .context = s->device->context,
                                .dtype = s->dtype ? s->dtype : F32,
                                .threads = 1,
                                .seed = 42,
                                .variant = {[OP_spmm][0] = s->spmm, [OP_spmm_backward][0] = s->spmm}};
}

/* Its initialisations read the encoding. */
static struct recording ready(const struct model_config *c, const struct batch *b, const struct encoding *e,
                              struct tape_config t)
{
    struct recording r = program_record(PROGRAM_STEP, c, b, e, t);
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    return r;
}

static void expect_good(const struct check *c)
{
    assert_true(c->tensors > 0);
    if (!(c->excess <= 1))
        fail_msg("%s: %g times the error allowed", c->tensor, c->excess);
}

/*
 * As in bench/row/verify.c: before batch norm some gradients are zero, so that only single ops can be
 * compared.
 */
static void check_against_double(const struct model_config *c, const struct batch *b, const struct subject *s)
{
    struct encoding e = encoding_sample(&c->pe, b);
    struct recording ours = ready(c, b, &e, on_device(s));
    struct check check = {0};
    if (c->norm != NORM_BATCH) {
        struct tape_config in_double = {.backend = &backend_oracle, .dtype = F64, .threads = 2, .seed = 42};
        struct recording oracle = ready(c, b, &e, in_double);
        check_whole(&check, &ours, &oracle);
        expect_good(&check);
        tape_free(oracle.tape);
        tape_init(ours.tape);
    }
    assert_true(check_rows(&check, ours.tape, 1, NULL));
    expect_good(&check);
    assert_int_equal(tape_count(ours.tape, INT64_MAX), tape_total(ours.tape).flops);
    tape_free(ours.tape);
    encoding_free(&e);
}

static void test_step_against_double(void **state)
{
    const struct subject *s = *state;
    if (!s->device->context)
        skip();
    bool small = env_set("GTMARK_SMALL");
    struct batch batches[] = {batch_awkward(), batch_er(1, 1), batch_er(small ? 24 : 300, 1),
                              batch_er(30, small ? 3 : 20)};
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        char error[128];
        assert_true(!s->padded || batch_pad(&batches[i], error, sizeof error));
        /* In small tests one activation each: all kernels are tested with all of them. */
        int kinds = ACT_KINDS - 1, first = small ? (int)(s - subjects + (ptrdiff_t)i) : 0;
        for (int k = first; k < first + (small ? 1 : kinds); k++) {
            struct model_config c = sized(s, (enum activation)(ACT_NONE + 1 + k % kinds));
            check_against_double(&c, &batches[i], s);
        }
        batch_free(&batches[i]);
    }
}

/* The parameters after some replays, concatenated and allocated. */
static float *trained(struct recording *r, int replays, bool graph)
{
    struct tape *t = r->tape;
    if (graph) {
        tape_run(t);
        tape_capture(t);
        tape_init(t);
    }
    for (int i = 0; i < replays; i++)
        tape_run(t);
    float *all = malloc((size_t)tape_parameter_elements(t) * sizeof *all), *to = all;
    assert_non_null(all);
    for (int p = 0; p < tape_parameter_count(t); p++) {
        void *copy;
        struct mat m = tape_read(t, tape_parameter(t, p, NULL), &copy);
        memcpy(to, m.data, (size_t)mat_bytes(m));
        to += mat_size(m);
        free(copy);
    }
    return all;
}

static void test_replays_have_the_same_bits(void **state)
{
    const struct subject *s = *state;
    if (!s->device->context)
        skip();
    struct batch b = batch_er(env_set("GTMARK_SMALL") ? 20 : 300, 3);
    struct model_config c = sized(s, ACT_GELU);
    struct encoding e = encoding_sample(&c.pe, &b);
    struct tape_config plain = on_device(s), unshared = plain;
    unshared.no_reuse = true;
    struct recording r[] = {ready(&c, &b, &e, plain), ready(&c, &b, &e, plain), ready(&c, &b, &e, unshared),
                            ready(&c, &b, &e, plain)};
    size_t bytes = (size_t)tape_parameter_elements(r[0].tape) * sizeof(float);
    float *first = trained(&r[0], 3, false), *start = trained(&r[1], 0, false);
    assert_memory_not_equal(first, start, bytes);
    for (int i = 1; i < 4; i++) {
        float *other = trained(&r[i], 3, i == 3);
        assert_memory_equal(first, other, bytes);
        free(other);
    }
    for (int i = 0; i < 4; i++)
        tape_free(r[i].tape);
    free(first);
    free(start);
    encoding_free(&e);
    batch_free(&b);
}

/* What cuSPARSE prepares belongs to the graph, once for each direction, and to no entry alone. */
static void test_preparation_is_shared(void **state)
{
    const struct subject *s = *state;
    if (!s->device->context)
        skip();
    struct batch b = batch_er(50, 3);
    struct model_config c = sized(s, ACT_GELU);
    c.layers = 4;
    struct recording r = ready(&c, &b, NULL, on_device(s));
    const struct entry *first[OPS] = {NULL};
    int shared = 0;
    for (int i = 0; i < tape_entry_count(r.tape); i++) {
        const struct entry *e = tape_entry(r.tape, i), *before = first[e->op];
        if (!e->kernel->prepare)
            continue;
        first[e->op] = before ? before : e;
        assert_int_equal(e->prepared, before != NULL);
        assert_ptr_equal(((struct call *)e->args)->scratch, ((struct call *)first[e->op]->args)->scratch);
        shared += e->prepared;
    }
    assert_int_equal(shared, 2 * (c.layers - 1));
    tape_free(r.tape);
    batch_free(&b);
}

/* What a program takes of the device, once its code is loaded, is its arena. */
static void test_memory_is_planned(void **state)
{
    const struct subject *s = *state;
    void *library = dlopen("libgtmark_cuda.so", RTLD_NOW | RTLD_LOCAL);
    if (!library || !dlsym(library, "emulated_graph")) /* where nobody else takes memory */
        skip();
    const struct device *device = s->device->backend->device;
    struct batch b = batch_er(12, 3);
    struct model_config c = sized(s, ACT_GELU);
    struct encoding e = encoding_sample(&c.pe, &b);
    struct recording first = ready(&c, &b, &e, on_device(s));
    tape_run(first.tape);
    tape_wait(first.tape);
    int64_t before = device->taken(s->device->context);
    struct recording r = ready(&c, &b, &e, on_device(s));
    tape_run(r.tape);
    tape_capture(r.tape);
    tape_run(r.tape);
    tape_wait(r.tape);
    assert_int_equal(device->taken(s->device->context) - before, tape_planned(r.tape)->arena);
    tape_free(first.tape);
    tape_free(r.tape);
    encoding_free(&e);
    batch_free(&b);
}

/* Loaded kernels with much shared memory ask for all of it, as only the emulated device can tell. */
static void test_shared_memory_is_preferred(void **state)
{
    const struct subject *s = *state;
    void *library = dlopen("libgtmark_cuda.so", RTLD_NOW | RTLD_LOCAL);
    int (*preferring)(void) = library ? (int (*)(void))dlsym(library, "emulated_preferring") : NULL;
    if (!preferring)
        skip();
    struct batch b = batch_er(20, 3);
    struct model_config c = sized(s, ACT_GELU);
    c.heads = 1; /* a wide one: attention holds much of it */
    struct recording r = ready(&c, &b, NULL, on_device(s));
    assert_int_equal(preferring(), 0);
    tape_load(r.tape);
    assert_true(preferring() > 0);
    tape_free(r.tape);
    batch_free(&b);
}

struct launches {
    int count, longest; /* all, and the most of which each waits for another */
};

/* Of a captured program, as the emulated device has it; on one stream or as planned. */
static struct launches launches_of(const struct subject *s, enum program_kind kind, bool one_stream)
{
    struct launches l;
    void *library = dlopen("libgtmark_cuda.so", RTLD_NOW | RTLD_LOCAL);
    void (*graph)(int *, int *) = (void (*)(int *, int *))dlsym(library, "emulated_graph");
    struct model_config c = s->parts;
    struct batch b = batch_er(20, 1);
    c.layers = 6;
    c.hidden = 64;
    c.heads = 4;
    c.ffn = 128;
    c.act = ACT_GELU;
    struct recording r = program_record(kind, &c, &b, NULL, on_device(s));
    assert_true(tape_layout(r.tape));
    if (one_stream) {
        r.tape->turns = NULL;
        tape_init(r.tape);
        tape_run(r.tape); /* loads code, which a capture may not */
    }
    tape_capture(r.tape);
    assert_false(tape_failed(r.tape));
    graph(&l.count, &l.longest);
    tape_free(r.tape);
    batch_free(&b);
    return l;
}

/*
 * Launches of GPS with dense attention and GIN, and the longest chain of them, which is what a small program
 * waits for.
 */
static void test_launches(void **state)
{
    static const struct {
        enum dtype dtype;
        enum program_kind kind;
        struct launches most;
    } cases[] = {{F32, PROGRAM_FORWARD, {89, 65}},
                 {F32, PROGRAM_STEP, {257, 156}},
                 {BF16, PROGRAM_FORWARD, {89, 65}},
                 {BF16, PROGRAM_STEP, {258, 157}}};
    struct subject s = *(const struct subject *)*state;
    void *library = dlopen("libgtmark_cuda.so", RTLD_NOW | RTLD_LOCAL);
    if (!s.device->context || !library || !dlsym(library, "emulated_graph"))
        skip();
    setenv("GTMARK_PRODUCT_ALGORITHMS", "1", 1); /* what is chosen by timing changes the number of launches */
    struct opened_device own = operands_device();
    unsetenv("GTMARK_PRODUCT_ALGORITHMS");
    s.device = &own;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        s.dtype = cases[i].dtype;
        struct launches one = launches_of(&s, cases[i].kind, true),
                        two = launches_of(&s, cases[i].kind, false);
        print_message("%s in %s: %d launches, the longest chain %d of one stream, %d of all\n",
                      cases[i].kind == PROGRAM_STEP ? "step" : "forward pass", dtype_name(s.dtype), one.count,
                      one.longest, two.longest);
        assert_int_equal(one.longest, one.count);
        assert_int_equal(two.count, one.count);
        assert_true(two.count <= cases[i].most.count && two.longest <= cases[i].most.longest);
    }
    operands_device_close(&own);
}

int main(void)
{
    enum { SUBJECTS = sizeof subjects / sizeof *subjects };
    struct CMUnitTest tests[3 * SUBJECTS + 3];
    char names[2 * SUBJECTS][80];
    struct opened_device device = operands_device();
    if (!device.context)
        fprintf(stderr, "no GPU: %s\n", device.why);
    for (int i = 0; i < SUBJECTS; i++) {
        struct subject *subject = &subjects[i];
        subject->device = &device;
        snprintf(names[2 * i], sizeof *names, "%s, replays", subject->name);
        snprintf(names[2 * i + 1], sizeof *names, "%s, memory", subject->name);
        tests[3 * i] = (struct CMUnitTest){subject->name, test_step_against_double, NULL, NULL, subject};
        tests[3 * i + 1] =
            (struct CMUnitTest){names[2 * i], test_replays_have_the_same_bits, NULL, NULL, subject};
        tests[3 * i + 2] = (struct CMUnitTest){names[2 * i + 1], test_memory_is_planned, NULL, NULL, subject};
    }
    tests[3 * SUBJECTS] = (struct CMUnitTest){"preparation is shared", test_preparation_is_shared, NULL, NULL,
                                              &subjects[SUBJECTS - 1]};
    tests[3 * SUBJECTS + 1] = (struct CMUnitTest){"shared memory is preferred",
                                                  test_shared_memory_is_preferred, NULL, NULL, &subjects[0]};
    tests[3 * SUBJECTS + 2] = (struct CMUnitTest){"launches", test_launches, NULL, NULL, &subjects[0]};
    if (env_set("GTMARK_MODEL"))
        cmocka_set_test_filter(getenv("GTMARK_MODEL"));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    operands_device_close(&device);
    return failed;
}
