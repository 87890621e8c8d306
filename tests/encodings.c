#include "tests/encodings.h"

#include <math.h>

#include "bench/audit/operands.h"
#include "kernels/rng.h"
#include "models/encodings/compute.h"
#include "models/encodings/lappe.h"
#include "tests/test.h"

static struct mat matrix(int64_t rows, int64_t cols)
{
    struct mat m = {.rows = rows, .cols = cols, .ld = cols, .dtype = F32};
    m.data = malloc((size_t)mat_bytes(m));
    if (!m.data) {
        fprintf(stderr, "no memory for a test's encoding\n");
        exit(1);
    }
    return m;
}

static float sample(const char *name, int64_t at)
{
    return (float)rng_int24(rng_key(11, name), (uint64_t)at) * 0x1p-23f;
}

static struct encoding random_values(const struct encoding_config *c, const struct batch *b)
{
    struct encoding e = {.values = matrix(b->adj.nodes, c->k)};
    float *values = e.values.data;
    for (int64_t i = 0; i < mat_size(e.values); i++)
        values[i] = sample("values", i);
    if (!encoding_is_spectral(c))
        return e;
    e.eigenvalues = matrix(b->graphs, c->k);
    e.pairs = malloc((size_t)b->graphs * sizeof *e.pairs);
    float absent = c->kind == ENCODING_ESLAP ? 0 : NAN; /* which reads them all; other encoders only pairs */
    for (int64_t g = 0; g < b->graphs; g++) {
        e.pairs[g] = encoding_pairs(c, b->offset[g + 1] - b->offset[g]);
        for (int64_t k = 0; k < c->k; k++) {
            bool there = k < e.pairs[g];
            ((float *)e.eigenvalues.data)[g * c->k + k] = there ? sample("values of L", g * c->k + k) : NAN;
            for (int64_t i = b->offset[g]; i < b->offset[g + 1] && !there; i++)
                values[i * c->k + k] = absent;
        }
    }
    return e;
}

struct encoding encoding_sample(const struct encoding_config *c, const struct batch *b)
{
    struct encoding_config others = *c;
    struct encoding e = c->kind ? random_values(c, b) : (struct encoding){0}, own = {0};
    char error[128];
    others.kind = ENCODING_NONE;
    if (encoding_any(&others) &&
        !encoding_compute(&others, b, &(struct encoding_options){.threads = 1}, &own, error, sizeof error))
        fail_msg("%s", error);
    e.distances = own.distances;
    e.paths = own.paths;
    e.expanded = own.expanded;
    e.factor = own.factor;
    return e;
}

struct encoding encoding_relabelled(const struct encoding *e, const int64_t *to)
{
    struct encoding other = {.values = matrix(e->values.rows, e->values.cols)};
    size_t row = (size_t)e->values.cols * sizeof(float);
    for (int64_t i = 0; i < e->values.rows; i++)
        memcpy((char *)other.values.data + (size_t)to[i] * row, (char *)e->values.data + (size_t)i * row,
               row);
    if (mat_present(e->eigenvalues)) {
        other.eigenvalues = matrix(e->eigenvalues.rows, e->eigenvalues.cols);
        memcpy(other.eigenvalues.data, e->eigenvalues.data, (size_t)mat_bytes(e->eigenvalues));
        other.pairs = malloc((size_t)e->eigenvalues.rows * sizeof *other.pairs);
        memcpy(other.pairs, e->pairs, (size_t)e->eigenvalues.rows * sizeof *other.pairs);
    }
    return other;
}

/* Row i of `to`, one column shorter, becomes that of `from` without column `skipped`. */
static void copy_without(struct mat to, struct mat from, int64_t i, int64_t skipped)
{
    for (int64_t k = 0; k < to.cols; k++)
        mat_set(to, i, k, mat_get(from, i, k + (k >= skipped)));
}

struct encoding encoding_without(const struct encoding *e, const struct batch *b, int64_t skipped)
{
    struct encoding less = *e;
    int64_t k = e->values.cols - 1;
    less.values = matrix(b->adj.nodes, k);
    less.eigenvalues = matrix(b->graphs, k);
    less.pairs = malloc((size_t)b->graphs * sizeof *less.pairs);
    for (int64_t g = 0; g < b->graphs; g++) {
        int64_t without = e->pairs[g] > k ? skipped : k;
        less.pairs[g] = e->pairs[g] > k ? k : e->pairs[g];
        copy_without(less.eigenvalues, e->eigenvalues, g, without);
        for (int64_t i = b->offset[g]; i < b->offset[g + 1]; i++)
            copy_without(less.values, e->values, i, without);
    }
    return less;
}

bool eigensolver_there(enum eigensolver s)
{
    return !eigensolver_missing_library(s);
}

void needs_lapack(void)
{
    if (!dense_available())
        skip();
}

struct encoding lappe_of(const struct batch *b, enum encoding_kind kind, int64_t k, enum eigensolver s,
                         int threads)
{
    struct encoding_config c = {.kind = kind, .k = k, .solver = s};
    struct encoding e;
    char error[256];
    if (!lappe_compute(&c, b, &(struct encoding_options){.threads = threads}, &e, error, sizeof error)) {
        fprintf(stderr, "%s:%d by %s: %s\n", encoding_name(kind), (int)k, eigensolver_name(s), error);
        exit(1);
    }
    return e;
}

double eigenvalue_at(const struct encoding *e, int64_t graph, int64_t k)
{
    return mat_get(e->eigenvalues, graph, k);
}
