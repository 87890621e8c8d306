#include "analysis/tables/profile_table.h"

#include <stdlib.h>

#include "analysis/tables/grid.h"
#include "analysis/tables/wrap.h"

struct model {
    const struct row *row;
    char name[AXES_TEXT];
};

static struct profile_ops ops_of(const struct row *row, size_t kind)
{
    struct profile p;
    struct profile_ops ops = {.count = 0};
    if (profile_read(&p, row, kind))
        ops = profile_ops_of(&p);
    profile_free(&p);
    return ops;
}

/* What all of them are ordered by: that of the first with a profile. */
static enum profile_measure measure_of(const struct profile_ops *ops, size_t n)
{
    size_t i = 0;
    while (i + 1 < n && ops[i].count == 0)
        i++;
    return ops[i].measure;
}

/* Columns of the first column, of the least wide name, and of the share beside it with the gaps. */
enum { OP_WIDTH = 26, NAME_WIDTH = 9, SHARE_WIDTH = 11 };

/* Names that are too long together become numbers of rows, whose places are in the table above. */
static void shorten_names(struct model *models, size_t n, size_t first, size_t screen)
{
    size_t width = OP_WIDTH;
    for (size_t i = 0; i < n; i++)
        width += SHARE_WIDTH + (size_t)fmax(NAME_WIDTH, (double)units_width(models[i].name));
    for (size_t i = 0; i < n && width > screen; i++)
        snprintf(models[i].name, sizeof models[i].name, "row %zu", first + i + 1);
}

/* A quantity of each model. NAN: not known. */
struct quantity {
    const char *title;
    double value[MODEL_TABLE_ROWS], share[MODEL_TABLE_ROWS], roof[MODEL_TABLE_ROWS];
    enum unit_base base;
    const char *unit;
};

/* The last column is left-aligned: an empty one, which is left out. */
static void add_quantity(struct grid *g, const struct quantity *q, size_t n)
{
    grid_add(g, "%-*s", OP_WIDTH, q->title);
    for (size_t i = 0; i < n; i++) {
        grid_add_value(g, q->value[i], q->base, q->unit);
        grid_add_rounded(g, 1, 100 * q->share[i], " %");
        grid_add_rounded(g, 1, n > 1 ? NAN : 100 * q->roof[i], " %");
    }
    grid_add(g, "-");
}

static void add_titles(struct grid *g, const char *title, const struct model *models, size_t n)
{
    grid_add(g, "%-*s", OP_WIDTH, title);
    for (size_t i = 0; i < n; i++)
        grid_add_texts(g, models[i].name, "share", "of its roofline", NULL);
    grid_add(g, "-");
}

/* Bytes at the peak, of a category of memory or, for PROFILE_CATEGORIES, of all; NAN: not known. */
static double bytes_of(const struct row_program *p, size_t category)
{
    const int64_t bytes[] = {p->memory.parameters,  p->memory.gradients, p->memory.optimizer,
                             p->memory.graph,       p->memory.encodings, p->memory.state,
                             p->memory.activations, p->memory.workspace, p->memory.peak_live};
    _Static_assert(sizeof bytes / sizeof *bytes == PROFILE_CATEGORIES + 1, "as profile_categories");
    return count_real(bytes[category]);
}

/* Bytes, and their share of the peak; nothing if no model has any. */
static void add_bytes(struct grid *g, const struct model *models, size_t n, size_t kind, const char *title,
                      size_t category)
{
    struct quantity q = {.title = title, .base = UNITS_BINARY, .unit = "B"};
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        const struct row_program *program = row_program(models[i].row, kind);
        q.value[i] = bytes_of(program, category);
        q.share[i] = q.value[i] / bytes_of(program, PROFILE_CATEGORIES);
        q.roof[i] = NAN;
        any = any || q.value[i] > 0;
    }
    if (any)
        add_quantity(g, &q, n);
}

static void add_op(struct grid *g, const struct profile_ops *ops, size_t n, const char *op)
{
    struct quantity q = {.title = op, .unit = measure_of(ops, n) == PROFILE_BY_FLOPS ? "FLOP" : "s"};
    for (size_t i = 0; i < n; i++) {
        const struct profile_group *group = profile_op(&ops[i], op);
        q.value[i] = group ? profile_amount(&ops[i], group) : NAN;
        q.share[i] = group ? profile_share(&ops[i], op) : NAN;
        q.roof[i] = group ? group->least / group->seconds : NAN;
    }
    add_quantity(g, &q, n);
}

static void add_parameters(struct grid *g, const struct model *models, size_t n)
{
    struct quantity q = {.title = "parameters", .unit = ""};
    for (size_t i = 0; i < n; i++) {
        q.value[i] = count_real(models[i].row->parameters);
        q.share[i] = q.roof[i] = NAN;
    }
    add_quantity(g, &q, n);
}

static void print_models(FILE *out, const struct model *models, const struct profile_ops *all, size_t n,
                         size_t kind)
{
    static const char *const measured[] = {
        [PROFILE_BY_TIME] = "time", [PROFILE_BY_PREDICTION] = "predicted time", [PROFILE_BY_FLOPS] = "FLOPs"};
    size_t spare[2 * MODEL_TABLE_ROWS]; /* shares of rooflines, then of the whole */
    struct grid g = {.columns = 3 * n + 2, .spare = spare, .spares = 2 * n};
    const char *ops[MODEL_TABLE_OPS];
    size_t count = 0;
    char title[64];
    snprintf(title, sizeof title, "%s of the ops", measured[measure_of(all, n)]);
    for (size_t i = 0; i < n; i++) {
        spare[i] = 3 * i + 3;
        spare[n + i] = 3 * i + 2;
    }
    while (count < MODEL_TABLE_OPS && (ops[count] = profile_next_op(all, n, ops, count)) != NULL)
        count++;
    add_titles(&g, title, models, n);
    for (size_t i = 0; i < count; i++)
        add_op(&g, all, n, ops[i]);
    add_parameters(&g, models, n);
    add_bytes(&g, models, n, kind, "memory at the peak", PROFILE_CATEGORIES);
    for (size_t c = 0; c < PROFILE_CATEGORIES; c++) {
        char name[64];
        snprintf(name, sizeof name, "  %s", profile_categories[c]);
        add_bytes(&g, models, n, kind, name, c);
    }
    fprintf(out, "\nwhere %s goes\n", program_name(kind));
    grid_print(&g, TABLE_TERMINAL, out);
    grid_free(&g);
}

static size_t program_of(const struct rows *rows)
{
    for (size_t i = 0; i < rows_count(rows); i++)
        if (rows_at(rows, i)->step.memory.peak_live != COUNT_ABSENT)
            return TIMED_STEP;
    return TIMED_FORWARD;
}

void model_table_print(FILE *out, const struct rows *rows, const struct field *const *axes, size_t n)
{
    size_t kind = program_of(rows);
    struct model models[MODEL_TABLE_ROWS];
    struct profile_ops ops[MODEL_TABLE_ROWS];
    size_t count = rows_count(rows);
    for (size_t first = 0; first < count; first += MODEL_TABLE_ROWS) {
        size_t some = count - first < MODEL_TABLE_ROWS ? count - first : MODEL_TABLE_ROWS;
        for (size_t i = 0; i < some; i++) {
            models[i].row = rows_at(rows, first + i);
            axes_describe_all(models[i].row, axes, n, models[i].name);
            ops[i] = ops_of(models[i].row, kind);
        }
        shorten_names(models, some, first, (size_t)screen_width(out));
        print_models(out, models, ops, some, kind);
        for (size_t i = 0; i < some; i++)
            free(ops[i].list);
    }
}
