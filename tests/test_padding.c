/*
 * A padded batch gives what the ragged one gives, whatever is in the rows of padding: output, loss and every
 * gradient; its structure, and its rows.
 */
#include <math.h>

#include "graphs/batching.h"
#include "models/layers/model.h"
#include "tests/batches.h"
#include "tests/graphs.h"
#include "tests/records.h"
#include "tests/test.h"

enum { HIDDEN = 24, HEADS = 3 };

static struct batch padded_of(const struct batch *from)
{
    struct batch b = *from;
    char error[128];
    int64_t *offset = calloc((size_t)b.graphs + 1, sizeof *offset);
    assert_non_null(offset);
    memcpy(offset, from->offset, (size_t)(b.graphs + 1) * sizeof *offset);
    uint64_t *edge = calloc((size_t)b.adj.edges + 1, sizeof *edge);
    assert_non_null(edge);
    for (int64_t i = 0, n = 0; i < b.adj.nodes; i++)
        for (int64_t e = b.adj.row_ptr[i]; e < b.adj.row_ptr[i + 1]; e++)
            edge[n++] = csr_edge(b.adj.col[e], i);
    b.offset = offset;
    b.out_edge = NULL;
    assert_true(
        csr_build(&b.adj, from->adj.nodes, edge, from->adj.edges, NEVER_CANCELLED, error, sizeof error));
    b.out = b.adj;
    if (!from->symmetric)
        assert_true(csr_transpose(&b.out, &b.adj, NEVER_CANCELLED, error, sizeof error));
    free(edge);
    assert_true(batch_pad(&b, error, sizeof error));
    assert_true(batch_number_edges(&b, &(struct graph_config){0}, error, sizeof error));
    return b;
}

/* The row of the padded batch that a node has. */
static int64_t row_of_node(const struct batch *ragged, const struct batch *padded, int64_t node)
{
    int64_t g = 0;
    while (node >= ragged->offset[g + 1])
        g++;
    return padded->offset[g] + node - ragged->offset[g];
}

/* --- structure */

static void assert_rows(const struct csr *before, const struct csr *after, const struct batch *ragged,
                        const struct batch *padded)
{
    int64_t edges = 0;
    assert_int_equal(after->edges, before->edges);
    for (int64_t i = 0; i < before->nodes; i++) {
        int64_t to = row_of_node(ragged, padded, i), first = after->row_ptr[to];
        assert_int_equal(after->row_ptr[to + 1] - first, before->row_ptr[i + 1] - before->row_ptr[i]);
        for (int64_t e = before->row_ptr[i]; e < before->row_ptr[i + 1]; e++, edges++)
            assert_int_equal(after->col[first + e - before->row_ptr[i]],
                             row_of_node(ragged, padded, before->col[e]));
    }
    assert_int_equal(after->row_ptr[0], 0);
    assert_int_equal(after->row_ptr[after->nodes], edges);
}

static void check_structure(struct batch ragged)
{
    struct batch padded = padded_of(&ragged);
    struct batching_work work = batching_work(&ragged, BATCHING_PADDED);
    assert_int_equal(padded.adj.nodes, work.rows);
    assert_int_equal(padded.pairs, work.pairs);
    for (enum batching way = 0; way < BATCHINGS; way++) {
        struct batching_work before = batching_work(&ragged, way), after = batching_work(&padded, way);
        assert_int_equal(after.rows, before.rows);
        assert_int_equal(after.pairs, before.pairs);
    }
    for (int64_t g = 0; g < ragged.graphs; g++) {
        assert_int_equal(padded.nodes[g], ragged.offset[g + 1] - ragged.offset[g]);
        assert_int_equal(padded.offset[g + 1] - padded.offset[g], work.rows / ragged.graphs);
    }
    assert_rows(&ragged.adj, &padded.adj, &ragged, &padded);
    assert_rows(&ragged.out, &padded.out, &ragged, &padded);
    batch_free(&padded);
    batch_free(&ragged);
}

TEST(test_structure)
{
    check_structure(batch_awkward());
    check_structure(batch_er(20, 7));
    check_structure(batch_er(5, 1));
}

/* A shape is that of the batch. */
TEST(test_shape)
{
    struct graph_config c = {
        .family = "er", .nodes = 20, .degree = 3, .graphs = 7, .seed = 1, .batching = BATCHING_PADDED};
    struct batch shape, b;
    char error[128];
    (void)state;
    assert_true(batch_shape(&shape, &c, error, sizeof error) && batch_generate(&b, &c, error, sizeof error));
    assert_int_equal(shape.adj.nodes, b.adj.nodes);
    assert_int_equal(shape.pairs, b.pairs);
    assert_int_equal(shape.peak, b.peak);
    assert_memory_equal(shape.nodes, b.nodes, 7 * sizeof *b.nodes);
    assert_memory_equal(shape.offset, b.offset, 8 * sizeof *b.offset);
    batch_free(&shape);
    batch_free(&b);
}

/* --- models */

struct subject {
    const char *name;
    struct model_config parts;
};

static struct recording run(const struct subject *s, const struct batch *b, struct tape_config tape)
{
    struct model_config c = s->parts;
    c.layers = 2;
    c.hidden = HIDDEN;
    c.heads = HEADS;
    c.ffn = 40;
    c.act = ACT_GELU;
    struct recording r = program_record(PROGRAM_STEP, &c, b, NULL, tape);
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    return r;
}

static struct mat features_of(const struct recording *r)
{
    const char *name;
    struct mat x = tape_input(r->tape, 0, &name);
    assert_string_equal(name, "features");
    return x;
}

static void assert_near(struct mat ours, struct mat right, double limit, const char *what, const char *name)
{
    double difference = 0, size = 0;
    assert_int_equal(ours.rows, right.rows);
    assert_int_equal(ours.cols, right.cols);
    for (int64_t i = 0; i < right.rows; i++)
        for (int64_t k = 0; k < right.cols; k++) {
            difference = fmax(difference, fabs(mat_get(ours, i, k) - mat_get(right, i, k)));
            size = fmax(size, fabs(mat_get(right, i, k)));
        }
    if (!(difference <= limit * fmax(size, 1e-2)))
        fail_msg("%s: %s differs by %g of %g", what, name, difference, size);
}

static void check_model(const struct subject *s, struct tape_config tape, double limit)
{
    struct batch b = batch_er(13, 5), p = padded_of(&b);
    struct recording ragged = run(s, &b, tape), padded = run(s, &p, tape);
    struct mat from = features_of(&ragged), to = features_of(&padded);
    for (int64_t i = 0; i < from.rows; i++)
        for (int64_t k = 0; k < from.cols; k++)
            mat_set(to, row_of_node(&b, &p, i), k, mat_get(from, i, k));
    tape_run(ragged.tape);
    tape_run(padded.tape);
    assert_near(tape_view(padded.tape, padded.output), tape_view(ragged.tape, ragged.output), limit, s->name,
                "the output");
    assert_near(tape_view(padded.tape, padded.loss), tape_view(ragged.tape, ragged.loss), limit, s->name,
                "the loss");
    for (int i = 0; i < tape_parameter_count(ragged.tape); i++) {
        const char *name;
        struct mat right = tape_gradient(ragged.tape, tape_parameter(ragged.tape, i, &name));
        struct mat ours = tape_gradient(padded.tape, tape_parameter(padded.tape, i, NULL));
        assert_near(ours, right, limit, s->name, name);
    }
    tape_free(ragged.tape);
    tape_free(padded.tape);
    batch_free(&b);
    batch_free(&p);
}

TEST(test_models)
{
    static const struct subject subjects[] = {
        {"gps", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN}},
        {"gps, sum, no norm",
         {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .pool = POOL_SUM, .norm = NORM_NONE}},
        {"gps_sparse", {.attention = ATTENTION_SPARSE, .mpnn = MPNN_GIN}},
        {"gin", {.mpnn = MPNN_GIN}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        check_model(&subjects[i],
                    (struct tape_config){.backend = &backend_ref, .dtype = F64, .threads = 1, .seed = 3},
                    1e-6);
        for (const struct backend *const *b = backend_cpu_all(); *b; b++)
            check_model(&subjects[i],
                        (struct tape_config){.backend = *b, .dtype = F32, .threads = 2, .seed = 3}, 1e-4);
    }
}

/* --- rows */

static int setup(void **state)
{
    return house_of(state, "bench_batch_scaling");
}

/* Both are right, have the same useful work, and count what they compute: with padding, weights of keys and
 * rows. */
TEST(test_rows)
{
    enum { LAYERS = 2, WIDTH = 16, LINE_HEADS = 2, GRAPHS = 4 };
    struct record *r =
        run_json(*state,
                 "--batching ragged,padded --batch 4 --nodes 10 --hidden 16 --heads 2 --layers 2 "
                 "--runs 2 --threads 1 --no-charts --output x.json",
                 0);
    assert_int_equal(row_count(r), 2);
    const struct row *ragged = row_at(r, 0), *padded = row_at(r, 1);
    assert_string_equal(text_at(padded, "batching"), "padded");
    assert_string_not_equal(text_at(padded, "work"), text_at(ragged, "work"));
    static const char *const same[] = {"nodes",
                                       "graph.pairs",
                                       "graph.padded_pairs",
                                       "graph.edges",
                                       "graph.padded_rows",
                                       "graph.packed_rows",
                                       "step.flops.ragged",
                                       "step.flops.padded",
                                       "forward.flops.padded"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_int_equal(count_at(padded, same[i]), count_at(ragged, same[i]));
    assert_int_equal(count_at(ragged, "forward.flops.analytic"), count_at(ragged, "forward.flops.ragged"));
    assert_int_equal(count_at(padded, "forward.flops.analytic"),
                     count_at(padded, "forward.flops.padded") +
                         LAYERS * LINE_HEADS * count_at(padded, "graph.padded_pairs") +
                         WIDTH * (count_at(padded, "graph.padded_rows") - GRAPHS));
    assert_int_equal(count_at(padded, "forward.flops.counted"), count_at(padded, "forward.flops.analytic"));
    record_free(r);
}

TEST(test_refused)
{
    static const char *const lines[] = {"--norm batch", "--pool max", "--task node", "--attention unfused",
                                        "--pe rwse:4"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char words[128];
        snprintf(words, sizeof words, "--batching padded --batch 4 %s", lines[i]);
        struct ended e = run_words(*state, words, 2);
        assert_non_null(strstr(e.err, "--batching padded: only with a model of --list models, "));
        ended_free(&e);
    }
}

GROUP("tests", setup, house_teardown)
