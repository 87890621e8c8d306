#include "analysis/charts/charts.h"

#include "analysis/charts/kernel_chart.h"
#include "analysis/charts/profile_chart.h"
#include "analysis/charts/rank_chart.h"
#include "analysis/record/axes.h"
#include "analysis/record/record.h"
#include "analysis/tables/wrap.h"

/* The figures that were drawn, or why they were not. */
static void say(FILE *log, const char *message)
{
    wrap_text(log, message, 0, 4);
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
    if (rank_chart_draw(record, prefix, message) == CHART_FAILED)
        return false;
    if (*message)
        say(log, message);
    return charts_draw_profile(record, prefix, log, message);
}

bool charts_draw_profile(const struct record *record, const char *prefix, FILE *log, char *message)
{
    if (profile_chart_draw(record, prefix, message) == CHART_FAILED)
        return false;
    if (*message)
        say(log, message);
    return true;
}
