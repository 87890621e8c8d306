#include "analysis/tables/printer.h"

#include "analysis/record/lines.h"
#include "analysis/tables/csv.h"
#include "analysis/tables/profile_table.h"
#include "analysis/tables/tracked.h"

const char *const format_names[] = {"table", "md",    "csv", "csv-full", "csv-profile",
                                    "json",  "jsonl", "bmf", "github",   NULL}; /* enum format */

bool printer_is_table(const struct printer *p)
{
    return p->format == FORMAT_TABLE || p->format == FORMAT_MARKDOWN;
}

/* Null: all. */
static const struct field *const *csv_list(const struct printer *p)
{
    return p->format == FORMAT_CSV ? p->csv.list : NULL;
}

void printer_begin(struct printer *p)
{
    p->table.style = p->format == FORMAT_MARKDOWN ? TABLE_MARKDOWN : TABLE_TERMINAL;
    p->csv = table_csv(&p->table, p->timed);
    if (p->format == FORMAT_CSV || p->format == FORMAT_CSV_FULL)
        csv_header(p->table.out, csv_list(p), p->csv.count);
    else if (p->format == FORMAT_CSV_PROFILE)
        profile_csv_header(p->table.out);
}

/* Prints a line of the result file; before the first one, its head. */
static void print_json_row(struct printer *p, const struct row *row)
{
    struct buffer lines = {0};
    if (!p->has_head)
        lines_put_head(record_head(p->record), &lines);
    p->has_head = true;
    lines_put_row(record_head(p->record), row, &lines);
    fwrite(lines.text, 1, lines.size, p->table.out);
    free(lines.text);
}

void printer_row(struct printer *p, const struct table_line *line)
{
    switch (p->format) {
    case FORMAT_CSV:
    case FORMAT_CSV_FULL:
        csv_row(p->table.out, line->row, csv_list(p), p->csv.count);
        break;
    case FORMAT_CSV_PROFILE:
        profile_csv(p->table.out, line->row);
        break;
    case FORMAT_JSONL:
        print_json_row(p, line->row);
        break;
    default: /* at the end, as a whole */
        p->lines = grow(p->lines, p->count, sizeof *p->lines);
        p->lines[p->count++] = *line;
        break;
    }
}

void printer_table(struct printer *p)
{
    if (!printer_is_table(p))
        return;
    title_print(&p->table, record_head(p->record), p->lines, p->count);
    (p->kernels ? kernel_table_print : table_print)(&p->table, p->lines, p->count);
}

void printer_below(struct printer *p)
{
    if (printer_is_table(p))
        table_below(&p->table);
}

void printer_document(struct printer *p)
{
    if (p->format == FORMAT_JSON)
        record_write(p->record, p->table.out);
    else if (p->format == FORMAT_BMF || p->format == FORMAT_GITHUB)
        tracked_print(p->table.out, p->format == FORMAT_GITHUB, record_head(p->record), p->lines, p->count);
}

void printer_free(struct printer *p)
{
    free(p->lines);
}
