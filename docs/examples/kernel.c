/* A kernel: attention over the edges of a graph, in plain loops (docs/plugins.md). */
#include <math.h>

#include <gtmark_plugin.h>

static const char *run(const struct gtmark_call *call)
{
    struct gtmark_matrix y = gtmark_matrix(call, "y"), lse = gtmark_matrix(call, "lse");
    struct gtmark_matrix q = gtmark_matrix(call, "q"), k = gtmark_matrix(call, "k"),
                         v = gtmark_matrix(call, "v");
    const int64_t *row = gtmark_matrix(call, "adj.row").data, heads = gtmark_attribute(call, "heads").whole;
    const int32_t *col = gtmark_matrix(call, "adj.col").data;
    int64_t width = y.cols / heads;
#pragma omp parallel for num_threads(call->threads)
    for (int64_t i = 0; i < y.rows; i++)
        for (int64_t h = 0; h < heads; h++) {
            const float *qi = (float *)q.data + i * q.ld + h * width;
            float *yi = (float *)y.data + i * y.ld + h * width;
            double top = -INFINITY,
                   sum = 0; /* softmax in one pass: what is summed so far is scaled to a new top */
            for (int64_t c = 0; c < width; c++)
                yi[c] = 0;
            for (int64_t e = row[i]; e < row[i + 1]; e++) {
                const float *kj = (float *)k.data + col[e] * k.ld + h * width;
                const float *vj = (float *)v.data + col[e] * v.ld + h * width;
                double s = 0;
                for (int64_t c = 0; c < width; c++)
                    s += qi[c] * kj[c];
                s /= sqrt((double)width);
                double above = s > top ? s : top, old = exp(top - above), p = exp(s - above);
                for (int64_t c = 0; c < width; c++)
                    yi[c] = (float)(yi[c] * old + p * vj[c]);
                sum = sum * old + p;
                top = above;
            }
            for (int64_t c = 0; c < width && row[i + 1] > row[i]; c++)
                yi[c] = (float)(yi[c] / sum);
            if (lse.rows)
                ((double *)lse.data)[i * lse.ld + h] = row[i + 1] > row[i] ? top + log(sum) : 0;
        }
    return NULL;
}

static const struct gtmark_entry entries[] = {
    {.op = "sparse_attention", .variant = "mine", .device = "cpu", .types = GTMARK_F32, .run = run}};
GTMARK_PLUGIN(entries);
