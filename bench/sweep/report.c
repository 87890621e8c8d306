#include "bench/sweep/report.h"

#include "analysis/fits/fits.h"
#include "analysis/record/record.h"
#include "analysis/tables/csv.h"
#include "bench/base/clock.h"
#include "bench/base/interrupt.h"
#include "bench/show/trace.h"

#define TRACE_SECONDS 1.0 /* between two saves of the trace, which is always written whole */

/* The table's axis columns: axes with several values on the command line, and the device if several. */
static void choose_axes(struct report *r)
{
    bool several = r->options->device.count > 1;
    enum axis order[AXES];
    if (several)
        r->table.axes[r->table.axes_count++] = schema_find("device");
    if (r->options->kernels) {
        r->table.axes[r->table.axes_count++] = schema_find("op");
        r->table.axes[r->table.axes_count++] = schema_find("variant");
    }
    axes_swept(order);
    for (int i = 0; i < AXES; i++)
        if (r->options->axes[order[i]].count > 1 || (order[i] == AXIS_NODES && r->options->largest.nodes))
            r->table.axes[r->table.axes_count++] = schema_find(axis_info(order[i])->field);
    if (r->table.axes_count == several && !r->options->kernels)
        r->table.axes[r->table.axes_count++] = schema_find("nodes");
}

static bool save_trace(struct report *r, struct message *error)
{
    bool saved = value_save(r->trace, r->options->output.trace, 1, error->text);
    r->trace_changed = false;
    r->trace_saved = clock_now();
    return saved;
}

bool report_start(struct report *r, const struct options *o, struct record *record, struct resume *resume,
                  const char *path, struct store *store, struct message *error)
{
    *r = (struct report){.options = o,
                         .record = record,
                         .resume = resume,
                         .path = path,
                         .store = store,
                         .trace = o->output.trace ? trace_new(o->bench->name) : NULL};
    r->table.columns = o->bench->columns;
    r->table.out = stdout;
    r->table.style = o->output.format == FORMAT_MARKDOWN ? TABLE_MARKDOWN : TABLE_TERMINAL;
    choose_axes(r);
    if (store && !store_begin(store, record, !o->output.resume, error->text))
        return false;
    if (o->output.format == FORMAT_CSV)
        csv_header(stdout);
    else if (o->output.format == FORMAT_TABLE || o->output.format == FORMAT_MARKDOWN)
        table_header(&r->table);
    return fflush(stdout) == 0 || complain(error, "stdout: cannot be written");
}

/* Write errors are detected when stdout is flushed. */
static void print_row(const struct report *r, const struct row *row)
{
    switch (r->options->output.format) {
    case FORMAT_TABLE:
    case FORMAT_MARKDOWN:
        table_row(&r->table, row);
        break;
    case FORMAT_CSV:
        csv_row(stdout, row);
        break;
    case FORMAT_JSONL:
        record_write_line(r->record, row, stdout);
        break;
    case FORMAT_JSON: /* at the end, as one document */
        break;
    }
}

bool report_has(const struct report *r, int64_t index)
{
    return r->resume->state[index] != ROW_MISSING;
}

struct row *report_at(const struct report *r, int64_t index)
{
    return rows_at(record_rows(r->record), r->resume->others + (size_t)index);
}

bool report_row(struct report *r, int64_t index, struct row *row, struct message *error)
{
    bool replace = report_has(r, index);
    size_t at = r->resume->others + (size_t)index;
    if (!record_put(r->record, at, replace, row, error->text))
        return false;
    r->resume->state[index] = ROW_REDONE;
    bool saved = !r->store || store_row(r->store, at, replace, error->text);
    r->trace_changed = r->trace;
    if (saved && r->trace && clock_now() - r->trace_saved >= TRACE_SECONDS)
        saved = save_trace(r, error);
    return saved;
}

/* Says in the table that the row is of an earlier run. */
static void print_kept(const struct report *r, const struct row *row)
{
    struct row *shown = row_copy(row);
    const char *reason = "";
    char text[MESSAGE_SIZE];
    row_get_text(row, "reason", &reason);
    snprintf(text, sizeof text, "kept%s%.400s", *reason ? ": " : "", reason);
    row_set_text(shown, "reason", text);
    print_row(r, shown);
    row_free(shown);
}

bool report_print(const struct report *r, int64_t index, bool kept, struct message *error)
{
    const struct row *row = report_at(r, index);
    bool table = r->options->output.format == FORMAT_TABLE || r->options->output.format == FORMAT_MARKDOWN;
    if (table && kept)
        print_kept(r, row);
    else
        print_row(r, row);
    bool printed = fflush(stdout) == 0 && !ferror(stdout); /* a long row is flushed before its end */
    return printed || complain(error, "stdout: cannot be written");
}

struct rows *report_rows(const struct report *r)
{
    const struct rows *all = record_rows(r->record);
    struct rows *rows = rows_new_view();
    for (size_t i = r->resume->others; i < rows_count(all); i++)
        rows_append(rows, rows_at(all, i));
    return rows;
}

bool report_end(struct report *r, struct message *error)
{
    struct fits fits = fits_find(record_rows(r->record));
    bool complete = !interrupt_signal();
    if (complete)
        value_set(record_head(r->record), "fits", fits_value(&fits));
    if (r->options->output.format == FORMAT_TABLE)
        fits_print(&fits, stdout);
    fits_warn(&fits, stderr);
    fits_free(&fits);
    if (r->options->output.format == FORMAT_JSON && !record_write(r->record, stdout))
        return complain(error, "stdout: cannot be written");
    return !complete || !r->store || store_head(r->store, "fits", error->text);
}

bool report_close(struct report *r, struct message *error)
{
    bool saved = store_close(r->store, error->text);
    if (r->trace_changed)
        saved = save_trace(r, error) && saved;
    value_free(r->trace);
    return saved;
}
