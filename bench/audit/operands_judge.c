#include "bench/audit/operands.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double gradient_limit = 1e-4; /* in float */

static double difference_norm(struct mat a, struct mat r)
{
    double sum = 0;
    for (int64_t i = 0; i < r.rows; i++)
        for (int64_t k = 0; k < r.cols; k++) {
            double d = mat_get(a, i, k) - mat_get(r, i, k);
            sum += d * d;
        }
    return sqrt(sum);
}

/* Whether a gradient is a sum over the rows of the others, as those of parameters are, whose entries are
 * larger. That of a row for each pair is not. */
static bool is_sum(const struct operand *p)
{
    return p->rows != DIM_N && p->rows != DIM_S && p->rows != DIM_P;
}

/* The least gradient that errors are relative to, as a share of the usual size of its kind. The rounding
 * errors of a sum of N terms in float grow as sqrt(N), relative to its usual size, however small it is. */
static double least_share(const struct operand *p, int64_t terms)
{
    return is_sum(p) ? fmax(1e-2, 1.5 * FLT_EPSILON / gradient_limit * sqrt((double)terms)) : 1e-2;
}

/* Of an output in float: 1e-5, more for one number, a sum of up to N M terms. */
static double output_limit(struct mat r, const int64_t *dims)
{
    double terms = (double)(dims[DIM_N] * dims[DIM_M]);
    return mat_size(r) == 1 ? fmax(1e-5, FLT_EPSILON * sqrt(terms)) : 1e-5;
}

const struct operand *operands_output(const struct operands *o, const struct operand *after)
{
    const struct op_info *info = op_info(o->sample.op);
    for (const struct operand *p = after ? after + 1 : info->operands;
         p < info->operands + info->operand_count; p++)
        if (operand_is_mat(p) && operand_writes(p) && mat_present(*operand_mat(p, &o->args)))
            return p;
    return NULL;
}

double operands_error(const struct operands *ours, const struct operands *reference, const char **worst)
{
    double gradients[2] = {0}, entries[2] = {0}, largest = 0;
    *worst = "";
    for (const struct operand *p = NULL; (p = operands_output(reference, p));) {
        if (p->role != ROLE_GRAD)
            continue;
        struct mat r = *operand_mat(p, &reference->args);
        gradients[is_sum(p)] = hypot(gradients[is_sum(p)], mat_norm(r));
        entries[is_sum(p)] += (double)mat_size(r);
    }
    for (const struct operand *p = NULL; (p = operands_output(reference, p));) {
        struct mat a = *operand_mat(p, &ours->args), r = *operand_mat(p, &reference->args);
        double size = mat_norm(r);
        if (p->role == ROLE_GRAD) {
            double usual = gradients[is_sum(p)] / sqrt(entries[is_sum(p)]);
            size =
                fmax(size, least_share(p, reference->sample.dims[DIM_N]) * usual * sqrt((double)mat_size(r)));
        }
        double limit = ours->dtype == F64     ? 1e-11
                       : p->role == ROLE_GRAD ? gradient_limit
                                              : output_limit(r, reference->sample.dims);
        limit += (a.dtype == BF16 ? BF16_ROUNDING : 0) + (a.dtype == F64 ? 0 : ours->rounding);
        double difference = difference_norm(a, r);
        double error = difference == 0 ? 0 : difference / size / limit;
        if (!(error <= largest) && !isnan(largest)) {
            largest = error;
            *worst = p->name;
        }
    }
    return largest;
}

bool operands_same_bits(const struct operands *a, const struct operands *b)
{
    for (const struct operand *p = NULL; (p = operands_output(a, p));) {
        struct mat x = *operand_mat(p, &a->args), y = *operand_mat(p, &b->args);
        size_t element = dtype_size(x.dtype);
        for (int64_t r = 0; r < x.rows; r++)
            if (memcmp((char *)x.data + (size_t)(r * x.ld) * element,
                       (char *)y.data + (size_t)(r * y.ld) * element, (size_t)x.cols * element) != 0)
                return false;
    }
    return true;
}
