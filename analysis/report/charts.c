#include "analysis/report/parts.h"

#include "analysis/compare/crossing.h"
#include "analysis/tables/html.h"

#include <stdlib.h>

void part_charts(FILE *out, const struct part *p)
{
    char name[32], *svg[FIGURES_MAX];
    struct figures f = {0};
    crossing_chart_add(&f, p->record, NULL);
    charts_add(&f, p->record, NULL);
    figures_keep(&f, FIGURES_OF_RUN);
    enum chart_result result = figures_svg(&f, svg);
    if (result == CHART_SKIPPED)
        html(out, "<p class=\"note\">No charts: gnuplot is not installed.</p>\n");
    for (size_t i = 0; i < f.count; i++) {
        snprintf(name, sizeof name, "c%zu-%zu", p->number, i + 1);
        if (svg[i]) {
            html(out, "<figure class=\"%s\">", f.list[i].name);
            svg_put(out, svg[i], name);
            html(out, "</figure>\n");
        } else if (result != CHART_SKIPPED) {
            html(out, "<p class=\"note\">No chart of %s: gnuplot failed.</p>\n", f.list[i].name);
        }
        free(svg[i]);
    }
    figures_free(&f);
}
