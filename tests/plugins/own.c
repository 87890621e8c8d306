/* A kernel of ours as a plug-in: scalar products of rows and their gradients, kernels/cpu/row_dot.c compiled
 * here. */
#include "kernels/cpu/row_dot.c"
#include <gtmark_plugin.h>

static struct mat mat_of(const struct gtmark_call *call, const char *name)
{
    struct gtmark_matrix m = gtmark_matrix(call, name);
    return (struct mat){
        .data = m.data, .rows = m.rows, .cols = m.cols, .ld = m.ld, .dtype = F32, .acc = m.accumulate};
}

static const char *run(const struct gtmark_call *call)
{
    struct row_dot_args a = {.call = {.threads = call->threads},
                             .y = mat_of(call, "y"),
                             .a = mat_of(call, "a"),
                             .b = mat_of(call, "b")};
    CPU(row_dot)(&a);
    return NULL;
}

static const char *run_backward(const struct gtmark_call *call)
{
    struct row_dot_backward_args a = {.call = {.threads = call->threads},
                                      .da = mat_of(call, "da"),
                                      .db = mat_of(call, "db"),
                                      .dy = mat_of(call, "dy"),
                                      .a = mat_of(call, "a"),
                                      .b = mat_of(call, "b")};
    CPU(row_dot_backward)(&a);
    return NULL;
}

static const struct gtmark_entry entries[] = {
    {.op = "row_dot", .variant = "own", .device = "cpu", .types = GTMARK_F32, .run = run},
    {.op = "row_dot_backward", .variant = "own", .device = "cpu", .types = GTMARK_F32, .run = run_backward}};
GTMARK_PLUGIN(entries);
