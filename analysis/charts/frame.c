#include "analysis/charts/frame.h"

#include "analysis/charts/chart_text.h"
#include "analysis/charts/gnuplot.h"
#include "analysis/statistics/allocate.h"
#include "analysis/tables/wrap.h"

/* Letters in a line of the fonts in plots/frame.gp, of which the title's is wider. */
enum { TITLE_COLUMNS = 76, SUBTITLE_COLUMNS = FRAME_COLUMNS, NOTE_COLUMNS = 118 };

char *frame_wrap(const char *const *texts, size_t n, int columns, size_t *lines)
{
    char *wrapped = NULL;
    size_t size;
    FILE *out = open_text(&wrapped, &size);
    for (size_t i = 0; i < n; i++)
        if (texts[i] && *texts[i])
            wrap_within(out, texts[i], columns, 0);
    fclose(out);
    *lines = 0;
    for (char *c = wrapped; (c = strchr(c, '\n')); c += *c != '\0') {
        *c = c[1] ? '\n' : '\0';
        ++*lines;
    }
    return wrapped;
}

/* Writes NAME and the number of its lines, NAMEs. */
static void put_wrapped(FILE *out, const char *name, const char *const *texts, size_t n, int columns)
{
    size_t lines;
    char *wrapped = frame_wrap(texts, n, columns, &lines);
    gnuplot_put_text(out, name, wrapped);
    fprintf(out, "%ss = %zu\n", name, lines);
    free(wrapped);
}

/* The lines of the title as an array, because markup that makes text bold ends with its line. */
static void put_title(FILE *out, const char *title)
{
    size_t lines;
    char escaped[CHART_TEXT], *line;
    gnuplot_escape(escaped, sizeof escaped, title);
    char *wrapped = frame_wrap(&(const char *){escaped}, 1, TITLE_COLUMNS, &lines), *rest = wrapped;
    fprintf(out, "titles = %zu\narray title[%zu]\n", lines, lines);
    for (size_t i = 1; (line = strsep(&rest, "\n")); i++)
        gnuplot_put_element(out, "title", i, line);
    free(wrapped);
}

void frame_write(FILE *out, const struct frame *f)
{
    char machine[CHART_TEXT], work[CHART_TEXT];
    const char *notes[NOTES_MAX + 1] = {[NOTES_MAX] = work};
    memcpy(notes, f->notes, sizeof f->notes);
    chart_machine(machine, f->record, f->rows);
    chart_work(work, f->rows);
    put_title(out, f->title);
    put_wrapped(out, "subtitle", &(const char *){machine}, 1, SUBTITLE_COLUMNS);
    put_wrapped(out, "note", notes, NOTES_MAX + 1, NOTE_COLUMNS);
    gnuplot_put_text(out, "ytitle", f->axis);
    fprintf(out, "area = %zu\n", f->height);
}
