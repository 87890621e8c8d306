/* plot FILE.json [PREFIX]: draws the charts of a result file, by default beside it under its name: those that
 * the benchmark drew. */
#include "analysis/charts/chart.h"
#include "analysis/charts/kernel_chart.h"
#include "analysis/record/axes.h"
#include "analysis/record/record.h"

#include <limits.h>
#include <string.h>

/* The file's path without ".json". */
static void default_prefix(char prefix[PATH_MAX], const char *path)
{
    size_t length = strlen(path), end = strlen(".json");
    if (length > end && strcmp(path + length - end, ".json") == 0)
        length -= end;
    snprintf(prefix, PATH_MAX, "%.*s", (int)length, path);
}

/* Ops alone have a chart of their own, and the usual ones only over an axis with numbers that varies. */
static bool draw(const json_t *record, const char *prefix)
{
    char message[MESSAGE_SIZE];
    const json_t *rows = json_object_get(record, "rows");
    const char *op;
    bool kernels = row_get_text(json_array_get(rows, 0), "op", &op);
    enum chart_result results[2] = {CHART_SKIPPED, CHART_SKIPPED};
    if (kernels) {
        results[0] = kernel_chart_draw(record, NULL, prefix, message);
        fprintf(stderr, "%s\n", message);
    }
    if (!kernels || axes_vary(rows, axes_default(rows))) {
        results[1] = chart_draw(record, NULL, NULL, prefix, message);
        fprintf(stderr, "%s\n", message);
    }
    return results[0] != CHART_FAILED && results[1] != CHART_FAILED;
}

int main(int argc, char **argv)
{
    char message[MESSAGE_SIZE], prefix[PATH_MAX];
    bool help = argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    if (help || argc < 2 || argc > 3 || argv[1][0] == '-') {
        fputs("usage: plot FILE.json [PREFIX]   draws the file's charts as PREFIX_*.png and .svg\n",
              help ? stdout : stderr);
        return help ? 0 : 2;
    }
    json_t *record = record_load_any(argv[1], message);
    if (!record) {
        fprintf(stderr, "plot: %s\n", message);
        return 2;
    }
    default_prefix(prefix, argv[1]);
    bool drawn = draw(record, argc == 3 ? argv[2] : prefix);
    json_decref(record);
    return !drawn;
}
