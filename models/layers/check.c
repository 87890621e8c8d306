/* The error measure, and what checks have found. */
#include "models/layers/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/rng.h"

/* Squared norms of the difference of two rows and of the oracle's row. */
static void row_norms(struct mat ours, struct mat oracle, int64_t i, double *difference, double *size)
{
    *difference = *size = 0;
    for (int64_t k = 0; k < ours.cols; k++) {
        double a = mat_get(ours, i, k), r = mat_get(oracle, i, k);
        *difference += (a - r) * (a - r);
        *size += r * r;
    }
}

/* The relative error: 0 / 0 counts as none, NaN as infinite. */
static double ratio(double difference, double size)
{
    double q = difference == 0 ? 0 : sqrt(difference / size);
    return isnan(q) ? INFINITY : q;
}

/* The error of a tensor, and the squared norm of the oracle's. */
struct error {
    double norm, worst_row, size;
};

static struct error error_of(struct mat ours, struct mat oracle, const int64_t *rows, int64_t count,
                             double floor)
{
    struct error e = {0};
    double difference = 0, d, s;
    for (int64_t n = 0; n < count; n++) {
        row_norms(ours, oracle, rows ? rows[n] : n, &d, &s);
        difference += d;
        e.size += s;
    }
    double size = fmax(e.size, floor * floor);
    for (int64_t n = 0; n < count; n++) {
        row_norms(ours, oracle, rows ? rows[n] : n, &d, &s);
        e.worst_row = fmax(e.worst_row, ratio(d, fmax(s, size / (double)count)));
    }
    e.norm = ratio(difference, size);
    return e;
}

/* The ratio of an error to its limit. */
static double excess_of(struct error e, double limit)
{
    return fmax(e.norm / limit, e.worst_row / (10 * limit));
}

double check_slope(struct mat ours, struct mat oracle)
{
    double product = 0, size = 0;
    for (int64_t i = 0; i < oracle.rows; i++)
        for (int64_t k = 0; k < oracle.cols; k++) {
            product += mat_get(ours, i, k) * mat_get(oracle, i, k);
            size += pow(mat_get(oracle, i, k), 2);
        }
    return size > 0 ? product / size : 1;
}

static void note_exception(struct check *c, enum exception by, const char *name)
{
    if (c->excepted[by].tensors++ == 0)
        snprintf(c->excepted[by].first, TENSOR_NAME, "%s", name);
}

void check_tensor(struct check *c, const char *name, struct mat ours, struct mat oracle, const int64_t *rows,
                  int64_t count, struct rule rule)
{
    double limit = fmax(rule.limit, rule.wide.limit), floor = fmax(rule.floor, rule.wide.floor);
    struct error e = error_of(ours, oracle, rows, count, floor);
    double excess = excess_of(e, limit);
    if (rule.slope > 0 && e.size >= rule.floor * rule.floor)
        excess = fmax(excess, fabs(check_slope(ours, oracle) - 1) / rule.slope);
    c->tensors++;
    c->norm = fmax(c->norm, e.norm);
    c->worst_row = fmax(c->worst_row, e.worst_row);
    if (excess > c->excess || c->tensors == 1) {
        c->excess = excess;
        snprintf(c->tensor, sizeof c->tensor, "%s", name);
    }
    bool plain = limit == rule.limit && floor * floor <= e.size;
    if (excess > 1 || plain || excess_of(error_of(ours, oracle, rows, count, 0), rule.limit) <= 1)
        return;
    bool by_floor = excess_of(error_of(ours, oracle, rows, count, rule.floor), rule.limit) <= 1;
    note_exception(c, by_floor ? EXCEPTION_FLOOR : rule.wide.by, name);
}

double check_moved(double value, enum dtype dtype, uint64_t key)
{
    float moved = (float)value;
    uint32_t bits, last = dtype == BF16 ? 1 << 16 : 1;
    memcpy(&bits, &moved, sizeof bits);
    bits ^= (bits ^ (uint32_t)rng_bits(key, bits / last >> 1) * last) & last;
    memcpy(&moved, &bits, sizeof bits);
    return value == 0 || !isfinite(value) ? value : moved;
}

void check_found(struct check *c, const char *format, ...)
{
    va_list values;
    if (*c->found)
        return;
    va_start(values, format);
    vsnprintf(c->found, sizeof c->found, format, values);
    va_end(values);
}

void check_add(struct check *c, const struct check *other)
{
    if (other->tensors > 0 && (c->tensors == 0 || (c->excess <= 1 && other->excess > c->excess))) {
        c->excess = other->excess;
        snprintf(c->tensor, sizeof c->tensor, "%s", other->tensor);
    }
    c->tensors += other->tensors;
    c->norm = fmax(c->norm, other->norm);
    c->worst_row = fmax(c->worst_row, other->worst_row);
    for (int x = 0; x < EXCEPTIONS; x++) {
        if (c->excepted[x].tensors == 0)
            c->excepted[x] = other->excepted[x];
        else
            c->excepted[x].tensors += other->excepted[x].tensors;
    }
    if (*other->found)
        check_found(c, "%s", other->found);
}

void check_exceptions(const struct check *c, char text[CHECK_EXCEPTIONS_TEXT])
{
    static const char *const names[EXCEPTIONS] = {"floor", "three times the error of float", "cut operands"};
    size_t used = 0;
    text[0] = '\0';
    for (int x = 0; x < EXCEPTIONS; x++)
        if (c->excepted[x].tensors > 0)
            used += (size_t)snprintf(text + used, CHECK_EXCEPTIONS_TEXT - used,
                                     "%s%s (%d tensor%s, first %.100s)", used ? "; " : "", names[x],
                                     c->excepted[x].tensors, c->excepted[x].tensors == 1 ? "" : "s",
                                     c->excepted[x].first);
}
