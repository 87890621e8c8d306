/*
 * Whole models, registered ones and other combinations of their parts: parameters by the formula, gradients
 * by central differences, a step compared with double, counted FLOPs, learning, and permutation symmetry.
 * Published sizes and closed formulas have tests of their own. GTMARK_SMALL=1 tests one activation, and few
 * learning steps.
 */
#include <math.h>

#include "kernels/rng.h"
#include "models/layers/model.h"
#include "models/tape/count.h"
#include "models/tape/listing.h"
#include "tests/batches.h"
#include "tests/encodings.h"
#include "tests/tapes.h"
#include "tests/test.h"

/* The parts of a model, without sizes. */
struct subject {
    const char *name;
    struct model_config parts;
};

static const struct subject mixed[] = {
    {"gps, batch norm", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .norm = NORM_BATCH}},
    {"gps, graph norm, sum",
     {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .norm = NORM_GRAPH, .pool = POOL_SUM}},
    {"gps_sparse, no norm, max",
     {.attention = ATTENTION_SPARSE, .mpnn = MPNN_GIN, .norm = NORM_NONE, .pool = POOL_MAX}},
    {"gps unfused", {.attention = ATTENTION_UNFUSED, .mpnn = MPNN_GIN}},
    {"gps, fused mlp", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .mlp = MLP_FUSED}},
    {"gps, dropout",
     {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .dropout = 0.1, .attention_dropout = 0.2}},
    {"gps_sparse, dropout",
     {.attention = ATTENTION_SPARSE, .mpnn = MPNN_GIN, .dropout = 0.1, .attention_dropout = 0.2}},
    {"gps performer", {.attention = ATTENTION_PERFORMER, .mpnn = MPNN_GIN}},
    {"gps, gcn", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GCN}},
    {"gps, gatv2, nodes", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GATV2, .task = TASK_NODE}},
    {"gps_sparse, pna, batch norm", {.attention = ATTENTION_SPARSE, .mpnn = MPNN_PNA, .norm = NORM_BATCH}},
    {"gps_sparse, gatv2-edge", {.attention = ATTENTION_SPARSE, .mpnn = MPNN_GATV2_EDGE}},
    {"pna-edge, batch norm", {.mpnn = MPNN_PNA_EDGE, .norm = NORM_BATCH}},
    {"gps, gine", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GINE}},
    {"gatedgcn, batch norm", {.mpnn = MPNN_GATEDGCN, .norm = NORM_BATCH}},
    {"gps_sparse, gatedgcn, no norm",
     {.attention = ATTENTION_SPARSE, .mpnn = MPNN_GATEDGCN, .norm = NORM_NONE, .pool = POOL_SUM}},
    {"gps_sparse, nodes, batch norm",
     {.attention = ATTENTION_SPARSE, .mpnn = MPNN_GIN, .norm = NORM_BATCH, .task = TASK_NODE}},
    {"graph_transformer, nodes", {.attention = ATTENTION_DENSE, .task = TASK_NODE}},
    {"gin, nodes, graph norm", {.mpnn = MPNN_GIN, .norm = NORM_GRAPH, .task = TASK_NODE}},
    {"gps, rwse", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .pe = {.kind = ENCODING_RWSE, .k = 5}}},
    {"gps, heat", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .pe = {.kind = ENCODING_HEAT, .k = 5}}},
    {"graph_transformer, bias", {.attention = ATTENTION_DENSE, .pe = {.buckets = 3}}},
    {"gps, gine, bias", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GINE, .pe = {.buckets = 2}}},
    {"graphormer, degrees",
     {.layer = LAYER_GRAPHORMER,
      .attention = ATTENTION_DENSE,
      .pool = POOL_TOKEN,
      .features = {.degrees = 40},
      .pe = {.buckets = 3}}},
    {"graphormer, one hop",
     {.layer = LAYER_GRAPHORMER,
      .attention = ATTENTION_DENSE,
      .pool = POOL_TOKEN,
      .pe = {.buckets = 3, .hops = 1},
      .hop_products = 2}},
    {"graphormer, nodes, dropout",
     {.layer = LAYER_GRAPHORMER,
      .attention = ATTENTION_DENSE,
      .pool = POOL_TOKEN,
      .task = TASK_NODE,
      .dropout = 0.1,
      .norm = NORM_BATCH,
      .pe = {.buckets = 3}}},
    {"gps, gine, degrees, three hops",
     {.attention = ATTENTION_DENSE,
      .mpnn = MPNN_GINE,
      .edge_features = {.tables = 2, .types = {3, 4}},
      .features = {.degrees = 40},
      .pe = {.kind = ENCODING_RWSE, .k = 3, .buckets = 2, .hops = 3}}},
    {"exphormer, gatedgcn",
     {.attention = ATTENTION_EXPHORMER,
      .mpnn = MPNN_GATEDGCN,
      .norm = NORM_NONE,
      .pe = {.expander = 2, .globals = 2}}},
    {"exphormer, eslap, nodes",
     {.attention = ATTENTION_EXPHORMER,
      .mpnn = MPNN_GINE,
      .task = TASK_NODE,
      .pe = {.kind = ENCODING_ESLAP, .k = 4, .expander = 1, .globals = 1}}},
    {"exphormer, gcn, batch norm",
     {.attention = ATTENTION_EXPHORMER, .mpnn = MPNN_GCN, .norm = NORM_BATCH, .pe = {.expander = 3}}},
    {"exphormer, edges of the graph", {.attention = ATTENTION_EXPHORMER, .mpnn = MPNN_GIN}},
    {"gps, lap", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .pe = {.kind = ENCODING_LAP, .k = 4}}},
    {"gps, gine, eslap",
     {.attention = ATTENTION_DENSE, .mpnn = MPNN_GINE, .pe = {.kind = ENCODING_ESLAP, .k = 4}}},
    {"gatedgcn, eslap", {.mpnn = MPNN_GATEDGCN, .norm = NORM_NONE, .pe = {.kind = ENCODING_ESLAP, .k = 4}}},
    {"gin, nodes, lap-pyg",
     {.mpnn = MPNN_GIN, .norm = NORM_GRAPH, .task = TASK_NODE, .pe = {.kind = ENCODING_LAP_PYG, .k = 8}}},
};

static struct tape_config config_of(const struct backend *backend, enum dtype dtype)
{
    return (struct tape_config){.backend = backend, .dtype = dtype, .threads = 2, .seed = 42};
}

static struct model_config sized(const struct subject *s, int64_t layers, int64_t hidden, int64_t heads,
                                 int64_t ffn, enum activation act)
{
    struct model_config c = s->parts;
    c.layers = layers;
    c.hidden = hidden;
    c.heads = heads;
    c.ffn = ffn;
    c.act = act;
    if (c.pe.kind)
        c.pe.width = hidden / 2;
    return c;
}

static struct model_config small_of(const struct subject *s)
{
    return sized(s, 2, 40, 5, 72, ACT_GELU);
}

static const struct model_config dense = {.attention = ATTENTION_DENSE};

/* A recording that is laid out and initialised. */
static struct recording ready_with(enum program_kind kind, const struct model_config *c,
                                   const struct batch *b, const struct encoding *e, struct tape_config t)
{
    struct recording r = program_record(kind, c, b, e, t);
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    return r;
}

/* The same with a sample encoding, if the model has one; must not be initialised again. */
static struct recording ready(enum program_kind kind, const struct model_config *c, const struct batch *b,
                              struct tape_config t)
{
    struct encoding e = encoding_sample(&c->pe, b);
    struct recording r = ready_with(kind, c, b, &e, t);
    encoding_free(&e);
    return r;
}

/* The parameters of message passing itself, from a model of six layers, and one without it. */
static int64_t mpnn_parameters(struct model_config c, enum mpnn_kind kind)
{
    c.mpnn = kind;
    int64_t with = model_parameters(&c);
    c.mpnn = MPNN_NONE;
    return (with - model_parameters(&c)) / c.layers - 2 * c.hidden; /* without the norm */
}

/*
 * The published size of a layer: 10 d^2 + 15 d for GPS; 4 (d^2 + d) for attention, plus an FFN and two norms,
 * without message passing. Layers of message passing: the published ones.
 */
static void test_parameter_oracle(void **state)
{
    (void)state;
    struct model_config c = {
        .layers = 6, .hidden = 256, .heads = 8, .ffn = 512, .attention = ATTENTION_DENSE};
    int64_t d = 256, layer = 4 * (d * d + d) + 2 * d * 512 + 512 + d + 4 * d;
    assert_int_equal(model_parameters(&c), 17 * d + 6 * layer + d + 1);
    c.mpnn = MPNN_GIN;
    assert_int_equal(model_parameters(&c), 17 * d + 6 * (10 * d * d + 15 * d) + d + 1);
    c.task = TASK_NODE;
    assert_int_equal(model_parameters(&c), 17 * d + 6 * (10 * d * d + 15 * d) + CLASSES * (d + 1));
    assert_int_equal(mpnn_parameters(c, MPNN_GCN), d * d + d);
    assert_int_equal(mpnn_parameters(c, MPNN_GATV2), 2 * d * d + 4 * d);
    assert_int_equal(mpnn_parameters(c, MPNN_PNA), 7 * d * d + 3 * d);
    int64_t encoder = EDGE_FEATURES * d + d;
    c.layers = 1;
    assert_int_equal(mpnn_parameters(c, MPNN_GATV2_EDGE), 3 * d * d + 4 * d + encoder);
    assert_int_equal(mpnn_parameters(c, MPNN_PNA_EDGE), 9 * d * d + 4 * d + encoder);
    c.layers = 6;
    struct batch b = batch_er(10, 1);
    struct recording r = program_record(PROGRAM_FORWARD, &c, &b, NULL, config_of(backend_cpu(), F32));
    assert_int_equal(tape_parameter_elements(r.tape), model_parameters(&c));
    const char *name;
    struct mat w = tape_parameter(r.tape, 2, &name);
    assert_string_equal(name, "layer1.gin.up.weight");
    assert_int_equal(w.rows, d);
    tape_free(r.tape);
    batch_free(&b);
}

static void test_refused_parts(void **state)
{
    (void)state;
    struct model_config c = {.layers = 1, .hidden = 10, .heads = 3, .ffn = 1};
    assert_non_null(model_refuses(&c)); /* neither attention nor message passing */
    c.mpnn = MPNN_GIN;
    assert_null(model_refuses(&c)); /* without attention there are no heads */
    c.mpnn = MPNN_GATV2;
    assert_string_equal(model_refuses(&c), "heads must divide hidden");
    c.attention = ATTENTION_SPARSE;
    assert_non_null(model_refuses(&c));
    c.heads = 5;
    assert_null(model_refuses(&c));
    c.pe = (struct encoding_config){.kind = ENCODING_RWSE, .k = 3, .width = 10};
    assert_string_equal(model_refuses(&c), "the encoding's width must be less than the hidden size");
    c.pe.width = 9;
    assert_null(model_refuses(&c));
    c.pe = (struct encoding_config){.kind = ENCODING_ESLAP, .k = 3};
    assert_string_equal(model_refuses(&c), "eslap needs GINE or GatedGCN");
    c.mpnn = MPNN_GINE;
    assert_null(model_refuses(&c));
    c.pe = (struct encoding_config){0};
    c.mpnn = MPNN_GATV2;
    c.mlp = MLP_FUSED;
    c.dropout = 0.1;
    assert_string_equal(model_refuses(&c), "a fused mlp has no dropout");
    c.dropout = 0;
    assert_null(model_refuses(&c));
    c.attention = ATTENTION_NONE;
    assert_string_equal(model_refuses(&c), "a fused mlp needs attention, GIN or GINE");
}

static void test_parameters_by_the_formula(void **state)
{
    static const int64_t sizes[][4] = {{1, 1, 1, 1},   {1, 6, 3, 5},    {2, 6, 2, 5},    {3, 10, 5, 7},
                                       {5, 21, 7, 64}, {12, 48, 4, 11}, {6, 256, 8, 512}};
    struct batch b = batch_awkward();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct model_config c = sized(*state, sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3], ACT_GELU);
        if (c.pe.kind && c.pe.width == 0)
            continue;
        struct recording r = program_record(PROGRAM_FORWARD, &c, &b, NULL, config_of(backend_cpu(), F32));
        assert_int_equal(tape_parameter_elements(r.tape), model_parameters(&c));
        tape_free(r.tape);
    }
    batch_free(&b);
}

/*
 * Sets the learning rate to zero, so that parameters do not change between replays, and a step so large that
 * adding 1 does not change it, so that masks of dropout do not.
 */
static void stop_learning(const struct tape *t)
{
    static const double schedule[] = {0x1p60, 0};
    for (int e = 0; e < tape_entry_count(t); e++)
        if (tape_entry(t, e)->op == OP_adamw)
            memcpy(((const struct adamw_args *)tape_entry(t, e)->args)->schedule.data, schedule,
                   sizeof schedule);
}

/*
 * In double on the reference, with directed edges, loops and duplicates, a single-node graph and one without
 * edges.
 */
static void test_gradients(void **state)
{
    const struct subject *s = *state;
    if (attention_is_linear(s->parts.attention))
        skip(); /* maxima that count as constants: its ops are tested alone, and by golden results */
    struct batch b = batch_awkward();
    for (enum activation act = 0; act < (env_set("GTMARK_SMALL") ? 1 : ACT_KINDS); act++) {
        struct model_config c = sized(s, 2, 6, 3, 5, act);
        struct recording r = ready(PROGRAM_STEP, &c, &b, config_of(&backend_ref, F64));
        stop_learning(r.tape);
        double error = tape_gradient_error(r.tape, r.loss);
        if (!(error < 1e-6))
            fail_msg("%s, act %s: relative error %g", s->name, activation_name(act), error);
        tape_free(r.tape);
    }
    batch_free(&b);
}

/*
 * Compares the results of a float step with the same step of the reference in double, from the same
 * parameters.
 */
static void step_agrees_with_double(const struct subject *s, struct batch b)
{
    struct model_config c = small_of(s);
    struct recording f = ready(PROGRAM_STEP, &c, &b, config_of(backend_cpu(), F32));
    struct recording d = ready(PROGRAM_STEP, &c, &b, config_of(&backend_ref, F64));
    tape_run(f.tape);
    tape_run(d.tape);
    assert_true(fabs(tape_scalar(f.tape, f.loss) / tape_scalar(d.tape, d.loss) - 1) < 1e-5);
    double difference = 0, norm = 0;
    for (int p = 0; p < tape_parameter_count(f.tape); p++) {
        struct mat gf = tape_gradient(f.tape, tape_parameter(f.tape, p, NULL));
        struct mat gd = tape_gradient(d.tape, tape_parameter(d.tape, p, NULL));
        for (int64_t i = 0; i < mat_size(gf); i++) {
            double a = ((float *)gf.data)[i], r = ((double *)gd.data)[i];
            difference += (a - r) * (a - r);
            norm += r * r;
        }
    }
    assert_true(norm > 0 && sqrt(difference / norm) < 1e-4);
    tape_free(f.tape);
    tape_free(d.tape);
    batch_free(&b);
}

static void test_step_agrees_with_double(void **state)
{
    if (attention_is_linear(((const struct subject *)*state)->parts.attention))
        skip(); /* too much for the reference; there are golden results */
    step_agrees_with_double(*state, batch_er(67, 3));
    step_agrees_with_double(*state, batch_awkward());
}

/* A random permutation of each graph's nodes. */
static void shuffle(const struct batch *b, int64_t *to)
{
    for (int64_t g = 0; g < b->graphs; g++)
        for (int64_t i = b->offset[g]; i < b->offset[g + 1]; i++) {
            int64_t j = b->offset[g] + (int64_t)(rng_bits(9, (uint64_t)i) % (uint64_t)(i - b->offset[g] + 1));
            to[i] = to[j];
            to[j] = i;
        }
}

/* Where a batch with permuted labels has the nodes and edges of the original one. */
struct places {
    int64_t *node, *edge;
};

/* Equal edges keep their order. */
static void place_edges(const struct batch *b, const struct batch *other, struct places *p)
{
    const int32_t *col = b->adj.col;
    p->edge = malloc((size_t)b->adj.edges * sizeof *p->edge);
    assert_non_null(p->edge);
    for (int64_t i = 0; i < b->adj.nodes; i++)
        for (int64_t e = b->adj.row_ptr[i], first = e, end = b->adj.row_ptr[i + 1]; e < end; e++) {
            p->edge[e] = other->adj.row_ptr[p->node[i]];
            for (int64_t f = first; f < end; f++)
                p->edge[e] += p->node[col[f]] < p->node[col[e]] || (col[f] == col[e] && f < e);
        }
}

/* Moves the rows of the input with this name, if there is one. */
static void move_rows(const struct tape *t, const char *input, const int64_t *to)
{
    for (int n = 0; n < tape_input_count(t); n++) {
        const char *name;
        struct mat x = tape_input(t, n, &name);
        if (strcmp(name, input) != 0)
            continue;
        double *copy = malloc((size_t)mat_bytes(x));
        assert_non_null(copy);
        memcpy(copy, x.data, (size_t)mat_bytes(x));
        for (int64_t i = 0; i < x.rows; i++)
            memcpy((double *)x.data + to[i] * x.cols, copy + i * x.cols, (size_t)x.cols * sizeof *copy);
        free(copy);
    }
}

/* The output of inference in double, allocated; features are moved unless `to` is null. */
static double *output_of(const struct model_config *c, const struct batch *b, const struct encoding *e,
                         const struct places *to, int64_t *rows)
{
    struct recording r = ready_with(PROGRAM_FORWARD, c, b, e, config_of(&backend_oracle, F64));
    if (to) {
        move_rows(r.tape, "features", to->node);
        move_rows(r.tape, "edge_features", to->edge);
    }
    tape_run(r.tape);
    struct mat y = tape_view(r.tape, r.output);
    double *copy = malloc((size_t)mat_bytes(y));
    assert_non_null(copy);
    memcpy(copy, y.data, (size_t)mat_bytes(y));
    *rows = y.rows;
    tape_free(r.tape);
    return copy;
}

/* With permuted node labels, outputs of graphs are the same, and those of nodes are permuted. */
static void test_permuted_labels_permute_outputs(void **state)
{
    struct model_config c = small_of(*state);
    if (c.pe.hops || c.pe.expander)
        skip(); /* numbers of nodes choose one of paths as long as one another, and draw expanders */
    struct batch b = batch_awkward();
    struct places to = {.node = malloc((size_t)b.adj.nodes * sizeof *to.node)};
    int64_t rows, cols = c.task == TASK_NODE ? CLASSES : TARGETS;
    shuffle(&b, to.node);
    struct batch other = batch_relabelled(&b, to.node);
    place_edges(&b, &other, &to);
    struct encoding e = encoding_sample(&c.pe, &b), moved = encoding_sample(&c.pe, &other);
    if (c.pe.kind) {
        encoding_free(&moved);
        moved = encoding_relabelled(&e, to.node);
    }
    double *y = output_of(&c, &b, &e, NULL, &rows), *z = output_of(&c, &other, &moved, &to, &rows);
    double *mixed_up = output_of(&c, &other, &e, NULL, &rows), difference = 0, unequal = 0, size = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < cols; k++) {
            int64_t at = (c.task == TASK_NODE ? to.node[i] : i) * cols + k;
            difference = fmax(difference, fabs(z[at] - y[i * cols + k]));
            unequal = fmax(unequal, fabs(mixed_up[at] - y[i * cols + k]));
            size = fmax(size, fabs(y[i * cols + k]));
        }
    assert_true(size > 0);
    if (!(difference < 1e-12 * size))
        fail_msg("%s: outputs differ by %g of %g", ((const struct subject *)*state)->name, difference, size);
    if (model_uses_edges(&c) || c.task == TASK_NODE)
        assert_true(unequal > 1e-6 * size); /* detects features that are not permuted */
    encoding_free(&e);
    encoding_free(&moved);
    free(y);
    free(z);
    free(mixed_up);
    free(to.node);
    free(to.edge);
    batch_free(&b);
    batch_free(&other);
}

static void test_loss_falls(void **state)
{
    struct model_config small = small_of(*state);
    struct batch b = batch_er(20, 8);
    struct encoding e = encoding_sample(&small.pe, &b);
    struct recording r = ready_with(PROGRAM_STEP, &small, &b, &e, config_of(backend_cpu(), F32));
    tape_run(r.tape);
    double first = tape_scalar(r.tape, r.loss);
    bool few = env_set("GTMARK_SMALL");
    int steps = few ? 5 : 150;
    for (int i = 0; i < steps; i++)
        tape_run(r.tape);
    double last = tape_scalar(r.tape, r.loss);
    if (!(last < (few ? 1 : small.task == TASK_NODE ? 0.1 : 0.02) * first))
        fail_msg("%d steps: the loss went from %g to %g", steps, first, last);
    tape_init(r.tape);
    tape_run(r.tape);
    assert_true(tape_scalar(r.tape, r.loss) == first); /* init restores everything */
    tape_free(r.tape);
    encoding_free(&e);
    batch_free(&b);
}

/*
 * The forward passes of inference and training compute the same function, except for batch norm statistics
 * and dropout.
 */
static void test_inference_equals_training(void **state)
{
    struct model_config small = small_of(*state);
    bool normed = small.norm == NORM_BATCH || small.mpnn == MPNN_GATEDGCN ||
                  (small.pe.kind && !encoding_is_spectral(&small.pe));
    if (normed || small.dropout > 0)
        skip();
    struct batch b = batch_er(33, 2);
    struct recording f = ready(PROGRAM_FORWARD, &small, &b, config_of(backend_cpu(), F32));
    struct recording s = ready(PROGRAM_STEP, &small, &b, config_of(backend_cpu(), F32));
    tape_run(f.tape);
    tape_run(s.tape);
    struct mat x = tape_view(f.tape, f.output), y = tape_view(s.tape, s.output);
    assert_memory_equal(x.data, y.data, (size_t)mat_bytes(x));
    assert_true(tape_planned(f.tape)->arena < tape_planned(s.tape)->arena);
    tape_free(f.tape);
    tape_free(s.tape);
    batch_free(&b);
}

static bool all_finite(struct mat m)
{
    for (int64_t i = 0; i < mat_size(m); i++)
        if (!isfinite(m.dtype == F64 ? ((double *)m.data)[i] : (double)((float *)m.data)[i]))
            return false;
    return true;
}

/* One step with features of +-1e15: whether output, loss and every gradient are finite. */
static bool finite_from_huge_features(const struct model_config *c, const struct batch *b,
                                      const struct backend *backend, enum dtype dtype)
{
    struct recording r = ready(PROGRAM_STEP, c, b, config_of(backend, dtype));
    const char *name;
    struct mat features = tape_input(r.tape, 0, &name);
    assert_string_equal(name, "features");
    for (int64_t i = 0; i < mat_size(features); i++) {
        if (dtype == F64)
            ((double *)features.data)[i] *= 1e15;
        else
            ((float *)features.data)[i] *= 1e15f;
    }
    tape_run(r.tape);
    bool finite = all_finite(tape_view(r.tape, r.output)) && all_finite(tape_view(r.tape, r.loss));
    for (int p = 0; p < tape_parameter_count(r.tape); p++)
        finite &= all_finite(tape_gradient(r.tape, tape_parameter(r.tape, p, NULL)));
    tape_free(r.tape);
    return finite;
}

static void test_huge_features_stay_finite(void **state)
{
    struct batch b = batch_er(33, 2);
    struct model_config c = small_of(*state);
    assert_true(finite_from_huge_features(&c, &b, &backend_oracle, F64));
    for (const struct backend *const *cpu = backend_cpu_all(); *cpu; cpu++)
        assert_true(finite_from_huge_features(&c, &b, *cpu, F32));
    assert_true(finite_from_huge_features(&c, &b, &backend_ref, F32));
    batch_free(&b);
}

static void test_counted_equals_analytic(void **state)
{
    struct model_config small = small_of(*state);
    struct batch b = batch_er(29, 3);
    struct recording r = ready(PROGRAM_STEP, &small, &b, config_of(&backend_ref, F64));
    struct cost total = tape_total(r.tape);
    assert_true(total.flops > 1000000);
    assert_int_equal(tape_count(r.tape, INT64_MAX), total.flops);
    assert_int_equal(tape_count(r.tape, 1000), -1);
    tape_free(r.tape);
    batch_free(&b);
}

/* Edge states without any edges: all parameters are there, and those of edges have no gradient. */
static void test_no_edges(void **state)
{
    (void)state;
    struct graph_config g = {.family = "er", .nodes = 5, .graphs = 2, .seed = 1};
    struct batch b;
    char error[256];
    assert_true(batch_generate(&b, &g, error, sizeof error) &&
                batch_number_edges(&b, &g, error, sizeof error));
    assert_int_equal(b.adj.edges, 0);
    for (enum mpnn_kind kind = MPNN_GINE; kind < MPNN_KINDS; kind++) {
        struct subject s = {.parts = {.mpnn = kind}};
        struct model_config c = sized(&s, 2, 6, 3, 5, ACT_RELU);
        struct recording r = ready(PROGRAM_STEP, &c, &b, config_of(&backend_ref, F64));
        stop_learning(r.tape);
        assert_true(tape_gradient_error(r.tape, r.loss) < 1e-6);
        assert_int_equal(tape_count(r.tape, INT64_MAX), tape_total(r.tape).flops);
        tape_free(r.tape);
    }
    batch_free(&b);
}

static int64_t longest_row(const struct csr *g)
{
    int64_t longest = 0;
    for (int64_t i = 0; i < g->nodes; i++)
        if (g->row_ptr[i + 1] > g->row_ptr[i] + longest)
            longest = g->row_ptr[i + 1] - g->row_ptr[i];
    return longest;
}

/* Ops on edges know how long their rows are at most, and gradients have it from their ops. */
static void test_longest_rows(void **state)
{
    (void)state;
    struct batch b = batch_awkward();
    struct subject s = {.parts = {.mpnn = MPNN_GIN}};
    struct model_config c = sized(&s, 2, 6, 3, 5, ACT_RELU);
    struct recording r = program_record(PROGRAM_STEP, &c, &b, NULL, config_of(&backend_ref, F64));
    int found = 0;
    assert_int_not_equal(longest_row(&b.adj), longest_row(&b.out));
    for (int i = 0; i < tape_entry_count(r.tape); i++) {
        const struct entry *e = tape_entry(r.tape, i);
        const struct operand *rows = operand_named(e->op, "adj.row");
        if (!rows)
            continue;
        const struct edges *adj = (const struct edges *)(const void *)operand_mat(rows, e->args);
        assert_int_equal(adj->most, longest_row(&b.adj));
        assert_int_equal(adj->out_most, longest_row(&b.out));
        found++;
    }
    assert_int_equal(found, 4);
    tape_free(r.tape);
    batch_free(&b);
}

static int64_t arena_of(const struct batch *b, int64_t layers)
{
    struct subject s = {.parts = {.mpnn = MPNN_GATEDGCN}};
    struct model_config c = sized(&s, layers, 32, 1, 32, ACT_RELU);
    struct recording r = program_record(PROGRAM_STEP, &c, b, NULL, config_of(backend_cpu(), F32));
    int64_t bytes = tape_plan(r.tape)->arena;
    tape_free(r.tape);
    return bytes;
}

/* Each layer of GatedGCN keeps e, h and BatchNorm(h) of every edge. */
static void test_edges_that_are_kept(void **state)
{
    (void)state;
    struct graph_config g = {.family = "er", .nodes = 100, .degree = 1000, .graphs = 1, .seed = 1};
    struct batch b;
    char error[256];
    assert_true(batch_shape(&b, &g, error, sizeof error));
    double rows = (double)(arena_of(&b, 5) - arena_of(&b, 4)) / (4.0 * 32 * (double)b.adj.edges);
    assert_true(rows > 3 && rows < 3.3);
    batch_free(&b);
}

/* Sizes beyond any machine's memory: 10 million nodes, whose 4 N^2 d FLOPs exceed 2^53. */
static void test_dry_run(void **state)
{
    (void)state;
    struct graph_config g = {.family = "er", .nodes = 10000000, .degree = 5, .graphs = 1, .seed = 1};
    struct batch b;
    char error[256];
    assert_true(batch_shape(&b, &g, error, sizeof error));
    struct subject s = {.parts = dense};
    struct model_config c = sized(&s, 1, 256, 8, 512, ACT_GELU);
    struct recording r = program_record(PROGRAM_FORWARD, &c, &b, NULL, config_of(backend_cpu(), F32));
    int64_t n = 10000000, d = 256, h = 8, f = 512;
    int64_t linear = 2 * n * (FEATURES * d + 4 * d * d + 2 * d * f), bias = n * (d + 4 * d + f + d),
            act = 5 * n * f;
    int64_t attention = 4 * n * n * (d + h) + n * d, norms = 2 * (n * d + n * (8 * d + 5));
    int64_t head = (n + 1) * d + 2 * d + 1;
    assert_int_equal(tape_cost(r.tape, PHASE_FORWARD).flops, linear + bias + act + attention + norms + head);
    tape_free(r.tape);
    batch_free(&b);
}

static void test_listing(void **state)
{
    (void)state;
    struct batch b = batch_er(12, 1);
    struct subject s = {.parts = dense};
    struct model_config c = small_of(&s);
    struct recording r = program_record(PROGRAM_STEP, &c, &b, NULL, config_of(backend_cpu(), F32));
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    tape_list(r.tape, out);
    fclose(out);
    int lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, tape_entry_count(r.tape) + 1);
    assert_non_null(strstr(text, "backward  layer2.ffn.down"));
    assert_non_null(strstr(text, "y 12x40, lse 12x5 <- q 12x40, k 12x40, v 12x40, graphs 2x1"));
    free(text);
    tape_free(r.tape);
    batch_free(&b);
}

static const struct CMUnitTest of_every_model[] = {
    cmocka_unit_test(test_parameters_by_the_formula), cmocka_unit_test(test_gradients),
    cmocka_unit_test(test_step_agrees_with_double),   cmocka_unit_test(test_loss_falls),
    cmocka_unit_test(test_inference_equals_training), cmocka_unit_test(test_counted_equals_analytic),
    cmocka_unit_test(test_huge_features_stay_finite), cmocka_unit_test(test_permuted_labels_permute_outputs),
};

enum {
    OWN_TESTS = 7,
    PER_MODEL = sizeof of_every_model / sizeof *of_every_model,
    MIXED = sizeof mixed / sizeof *mixed,
    SUBJECTS_MAX = 16 + MIXED
};

/* The registered models, then the other combinations. */
static int all_subjects(struct subject *subjects)
{
    int count = 0;
    for (const struct model *m = models; m->name && count < SUBJECTS_MAX - MIXED; m++)
        subjects[count++] = (struct subject){m->name, {.attention = m->attention, .mpnn = m->mpnn}};
    memcpy(subjects + count, mixed, sizeof mixed);
    return count + MIXED;
}

int main(void)
{
    static struct subject subjects[SUBJECTS_MAX];
    static char names[SUBJECTS_MAX][PER_MODEL][100];
    struct CMUnitTest tests[OWN_TESTS + SUBJECTS_MAX * PER_MODEL] = {
        cmocka_unit_test(test_parameter_oracle), cmocka_unit_test(test_refused_parts),
        cmocka_unit_test(test_no_edges),         cmocka_unit_test(test_edges_that_are_kept),
        cmocka_unit_test(test_dry_run),          cmocka_unit_test(test_listing),
        cmocka_unit_test(test_longest_rows),
    }; /* cmocka skips empty ones */
    int count = all_subjects(subjects);
    for (int m = 0; m < count; m++)
        for (int i = 0; i < PER_MODEL; i++) {
            struct CMUnitTest *test = &tests[OWN_TESTS + m * PER_MODEL + i];
            snprintf(names[m][i], sizeof names[m][i], "%s: %s", subjects[m].name, of_every_model[i].name);
            *test = of_every_model[i];
            test->name = names[m][i];
            test->initial_state = &subjects[m];
        }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
