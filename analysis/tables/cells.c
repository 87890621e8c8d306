/* Table cells. */
#include "analysis/tables/cells.h"

#include "analysis/record/plain.h"
#include "analysis/record/row_range.h"
#include "analysis/record/schema.h"
#include "analysis/tables/units.h"
#include "analysis/tables/wrap.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* The best of a line begins with a star. On a terminal it is bold too. */
static const char *weight_of(FILE *out, const char *text, const char *code)
{
    return text[0] == '*' && isatty(fileno(out)) ? code : "";
}

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
    fprintf(out, "%s%*s%s", first ? "" : "  ", padding > 0 ? padding : 0, "",
            weight_of(out, text, "\033[1m"));
    put_text(out, style, text);
    fputs(weight_of(out, text, "\033[0m"), out);
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

void cell_time(char *cell, size_t size, const struct row *row, size_t kind, bool brief)
{
    struct range r = row_range(row, kind);
    bool range = !brief && r.turns > 1;
    char text[UNITS_TEXT];
    if (isnan(r.median))
        return;
    units_format_interval(text, r.median, range ? r.low : NAN, range ? r.high : NAN, "s");
    snprintf(cell, size, "%s%s", row_noisy(row, kind) ? "~" : "", text);
}
