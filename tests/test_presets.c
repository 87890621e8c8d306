/*
 * Presets: the parameters of each, part by part, against the published totals and the formulas of the layers;
 * what flags change; and runs of all.
 *
 * GTMARK_SMALL=1 runs three presets, GTMARK_SOAK=1 all layers of all.
 */
#include "bench/cli/config.h"
#include "bench/cli/presets.h"
#include "tests/records.h"
#include "tests/sweeps.h"
#include "tests/test.h"

/*
 * Parameters of a preset by its parts. The sums over the published sizes were made with the models' own code;
 * where a paper or a README gives the total, the sum is that total.
 */
static const struct parts {
    const char *name;
    int64_t nodes, encoding, edges, bias, layers, head, total;
} published[] = {
    {"zinc", 1008, 628, 256, 0, 419200, 2625, 423717},
    {"zinc-lap", 1568, 184, 256, 0, 419200, 2625, 423833},
    {"pattern", 192, 624, 64, 0, 327936, 8385, 337201},
    {"cluster", 256, 624, 48, 0, 496128, 4998, 502054},
    {"mnist", 176, 184, 104, 0, 108888, 6042, 115394},
    {"cifar10", 264, 184, 104, 0, 108888, 3286, 112726},
    {"malnet", 448, 0, 64, 0, 518080, 8645, 527237},
    {"peptides-func", 13840, 624, 1248, 0, 487680, 970, 504362},
    {"peptides-struct", 13840, 624, 1248, 0, 487680, 1067, 504459},
    {"pcqm-contact", 13840, 624, 1248, 0, 487680, 9312, 512704},
    {"voc", 1200, 624, 288, 0, 487680, 20661, 510453},
    {"molhiv", 8304, 304, 832, 0, 546560, 2625, 558625},
    {"molpcba", 62972, 372, 4992, 0, 9626880, 49280, 9744496},
    {"pcqm4m-small", 49132, 372, 3952, 0, 6040480, 58065, 6152001},
    {"pcqm4m-medium", 62972, 372, 4992, 0, 19253760, 92545, 19414641},
    {"pcqm4m-deep", 40828, 372, 3328, 0, 13721600, 41217, 13807345},
    /* nodes: types, degrees, a token; bias: distances, types, hops, pairs with a token; head: with a norm */
    {"zinc-graphormer", 2240 + 10240 + 80, 0, 0, 168 + 32 + 1280 + 8, 470400, 160 + 81, 484689},
    {"zinc-gps-graphormer", 1008 + 4608, 628, 256, 84 + 16 + 320, 419200, 2625, 428745},
    {"graphormer-slim", 5120 + 10240 + 80, 0, 0, 320 + 512 + 2560 + 8, 470400, 160 + 81, 489481},
    {"graphormer-base", 3539712 + 786432 + 768, 0, 0, 16384 + 49184 + 131072 + 32, 42559488, 1536 + 769,
     47085377},
    {"exphormer-cifar10", 240, 360, 80 + 40 + 120, 0, 108205, 2050, 111095},
    {"exphormer-pattern", 160, 440, 40 + 40 + 480, 0, 86564, 3321, 91045},
    {"exphormer-arxiv", 10400, 0, 80 + 80, 0, 233600, 3240, 247400},
};
enum { PUBLISHED = sizeof published / sizeof *published };

static const struct preset *preset_named(const char *name)
{
    const struct preset *p = presets;
    while (p->name && strcmp(p->name, name) != 0)
        p++;
    return p->name ? p : NULL;
}

/* Its configuration, as a benchmark has it. */
static struct config config_of(const struct preset *p)
{
    struct config c = {.parts = p->parts, .graph = p->graph};
    c.parts.ffn = c.parts.layer == LAYER_GRAPHORMER ? c.parts.hidden : 2 * c.parts.hidden;
    return c;
}

/* Of GCN, GINE or GatedGCN, attention and a feed-forward network of twice the width, each with its norm, and
 * the gate of ESLapPE. */
static int64_t layer_parameters(const struct model_config *c)
{
    int64_t d = c->hidden, inner = 64 * c->heads; /* Performer: heads of width 64 */
    if (c->layer == LAYER_GRAPHORMER)
        return 6 * d * d + 10 * d;
    int64_t local = c->mpnn == MPNN_GCN    ? d * d + d
                    : c->mpnn == MPNN_GINE ? 2 * d * d + 2 * d
                                           : 5 * d * d + 9 * d;
    int64_t global = c->attention == ATTENTION_DENSE       ? 4 * d * d + 4 * d
                     : c->attention == ATTENTION_EXPHORMER ? 4 * d * d
                                                           : 4 * d * inner + d;
    int64_t gate = c->pe.kind == ENCODING_ESLAP ? 3 * d + 1 : 0;
    return local + global + gate + 4 * d * d + 3 * d + 6 * d;
}

static int64_t encoding_parameters(const struct encoding_config *pe, int64_t hidden)
{
    int64_t k = pe->k, p = pe->width;
    return pe->kind == ENCODING_ESLAP  ? k * hidden + hidden
           : pe->kind == ENCODING_RWSE ? 2 * k + k * p + p
           : pe->kind == ENCODING_LAP  ? 2 * p * p + 7 * p
                                       : 0;
}

/* Rows of distances, without a path and with a token; types; a matrix for each hop. */
static int64_t bias_parameters(const struct model_config *c, bool token)
{
    int64_t h = c->heads, products = c->hop_products ? c->hop_products : c->pe.hops;
    return c->pe.buckets
               ? (c->pe.buckets + 1 + token) * h + feature_types(&c->edge_features) * h + products * h * h
               : 0;
}

TEST(test_parameters)
{
    int listed = 0;
    for (int i = 0; i < PUBLISHED; i++) {
        const struct parts *want = &published[i];
        const struct preset *p = preset_named(want->name);
        assert_non_null(p);
        struct model_config c = config_of(p).parts;
        bool token = c.pool == POOL_TOKEN, states = c.mpnn != MPNN_NONE;
        assert_int_equal(want->nodes + want->encoding + want->edges + want->bias + want->layers + want->head,
                         want->total);
        assert_int_equal(p->parameters, want->total);
        assert_int_equal(model_parameters(&c), want->total);
        assert_int_equal(feature_parameters(&c.features, c.hidden - encoder_width(&c), FEATURES) +
                             (token ? c.hidden : 0),
                         want->nodes);
        assert_int_equal(bias_parameters(&c, token), want->bias);
        assert_int_equal(encoding_parameters(&c.pe, c.hidden), want->encoding);
        int64_t others = c.pe.expander ? (1 + 3 * c.pe.globals) * c.hidden : 0;
        assert_int_equal((states ? feature_parameters(&c.edge_features, c.hidden, EDGE_FEATURES) : 0) +
                             others,
                         want->edges);
        assert_int_equal(c.layers * layer_parameters(&c), want->layers);
        assert_int_equal(head_parameters(&c) + (states ? 0 : 2 * c.hidden), want->head);
    }
    for (const struct preset *p = presets; p->name; p++)
        listed++;
    assert_int_equal(listed, PUBLISHED);
}

/* The batch that runs is the published one or a part of it, and all can be combined. */
TEST(test_table)
{
    for (int i = 1; preset_choice(i); i++) {
        const struct preset *p = preset_at(i);
        struct config c = config_of(p);
        char changes[64], text[512];
        c.preset = i;
        config_changes(&c, changes, sizeof changes);
        assert_string_equal(changes, "");
        assert_true(c.graph.graphs >= 1 && c.graph.graphs <= p->batch);
        assert_null(model_refuses(&c.parts));
        preset_describe(p, text, sizeof text);
        assert_true(strlen(text) < sizeof text - 1 && strstr(text, p->source));
    }
    assert_null(preset_at(0));
    assert_string_equal(preset_choice(0), "none");
}

static const struct bench bench = {.name = "bench", .doc = "", .axis = AXIS_PRESET, .values = "zinc"};

static void assert_changes(const struct bench *b, const char *words, const char *wanted, struct config *c)
{
    struct options o = options_of(b, words);
    char changes[256];
    *c = o.plan.list[0];
    config_changes(c, changes, sizeof changes);
    assert_string_equal(changes, wanted);
    options_free(&o);
}

TEST(test_flags_change_presets)
{
    struct config c;
    assert_changes(&bench, "--threads 1 --checkpoint 2", "", &c);
    assert_int_equal(c.parts.layers, 10);
    assert_int_equal(c.parts.ffn, 128);
    assert_int_equal(c.graph.graphs, 32);
    assert_int_equal(c.graph.nodes, 23);
    assert_true(c.parts.pe.kind == ENCODING_RWSE && c.parts.pe.k == 20 && c.parts.pe.width == 28);
    assert_changes(&bench, "--layers 10", "", &c); /* the same value */
    assert_changes(&bench, "--hidden 128 --layers 3", "layers, hidden", &c);
    assert_int_equal(c.parts.ffn, 256);
    assert_changes(&bench, "--model gin --attention-dropout 0", "attention, mpnn, attention-dropout", &c);
    assert_true(c.parts.attention == ATTENTION_NONE && c.parts.mpnn == MPNN_GIN);
    assert_changes(&bench, "--attention model --mpnn gin", "mpnn", &c);
    assert_true(c.parts.attention == ATTENTION_DENSE);
    static const struct bench layers = {.name = "bench", .doc = "", .axis = AXIS_LAYERS, .values = "2,4"};
    assert_changes(&layers, "--preset zinc", "layers", &c); /* what the benchmark sweeps */
    assert_int_equal(c.parts.layers, 2);
    static const struct bench one = {.name = "bench", .doc = "", .axis = AXIS_NODES, .values = "500"};
    assert_changes(&one, "--preset zinc", "", &c);
}

TEST(test_all)
{
    struct options o = options_of(&bench, "--preset all");
    int64_t count = 0;
    for (const struct preset *p = presets; p->name; p++)
        count += strcmp(p->name, "graphormer-base") != 0; /* planned, not run */
    assert_int_equal(o.plan.count, count);
    assert_string_not_equal(o.plan.list[0].work, o.plan.list[1].work);
    options_free(&o);
}

/* --- runs */

/* All whose graphs are small. */
static void name_small(char *text, size_t size)
{
    size_t used = 0;
    for (const struct preset *p = presets; p->name; p++)
        if (p->graph.nodes < 10000)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "", p->name);
}

/* One layer of each, which are alike; all layers only with GTMARK_SOAK. */
TEST(test_runs)
{
    void *h;
    house_of(&h, "bench_presets");
    bool whole = env_set("GTMARK_SOAK");
    char words[512], small[300];
    name_small(small, sizeof small);
    snprintf(words, sizeof words,
             "--preset %s --batch 2%s --threads 1 --runs 1 --warmup 0 --repetitions 1 --check-budget 0.01 "
             "--output "
             "x.json",
             env_set("GTMARK_SMALL") ? "zinc,cifar10,pcqm-contact" : small, whole ? "" : " --layers 1");
    struct record *record = run_json(h, words, 0);
    for (size_t i = 0; i < row_count(record); i++) {
        const struct row *row = row_at(record, i);
        const struct preset *p = preset_named(text_at(row, "preset"));
        assert_non_null(p);
        assert_string_equal(text_at(row, "status"), "ok");
        assert_true(!whole || count_at(row, "parameters") == p->parameters);
        assert_int_equal(count_at(row, "published.parameters"), p->parameters);
        assert_int_equal(count_at(row, "published.batch"), p->batch);
        assert_string_equal(text_at(row, "published.changed"), whole ? "batch" : "layers, batch");
        char left_out[256];
        snprintf(left_out, sizeof left_out, "%d of %d graphs, %s", (int)p->batch - 2, (int)p->batch,
                 p->left_out);
        assert_string_equal(text_at(row, "published.left_out"), left_out);
        assert_true(real_at(row, "step.time.median") > 0);
        assert_true(real_at(row, "error.norm") < 1e-4);
    }
    record_free(record);
    *state = h;
    house_teardown(state);
}
