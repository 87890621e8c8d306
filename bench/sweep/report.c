#include "bench/sweep/report.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/fits/fits.h"
#include "analysis/statistics/allocate.h"
#include "analysis/tables/profile_table.h"
#include "bench/base/clock.h"
#include "bench/machine/machine.h"
#include "bench/show/trace.h"
#include "kernels/backend.h"
#include "kernels/blas.h"

#define TRACE_SECONDS 1.0 /* between two saves of the trace, which is always written whole */

static bool save_trace(struct report *r, struct message *error)
{
    bool saved = value_save(r->trace, r->options->output.trace, 1, error->text);
    r->trace_changed = false;
    r->trace_saved = clock_now();
    return saved;
}

/* The table's axis columns, which have several values or name what was measured, and several devices. */
static void choose_axes(const struct options *o, struct table *t)
{
    bool several = o->device.count > 1;
    enum axis order[AXES];
    if (several)
        t->axes[t->axes_count++] = schema_find("device");
    if (o->kernels) {
        t->axes[t->axes_count++] = schema_find("op");
        t->axes[t->axes_count++] = schema_find("variant");
    }
    axes_swept(order);
    for (int i = 0; i < AXES; i++) {
        enum axis a = order[i];
        bool names = (o->largest.kind && a == o->largest.axis) || (a == AXIS_PRESET && o->bench->axis == a);
        if (o->axes[a].count > 1 || names)
            t->axes[t->axes_count++] = schema_find(axis_info(a)->field);
    }
    if (t->axes_count == several && !o->kernels)
        t->axes[t->axes_count++] = schema_find("nodes");
}

/* From the command line alone, since rows are printed as they finish: --columns, or the usual ones. */
static void columns_of_run(const struct options *o, struct printer *p)
{
    struct table *t = &p->table;
    const struct axis_values *pe = &o->axes[AXIS_PE];
    choose_axes(o, t);
    for (enum program_kind k = 0; k < PROGRAMS; k++)
        p->timed[k] = o->programs[k];
    p->timed[TIMED_ENCODING] = pe->count > 1 || strcmp(axis_text(pe, pe->values[0]), "none") != 0;
    t->all = o->output.columns_count > 0;
    for (int i = 0; i < o->output.columns_count; i++)
        t->columns[t->count++] = o->output.columns[i];
    if (!t->all)
        table_choose(t, p->timed, o->device.meta);
}

/* What was printed may have been flushed before, in part. */
static bool flush_stdout(const struct options *o, struct message *error)
{
    return (fflush(o->out) == 0 && !ferror(o->out)) || complain(error, "stdout: cannot be written");
}

bool report_start(struct report *r, const struct options *o, struct record *record, struct resume *resume,
                  const char *path, struct writer *writer, struct message *error)
{
    *r = (struct report){.options = o,
                         .record = record,
                         .resume = resume,
                         .path = path,
                         .writer = writer,
                         .printer = {.format = o->output.format, .record = record, .table.out = o->out},
                         .trace = o->output.trace ? trace_new(o->bench->name) : NULL};
    struct printer *p = &r->printer;
    p->kernels = o->kernels && !o->device.meta && !o->output.all && o->output.columns_count == 0;
    if (machine_blas_is_outdated(blas_core(), backend_cpu()->doc, &r->blas))
        p->table.blas = r->blas.text;
    columns_of_run(o, p);
    if (printer_is_table(p))
        r->profiles = open_text(&r->profile, &r->profile_size);
    if (writer && !writer_begin(writer, record, !o->output.resume, error->text))
        return false;
    printer_begin(p);
    return flush_stdout(o, error);
}

void report_peaks(struct report *r, const struct peaks *peaks)
{
    char ignored[MESSAGE_SIZE]; /* the file is saved whole at the end */
    value_set(r->resume->run, "calibrations", peaks_json(peaks));
    if (r->writer)
        writer_head(r->writer, r->resume->run == record_head(r->record) ? "calibrations" : "resumed",
                    ignored);
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
    bool saved = !r->writer || writer_row(r->writer, at, error->text);
    r->trace_changed = r->trace;
    if (saved && r->trace && clock_now() - r->trace_saved >= TRACE_SECONDS)
        saved = save_trace(r, error);
    return saved;
}

bool report_print(struct report *r, int64_t index, bool kept, struct message *error)
{
    printer_row(&r->printer, &(struct table_line){report_at(r, index), kept});
    return flush_stdout(r->options, error);
}

FILE *report_profiles(const struct report *r)
{
    return r->profiles ? r->profiles : stderr;
}

struct rows *report_rows(const struct report *r)
{
    const struct rows *all = record_rows(r->record);
    struct rows *rows = rows_new_view();
    for (size_t i = r->resume->others; i < rows_count(all); i++)
        rows_append(rows, rows_at(all, i));
    return rows;
}

/* "500 nodes": the axes of the table. */
static void describe(const void *report, int64_t index, char text[AXES_TEXT])
{
    const struct report *r = report;
    axes_describe_all(report_at(r, index), r->printer.table.axes, r->printer.table.axes_count, text);
}

/* Prints the rows, if they were kept for the end, and what belongs below them. */
static bool print_end(struct report *r, const struct fits *fits, struct message *error)
{
    printer_table(&r->printer);
    if (r->options->output.format == FORMAT_TABLE)
        fits_print(fits, r->options->out);
    printer_below(&r->printer);
    bool printed = flush_stdout(r->options, error);
    warnings_print(&r->warnings, describe, r, stderr);
    if (r->profiles)
        fflush(r->profiles);
    if (r->profile)
        fputs(r->profile, r->options->output.format == FORMAT_TABLE ? r->options->out : stderr);
    if (r->options->bench->whole && r->options->output.format == FORMAT_TABLE) {
        struct rows *rows = report_rows(r);
        model_table_print(r->options->out, rows, r->printer.table.axes, r->printer.table.axes_count);
        rows_free(rows);
    }
    return printed;
}

bool report_end(struct report *r, bool complete, struct message *error)
{
    struct fits fits = fits_find(record_rows(r->record));
    bool printed = print_end(r, &fits, error);
    if (complete)
        value_set(record_head(r->record), "fits", fits_value(&fits));
    if (printed)
        fits_warn(&fits, stderr);
    fits_free(&fits);
    if (!printed)
        return false;
    printer_document(&r->printer);
    return flush_stdout(r->options, error) &&
           (!complete || !r->writer || writer_head(r->writer, "fits", error->text));
}

bool report_close(struct report *r, struct message *error)
{
    bool saved = writer_close(r->writer, error->text);
    if (r->trace_changed)
        saved = save_trace(r, error) && saved;
    value_free(r->trace);
    warnings_free(&r->warnings);
    printer_free(&r->printer);
    if (r->profiles)
        fclose(r->profiles);
    free(r->profile);
    return saved;
}
