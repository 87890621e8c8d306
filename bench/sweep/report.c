#include "bench/sweep/report.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/fits/fits.h"
#include "analysis/record/lines.h"
#include "analysis/record/record.h"
#include "analysis/tables/csv.h"
#include "analysis/tables/kernel_table.h"
#include "analysis/tables/model_table.h"
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

bool report_start(struct report *r, const struct options *o, struct record *record, struct resume *resume,
                  const char *path, struct writer *writer, struct message *error)
{
    *r = (struct report){.options = o,
                         .record = record,
                         .resume = resume,
                         .path = path,
                         .writer = writer,
                         .csv_fields = o->output.format == FORMAT_CSV ? r->csv : NULL,
                         .trace = o->output.trace ? trace_new(o->bench->name) : NULL};
    bool table = o->output.format == FORMAT_TABLE || o->output.format == FORMAT_MARKDOWN;
    r->table.out = stdout;
    r->table.style = o->output.format == FORMAT_MARKDOWN ? TABLE_MARKDOWN : TABLE_TERMINAL;
    r->kernels = o->kernels && !o->device.meta && !o->output.all && o->output.columns_count == 0;
    if (machine_blas_lags(blas_core(), backend_cpu()->doc, &r->blas))
        r->table.blas = r->blas.text;
    columns_of_table(o, &r->table);
    r->csv_count = columns_of_csv(o, &r->table, r->csv);
    if (table && !(r->profiles = open_memstream(&r->profile, &r->profile_size)))
        abort();
    if (writer && !writer_begin(writer, record, !o->output.resume, error->text))
        return false;
    if (o->output.format == FORMAT_CSV || o->output.format == FORMAT_CSV_FULL)
        csv_header(stdout, r->csv_fields, r->csv_count);
    else if (o->output.format == FORMAT_CSV_PROFILE)
        profile_csv_header(stdout);
    return fflush(stdout) == 0 || complain(error, "stdout: cannot be written");
}

/* Keeps a line of the table for the end. */
static void keep_line(struct report *r, const struct table_line *line)
{
    r->lines = realloc(r->lines, (r->count + 1) * sizeof *r->lines);
    if (!r->lines)
        abort();
    r->lines[r->count++] = *line;
}

/* Prints a line of the result file; before the first one, its head. */
static void print_json_row(struct report *r, const struct row *row)
{
    struct buffer lines = {0};
    if (!r->has_head)
        lines_put_head(record_head(r->record), &lines);
    r->has_head = true;
    lines_put_row(record_head(r->record), row, &lines);
    fwrite(lines.text, 1, lines.size, stdout);
    free(lines.text);
}

/* Write errors are detected when stdout is flushed. */
static void print_row(struct report *r, const struct table_line *line)
{
    const struct row *row = line->row;
    switch (r->options->output.format) {
    case FORMAT_TABLE:
    case FORMAT_MARKDOWN:
        keep_line(r, line);
        break;
    case FORMAT_CSV:
    case FORMAT_CSV_FULL:
        csv_row(stdout, row, r->csv_fields, r->csv_count);
        break;
    case FORMAT_CSV_PROFILE:
        profile_csv(stdout, row);
        break;
    case FORMAT_JSONL:
        print_json_row(r, row);
        break;
    case FORMAT_JSON: /* at the end, as one document */
        break;
    }
}

void report_ceilings(struct report *r, const struct ceilings *ceilings)
{
    char ignored[MESSAGE_SIZE]; /* the file is saved whole at the end */
    value_set(r->resume->run, "calibrations", ceilings_json(ceilings));
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
    print_row(r, &(struct table_line){report_at(r, index), kept, warnings_about(&r->warnings, index)});
    bool printed = fflush(stdout) == 0 && !ferror(stdout); /* a long row is flushed before its end */
    return printed || complain(error, "stdout: cannot be written");
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
    axes_describe_all(report_at(r, index), r->table.axes, r->table.axes_count, text);
}

/* Prints what belongs below the rows, and before that the rows if they were kept for the end. */
static bool print_end(struct report *r)
{
    bool table = r->options->output.format == FORMAT_TABLE || r->options->output.format == FORMAT_MARKDOWN;
    if (table)
        (r->kernels ? kernel_table_print : table_print)(&r->table, r->lines, r->count);
    bool printed = fflush(stdout) == 0 && !ferror(stdout);
    warnings_print(&r->warnings, describe, r, stderr);
    if (r->profiles)
        fflush(r->profiles);
    if (r->profile)
        fputs(r->profile, r->options->output.format == FORMAT_TABLE ? stdout : stderr);
    if (r->options->bench->whole && r->options->output.format == FORMAT_TABLE) {
        struct rows *rows = report_rows(r);
        model_table_print(stdout, rows, r->table.axes, r->table.axes_count);
        rows_free(rows);
    }
    return printed;
}

bool report_end(struct report *r, bool complete, struct message *error)
{
    if (!print_end(r))
        return complain(error, "stdout: cannot be written");
    struct fits fits = fits_find(record_rows(r->record));
    if (complete)
        value_set(record_head(r->record), "fits", fits_value(&fits));
    if (r->options->output.format == FORMAT_TABLE)
        fits_print(&fits, stdout);
    fits_warn(&fits, stderr);
    fits_free(&fits);
    if (r->options->output.format == FORMAT_JSON && !record_write(r->record, stdout))
        return complain(error, "stdout: cannot be written");
    return !complete || !r->writer || writer_head(r->writer, "fits", error->text);
}

bool report_close(struct report *r, struct message *error)
{
    bool saved = writer_close(r->writer, error->text);
    if (r->trace_changed)
        saved = save_trace(r, error) && saved;
    value_free(r->trace);
    warnings_free(&r->warnings);
    notes_free(&r->table.notes);
    if (r->profiles)
        fclose(r->profiles);
    free(r->profile);
    free(r->lines);
    return saved;
}
