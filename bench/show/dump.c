#include "bench/show/dump.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/statistics/allocate.h"
#include "kernels/converted.h"

static bool is_empty(DIR *directory)
{
    int entries = 0;
    while (readdir(directory))
        entries++;
    return entries <= 2; /* "." and ".." */
}

static bool can_write(const char *directory)
{
    return access(directory, W_OK | X_OK) == 0;
}

static bool can_make(const char *path)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    return can_write(dirname(copy));
}

bool dump_can_write(const char *path, struct message *error)
{
    DIR *directory = opendir(path);
    if (!directory && errno == ENOENT && can_make(path))
        return true;
    if (!directory || !can_write(path)) {
        complain(error, "--dump %.300s: %s", path, strerror(errno));
        if (directory)
            closedir(directory);
        return false;
    }
    bool empty = is_empty(directory);
    closedir(directory);
    return empty || complain(error, "--dump %.300s: the directory is not empty", path);
}

/* DIR/KIND.NAME.npy, or DIR/KIND.npy without a name. */
static bool write_array(const char *directory, const char *kind, const char *name, struct npy a,
                        struct message *error)
{
    char path[PATH_MAX];
    int length =
        snprintf(path, sizeof path, "%s/%s%s%s.npy", directory, kind, name ? "." : "", name ? name : "");
    return length < PATH_MAX ? npy_write(path, &a, error)
                             : complain(error, "--dump %.300s: the path is too long", directory);
}

/* The matrix, in F32 if it is in BF16, which NumPy does not have; the caller frees the copy. */
static struct mat widened(struct mat m, int threads, void **copy)
{
    struct mat y = {.rows = m.rows, .cols = m.cols, .ld = m.cols, .dtype = F32};
    *copy = NULL;
    if (m.dtype != BF16)
        return m;
    *copy = y.data = allocate((size_t)mat_bytes(y), 1);
    mat_widen(y, m, threads);
    return y;
}

static bool write_matrix(const char *directory, const char *kind, const char *name, const struct tape *t,
                         struct mat m, struct message *error)
{
    void *copy, *wide;
    struct mat host = widened(tape_read(t, m, &copy), tape_config(t)->threads, &wide);
    bool written = tape_failed(t) ? complain(error, "--dump %.300s: the device failed", directory)
                                  : write_array(directory, kind, name, npy_matrix(host), error);
    free(copy);
    free(wide);
    return written;
}

static bool write_inputs(const char *directory, const struct tape *t, struct message *error)
{
    const char *name;
    for (int i = 0; i < tape_input_count(t); i++) {
        struct mat m = tape_input(t, i, &name);
        if (!write_matrix(directory, "input", name, t, m, error))
            return false;
    }
    for (int p = 0; p < tape_parameter_count(t); p++) {
        struct mat m = tape_parameter(t, p, &name);
        if (!write_matrix(directory, "param", name, t, m, error))
            return false;
    }
    return true;
}

static bool write_graph(const char *directory, const struct csr *g, struct message *error)
{
    return write_array(directory, "graph", "row_ptr", npy_indices64(g->row_ptr, g->nodes + 1), error) &&
           write_array(directory, "graph", "col", npy_indices32(g->col, g->edges), error);
}

static bool write_results(const char *directory, const struct recording *step, struct message *error)
{
    const struct tape *t = step->tape;
    if (!write_matrix(directory, "output", NULL, t, step->output, error) ||
        !write_matrix(directory, "loss", NULL, t, step->loss, error))
        return false;
    for (int p = 0; p < tape_parameter_count(t); p++) {
        const char *name;
        struct mat gradient = tape_gradient(t, tape_parameter(t, p, &name));
        if (!write_matrix(directory, "grad", name, t, gradient, error))
            return false;
    }
    return true;
}

static bool write_config(const char *directory, const struct value *config, struct message *error)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/config.json", directory);
    return value_save(config, path, 4, error->text);
}

bool dump_write(const char *directory, const struct value *config, const struct csr *graph,
                const struct recording *step, struct message *error)
{
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return complain(error, "--dump %.300s: %s", directory, strerror(errno));
    bool written = write_inputs(directory, step->tape, error) && write_graph(directory, graph, error);
    tape_run(step->tape);
    written = written && write_results(directory, step, error);
    tape_init(step->tape);
    return written && write_config(directory, config, error);
}
