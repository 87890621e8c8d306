#include "analysis/charts/charts.h"

#include "analysis/charts/kernel_chart.h"
#include "analysis/charts/profile_chart.h"
#include "analysis/record/axes.h"
#include "analysis/record/plain.h"
#include "analysis/record/record.h"

/* The line of figures that were drawn, or why they were not. */
static void say(FILE *log, const char *message)
{
    plain_put(log, message);
    putc('\n', log);
}

bool charts_draw(const struct record *record, const struct field *axis, const char *prefix, FILE *log,
                 char *message)
{
    const struct rows *rows = record_rows(record);
    const char *op;
    bool kernels = row_get_text(rows_at(rows, 0), "op", &op);
    if (kernels) {
        if (kernel_chart_draw(record, prefix, message) == CHART_FAILED)
            return false;
        say(log, message);
    }
    if (!kernels || rows_count(rows) <= BARS_MAX || axes_vary(rows, axis ? axis : axes_default(rows))) {
        if (chart_draw(record, axis, prefix, message) == CHART_FAILED)
            return false;
        say(log, message);
    }
    if (profile_chart_draw(record, prefix, message) == CHART_FAILED)
        return false;
    if (*message)
        fprintf(log, "%s\n", message);
    return true;
}
