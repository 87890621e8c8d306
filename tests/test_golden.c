/*
 * Layers and whole models compared with golden results of PyTorch in float64 (tests/golden/make_golden.py):
 * outputs, losses and every gradient, on every backend. Does not need Python.
 */
#include <math.h>

#include "models/encodings/compute.h"
#include "models/layers/check.h"
#include "models/layers/encoder.h"
#include "models/layers/features.h"
#include "models/layers/graphormer.h"
#include "models/layers/head.h"
#include "models/layers/model.h"
#include "tests/golden.h"
#include "tests/test.h"

enum {
    NODES = GOLDEN_NODES,
    WIDTH = 12,
    INNER = 17,
    HEADS = 3,
    LINEAR_HEADS = 2,
    STEPS = 3,
    PARAMETERS_MAX = 32
};

static void compare(struct check *c, const char *name, struct mat ours, struct mat oracle, double floor,
                    double limit)
{
    if (ours.rows != oracle.rows || ours.cols != oracle.cols)
        fail_msg("%s is %lld x %lld", name, (long long)ours.rows, (long long)ours.cols);
    check_tensor(c, name, ours, oracle, NULL, ours.rows, (struct rule){.limit = limit, .floor = floor});
}

static void compare_golden(struct check *c, const char *directory, const char *name, struct mat ours,
                           double limit)
{
    struct mat oracle = golden_read(directory, "", name);
    compare(c, name, ours, oracle, 0, limit);
    free(oracle.data);
}

static void assert_right(const struct check *c, const char *what, const struct way *way)
{
    if (c->excess > 1)
        fail_msg("%s on %s in %s: %s has %.3g times the error allowed", what, way->backend->doc,
                 dtype_name(way->dtype), c->tensor, c->excess);
}

static double squares(struct mat m)
{
    double sum = 0;
    for (int64_t i = 0; i < mat_size(m); i++)
        sum += pow(((const double *)m.data)[i], 2);
    return sum;
}

/* Element i of a contiguous matrix of either type. */
static double element(struct mat m, int64_t i)
{
    return m.dtype == F64 ? ((const double *)m.data)[i] : (double)((const float *)m.data)[i];
}

/* --- the batch */

static void test_batch_is_awkward(void **state)
{
    (void)state;
    struct batch b = golden_batch();
    const struct csr *g = &b.adj;
    int empty = 0, loops = 0, duplicates = 0;
    for (int64_t i = 0; i < g->nodes; i++) {
        empty += g->row_ptr[i] == g->row_ptr[i + 1];
        for (int64_t e = g->row_ptr[i]; e < g->row_ptr[i + 1]; e++) {
            loops += g->col[e] == i;
            duplicates += e > g->row_ptr[i] && g->col[e] == g->col[e - 1];
        }
    }
    assert_int_equal(b.offset[b.graphs], NODES);
    assert_int_equal(empty, 29);
    assert_int_equal(loops, 13);
    assert_int_equal(duplicates, 18);
    assert_memory_not_equal(g->row_ptr, b.out.row_ptr, (NODES + 1) * sizeof *g->row_ptr);
    batch_free(&b);
}

/* --- layers */

/* `kind` is a value of the layer's own enumeration. */
struct layer {
    const char *name;
    struct mat (*record)(struct tape *t, struct mat x, const struct structure *s, int kind);
    int kind;
};

static struct mat linear_record(struct tape *t, struct mat x, const struct structure *s, int act)
{
    (void)s;
    return linear(t, "layer", x, 10, act);
}

/* Devices without the op run its steps. */
static enum mlp_kind fused_on(const struct tape *t)
{
    const struct tape_config *c = tape_config(t);
    return backend_kernel(c->backend, OP_mlp_backward, c->dtype, NULL) ? MLP_FUSED : MLP_UNFUSED;
}

static struct mat fused_mlp_record(struct tape *t, struct mat x, const struct structure *s, int act)
{
    (void)s;
    return ffn(t, "layer", fused_on(t), x, INNER, act, 0);
}

static struct mat mlp_record(struct tape *t, struct mat x, const struct structure *s, int act)
{
    (void)s;
    return ffn(t, "layer", MLP_UNFUSED, x, INNER, act, 0);
}

static struct mat gin_record(struct tape *t, struct mat x, const struct structure *s, int act)
{
    return gin(t, "layer", fused_on(t), x, s, act);
}

static struct mat mpnn_record(struct tape *t, struct mat x, const struct structure *s, int kind)
{
    struct structure with = *s;
    if (kind == MPNN_GCN)
        with.gcn = gcn_weights(t, "gcn_weights", &s->adj);
    return kind == MPNN_GCN     ? gcn(t, "layer", x, &with)
           : kind == MPNN_GATV2 ? gatv2(t, "layer", x, s, HEADS, false)
                                : pna(t, "layer", x, s, false);
}

static struct mat mpnn_edge_record(struct tape *t, struct mat x, const struct structure *s, int kind)
{
    struct structure with = *s;
    with.edge = param(t, "e", s->adj.col.rows, WIDTH, 1);
    return kind == MPNN_GATV2_EDGE ? gatv2(t, "layer", x, &with, HEADS, true)
                                   : pna(t, "layer", x, &with, true);
}

static struct mat gine_record(struct tape *t, struct mat x, const struct structure *s, int act)
{
    struct structure with = *s;
    with.edge = param(t, "e", s->adj.col.rows, WIDTH, 1);
    return gine(t, "layer", MLP_UNFUSED, x, &with, act);
}

/* The weights of edges by ESLapPE. */
static struct mat place_record(struct tape *t)
{
    enum { PAIRS = 9 };
    static float values[NODES * PAIRS];
    const struct encoding_config c = {.kind = ENCODING_ESLAP, .k = PAIRS};
    const struct encoding e = {
        .values = {.data = values, .rows = NODES, .cols = PAIRS, .ld = PAIRS, .dtype = F32}};
    for (int64_t i = 0; i < NODES * PAIRS; i++)
        values[i] = (float)golden_entry("values", i);
    struct batch b = golden_batch();
    struct mat z = gate_encoder(t, "encoder", WIDTH, &c, &b, &e);
    batch_free(&b);
    return z;
}

static struct mat gine_eslap_record(struct tape *t, struct mat x, const struct structure *s, int act)
{
    struct structure with = *s;
    with.place = place_record(t);
    return gine_record(t, x, &with, act);
}

/* Two layers: the second reads the edges of the first, and no layer reads its own. */
static struct mat gatedgcn_record(struct tape *t, struct mat x, const struct structure *s, int act)
{
    struct structure with = *s;
    with.edge = param(t, "e", s->adj.col.rows, WIDTH, 1);
    x = gatedgcn(t, "first", x, &with, act, 0);
    with.edge_ends = true;
    return gatedgcn(t, "second", x, &with, act, 0);
}

static struct mat gatedgcn_eslap_record(struct tape *t, struct mat x, const struct structure *s, int act)
{
    struct structure with = *s;
    with.place = place_record(t);
    return gatedgcn_record(t, x, &with, act);
}

static struct mat attention_record(struct tape *t, struct mat x, const struct structure *s, int kind)
{
    return attention(t, "layer", kind, x, s, HEADS, 0);
}

enum { GLOBALS = 2 };

struct link {
    int32_t receiver, sender;
    int64_t factor;
};

static int by_receiver(const void *a, const void *b)
{
    const struct link *p = a, *q = b;
    return p->receiver != q->receiver ? (p->receiver > q->receiver) - (p->receiver < q->receiver)
           : p->sender != q->sender   ? (p->sender > q->sender) - (p->sender < q->sender)
                                      : (p->factor > q->factor) - (p->factor < q->factor);
}

/* The edges of the batch, of one permutation of each graph of n nodes, i to i + 3 modulo n, and of global
 * nodes; the program keeps pointers to the arrays. */
static struct encoding expand_golden(const struct batch *b)
{
    enum { EDGES_MOST = 2048, ROWS_MOST = NODES + 16 };
    static struct link list[EDGES_MOST];
    static int64_t row[ROWS_MOST], out_row[ROWS_MOST], factor[EDGES_MOST];
    static int32_t col[EDGES_MOST], out_col[EDGES_MOST], number[EDGES_MOST], next[ROWS_MOST];
    int32_t n = 0, edges = (int32_t)b->adj.edges, rows = (int32_t)(NODES + GLOBALS * b->graphs);
    for (int32_t g = 0; g < b->graphs; g++)
        for (int32_t i = (int32_t)b->offset[g], first = i, end = (int32_t)b->offset[g + 1]; i < end; i++) {
            int32_t to = first + (i - first + 3) % (end - first);
            for (int64_t e = b->adj.row_ptr[i]; e < b->adj.row_ptr[i + 1]; e++)
                list[n++] = (struct link){i, b->adj.col[e], e};
            list[n++] = (struct link){to, i, edges};
            list[n++] = (struct link){i, to, edges};
            for (int32_t v = 0; v < GLOBALS; v++) {
                list[n++] = (struct link){(int32_t)(NODES + v * b->graphs + g), i, edges + 1 + v};
                list[n++] = (struct link){i, (int32_t)(NODES + v * b->graphs + g), edges + 1 + GLOBALS + v};
            }
        }
    assert_true(n <= EDGES_MOST && rows < ROWS_MOST);
    qsort(list, (size_t)n, sizeof *list, by_receiver);
    memset(row, 0, sizeof row);
    memset(out_row, 0, sizeof out_row);
    for (int32_t e = 0; e < n; e++) {
        row[list[e].receiver + 1]++;
        out_row[list[e].sender + 1]++;
        col[e] = list[e].sender;
        factor[e] = list[e].factor;
    }
    for (int32_t i = 0; i < rows; i++) {
        row[i + 1] += row[i];
        out_row[i + 1] += out_row[i];
        next[i] = (int32_t)out_row[i];
    }
    for (int32_t e = 0; e < n; e++) {
        int32_t at = next[list[e].sender]++;
        out_col[at] = list[e].receiver;
        number[at] = e;
    }
    return (struct encoding){
        .expanded = {.adj = {rows, n, row, col}, .out = {rows, n, out_row, out_col}, .out_edge = number},
        .factor = {.data = factor, .rows = n, .cols = 1, .ld = 1, .dtype = I64}};
}

/* Two layers: the second reads the global nodes of the first. */
static struct mat exphormer_record(struct tape *t, struct mat x, const struct structure *s, int kind)
{
    const struct model_config c = {.hidden = WIDTH, .pe = {.expander = 1, .globals = GLOBALS}};
    struct structure with = *s;
    struct batch b = golden_batch();
    struct encoding e = expand_golden(&b);
    (void)kind;
    with.edge = param(t, "e", s->adj.col.rows, WIDTH, 1);
    with.expanded = expanded_edges(t, "expander", &c, &b, &e, &with);
    x = exphormer(t, "first", x, &with, HEADS);
    x = exphormer(t, "second", x, &with, HEADS);
    batch_free(&b);
    return x;
}

static struct mat linear_attention_record(struct tape *t, struct mat x, const struct structure *s, int kind)
{
    return attention(t, "layer", kind, x, s, LINEAR_HEADS, 0);
}

static struct mat add_norm_record(struct tape *t, struct mat x, const struct structure *s, int norm)
{
    struct mat branch = param(t, "branch", NODES, WIDTH, 1);
    return add_norm(t, "layer", norm, x, branch, s);
}

static struct mat gps_record(struct tape *t, struct mat x, const struct structure *s, int norm)
{
    const struct model_config c = {.hidden = WIDTH,
                                   .heads = HEADS,
                                   .ffn = INNER,
                                   .act = ACT_GELU,
                                   .attention = ATTENTION_DENSE,
                                   .mpnn = MPNN_GIN,
                                   .mlp = fused_on(t),
                                   .norm = norm};
    struct structure own = *s;
    return gps_layer(t, "layer", x, &own, &c);
}

static struct mat pool_record(struct tape *t, struct mat x, const struct structure *s, int kind)
{
    return pool(t, "layer", kind, x, &s->graphs);
}

/* Concatenated with a linear layer, as in models. The smaller graphs have fewer pairs than requested. */
static struct mat encoder_record(struct tape *t, struct mat x, const struct structure *s, int kind)
{
    enum { BESIDE = 10, PE = 6, PAIRS = 9, GRAPHS = 5 };
    static float values[NODES * PAIRS], eigenvalues[GRAPHS * PAIRS];
    const struct encoding_config c = {.kind = kind, .k = PAIRS, .width = PE};
    const struct encoding e = {
        .values = {.data = values, .rows = NODES, .cols = PAIRS, .ld = PAIRS, .dtype = F32},
        .eigenvalues = {.data = eigenvalues, .rows = GRAPHS, .cols = PAIRS, .ld = PAIRS, .dtype = F32}};
    for (int64_t i = 0; i < NODES * PAIRS; i++)
        values[i] = (float)golden_entry("values", i);
    for (int64_t i = 0; i < GRAPHS * PAIRS; i++)
        eigenvalues[i] = (float)golden_entry("eigenvalues", i);
    struct batch b = golden_batch();
    struct mat y = tape_matrix(t, NODES, BESIDE + PE);
    (void)s;
    linear_to(t, "input", mat_cols(y, 0, BESIDE), x, ACT_NONE);
    encoder(t, "layer", mat_cols(y, BESIDE, PE), &c, &b, &e);
    batch_free(&b);
    return y;
}

/* Beside a linear layer, as features are beside an encoding. */
static struct mat embedding_record(struct tape *t, struct mat x, const struct structure *s, int kind)
{
    enum { BESIDE = 10, PE = 6 };
    static const struct feature_config c = {.tables = 3, .types = {5, 1, 4}};
    struct mat types = raw_features(t, "types", &c, all_rows(NODES), 0, NULL),
               y = tape_matrix(t, NODES, BESIDE + PE);
    (void)s, (void)kind;
    linear_to(t, "input", mat_cols(y, 0, BESIDE), x, ACT_NONE);
    embed_to(t, "layer", mat_cols(y, BESIDE, PE), types, &c);
    return y;
}

/* Of nodes, or for HEAD_LINEAR of pairs of nodes. */
static struct mat head_record(struct tape *t, struct mat x, const struct structure *s, int kind)
{
    const struct model_config c = {.hidden = WIDTH,
                                   .act = kind == HEAD_HALVING ? ACT_GELU : ACT_RELU,
                                   .task = kind == HEAD_LINEAR ? TASK_EDGE : TASK_NODE,
                                   .head = {.kind = kind, .depth = 3, .outputs = 5}};
    struct batch b = golden_batch();
    struct mat y = head(t, x, &c, &b);
    (void)s;
    batch_free(&b);
    return y;
}

static struct encoding encoding_of(const struct model_config *c, const struct batch *b)
{
    struct encoding e = {0};
    char error[128];
    if (c->pe.expander)
        return expand_golden(b);
    if (c->pe.buckets &&
        !encoding_compute(&c->pe, b, &(struct encoding_options){.threads = 1}, &e, error, sizeof error))
        fail_msg("%s", error);
    return e;
}

/* With tokens, whose rows stand before those of their graphs, and all of the bias. */
static struct mat graphormer_record(struct tape *t, struct mat x, const struct structure *s, int kind)
{
    const struct model_config c = {.layer = LAYER_GRAPHORMER,
                                   .layers = 1,
                                   .heads = HEADS,
                                   .ffn = INNER,
                                   .act = ACT_GELU,
                                   .attention = ATTENTION_DENSE,
                                   .pool = POOL_TOKEN,
                                   .pe = {.buckets = 4, .hops = 3},
                                   .hop_products = 4,
                                   .edge_features = {.tables = 2, .types = {5, 3}}};
    struct batch b = golden_batch(), all = token_batch(t, &b);
    struct encoding e = encoding_of(&c, &b);
    struct structure with = tape_structure(t, &all, false, false);
    (void)s, (void)kind;
    with.bias = attention_bias(t, "bias", &c, &b, &e);
    struct mat y = graphormer(t, add_tokens(t, "token", x, &b), &with, &c);
    encoding_free(&e);
    batch_free(&b);
    return y;
}

/* Tests this loss, on x itself. */
static struct mat nothing_record(struct tape *t, struct mat x, const struct structure *s, int loss)
{
    (void)t, (void)s, (void)loss;
    return x;
}

static struct mat loss_record(struct tape *t, const struct layer *layer, struct mat y)
{
    if (layer->record == nothing_record && layer->kind == LOSS_BINARY)
        return binary_cross_entropy(t, "loss", y, input_index(t, "labels", all_rows(y.rows), y.cols, 2));
    if (layer->record == nothing_record && layer->kind == LOSS_CROSS_ENTROPY)
        return cross_entropy(t, "loss", y, input_index(t, "labels", all_rows(y.rows), 1, (int)y.cols));
    struct mat targets = input_uniform(t, "targets", all_rows(y.rows), y.cols);
    if (layer->record == nothing_record && layer->kind == LOSS_ABSOLUTE)
        return mean_absolute_error(t, "loss", y, targets);
    return mean_squared_error(t, "loss", y, targets);
}

/* Sets every parameter to the generated matrix of its name. */
static void fill_parameters(struct tape *t)
{
    for (int p = 0; p < tape_parameter_count(t); p++) {
        const char *name;
        struct mat m = tape_parameter(t, p, &name);
        for (int64_t i = 0; i < mat_size(m); i++)
            if (m.dtype == F64)
                ((double *)m.data)[i] = golden_entry(name, i);
            else
                ((float *)m.data)[i] = (float)golden_entry(name, i);
    }
}

static void compare_gradients(struct check *c, const char *directory, const struct tape *t, double limit)
{
    int count = tape_parameter_count(t);
    struct mat oracle[PARAMETERS_MAX];
    double all = 0;
    const char *name;
    assert_true(count <= PARAMETERS_MAX);
    for (int p = 0; p < count; p++) {
        tape_parameter(t, p, &name);
        oracle[p] = golden_read(directory, "grad.", name);
        all += squares(oracle[p]);
    }
    for (int p = 0; p < count; p++) {
        struct mat gradient = tape_gradient(t, tape_parameter(t, p, &name));
        double share = (double)mat_size(gradient) / (double)tape_parameter_elements(t);
        compare(c, name, gradient, oracle[p], 1e-2 * sqrt(all * share), limit);
        free(oracle[p].data);
    }
}

static void check_layer(const struct way *way, const void *context)
{
    const struct layer *layer = context;
    struct tape_config config = way_config(way);
    struct tape *t = tape_new(&config);
    struct batch b = golden_batch();
    struct structure s = tape_structure(t, &b, true, true);
    struct mat x = param(t, "x", NODES, WIDTH, 1);
    struct mat y = layer->record(t, x, &s, layer->kind);
    struct mat loss = loss_record(t, layer, y);
    tape_keep(t, y);
    tape_keep(t, loss);
    tape_backward(t, loss);
    assert_true(tape_layout(t));
    tape_init(t);
    fill_parameters(t);
    tape_run(t);

    struct check c = {0};
    if (layer->record != nothing_record)
        compare_golden(&c, layer->name, "output", tape_view(t, y), way->output);
    compare_golden(&c, layer->name, "loss", tape_view(t, loss), way->output);
    compare_gradients(&c, layer->name, t, way->gradient);
    assert_right(&c, layer->name, way);
    tape_free(t);
    batch_free(&b);
}

static void test_layer(void **state)
{
    each_way(check_layer, *state);
}

/* --- whole models */

struct whole {
    const char *name;
    struct model_config config; /* without sizes, which are the same for all */
};

static struct recording model_record(const struct way *way, const struct whole *whole, const struct batch *b)
{
    struct model_config c = whole->config;
    c.layers = 2;
    c.hidden = 96;
    c.heads = attention_is_linear(c.attention) ? 1 : HEADS;
    c.ffn = 192;
    c.act = ACT_GELU;
    struct encoding e = encoding_of(&c, b);
    struct recording r = program_record(PROGRAM_STEP, &c, b, &e, way_config(way));
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    if (!c.pe.expander)
        encoding_free(&e);
    return r;
}

/*
 * The product of a gradient with a random vector, from the left (a number per column) or from the right (per
 * row): a wrong entry changes both.
 */
static void project(struct mat g, bool left, double *out)
{
    for (int64_t n = 0; n < (left ? g.cols : g.rows); n++)
        out[n] = 0;
    for (int64_t i = 0; i < mat_size(g); i++) {
        int64_t row = i / g.cols, col = i % g.cols;
        out[left ? col : row] += element(g, i) * golden_entry(left ? "left" : "right", left ? row : col);
    }
}

/*
 * Compares the products of all gradients with the golden ones, which are stacked. One-row gradients have no
 * product from the right: it would be a single number, in which errors may cancel.
 */
static void compare_products(struct check *c, const char *directory, const struct tape *t, bool left,
                             double limit)
{
    struct mat all = golden_read(directory, "", left ? "gradients_left" : "gradients_right");
    double *ours = malloc((size_t)all.rows * sizeof *ours), size = squares(all);
    int64_t at = 0;
    for (int p = 0; p < tape_parameter_count(t); p++) {
        const char *name;
        struct mat gradient = tape_gradient(t, tape_parameter(t, p, &name)), a = all, part = all;
        if (!left && gradient.rows == 1)
            continue;
        a.rows = part.rows = left ? gradient.cols : gradient.rows;
        assert_true(at + part.rows <= all.rows);
        a.data = ours + at;
        part.data = (double *)all.data + at;
        project(gradient, left, a.data);
        compare(c, name, a, part, 1e-2 * sqrt(size * (double)part.rows / (double)all.rows), limit);
        at += part.rows;
    }
    assert_int_equal(at, all.rows);
    free(ours);
    free(all.data);
}

static void check_step(struct check *c, const char *directory, const struct recording *r,
                       const struct way *way)
{
    compare_golden(c, directory, "output", tape_view(r->tape, r->output), way->output);
    compare_products(c, directory, r->tape, true, way->gradient);
    compare_products(c, directory, r->tape, false, way->gradient);
}

/* Later steps only in double: AdamW divides gradients by their magnitude, which amplifies rounding. */
static void check_model(const struct way *way, const void *context)
{
    const struct whole *whole = context;
    if (way->backend == &backend_ref &&
        (getenv("GTMARK_SMALL") || attention_is_linear(whole->config.attention)))
        return; /* too much for scalar loops, which have the layers above */
    struct batch b = golden_batch();
    struct recording r = model_record(way, whole, &b);
    struct mat losses = golden_read(whole->name, "", "losses");
    assert_int_equal(losses.rows, STEPS);
    losses.rows = 1;
    struct check c = {0};
    for (int step = 0; step < (way->dtype == F64 ? STEPS : 1); step++) {
        tape_run(r.tape);
        if (step == 0)
            check_step(&c, whole->name, &r, way);
        struct mat loss = losses;
        loss.data = (double *)losses.data + step;
        compare(&c, "loss", tape_view(r.tape, r.loss), loss, 0, way->output);
    }
    assert_right(&c, whole->name, way);
    free(losses.data);
    tape_free(r.tape);
    batch_free(&b);
}

static void test_model(void **state)
{
    each_way(check_model, *state);
}

/*
 * In double, one of 27,648 entries that is wrong by a millionth of the gradient's root mean square is
 * detected.
 */
static void test_products_see_an_entry(void **state)
{
    const struct whole *whole = *state;
    struct batch b = golden_batch();
    struct recording r = model_record(&way_oracle, whole, &b);
    tape_run(r.tape);
    struct mat g = tape_gradient(r.tape, tape_parameter(r.tape, 2, NULL));
    assert_int_equal(mat_size(g), 288 * 96);
    ((double *)g.data)[12345] += 1e-6 * sqrt(squares(g) / (double)mat_size(g));
    for (int left = 0; left < 2; left++) {
        struct check c = {0};
        compare_products(&c, whole->name, r.tape, left, way_oracle.gradient);
        assert_true(c.excess > 1);
        assert_string_equal(c.tensor, "layer1.attention.qkv.weight");
    }
    tape_free(r.tape);
    batch_free(&b);
}

int main(void)
{
    static struct layer layers[] = {
        {"linear_none", linear_record, ACT_NONE},
        {"linear_gelu", linear_record, ACT_GELU},
        {"linear_gelu_tanh", linear_record, ACT_GELU_TANH},
        {"linear_relu", linear_record, ACT_RELU},
        {"mlp", mlp_record, ACT_GELU},
        {"mlp", fused_mlp_record, ACT_GELU},
        {"gin_layer", gin_record, ACT_RELU},
        {"gcn_layer", mpnn_record, MPNN_GCN},
        {"gatv2_layer", mpnn_record, MPNN_GATV2},
        {"pna_layer", mpnn_record, MPNN_PNA},
        {"gatv2-edge_layer", mpnn_edge_record, MPNN_GATV2_EDGE},
        {"pna-edge_layer", mpnn_edge_record, MPNN_PNA_EDGE},
        {"gine_layer", gine_record, ACT_RELU},
        {"gine_eslap_layer", gine_eslap_record, ACT_GELU},
        {"gatedgcn_layers", gatedgcn_record, ACT_RELU},
        {"gatedgcn_eslap_layers", gatedgcn_eslap_record, ACT_GELU},
        {"attention", attention_record, ATTENTION_DENSE},
        {"attention", attention_record, ATTENTION_UNFUSED},
        {"sparse_attention", attention_record, ATTENTION_SPARSE},
        {"exphormer", exphormer_record, 0},
        {"performer", linear_attention_record, ATTENTION_PERFORMER},
        {"performer-relu", linear_attention_record, ATTENTION_PERFORMER_RELU},
        {"add_norm", add_norm_record, NORM_LAYER},
        {"add_norm_batch", add_norm_record, NORM_BATCH},
        {"add_norm_graph", add_norm_record, NORM_GRAPH},
        {"gps_layer", gps_record, NORM_LAYER},
        {"gps_layer_batch", gps_record, NORM_BATCH},
        {"mean_pool", pool_record, POOL_MEAN},
        {"sum_pool", pool_record, POOL_SUM},
        {"max_pool", pool_record, POOL_MAX},
        {"rwse_encoder", encoder_record, ENCODING_RWSE},
        {"rwse_encoder", encoder_record, ENCODING_HEAT}, /* the same encoder */
        {"lap_encoder", encoder_record, ENCODING_LAP},
        {"lap-pyg_encoder", encoder_record, ENCODING_LAP_PYG},
        {"embedding", embedding_record, 0},
        {"halving_head", head_record, HEAD_HALVING},
        {"mlp_head", head_record, HEAD_MLP},
        {"pairs_head", head_record, HEAD_LINEAR},
        {"graphormer_layer", graphormer_record, 0},
        {"mse", nothing_record, LOSS_SQUARES},
        {"mae", nothing_record, LOSS_ABSOLUTE},
        {"cross_entropy", nothing_record, LOSS_CROSS_ENTROPY},
        {"binary_cross_entropy", nothing_record, LOSS_BINARY},
    };
    static struct whole wholes[] = {
        {"graph_transformer", {.attention = ATTENTION_DENSE}},
        {"sparse_transformer", {.attention = ATTENTION_SPARSE, .pool = POOL_SUM}},
        {"gin", {.mpnn = MPNN_GIN, .task = TASK_NODE}},
        {"gps", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .norm = NORM_BATCH}},
        {"gps_gcn", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GCN}},
        {"gps_gatv2", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GATV2, .norm = NORM_BATCH}},
        {"gps_pna", {.attention = ATTENTION_DENSE, .mpnn = MPNN_PNA, .norm = NORM_BATCH}},
        {"gps_gatv2-edge", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GATV2_EDGE, .norm = NORM_BATCH}},
        {"gps_pna-edge", {.attention = ATTENTION_DENSE, .mpnn = MPNN_PNA_EDGE, .norm = NORM_BATCH}},
        {"gps_gine", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GINE, .norm = NORM_BATCH}},
        {"gps_gatedgcn",
         {.attention = ATTENTION_DENSE, .mpnn = MPNN_GATEDGCN, .norm = NORM_BATCH, .dropout = 0.1}},
        {"gps_sparse",
         {.attention = ATTENTION_SPARSE, .mpnn = MPNN_GIN, .norm = NORM_GRAPH, .pool = POOL_MAX}},
        {"gps_dropout",
         {.attention = ATTENTION_UNFUSED, .mpnn = MPNN_GIN, .dropout = 0.2, .attention_dropout = 0.3}},
        {"gps_dropout",
         {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .dropout = 0.2, .attention_dropout = 0.3}},
        {"sparse_dropout", {.attention = ATTENTION_SPARSE, .attention_dropout = 0.3}},
        {"gps_performer", {.attention = ATTENTION_PERFORMER, .mpnn = MPNN_GIN}},
        {"gps_exphormer",
         {.attention = ATTENTION_EXPHORMER,
          .mpnn = MPNN_GATEDGCN,
          .norm = NORM_BATCH,
          .pe = {.expander = 1, .globals = GLOBALS}}},
        {"graphormer",
         {.layer = LAYER_GRAPHORMER,
          .attention = ATTENTION_DENSE,
          .pool = POOL_TOKEN,
          .dropout = 0.1,
          .attention_dropout = 0.2,
          .features = {.degrees = 64},
          .pe = {.buckets = 4, .hops = 3}}},
    };
    enum { LAYERS = sizeof layers / sizeof *layers, MODELS = sizeof wholes / sizeof *wholes };
    struct CMUnitTest tests[LAYERS + MODELS + 2] = {
        [LAYERS + MODELS] = cmocka_unit_test(test_batch_is_awkward),
        [LAYERS + MODELS + 1] = cmocka_unit_test_prestate(test_products_see_an_entry, &wholes[0]),
    };
    for (int i = 0; i < LAYERS; i++)
        tests[i] =
            (struct CMUnitTest){.name = layers[i].name, .test_func = test_layer, .initial_state = &layers[i]};
    for (int i = 0; i < MODELS; i++)
        tests[LAYERS + i] =
            (struct CMUnitTest){.name = wholes[i].name, .test_func = test_model, .initial_state = &wholes[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
