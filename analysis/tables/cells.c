/* Table cells. */
#include "analysis/tables/cells.h"

#include "analysis/record/plain.h"
#include "analysis/record/row.h"
#include "analysis/record/schema.h"
#include "analysis/tables/units.h"
#include "analysis/tables/wrap.h"

#include <math.h>
#include <string.h>

/* Text from outside may contain line breaks, and in Markdown the bar that ends a cell. */
static void put_text(FILE *out, enum table_style style, const char *text)
{
    for (size_t length; *text; text += length) {
        length = strcspn(text, "|\r\n");
        plain_put_part(out, text, length);
        for (; text[length] && strchr("|\r\n", text[length]); length++)
            fputs(text[length] != '|' ? " " : style == TABLE_MARKDOWN ? "\\|" : "|", out);
    }
}

void cell_put(FILE *out, enum table_style style, const char *text, int width, bool first)
{
    if (style == TABLE_MARKDOWN) {
        fputs(first ? "| " : " ", out);
        put_text(out, style, text);
        fputs(" |", out);
        return;
    }
    int padding = width - (int)units_width(text);
    fprintf(out, "%s%*s", first ? "" : "  ", padding > 0 ? padding : 0, "");
    put_text(out, style, text);
}

void cell_put_last(FILE *out, enum table_style style, const char *text, int at, bool first, bool phrases)
{
    enum { INDENT = 8 };
    if (style == TABLE_MARKDOWN) {
        cell_put(out, style, text, 0, first);
        putc('\n', out);
        return;
    }
    fputs(first ? "" : "  ", out);
    (phrases ? wrap_phrases : wrap_text)(out, text, at, INDENT);
}

static bool get_time(const struct row *row, const char *program, const char *name, double *value)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.time.%s", program, name);
    return row_get_real(row, path, value);
}

bool cell_time(char *cell, size_t size, const struct row *row, const char *program)
{
    char text[UNITS_TEXT];
    double median, low, high;
    if (!get_time(row, program, "median", &median))
        return false;
    if (!get_time(row, program, "ci95_low", &low) || !get_time(row, program, "ci95_high", &high))
        low = high = NAN;
    units_format_interval(text, median, low, high, "s");
    snprintf(cell, size, "%s", text);
    return true;
}

void cell_mark_roof(char *cell, size_t size, const struct row *row, const char *program, struct notes *notes)
{
    char path[SCHEMA_PATH];
    const char *fault = "";
    snprintf(path, sizeof path, "%s.roofline.fault", program);
    if (row_get_text(row, path, &fault) && *fault)
        notes_mark(notes, fault, cell, size);
}
