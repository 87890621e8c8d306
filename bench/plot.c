/* plot FILE.jsonl [PREFIX]: draws all charts of a result file, by default beside it and under its name. */
#include <limits.h>

#include "analysis/charts/charts.h"
#include "analysis/compare/crossing.h"
#include "analysis/record/plain.h"
#include "analysis/record/result_file.h"
#include "bench/base/paths.h"
#include "bench/cli/tool.h"

static int plot(void *options, int count, char **files, struct message *error)
{
    (void)options;
    char prefix[PATH_MAX];
    struct record *record = record_load(files[0], error->text);
    if (!record)
        return EXIT_USAGE;
    paths_prefix(files[0], prefix);
    const char *beside = count == 2 ? files[1] : prefix;
    struct figures figures = {0};
    crossing_chart_add(&figures, record, NULL);
    charts_add(&figures, record, NULL);
    enum chart_result result = figures_draw(&figures, beside, error->text);
    if (result == CHART_DRAWN) {
        plain_put(stderr, error->text);
        putc('\n', stderr);
    }
    figures_free(&figures);
    record_free(record);
    return result == CHART_DRAWN ? EXIT_GOOD : EXIT_MISSED;
}

int main(int argc, char **argv)
{
    static const struct flag flags[] = {TOOL_FLAGS, {.name = NULL}};
    static const struct syntax syntax = {
        .doc = "draws all charts of a result file as PREFIX_*.png and .svg, by default beside it",
        .operands = "FILE.jsonl [PREFIX]",
        .needs = "a result file",
        .limit = "at most a file and a prefix",
        .fewest = 1,
        .most = 2,
        .flags = flags,
        .status = "0; 1 nothing was drawn, as without gnuplot; 2 the command line or the file is wrong.\n",
    };
    struct tool_options o = {0};
    return tool_main(&syntax, &o, plot, argc, argv);
}
