/* A plug-in on CBLAS, which has threads and memory of its own: linear layers without activation. */
#include <gtmark_plugin.h>

/* As in cblas.h, which not every machine has. */
enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };
void cblas_sgemm(int order, int transposed_a, int transposed_b, int rows, int cols, int depth, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);

static const char *supports(const struct gtmark_call *call)
{
    return gtmark_attribute(call, "act").whole ? "activations are not supported" : NULL;
}

static const char *run(const struct gtmark_call *call)
{
    struct gtmark_matrix y = gtmark_matrix(call, "y"), x = gtmark_matrix(call, "x"),
                         w = gtmark_matrix(call, "w");
    struct gtmark_matrix b = gtmark_matrix(call, "b"), pre = gtmark_matrix(call, "pre");
    for (int64_t i = 0; i < y.rows; i++)
        for (int64_t k = 0; k < y.cols; k++)
            ((float *)y.data)[i * y.ld + k] = b.rows ? ((const float *)b.data)[k] : 0;
    cblas_sgemm(ROW_MAJOR, AS_IT_IS, TRANSPOSED, (int)x.rows, (int)w.rows, (int)x.cols, 1, x.data, (int)x.ld,
                w.data, (int)w.ld, 1, y.data, (int)y.ld);
    for (int64_t i = 0; i < pre.rows; i++)
        memcpy((float *)pre.data + i * pre.ld, (float *)y.data + i * y.ld, (size_t)y.cols * sizeof(float));
    return NULL;
}

static const struct gtmark_entry entries[] = {{.op = "linear",
                                               .variant = "openblas",
                                               .device = "cpu",
                                               .types = GTMARK_F32,
                                               .flags = GTMARK_ALLOCATES | GTMARK_STARTS_THREADS,
                                               .run = run,
                                               .supports = supports}};
GTMARK_PLUGIN(entries);
