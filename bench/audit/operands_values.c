#include "analysis/statistics/allocate.h"
#include "bench/audit/operands.h"

#include "kernels/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The size of graph g, with `left` rows remaining: random; 1 for the first of several. */
static int64_t graph_size(const struct sample *s, int64_t g, int64_t left)
{
    int64_t after = s->dims[DIM_B] - g - 1, most = left - after;
    return after == 0 ? left : g == 0 ? 1 : 1 + (int64_t)(rng_bits(s->seed, (uint64_t)g) % (uint64_t)most);
}

static int64_t senders_of_part(const struct sample *s)
{
    return s->dims[DIM_N] + s->dims[DIM_N] / 3;
}

/* Where keys are rows of their own: the first of several graphs has none; the last row is none, of three. */
static int64_t first_key(const struct sample *s, int64_t g)
{
    int64_t keys = senders_of_part(s) - (s->dims[DIM_N] >= 3);
    return g <= 1 && s->dims[DIM_B] > 1 ? 0 : keys * g / s->dims[DIM_B];
}

/* Whether queries and keys are different rows. */
static bool has_keys(const struct sample *s)
{
    const struct operand *keys = operand_named(s->op, "keys");
    return keys && !(s->absent >> (keys - op_info(s->op)->operands) & 1);
}

static int64_t pairs_of(const struct sample *s)
{
    int64_t pairs = 0, left = s->dims[DIM_N];
    bool keys = has_keys(s);
    for (int64_t g = 0, size; g < s->dims[DIM_B]; g++, left -= size) {
        size = graph_size(s, g, left);
        pairs += size * (keys ? first_key(s, g + 1) - first_key(s, g) : size);
    }
    return pairs;
}

void operands_sizes(struct sample *s)
{
    int64_t pairs = pairs_of(s);
    s->dims[DIM_P] = pairs;
    s->dims[DIM_C] = s->dims[DIM_D] / s->dims[DIM_H];
    s->dims[DIM_S] = operand_named(s->op, "keys") && !has_keys(s) ? s->dims[DIM_N] : senders_of_part(s);
    if (operand_named(s->op, "squares")) { /* sums of norms: of one graph's columns, or of all */
        s->dims[DIM_M] = s->seed % 2 ? s->dims[DIM_D] : 1;
        s->dims[DIM_B] = s->seed % 2 ? 1 : s->dims[DIM_B];
    }
    s->dims[DIM_F] = s->dims[DIM_B] * s->dims[DIM_H] * s->dims[DIM_M];
}

static void fill_offsets(const struct sample *s, bool keys, struct offsets *graphs)
{
    int64_t *at = graphs->at.data;
    at[0] = 0;
    for (int64_t g = 0; g < s->dims[DIM_B]; g++)
        at[g + 1] = keys ? first_key(s, g + 1) : at[g] + graph_size(s, g, s->dims[DIM_N] - at[g]);
}

/* More than the receivers where the op allows it. */
static int64_t senders_of(const struct sample *s)
{
    const struct op_info *info = op_info(s->op);
    for (int i = 0; i < info->operand_count; i++)
        if (info->operands[i].rows == DIM_S)
            return s->dims[DIM_S];
    return s->dims[DIM_N];
}

/* Random edges by receiver and by sender. Every third node neither sends nor receives; there are hubs, and so
 * many edges for few nodes that some are loops or duplicates. */
static struct edge_ends {
    int32_t from, to;
} random_edge(const struct sample *s, int64_t e)
{
    int64_t N = s->dims[DIM_N], spread = e % 4 ? N : (N + 7) / 8;
    struct edge_ends ends = {(int32_t)(rng_bits(s->seed + 1, (uint64_t)(2 * e)) % (uint64_t)senders_of(s)),
                             (int32_t)(rng_bits(s->seed + 1, (uint64_t)(2 * e + 1)) % (uint64_t)spread)};
    ends.from -= ends.from % 3 == 2;
    ends.to -= ends.to % 3 == 2;
    return ends;
}

/* Rows of either end, in ascending order, by counting sort; returns the most edges of one. */
static int64_t fill_edges(const struct sample *s, bool by_sender, struct mat row, struct mat col)
{
    int64_t *at = row.data, E = s->dims[DIM_E], N = row.rows - 1;
    int32_t *other = col.data;
    memset(at, 0, (size_t)(N + 1) * sizeof *at);
    for (int64_t e = 0; e < E; e++) {
        struct edge_ends ends = random_edge(s, e);
        at[(by_sender ? ends.from : ends.to) + 1]++;
    }
    int64_t most = 0;
    for (int64_t i = 0; i < N; i++) {
        most = max_of(most, at[i + 1]);
        at[i + 1] += at[i];
    }
    for (int64_t e = 0; e < E; e++)
        other[e] = INT32_MAX;
    for (int64_t e = 0; e < E; e++) {
        struct edge_ends ends = random_edge(s, e);
        int64_t i = by_sender ? ends.from : ends.to, place = at[i];
        int32_t end = by_sender ? ends.to : ends.from;
        while (other[place] <= end)
            place++;
        for (int32_t next; place < at[i + 1] && end != INT32_MAX; end = next) {
            next = other[place];
            other[place++] = end;
        }
    }
    return most;
}

/* The number of each edge by sender: they come in the order of their receivers in both. */
static void fill_numbers(const struct sample *s, const struct edges *e)
{
    int64_t rows = e->out_row.rows - 1, *next = allocate((size_t)rows, sizeof *next);
    memcpy(next, e->out_row.data, (size_t)rows * sizeof *next);
    for (int64_t n = 0; n < s->dims[DIM_E]; n++)
        ((int32_t *)e->out_edge.data)[next[((const int32_t *)e->col.data)[n]]++] = (int32_t)n;
    free(next);
}

static void fill_random(const struct sample *s, const struct operand *p, struct mat m)
{
    uint64_t key = rng_key(s->seed, p->name);
    for (int64_t i = 0; i < m.rows; i++) {
        /* ties: pairs of rows, which have a gradient */
        int64_t row = p->values == VALUES_DISTINCT ? i : i - (i % 5 == 4);
        for (int64_t k = 0; k < m.cols; k++)
            mat_set(
                m, i, k,
                with_bits(rng_int24(key, (uint64_t)(row * m.cols + k)) * 0x1p-23, s->bits ? s->bits : 53));
    }
}

void operands_copy_entries(struct mat to, struct mat from)
{
    size_t element = dtype_size(to.dtype);
    for (int64_t i = 0; i < to.rows; i++) {
        if (to.dtype == from.dtype)
            memcpy((char *)to.data + (size_t)(i * to.ld) * element,
                   (char *)from.data + (size_t)(i * from.ld) * element, (size_t)to.cols * element);
        for (int64_t k = 0; k < to.cols && to.dtype != from.dtype; k++)
            mat_set(to, i, k, mat_get(from, i, k));
    }
}

static void fill_values(const struct sample *s, const struct operand *p, struct mat m)
{
    static const double schedule[2] = {3, 1e-2};
    if (p->values == VALUES_INDEX) {
        for (int64_t i = 0; i < m.rows; i++)
            for (int64_t k = 0; k < m.cols; k++)
                mat_set(
                    m, i, k,
                    (double)(rng_bits(s->seed, (uint64_t)(i * m.cols + k)) % (uint64_t)s->dims[p->limit]));
        return;
    }
    fill_random(s, p, m);
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++) {
            if (p->values == VALUES_POSITIVE)
                mat_set(m, i, k, fabs(mat_get(m, i, k)));
            if (p->values == VALUES_SCHEDULE)
                mat_set(m, i, k, schedule[k]);
        }
}

/* Replaces the inputs that come from the forward op by its results. */
static void fill_saved(struct operands *o)
{
    enum op forward = op_forward_of(o->sample.op);
    if (forward == OPS)
        return;
    struct sample s = o->sample;
    s.op = forward;
    s.absent = operands_without(forward, op_options(o->sample.op, &o->args));
    s.acc = 0;
    struct operands *f = operands_new(&s, F64);
    if (!f && s.dims[DIM_E] == 0) /* all that it would compute has a row per edge */
        return;
    if (!f || !operands_run(f, backend_kernel(&backend_ref, forward, F64, NULL), 1, 0, 0))
        abort();
    const struct op_info *info = op_info(forward);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *p = operand_named(o->sample.op, info->operands[i].name);
        if (operand_writes(&info->operands[i]) && p && !operand_writes(p))
            operands_copy_entries(*operand_mat(p, &o->args), *operand_mat(&info->operands[i], &f->args));
    }
    operands_free(f);
}

static struct edges *edges_of(struct operands *o)
{
    return (struct edges *)(void *)operand_mat(operand_named(o->sample.op, "adj.row"), &o->args);
}

void operands_fill(struct operands *o)
{
    const struct op_info *info = op_info(o->sample.op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *p = &info->operands[i];
        struct mat *m = operand_is_mat(p) ? operand_mat(p, &o->args) : NULL;
        if (p->role == ROLE_OFFSETS && mat_present(*m))
            fill_offsets(&o->sample, strcmp(p->name, "keys") == 0, (struct offsets *)(void *)m);
        else if (p->role == ROLE_ROW_PTR) /* its columns are the next operand */
            *(p->by_sender ? &edges_of(o)->out_most : &edges_of(o)->most) =
                fill_edges(&o->sample, p->by_sender, *m, *operand_mat(&info->operands[i + 1], &o->args));
        else if (p->role == ROLE_NUMBERS && mat_present(*m))
            fill_numbers(&o->sample, edges_of(o));
        else if (p->role == ROLE_INDEX)
            continue;
        else if (m && (operand_reads(p, m) || p->carried))
            fill_values(&o->sample, p, *m);
    }
    fill_saved(o);
}
