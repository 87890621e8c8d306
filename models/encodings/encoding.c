#include "models/encodings/encoding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/batching.h"
#include "kernels/arithmetic.h"
#include "models/encodings/eigen.h"

const char *encoding_name(int kind)
{
    static const char *const names[ENCODING_KINDS] = {"none", "lap", "lap-pyg", "rwse", "heat", "eslap"};
    return kind >= 0 && kind < ENCODING_KINDS ? names[kind] : NULL;
}

const char *eigensolver_name(int solver)
{
    static const char *const names[SOLVER_KINDS] = {"auto", "lapack", "iterative", "arpack"};
    return solver >= 0 && solver < SOLVER_KINDS ? names[solver] : NULL;
}

const char *eigensolver_missing_library(enum eigensolver solver)
{
    if (!dense_available())
        return "LAPACK";
    return solver == SOLVER_ARPACK && !arpack_available() ? "ARPACK" : NULL;
}

/* Parses ":number" at *text and advances past it. */
static bool read_number(const char **text, int64_t *number)
{
    char *end;
    if (**text != ':' || (*text)[1] < '0' || (*text)[1] > '9')
        return false;
    *number = strtoll(*text + 1, &end, 10);
    *text = end;
    return *number >= 1 && *number <= ENCODING_K_MAX;
}

bool encoding_is_spectral(const struct encoding_config *c)
{
    return c->kind == ENCODING_LAP || c->kind == ENCODING_LAP_PYG || c->kind == ENCODING_ESLAP;
}

bool encoding_calls_lapack(const struct encoding_config *c)
{
    return encoding_is_spectral(c) || c->expander || (c->kind == ENCODING_HEAT && dense_available());
}

static int64_t standard_width(enum encoding_kind kind)
{
    return kind == ENCODING_NONE || kind == ENCODING_ESLAP ? 0 : ENCODING_WIDTH;
}

bool encoding_parse(const char *text, struct encoding_config *c)
{
    *c = (struct encoding_config){0};
    if (strcmp(text, encoding_name(ENCODING_NONE)) == 0)
        return true;
    size_t length = strcspn(text, ":");
    for (enum encoding_kind kind = ENCODING_LAP; kind < ENCODING_KINDS; kind++) {
        const char *name = encoding_name((int)kind), *rest = text + length;
        if (strlen(name) != length || memcmp(name, text, length) != 0)
            continue;
        c->kind = kind;
        c->width = standard_width(kind);
        return read_number(&rest, &c->k) && (!*rest || (c->width && read_number(&rest, &c->width))) && !*rest;
    }
    return false;
}

bool encoding_any(const struct encoding_config *c)
{
    return c->kind != ENCODING_NONE || c->buckets > 0 || c->expander > 0;
}

bool bias_parse(const char *text, struct encoding_config *c)
{
    c->buckets = c->hops = 0;
    if (strcmp(text, "none") == 0)
        return true;
    const char *rest = text + strcspn(text, ":");
    return strncmp(text, "spd:", 4) == 0 && read_number(&rest, &c->buckets) &&
           (!*rest || read_number(&rest, &c->hops)) && !*rest && c->buckets <= BUCKETS_MAX &&
           c->hops <= HOPS_MAX;
}

/* "none", or the name and one or two numbers. */
static bool format_choice(const char *name, int64_t first, int64_t second, char text[BIAS_TEXT])
{
    int used = snprintf(text, BIAS_TEXT, first ? "%s%lld" : "none", name, (long long)first);
    if (first && second)
        snprintf(text + used, BIAS_TEXT - (size_t)used, ":%lld", (long long)second);
    return first > 0;
}

bool bias_format(const struct encoding_config *c, char text[BIAS_TEXT])
{
    return format_choice("spd:", c->buckets, c->hops, text);
}

bool expander_format(const struct encoding_config *c, char text[BIAS_TEXT])
{
    return format_choice("", c->expander, c->globals, text);
}

bool expander_parse(const char *text, struct encoding_config *c)
{
    char from[64];
    const char *rest = from;
    c->expander = c->globals = 0;
    if (strcmp(text, "none") == 0)
        return true;
    snprintf(from, sizeof from, ":%.60s", text);
    return read_number(&rest, &c->expander) && (!*rest || read_number(&rest, &c->globals)) && !*rest &&
           c->expander <= EXPANDER_MAX && c->globals <= EXPANDER_MAX;
}

int64_t expander_drawn(int64_t r, int64_t n)
{
    return n <= EXPANDER_COMPLETE ? n * (n - 1) : 2 * r * n;
}

int64_t expander_edges(const struct encoding_config *c, int64_t nodes, int64_t edges, int64_t graphs)
{
    return edges + graphs * expander_drawn(c->expander, nodes / graphs) + 2 * c->globals * nodes;
}

struct batch expander_shape(const struct encoding_config *c, const struct batch *b)
{
    struct batch wide = {.symmetric = b->symmetric, .graphs = b->graphs};
    struct csr all = {.nodes = b->adj.nodes + c->globals * b->graphs, .edges = b->adj.edges};
    for (int64_t g = 0; g < b->graphs; g++)
        all.edges += expander_drawn(c->expander, batch_size(b, g)) + 2 * c->globals * batch_size(b, g);
    wide.adj = wide.out = all;
    return wide;
}

int64_t encoding_pairs(const struct encoding_config *c, int64_t nodes)
{
    return min_of(c->k, c->kind == ENCODING_LAP_PYG ? nodes - 1 : nodes);
}

void encoding_format(const struct encoding_config *c, char *text, size_t size)
{
    if (c->kind == ENCODING_NONE)
        snprintf(text, size, "%s", encoding_name(ENCODING_NONE));
    else if (c->width == standard_width(c->kind))
        snprintf(text, size, "%s:%lld", encoding_name((int)c->kind), (long long)c->k);
    else
        snprintf(text, size, "%s:%lld:%lld", encoding_name((int)c->kind), (long long)c->k,
                 (long long)c->width);
}

const char *encoding_without_pairs(const struct encoding_config *c)
{
    return encoding_is_spectral(c)    ? NULL
           : c->kind == ENCODING_HEAT ? "a diagonal, not eigenpairs"
                                      : "no eigenproblem";
}

bool laplacian_exists(const struct batch *b, char *error, size_t error_size)
{
    if (!b->symmetric)
        snprintf(
            error, error_size,
            "the Laplacian needs an undirected graph, but some edge has no reverse; for a file with each "
            "edge once use undirected:PATH");
    return b->symmetric;
}

int64_t encoding_storage(const struct encoding_config *c, const struct batch *b)
{
    int64_t eigenvalues = encoding_is_spectral(c) ? b->graphs : 0;
    int64_t distances = c->buckets ? (8 + 4 * c->hops) * b->pairs : 0, expanded = 0;
    if (c->expander) {
        struct batch wide = expander_shape(c, b);
        expanded = (2 - b->symmetric) * csr_bytes(&wide.adj) + 12 * wide.adj.edges;
    }
    return expanded + distances + (c->kind == ENCODING_NONE ? 0 : 4 * c->k * (b->adj.nodes + eigenvalues));
}

static struct mat index_view(int64_t rows, enum dtype dtype, const void *data)
{
    return (struct mat){.data = (void *)(uintptr_t)data, .rows = rows, .cols = 1, .ld = 1, .dtype = dtype};
}

struct edges encoding_edges(const struct batch *b)
{
    const struct csr *in = &b->adj, *out = &b->out;
    return (struct edges){.row = index_view(in->nodes + 1, I64, in->row_ptr),
                          .col = index_view(in->edges, I32, in->col),
                          .out_row = index_view(out->nodes + 1, I64, out->row_ptr),
                          .out_col = index_view(out->edges, I32, out->col)};
}

int64_t encoding_missed(const struct encoding *e, const struct encoding *other)
{
    static const double tolerance = 1e-4;
    const float *ours = e->eigenvalues.data, *theirs = other->eigenvalues.data;
    int64_t count = 0, most = e->eigenvalues.cols;
    for (int64_t g = 0; g < e->eigenvalues.rows; g++)
        for (int64_t k = 0; k < e->pairs[g]; k++)
            count += ours[g * most + k] > (1 + tolerance) * theirs[g * most + k];
    return count;
}

void encoding_free(struct encoding *e)
{
    free(e->values.data);
    free(e->distances.data);
    free(e->paths.data);
    free(e->factor.data);
    batch_free(&e->expanded);
    free(e->eigenvalues.data);
    free(e->pairs);
    *e = (struct encoding){0};
}
