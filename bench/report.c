/* report FILE.jsonl ... [-o FILE.html]: result files as one page for a browser. */
#include <limits.h>
#include <string.h>

#include "analysis/record/file.h"
#include "analysis/record/plain.h"
#include "analysis/report/page.h"
#include "bench/base/paths.h"
#include "bench/cli/tool.h"

struct asked {
    struct tool_options tool;
    const char *output;
};

static int save_page(const struct page *page, const char *path, struct message *error)
{
    if (strcmp(path, "-") == 0)
        return page_write(page, stdout) || complain(error, "stdout: cannot be written") ? EXIT_GOOD
                                                                                        : EXIT_MISSED;
    if (!file_save(path, page_write, page, error->text))
        return EXIT_MISSED;
    plain_put(stdout, path);
    putchar('\n');
    return EXIT_GOOD;
}

static int write_report(void *options, int count, char **files, struct message *error)
{
    const struct asked *o = options;
    for (int i = 0; i < count; i++)
        if (paths_same(files[i], o->output))
            return refuse(error,
                          "--output %.300s: is one of the result files; give the page a name of its own",
                          o->output);
    struct record **records = tool_load(count, files, error);
    const struct page page = {(size_t)count, (const char *const *)files, records};
    int status = records ? save_page(&page, o->output, error) : EXIT_USAGE;
    tool_free(records, count);
    return status;
}

int main(int argc, char **argv)
{
    static const struct flag flags[] = {{0, "output", "FILE", "the page (default report.html; -: stdout)",
                                         FLAG_PATH, offsetof(struct asked, output),
                                         .what = "the name of a file"},
                                        TOOL_FLAGS,
                                        {.name = NULL}};
    static const char *const examples[] = {"results/local/*.jsonl", "results/*/*.jsonl -o all.html", NULL};
    static const struct syntax syntax = {
        .doc = "shows result files on one page for a browser: findings, warnings, charts, tables",
        .operands = "FILE.jsonl ...",
        .needs = "a result file",
        .fewest = 1,
        .most = INT_MAX,
        .flags = flags,
        .examples = examples,
        .status = "0; 1 the page could not be written; 2 the command line or a file is wrong.\n",
    };
    struct asked o = {.output = "report.html"};
    return tool_main(&syntax, &o.tool, write_report, argc, argv);
}
