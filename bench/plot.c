/* plot FILE.json [PREFIX]: draws the charts of a result file that the benchmark drew, by default beside the
 * file and under its name. */
#include <limits.h>

#include "analysis/charts/charts.h"
#include "analysis/compare/crossing_chart.h"
#include "analysis/record/record.h"
#include "bench/base/paths.h"
#include "bench/cli/tool.h"

static int plot(void *options, int count, char **files, struct message *error)
{
    (void)options;
    char prefix[PATH_MAX];
    struct record *record = record_load_any(files[0], error->text);
    if (!record)
        return EXIT_USAGE;
    paths_prefix(files[0], prefix);
    const char *beside = count == 2 ? files[1] : prefix;
    bool drawn = charts_draw(record, NULL, beside, stderr, error->text) &&
                 crossing_chart_draw(record, beside, stderr, error->text);
    record_free(record);
    return drawn ? EXIT_GOOD : EXIT_MISSED;
}

int main(int argc, char **argv)
{
    static const struct flag flags[] = {TOOL_FLAGS, {.name = NULL}};
    static const struct syntax syntax = {
        .doc = "draws a result file's charts as PREFIX_*.png and .svg, by default beside it",
        .operands = "FILE.json [PREFIX]",
        .needs = "a result file",
        .limit = "at most a file and a prefix",
        .fewest = 1,
        .most = 2,
        .flags = flags,
    };
    struct tool_options o = {0};
    return tool_main(&syntax, &o, plot, argc, argv);
}
