#include "graphs/graph_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "graphs/edge_arrays.h"
#include "graphs/edge_lines.h"
#include "graphs/matrix_market.h"
#include "graphs/metis.h"
#include "graphs/ogb.h"
#include "graphs/tu.h"

enum { ERROR_SIZE = 512 };

static const char *const names[] = {
    [GRAPH_EDGE_LIST] = "edge list", [GRAPH_MATRIX_MARKET] = "Matrix Market",
    [GRAPH_METIS] = "METIS",         [GRAPH_ARRAYS] = "NumPy",
    [GRAPH_TU] = "TUDataset",        [GRAPH_OGB] = "OGB",
};

const char *graph_format_name(enum graph_format f)
{
    return names[f];
}

/* Whether the first `length` bytes of a path end with this suffix. */
static bool ends_with(const char *path, size_t length, const char *suffix)
{
    size_t own = strlen(suffix);
    return length > own && strncmp(path + length - own, suffix, own) == 0;
}

enum graph_format graph_format_named(const char *path)
{
    size_t length = strlen(path);
    if (ends_with(path, length, ".gz"))
        length -= strlen(".gz");
    return ends_with(path, length, ".mtx")                                          ? GRAPH_MATRIX_MARKET
           : ends_with(path, length, ".graph") || ends_with(path, length, ".metis") ? GRAPH_METIS
                                                                                    : GRAPH_EDGE_LIST;
}

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* The format of a file, by its first bytes or its name. */
static enum graph_format format_of(const char *path)
{
    char error[ERROR_SIZE]; /* said again when the file is read */
    struct text_lines l = {.path = path, .error = error, .error_size = sizeof error};
    const char *line, *end;
    enum graph_format f = graph_format_named(path);
    bool opened = lines_open(&l);
    if (opened && l.container && (l.container->npy || l.container->npz))
        f = GRAPH_ARRAYS;
    else if (opened && lines_next(&l, &line, &end)) {
        struct words w = words_of(line, end);
        f = matrix_market_begins(&w) ? GRAPH_MATRIX_MARKET : f;
    }
    lines_close(&l);
    return f;
}

/* The format of what is there; of a folder also its files. */
static bool recognise(const char *path, struct dataset *d, enum graph_format *f, char *error, size_t size)
{
    if (!is_folder(path)) {
        *f = format_of(path);
        return true;
    }
    if (!dataset_find(d, path, error, size))
        return false;
    *f = d->kind == DATASET_TU ? GRAPH_TU : GRAPH_OGB;
    return true;
}

bool graph_format_find(const char *path, enum graph_format *f, char *error, size_t error_size)
{
    struct dataset d;
    return recognise(path, &d, f, error, error_size);
}

bool graph_file_read(struct edge_list *list, const struct graph_source *s)
{
    struct dataset d;
    enum graph_format f;
    *list = (struct edge_list){0};
    if (!recognise(s->path, &d, &f, s->error, s->error_size))
        return false;
    if (s->names && f != GRAPH_EDGE_LIST) {
        snprintf(s->error, s->error_size, "%.200s: names: is for edge lists, and this is %s", s->path,
                 names[f]);
        return false;
    }
    switch (f) {
    case GRAPH_MATRIX_MARKET:
        return matrix_market_read(list, s);
    case GRAPH_METIS:
        return metis_read(list, s);
    case GRAPH_ARRAYS:
        return edge_arrays_read(list, s);
    case GRAPH_TU:
        return tu_read(list, s, d.part[0], d.part[1]);
    case GRAPH_OGB:
        return ogb_read(list, s, d.part[0], d.part[1], d.part[2]);
    default:
        return edge_lines_read(list, s);
    }
}

void graph_file_say_gap(const struct graph_source *s, int64_t rows, char *text, size_t size)
{
    struct edge_list list;
    if (!graph_file_read(&list, s))
        return;
    if (list.gap > 0 && list.gap <= rows && list.nodes < rows)
        snprintf(text, size,
                 ": node %" PRId64 " has no edge; a first line 'graph %" PRId64
                 "' gives the number of nodes, whose ids then begin with 0",
                 list.gap, rows);
    edge_list_free(&list);
}

int graph_file_parts(const char *path, char part[GRAPH_PARTS][PATH_MAX])
{
    struct dataset d;
    char error[ERROR_SIZE];
    if (!is_folder(path)) {
        snprintf(part[0], PATH_MAX, "%s", path);
        return 1;
    }
    if (!dataset_find(&d, path, error, sizeof error))
        return 0;
    memcpy(part, d.part, sizeof d.part);
    for (int i = 0; i < d.tables; i++)
        memcpy(part[d.parts + i], d.table[i].path, PATH_MAX);
    return d.parts + d.tables;
}
