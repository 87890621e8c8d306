#include "bench/show/dump.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/statistics/allocate.h"
#include "kernels/arithmetic.h"
#include "kernels/converted.h"

bool dump_can_write(const char *path, struct message *error)
{
    char copy[PATH_MAX];
    int entries = 0;
    DIR *directory = opendir(path);
    snprintf(copy, sizeof copy, "%s", path);
    if (!directory && errno == ENOENT && access(dirname(copy), W_OK | X_OK) == 0)
        return true;
    bool good = directory && access(path, W_OK | X_OK) == 0;
    if (!good)
        complain(error, "--dump %.300s: %s", path, strerror(errno));
    while (good && readdir(directory))
        entries++;
    if (directory)
        closedir(directory);
    return good && (entries <= 2 /* "." and ".." */ ||
                    complain(error, "--dump %.300s: the directory is not empty", path));
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

/* Those of the tape by number. */
typedef struct mat numbered(const struct tape *t, int i, const char **name);

static struct mat gradient(const struct tape *t, int i, const char **name)
{
    return tape_gradient(t, tape_parameter(t, i, name));
}

static bool write_matrices(const char *directory, const char *kind, const struct tape *t, numbered *matrix,
                           int count, struct message *error)
{
    bool good = true;
    for (int i = 0; i < count && good; i++) {
        const char *name;
        struct mat m = matrix(t, i, &name);
        good = write_matrix(directory, kind, name, t, m, error);
    }
    return good;
}

bool dump_write(const char *directory, const struct value *config, const struct csr *graph,
                const struct recording *step, struct message *error)
{
    char path[PATH_MAX];
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return complain(error, "--dump %.300s: %s", directory, strerror(errno));
    const struct tape *t = step->tape;
    int parameters = tape_parameter_count(t);
    bool written =
        write_matrices(directory, "input", t, tape_input, tape_input_count(t), error) &&
        write_matrices(directory, "param", t, tape_parameter, parameters, error) &&
        write_array(directory, "graph", "row_ptr", npy_indices64(graph->row_ptr, graph->nodes + 1), error) &&
        write_array(directory, "graph", "col", npy_indices32(graph->col, graph->edges), error);
    tape_run(step->tape);
    written = written && write_matrix(directory, "output", NULL, t, step->output, error) &&
              write_matrix(directory, "loss", NULL, t, step->loss, error) &&
              write_matrices(directory, "grad", t, gradient, parameters, error);
    tape_init(step->tape);
    snprintf(path, sizeof path, "%s/config.json", directory);
    return written && value_save(config, path, 4, error->text);
}

/*
 * NumPy's format, version 1.0 (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html):
 *
 *   "\x93NUMPY", bytes 1 and 0, the header's length (16 bits, little-endian), the header, the elements
 *
 * The header is a Python dictionary in ASCII, padded with blanks and terminated by a newline, so that the
 * elements begin at a multiple of 64 bytes. They have the byte order of the machine, which the header names.
 */

enum { PREFIX = 10, ALIGNMENT = 64, HEADER_MAX = 256 };

#define BYTE_ORDER_MARK (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>')

struct npy npy_matrix(struct mat m)
{
    return (struct npy){*dtype_name(m.dtype), dtype_size(m.dtype), m.rows, m.cols, m.ld, m.data};
}

struct npy npy_indices32(const int32_t *data, int64_t count)
{
    return (struct npy){'i', sizeof *data, count, 0, 1, data};
}

struct npy npy_indices64(const int64_t *data, int64_t count)
{
    return (struct npy){'i', sizeof *data, count, 0, 1, data};
}

static bool write_header(FILE *out, const struct npy *a)
{
    char columns[32] = "", text[HEADER_MAX];
    if (a->cols)
        snprintf(columns, sizeof columns, " %" PRId64, a->cols);
    int length = snprintf(text, sizeof text,
                          "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (%" PRId64 ",%s), }",
                          BYTE_ORDER_MARK, a->kind, a->size, a->rows, columns);
    int padded = (int)round_up(PREFIX + length + 1, ALIGNMENT) - PREFIX;
    const unsigned char prefix[PREFIX] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(padded & 255), (unsigned char)(padded >> 8)};
    return fwrite(prefix, PREFIX, 1, out) == 1 && fprintf(out, "%-*s\n", padded - 1, text) == padded;
}

static bool write_elements(FILE *out, const struct npy *a)
{
    size_t width = (size_t)(a->cols ? a->cols : 1);
    for (int64_t i = 0; i < a->rows; i++)
        if (fwrite((const char *)a->data + (size_t)(i * a->ld) * a->size, a->size, width, out) != width)
            return false;
    return true;
}

bool npy_write(const char *path, const struct npy *a, struct message *error)
{
    FILE *out = fopen(path, "wb");
    bool written = out && write_header(out, a) && write_elements(out, a) && fflush(out) == 0;
    int reason = errno;
    if (out && fclose(out) != 0 && written) {
        written = false;
        reason = errno;
    }
    return written || complain(error, "%s: cannot be written: %s", path, strerror(reason));
}
