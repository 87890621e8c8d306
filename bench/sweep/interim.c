#include "analysis/statistics/allocate.h"
#include "bench/sweep/report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/tables/table.h"
#include "analysis/tables/units.h"
#include "analysis/tables/wrap.h"
#include "bench/base/progress.h"

/* The lines that a text takes on a terminal; long ones wrap. */
static int lines_of(const char *text, int columns)
{
    int lines = 0;
    for (const char *end; *text; text = end + (*end == '\n')) {
        end = strchrnul(text, '\n');
        char *line = copied_part(text, (size_t)(end - text));
        int width = (int)units_width(line);
        lines += width > 0 ? (width + columns - 1) / columns : 1;
        free(line);
    }
    return lines;
}

static char *render(const struct report *r, int64_t first, int64_t count, int screen)
{
    char *text;
    size_t size, n = 0;
    struct table table = r->printer.table;
    struct table_line *lines = allocate((size_t)count, sizeof *lines);
    table.out = open_text(&text, &size);
    for (int64_t i = first; i < first + count; i++)
        if (report_has(r, i))
            lines[n++] = (struct table_line){.row = report_at(r, i)};
    table.width = screen < SCREEN ? screen : SCREEN;
    title_print(&table, record_head(r->record), lines, n);
    table_print(&table, lines, n);
    table_below(&table);
    free(lines);
    fclose(table.out);
    return text;
}

void interim_show(struct interim *l, int64_t first, int64_t count)
{
    struct winsize w;
    FILE *out = l->report->options->out;
    if (l->report->options->output.format != FORMAT_TABLE || !progress_terminal(fileno(out)) ||
        ioctl(fileno(out), TIOCGWINSZ, &w) != 0 || w.ws_col == 0)
        return;
    char *text = render(l->report, first, count, w.ws_col);
    int lines = lines_of(text, w.ws_col);
    interim_clear(l);
    if (lines + 1 < w.ws_row) { /* a line is left for the progress */
        fputs(text, out);
        fflush(out);
        l->lines = lines;
    }
    free(text);
}

void interim_clear(struct interim *l)
{
    if (l->lines > 0)
        fprintf(l->report->options->out, "\033[%dA\r\033[J", l->lines);
    fflush(l->report->options->out);
    l->lines = 0;
}
