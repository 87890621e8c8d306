#include "analysis/charts/charts.h"

#include "analysis/charts/kernel_chart.h"
#include "analysis/record/axes.h"

bool charts_draw(const json_t *record, const struct field *axis, const char *prefix, FILE *log, char *message)
{
    const json_t *rows = json_object_get(record, "rows");
    const char *op;
    bool kernels = row_get_text(json_array_get(rows, 0), "op", &op);
    if (kernels) {
        if (kernel_chart_draw(record, NULL, prefix, message) == CHART_FAILED)
            return false;
        fprintf(log, "%s\n", message);
    }
    if (!kernels || axes_vary(rows, axis ? axis : axes_default(rows))) {
        if (chart_draw(record, axis, NULL, prefix, message) == CHART_FAILED)
            return false;
        fprintf(log, "%s\n", message);
    }
    return true;
}
