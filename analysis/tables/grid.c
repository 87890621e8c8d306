#include "analysis/tables/grid.h"

#include "analysis/statistics/allocate.h"
#include "analysis/tables/html.h"
#include "analysis/tables/wrap.h"

#include <unistd.h>

enum { HIDDEN = -1 };

void grid_add(struct grid *g, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    grid_add_markup(g, NULL, format_values(format, values));
    va_end(values);
}

void grid_add_markup(struct grid *g, const char *class, char *markup)
{
    g->cells = grow(g->cells, g->count, sizeof *g->cells);
    g->cells[g->count++] = (struct grid_cell){markup, class, NAN};
}

void grid_number(struct grid *g, double number)
{
    g->cells[g->count - 1].number = number;
}

void grid_add_texts(struct grid *g, ...)
{
    va_list texts;
    va_start(texts, g);
    for (const char *text; (text = va_arg(texts, const char *));)
        grid_add(g, "%s", text);
    va_end(texts);
}

void grid_add_axes(struct grid *g, const struct row *row, const struct field *const *axes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[AXES_TEXT];
        double number = NAN;
        axes_text(row, axes[i], text);
        grid_add(g, "%s", *text ? text : "-");
        field_number(row, axes[i], &number);
        grid_number(g, number);
    }
}

void grid_add_value(struct grid *g, double value, enum unit_base base, const char *unit)
{
    char text[UNITS_TEXT];
    units_format(text, value, base, unit);
    grid_add(g, "%s", isfinite(value) ? text : "-");
}

void grid_add_rounded(struct grid *g, int decimals, double value, const char *unit)
{
    if (isfinite(value))
        grid_add(g, "%.*f%s", decimals, value, unit);
    else
        grid_add(g, "-");
}

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

/* Writes a cell; on a terminal right-aligned in `width` columns, or wider if the text is, and bold if it
 * begins with a star. */
static void cell_put(FILE *out, enum table_style style, const char *text, int width, bool first)
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

/* Writes the last cell of a line and ends it; on a terminal left-aligned, `at` columns from the left, and
 * wrapped, with `phrases` by wrap_phrases. */
static void cell_put_last(FILE *out, enum table_style style, const char *text, int at, bool first,
                          bool phrases)
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

/* The width of a column, or HIDDEN if it is empty. */
static int width_of(const struct grid *g, size_t column)
{
    int width = 0;
    bool says = g->all;
    for (size_t i = column; i < g->count; i += g->columns) {
        int cell = (int)units_width(g->cells[i].text);
        width = cell > width ? cell : width;
        says = says || (i >= g->columns && strcmp(g->cells[i].text, "-") != 0);
    }
    return says ? width : HIDDEN;
}

/* The width of a line; a long text in the last column may wrap. */
static int line_width(const struct grid *g, const int *widths)
{
    enum { UNWRAPPED = 20 };
    int last = widths[g->columns - 1], sum = last < UNWRAPPED ? last : UNWRAPPED;
    for (size_t i = 0; i + 1 < g->columns; i++)
        sum += widths[i] == HIDDEN ? 0 : widths[i] + 2;
    return sum;
}

static void print_line(const struct grid *g, const struct grid_cell *cells, const int *widths,
                       enum table_style style, FILE *out)
{
    bool first = true;
    int at = 0;
    size_t columns = g->columns;
    for (size_t i = 0; i + 1 < columns; i++)
        if (widths[i] != HIDDEN) {
            cell_put(out, style, cells[i].text, widths[i], first);
            at += widths[i] + 2;
            first = false;
        }
    if (widths[columns - 1] == HIDDEN)
        putc('\n', out);
    else
        cell_put_last(out, style, cells[columns - 1].text, at, first, g->phrases);
}

/* Hides spare columns until a line fits, and shows again, of the last one first, what fits after all. Moves
 * the hidden ones to the front of `spare`, and returns how many. */
static size_t make_fit(const struct grid *g, int *widths, int screen)
{
    int all[GRID_COLUMNS];
    size_t hidden = 0, spared = 0;
    memcpy(all, widths, g->columns * sizeof *all);
    for (; hidden < g->spares && line_width(g, widths) > screen; hidden++)
        widths[g->spare[hidden]] = HIDDEN;
    for (size_t s = hidden; s-- > 0;) {
        widths[g->spare[s]] = all[g->spare[s]];
        if (line_width(g, widths) > screen)
            widths[g->spare[s]] = HIDDEN;
    }
    for (size_t s = 0; s < hidden; s++)
        if (widths[g->spare[s]] != all[g->spare[s]])
            g->spare[spared++] = g->spare[s];
    return spared;
}

/* Whether the column of a cell has numbers, by its first line that has something. */
static bool is_number(const struct grid *g, size_t cell)
{
    size_t i = g->columns + cell % g->columns;
    while (i + g->columns < g->count && strcmp(g->cells[i].text, "-") == 0)
        i += g->columns;
    return strchr("0123456789+-~*", *g->cells[i].text);
}

static void put_html_cell(const struct grid *g, size_t i, FILE *out)
{
    const struct grid_cell *c = &g->cells[i];
    const char *tag = i < g->columns ? "th" : "td";
    if (c->class)
        fprintf(out, "<%s class=\"%s\">%s</%s>", tag, c->class, c->text, tag);
    else if (i >= g->columns && strcmp(c->text, "-") == 0)
        fputs("<td class=\"none\">–</td>", out);
    else if (!isnan(c->number))
        html(out, "<td class=\"n\" data-v=\"%.9g\">%s</td>", c->number, c->text);
    else
        html(out, "<%s class=\"%s\">%s</%s>", tag, is_number(g, i) ? "n" : "t", c->text, tag);
}

static void print_html(const struct grid *g, const int *widths, FILE *out)
{
    fprintf(out, "<div class=\"wide\" tabindex=\"0\"><table class=\"%s\"><thead>\n", g->class);
    for (size_t i = 0; i < g->count; i++) {
        fputs(i % g->columns == 0 ? "<tr>" : "", out);
        if (widths[i % g->columns] != HIDDEN)
            put_html_cell(g, i, out);
        if ((i + 1) % g->columns == 0)
            fputs(i < g->columns ? "</tr></thead><tbody>\n" : "</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

size_t grid_print(const struct grid *g, enum table_style style, FILE *out)
{
    size_t n = g->columns, spared = 0;
    int screen = g->width ? g->width : screen_width(out);
    int widths[GRID_COLUMNS];
    struct grid_cell rule[GRID_COLUMNS];
    if (g->count <= n)
        return 0;
    for (size_t i = 0; i < n; i++) {
        widths[i] = width_of(g, i);
        rule[i] = (struct grid_cell){.text = (char *)(i + 1 < n ? "--:" : ":--")};
    }
    if (style == TABLE_TERMINAL)
        spared = make_fit(g, widths, screen);
    if (style == TABLE_HTML)
        print_html(g, widths, out);
    for (size_t i = 0; i < g->count && style != TABLE_HTML; i += n) {
        print_line(g, g->cells + i, widths, style, out);
        if (i == 0 && style == TABLE_MARKDOWN)
            print_line(g, rule, widths, style, out);
    }
    return spared;
}

bool grid_can_fit(const struct grid *g)
{
    int widths[GRID_COLUMNS];
    for (size_t i = 0; i < g->columns; i++)
        widths[i] = width_of(g, i);
    for (size_t s = 0; s < g->spares; s++)
        widths[g->spare[s]] = HIDDEN;
    return line_width(g, widths) <= g->width;
}

void grid_clear(struct grid *g)
{
    for (size_t i = 0; i < g->count; i++)
        free(g->cells[i].text);
    free(g->cells);
    g->cells = NULL;
    g->count = 0;
}

void grid_free(struct grid *g)
{
    grid_clear(g);
    *g = (struct grid){.columns = g->columns};
}
