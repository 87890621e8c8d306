#include "analysis/charts/frame.h"

#include "analysis/charts/gnuplot.h"
#include "analysis/charts/text_width.h"

#include <string.h>

enum { TITLE_LINES = 2, SUBTITLE_LINES = 2, NOTE_LINES = 12, INSIDE = CHART_WIDTH - 36 };

/* Pixels per em of the fonts in plots/frame.gp: 4/3 of their sizes in points. */
static const double title_em = 13 * 4 / 3.0, subtitle_em = 10.5 * 4 / 3.0, note_em = 9.5 * 4 / 3.0,
                    legend_em = 10.5 * 4 / 3.0;
static const double legend_symbol = 60; /* pixels, with the gap between columns */

double frame_legend_width(void)
{
    return (INSIDE - legend_symbol) / legend_em;
}

size_t frame_legend_rows(size_t n, double widest)
{
    size_t columns = (size_t)(INSIDE / (widest * legend_em + legend_symbol));
    columns = columns < 1 ? 1 : columns > n ? n : columns;
    return columns ? (n + columns - 1) / columns : 0;
}

static void put_wrapped(FILE *out, const char *name, const char *text, double em, size_t lines)
{
    char wrapped[CHART_TEXT + 4];
    snprintf(wrapped, CHART_TEXT, "%s", text);
    fprintf(out, "%ss = %zu\n", name, text_wrap(wrapped, sizeof wrapped, INSIDE / em, lines));
    gnuplot_put_text(out, name, wrapped);
}

/* The lines of the title as an array, because markup that makes text bold ends with its line. */
static void put_title(FILE *out, const char *title)
{
    char wrapped[CHART_TEXT + 4], *rest = wrapped, *line;
    snprintf(wrapped, CHART_TEXT, "%s", title);
    size_t n = text_wrap(wrapped, sizeof wrapped, INSIDE / title_em, TITLE_LINES);
    fprintf(out, "titles = %zu\narray title[%d]\n", n, TITLE_LINES);
    for (int i = 1; (line = strsep(&rest, "\n")); i++) {
        fprintf(out, "title[%d] = ", i);
        gnuplot_put_string(out, line);
        putc('\n', out);
    }
}

void frame_write(FILE *out, const struct frame *f)
{
    char notes[NOTES_MAX * (CHART_TEXT + 4)] = "";
    size_t used = 0, lines = 0;
    for (size_t i = 0; i < NOTES_MAX; i++)
        if (f->notes[i] && *f->notes[i]) {
            char *note = notes + used + (used > 0);
            snprintf(note, CHART_TEXT, "%s", f->notes[i]);
            lines += text_wrap(note, CHART_TEXT + 3, INSIDE / note_em, NOTE_LINES);
            if (used > 0)
                notes[used] = '\n';
            used = strlen(notes);
        }
    put_title(out, f->title);
    put_wrapped(out, "subtitle", f->subtitle, subtitle_em, SUBTITLE_LINES);
    fprintf(out, "notes = %zu\nrows = %zu\narea = %zu\n", lines, f->legend_rows, f->height);
    gnuplot_put_text(out, "note", notes);
    gnuplot_put_text(out, "ytitle", f->axis);
}
