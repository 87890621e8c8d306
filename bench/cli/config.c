/* Where a configuration stores its axes, and the hash of those that define the work. */
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"
#include "bench/cli/config.h"
#include "bench/cli/presets.h"
#include "graphs/graph_file.h"
#include "kernels/rng.h"

struct place {
    size_t offset, size;
};

#define AT(name)       .offset = offsetof(struct config, name), .size = sizeof((struct config *)NULL)->name
#define OF_MODEL(name) AT(name)

static const struct place places[AXES] = {
#define AXIS(id, flag, group, name, kind, place, standard, pace, work, dump, unit, symbol, help, meaning)    \
    {place},
#include "analysis/record/axes.def"
};

_Static_assert(sizeof(enum norm_kind) == sizeof(int), "names are read and written as int");

void config_set(struct config *c, enum axis a, const struct axis_values *v, double value)
{
    const struct axis_info *axis = axis_info(a);
    void *at = (char *)c + places[a].offset;
    if (a == AXIS_PE) { /* without the solver, the bias and the expander, axes of their own */
        struct encoding_config *pe = at, before = *pe;
        *pe = v->encodings[(size_t)value];
        pe->solver = before.solver;
        pe->buckets = before.buckets;
        pe->hops = before.hops;
        pe->expander = before.expander;
        pe->globals = before.globals;
    } else if (a == AXIS_BIAS)
        bias_parse(axis_text(v, value), at);
    else if (a == AXIS_EXPANDER)
        expander_parse(axis_text(v, value), &c->parts.pe);
    else if (axis->kind == AXIS_TEXT)
        *(const char **)at = axis_text(v, value);
    else if (axis->kind == AXIS_NUMBER)
        *(double *)at = value;
    else if (places[a].size == sizeof(int))
        *(int *)at = (int)value + axis->first;
    else
        *(int64_t *)at = (int64_t)value;
}

void config_axis(const struct config *c, enum axis a, struct axis_value *v)
{
    const struct axis_info *axis = axis_info(a);
    const struct encoding_config *pe = &c->parts.pe;
    const void *at = (const char *)c + places[a].offset;
    *v = (struct axis_value){.kind = axis->kind};
    if (a == AXIS_PE)
        encoding_format(pe, v->buffer, sizeof v->buffer);
    else if (a == AXIS_BIAS)
        bias_format(pe, v->buffer);
    else if (a == AXIS_EXPANDER)
        expander_format(pe, v->buffer);
    else if (axis->kind == AXIS_TEXT)
        v->text = *(const char *const *)at;
    else if (axis->kind == AXIS_NAME)
        v->text = axis->choice(*(const int *)at - axis->first);
    else if (axis->kind == AXIS_NUMBER)
        v->real = *(const double *)at;
    else
        v->count = places[a].size == sizeof(int) ? *(const int *)at : *(const int64_t *)at;
    if (*v->buffer)
        v->text = v->buffer;
    v->is_absent = (c->timed.kernel && axis->of_model) ||
                   (a == AXIS_DEGREE && graph_is_file(c->graph.family)) ||
                   (a == AXIS_SOLVER && encoding_without_pairs(pe));
}

bool config_same(const struct config *c, const struct config *d, enum axis a)
{
    struct axis_value x, y;
    config_axis(c, a, &x);
    config_axis(d, a, &y);
    return x.text ? strcmp(x.text, y.text) == 0 : x.count == y.count && x.real == y.real;
}

bool graph_has_size(const char *graph)
{
    return graph_is_file(graph) || graph_shape_of(graph);
}

int64_t config_ffn(const struct model_config *c, int64_t hidden)
{
    return c->layer == LAYER_GRAPHORMER ? hidden : 2 * hidden;
}

void config_complete(struct config *c)
{
    const struct model *m = c->parts.own ? c->parts.own : c->model ? model_named(c->model, NULL) : models;
    if ((int)c->parts.attention < 0)
        c->parts.attention = m->attention;
    if ((int)c->parts.mpnn < 0)
        c->parts.mpnn = m->mpnn;
    if (!c->parts.ffn)
        c->parts.ffn = config_ffn(&c->parts, c->parts.hidden);
    const struct graph_shape *shape = graph_shape_of(c->graph.family);
    if (shape) {
        c->graph.nodes = (int64_t)shape->nodes;
        c->graph.degree = graph_shape_degree(shape);
    }
}

uint64_t file_hash(const char *path, uint64_t hash)
{
    FILE *in = fopen(path, "rb");
    unsigned char bytes[1 << 16];
    for (size_t n; in && (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        for (size_t i = 0; i < n; i++)
            hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    if (in)
        fclose(in);
    return hash;
}

enum { WORD_TEXT = 256 };

/* The direction of edges, the format unless it is an edge list, and the hash of what is read. */
static void file_word(const struct config *c, char text[WORD_TEXT])
{
    struct graph_file_name name;
    graph_file_name(c->graph.family, &name);
    const char *const tables[] = {c->tables.features, c->tables.edge_features, c->tables.labels};
    char part[GRAPH_PARTS][PATH_MAX], error[MESSAGE_SIZE];
    enum graph_format format = GRAPH_EDGE_LIST;
    uint64_t hash = 0;
    graph_format_find(name.path, &format, error, sizeof error);
    for (int i = 0, parts = graph_file_parts(name.path, part); i < parts; i++)
        hash = file_hash(part[i], hash);
    for (int i = 0; i < 3; i++)
        if (tables[i])
            hash = file_hash(graph_table_none(tables[i]) ? "" : tables[i], rng_mix(hash + (uint64_t)i + 1));
    snprintf(text, WORD_TEXT, "%.*s%s%s %016" PRIx64, (int)(name.path - c->graph.family) - 1, c->graph.family,
             format ? " " : "", format ? graph_format_name(format) : "", hash);
}

/* How the graph is generated, or what its file is. Of a shape, what it stands for. */
static void graph_word(const struct config *c, char text[WORD_TEXT])
{
    const struct graph_config *g = &c->graph;
    const char *colon = strchr(g->family, ':');
    const struct graph_shape *shape = graph_shape_of(g->family);
    if (graph_is_file(g->family))
        file_word(c, text);
    else
        snprintf(text, WORD_TEXT, "%s%s nodes %.17g degree %.17g graphs %" PRId64,
                 shape ? shape->graph : g->family, shape && colon ? colon : "",
                 shape ? shape->nodes : (double)g->nodes, g->degree, g->graphs);
}

static void value_word(const struct axis_value *v, char text[WORD_TEXT])
{
    if (v->text)
        snprintf(text, WORD_TEXT, "%s", v->text);
    else if (v->kind == AXIS_WHOLE)
        snprintf(text, WORD_TEXT, "%" PRId64, v->count);
    else
        snprintf(text, WORD_TEXT, "%.17g", v->real);
}

/* Replaces the value if something else is hashed. */
static void work_word(const struct config *c, enum axis a, char text[WORD_TEXT])
{
    const struct encoding_config *pe = &c->parts.pe;
    if (a == AXIS_GRAPH)
        graph_word(c, text);
    else if (a == AXIS_PRESET && c->parts.head.loss == LOSS_ABSOLUTE) /* once the mean squared error */
        snprintf(text, WORD_TEXT, "%s %s", preset_choice(c->preset), loss_name(LOSS_ABSOLUTE));
    else if (a == AXIS_PE)
        snprintf(text, WORD_TEXT, "%s %" PRId64 " %" PRId64, encoding_name((int)pe->kind), pe->k, pe->width);
    else if (a == AXIS_CHECKPOINT)
        snprintf(text, WORD_TEXT, "%" PRId64, checkpoint_segments(c->parts.checkpoint, c->parts.layers));
    else if (a == AXIS_ATTENTION && c->parts.attention == ATTENTION_UNFUSED)
        snprintf(text, WORD_TEXT, "%s", attention_name(ATTENTION_DENSE));
}

/* Adds the axes of this kind of work, each with its name. */
static void add_words(const struct config *c, enum axis_work work, FILE *out)
{
    enum axis order[AXES];
    axes_swept(order);
    for (int i = 0; i < AXES; i++) {
        const struct axis_info *axis = axis_info(order[i]);
        struct axis_value v;
        char word[WORD_TEXT];
        if (axis->work != work)
            continue;
        config_axis(c, order[i], &v);
        value_word(&v, word);
        if (work == WORK_CHANGED && (v.is_absent || strcmp(word, axis->standard) == 0))
            continue;
        work_word(c, order[i], word);
        fprintf(out, " %s %s", axis->name, word);
    }
}

void config_work(const struct config *c, uint64_t seed, char hash[17])
{
    char *text;
    size_t size;
    FILE *out = open_text(&text, &size);
    fprintf(out, "work 2");
    add_words(c, WORK_ALWAYS, out);
    fprintf(out, " seed %" PRIu64 " dtype f32", seed); /* of older rows: others follow with their axis */
    if (c->timed.kernel)
        fprintf(out, " op %s", form_name(c->timed.form));
    if (c->library)
        fprintf(out, " model %s of %s", c->model, c->library);
    if (c->parts.layer)
        fprintf(out, " layer %s", c->model);
    add_words(c, WORK_CHANGED, out);
    fclose(out);
    snprintf(hash, 17, "%016" PRIx64, rng_key(0, text));
    free(text);
}
