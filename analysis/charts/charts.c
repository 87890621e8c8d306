#include "analysis/charts/charts.h"

#include "analysis/charts/chart.h"
#include "analysis/charts/kernel_chart.h"
#include "analysis/charts/parts_chart.h"
#include "analysis/charts/profile_chart.h"
#include "analysis/charts/rank_chart.h"
#include "analysis/charts/winner_chart.h"
#include "analysis/record/axes.h"

void charts_add(struct figures *f, const struct record *record, const struct field *axis)
{
    const struct rows *rows = record_rows(record);
    bool kernels = rows_count(rows) > 0 && rows_at(rows, 0)->op;
    if (rows_count(rows) == 1 && !kernels)
        profile_chart_add(f, record);
    kernel_chart_add(f, record);
    rank_chart_add(f, record);
    winner_chart_add(f, record);
    if (!kernels || rows_count(rows) <= BARS_MAX || axes_vary(rows, axis ? axis : axes_default(rows)))
        chart_add(f, record, axis);
    parts_chart_add(f, record, axis);
    if (rows_count(rows) > 1)
        profile_chart_add(f, record);
}
