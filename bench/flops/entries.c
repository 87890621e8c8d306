/*
 * The operations of a kernel do not depend on the values of its operands, with these exceptions, whose data
 * are part of the key:
 *
 * - Indices: the structure of the graph determines loops.
 * - Softmax of attention by kernels/cpu: it is computed in one pass if all scores are small, and with running
 *   maxima otherwise and with a bias (attention.c, edge_softmax.h). SMALL is below the limits of both; so are
 *   scores that are clamped.
 * - Kernels of the reference: exp, erf and tanh of the C library compute small and large arguments in
 *   different ways.
 */

#include "analysis/statistics/allocate.h"
#include "bench/flops/executed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/rng.h"

static const double SMALL = 29; /* of scores */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    return rng_mix((hash ^ word) + UINT64_C(0x9e3779b97f4a7c15));
}

static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const char *at = bytes;
    for (uint64_t word; size > 0; at += 8, size -= size < 8 ? size : 8) {
        word = 0;
        memcpy(&word, at, size < 8 ? size : 8);
        hash = mix(hash, word);
    }
    return hash;
}

static uint64_t mix_data(uint64_t hash, const struct mat *m)
{
    size_t size = dtype_size(m->dtype), row = (size_t)m->cols * size;
    for (int64_t i = 0; i < m->rows; i++)
        hash = mix_bytes(hash, (const char *)m->data + (size_t)(i * m->ld) * size, row);
    return hash;
}

/* The largest |x|^2 over the rows and heads of x. */
static double longest(struct mat x, int heads)
{
    int64_t width = x.cols / heads;
    double most = 0;
    for (int64_t i = 0; i < x.rows; i++)
        for (int64_t from = 0; from < x.cols; from += width) {
            double length = 0;
            for (int64_t k = from; k < from + width; k++)
                length += mat_get(x, i, k) * mat_get(x, i, k);
            most = fmax(most, length);
        }
    return most;
}

/* By Cauchy and Schwarz. */
static bool scores_are_small(struct mat q, struct mat k, int heads)
{
    return sqrt(longest(q, heads) * longest(k, heads) * heads / (double)q.cols) <= SMALL;
}

/* The same of GATv2, whose activation lengthens no vector. */
static bool sums_are_small(const struct gatv2_args *a)
{
    double edge = sqrt(fmax(longest(a->c, a->heads), longest(a->loop, a->heads)));
    double most = sqrt(longest(a->l, a->heads)) + sqrt(longest(a->r, a->heads)) + edge;
    return most * sqrt(longest(a->att, a->heads)) <= SMALL;
}

static bool depends_on_values(const struct entry *e)
{
    const union any_args *a = e->args;
    if (strcmp(e->kernel->variant, "ref") == 0)
        return true;
    if (e->op == OP_attention)
        return mat_present(a->attention.bias) ||
               !scores_are_small(a->attention.q, a->attention.k, a->attention.heads);
    if (e->op == OP_sparse_attention)
        return !mat_present(a->sparse_attention.c) &&
               !scores_are_small(a->sparse_attention.q, a->sparse_attention.k, a->sparse_attention.heads);
    if (e->op == OP_gatv2)
        return !sums_are_small(&a->gatv2);
    return false;
}

static uint64_t mix_mat(uint64_t hash, const struct mat *m, bool with_data)
{
    if (!m->data)
        return mix(hash, 0);
    const uint64_t words[] = {
        (uint64_t)m->rows,      (uint64_t)m->cols, (uint64_t)m->ld, (uint64_t)m->dtype, m->acc,
        (uintptr_t)m->data % 64};
    hash = mix_bytes(hash, words, sizeof words);
    return with_data || dtype_is_whole(m->dtype) ? mix_data(hash, m) : hash;
}

uint64_t entry_key(const struct entry *e)
{
    const struct op_info *info = op_info(e->op);
    bool values = depends_on_values(e);
    uint64_t hash = mix((uint64_t)e->op, (uintptr_t)e->kernel);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        if (operand_is_mat(o)) {
            const struct mat *m = operand_mat(o, e->args);
            hash = mix_mat(hash, m, values && operand_reads(o, m));
        } else {
            bool small = o->role == ROLE_SIZE || strcmp(o->type, "int") == 0;
            hash = mix_bytes(hash, (const char *)e->args + o->at, small ? sizeof(int) : sizeof(uint64_t));
        }
    }
    return hash;
}

int counted_entry(struct counted_entries *c, uint64_t key)
{
    for (int i = 0; i < c->count; i++)
        if (c->list[i].key == key)
            return i;
    c->list = grow(c->list, (size_t)c->count, sizeof *c->list);
    c->list[c->count] = (struct counted_entry){.key = key};
    return c->count++;
}

void counted_entries_free(struct counted_entries *c)
{
    free(c->list);
    *c = (struct counted_entries){0};
}
