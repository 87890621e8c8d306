/* c (+)= op(a) op(b): choosing a way. The choice is kept, so a call costs the host little. See matmul.h. */
#include "kernels/cuda/product_ways.h"

namespace
{
enum { WAYS_MOST = PRODUCT_ALGORITHMS + 1 };

int configured(const struct way &w, cublasLtMatmulAlgoConfigAttributes_t which)
{
    uint32_t value = 0;
    size_t written = 0;
    return cublasLtMatmulAlgoConfigGetAttribute(&w.algorithm, which, &value, sizeof value, &written)
               ? 0
               : (int)value;
}

bool is_refusal(cublasStatus_t s)
{
    return s == CUBLAS_STATUS_NOT_SUPPORTED || s == CUBLAS_STATUS_INVALID_VALUE;
}

/* The status of a way unless that is a refusal: an invalid value is one where there is another way. */
cublasStatus_t unless_refused(const struct matmul *m, int64_t parts, cublasStatus_t s)
{
    bool only = m->epilogue == CUBLASLT_EPILOGUE_DEFAULT && !parts;
    return is_refusal(s) && !(only && s == CUBLAS_STATUS_INVALID_VALUE) ? CUBLAS_STATUS_SUCCESS : s;
}

/* The library's, and one that divides the depth if these do not. */
cublasStatus_t find_ways(const struct cuda_context *c, const struct matmul *m, struct way *ways, int *count)
{
    cublasStatus_t s = product_ask(c, m, 0, c->product_algorithms, ways, count);
    int64_t parts = *count > 0 && c->product_algorithms > 1 ? product_divisor(c, m) : 0;
    for (int i = 0; i < *count; i++)
        parts = configured(ways[i], CUBLASLT_ALGO_CONFIG_SPLITK_NUM) > 1 ? 0 : parts;
    if (s || !parts)
        return unless_refused(m, 0, s);
    return unless_refused(m, parts, product_ask(c, m, parts, 1, ways, count));
}

/* Calls each way, which loads its code, and removes those that the library refuses now. */
cuda_status try_ways(const struct call &call, const struct matmul *m, struct way *ways, int *count)
{
    int kept = 0;
    for (int i = 0; i < *count; i++) {
        cublasStatus_t s = product_call(context_of(call), m, ways[i]);
        if (unless_refused(m, ways[i].parts, s))
            return s;
        if (!s)
            ways[kept++] = ways[i];
    }
    *count = kept;
    return cudaSuccess;
}

void key_of(const struct matmul *m, int64_t *key)
{
    int64_t types = m->a_transposed | m->b_transposed << 1 | m->tf32 << 2 | m->c.acc << 3 | m->c.dtype << 4 |
                    m->a.dtype << 8;
    int64_t aligned = (int64_t)product_alignment(m->c, 0) | (int64_t)product_alignment(m->a, 0) << 10 |
                      (int64_t)product_alignment(m->b, 0) << 20;
    const int64_t words[CHOICE_WORDS] = {m->c.rows, m->c.cols, product_depth(m), m->c.ld,    m->a.ld,
                                         m->b.ld,   types,     aligned,          m->epilogue};
    memcpy(key, words, sizeof words);
}

const char *epilogue_name(cublasLtEpilogue_t e)
{
    return e == CUBLASLT_EPILOGUE_DEFAULT  ? ""
           : e == CUBLASLT_EPILOGUE_BGRADB ? " with bias gradient"
           : e == CUBLASLT_EPILOGUE_BIAS   ? " with bias"
                                           : " with activation";
}

/* `seconds` of the ways, 0 if they were not timed. */
void describe_choice(struct cuda_choice *to, const struct matmul *m, const struct way *ways, int chosen,
                     int count, const double *seconds)
{
    char what[CHOICE_TEXT / 2] = "refused";
    const struct way &w = ways[chosen];
    if (count > 0 && w.parts)
        snprintf(what, sizeof what, "%d parts", (int)w.parts);
    else if (count > 0)
        snprintf(what, sizeof what, "algorithm %d: id %d, tile %d, stages %d, split %d", chosen + 1,
                 configured(w, CUBLASLT_ALGO_CONFIG_ID), configured(w, CUBLASLT_ALGO_CONFIG_TILE_ID),
                 configured(w, CUBLASLT_ALGO_CONFIG_STAGES_ID),
                 configured(w, CUBLASLT_ALGO_CONFIG_SPLITK_NUM));
    snprintf(to->text, sizeof to->text, "%lld x %lld x %lld %c%c %s%s: %s", (long long)m->c.rows,
             (long long)m->c.cols, (long long)product_depth(m), m->a_transposed ? 't' : 'n',
             m->b_transposed ? 't' : 'n', m->tf32 ? "tf32" : dtype_name(m->a.dtype),
             epilogue_name(m->epilogue), what);
    choice_add_times(to, count, seconds);
}

/* Tries and times the ways, with a result that may be written more than once. */
cuda_status time_ways(const struct call &call, const struct matmul *m, struct way *ways, int *count,
                      double *seconds, int *chosen)
{
    const struct cuda_context *c = context_of(call);
    struct matmul again = *m;
    void *own;
    cuda_status status = choice_result(c, &again.c, &own);
    if (!status.fault && again.c.data)
        status = try_ways(call, &again, ways, count);
    if (!status.fault && again.c.data && *count > 1)
        status = choice_run(
            c, *count, [&](int way) { return product_queue(call, &again, ways[way]); }, seconds, chosen);
    if (own && !status.fault)
        status = cudaStreamSynchronize(c->stream);
    cudaFree(own);
    return status;
}

/* The choice for this product, made if it is the first time. */
cuda_status choose(const struct call &call, const struct matmul *m, const struct cuda_choice **choice)
{
    struct cuda_context *c = context_of(call);
    struct way ways[WAYS_MOST];
    double seconds[WAYS_MOST] = {};
    int64_t key[CHOICE_WORDS];
    int count = 0, chosen = 0;
    key_of(m, key);
    *choice = choice_find(c, key);
    if (*choice)
        return cudaSuccess;
    cuda_status status = find_ways(c, m, ways, &count);
    if (!status.fault && count > 0 && !c->captures)
        status = time_ways(call, m, ways, &count, seconds, &chosen);
    if (status.fault)
        return status;
    struct cuda_choice *made = choice_add(c, key);
    made->refused = count == 0;
    made->is.algorithm = ways[chosen].algorithm;
    made->is.way = ways[chosen].parts;
    describe_choice(made, m, ways, chosen, count, seconds);
    *choice = made;
    return status;
}

} // namespace

cuda_status matmul_fuses(const struct call &call, const struct matmul *m, bool *fuses)
{
    const struct cuda_choice *choice;
    *fuses = true;
    if (cuda_is_idle(context_of(call)))
        return cudaSuccess;
    cuda_status status = choose(call, m, &choice);
    *fuses = !status.fault && !choice->refused;
    return status;
}

cuda_status matmul(const struct call &call, const struct matmul *m)
{
    const struct cuda_choice *choice;
    if (context_of(call)->loads)
        return product_load(call, m);
    if (cuda_is_idle(context_of(call)))
        return cudaSuccess;
    cuda_status status = choose(call, m, &choice);
    if (status.fault)
        return status;
    if (!choice->refused)
        return product_queue(call, m, {choice->is.algorithm, choice->is.way});
    return product_is_line(m) ? product_line(call, m) : CUBLAS_STATUS_NOT_SUPPORTED;
}
