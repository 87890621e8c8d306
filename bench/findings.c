/* findings FILE.jsonl ...: the main findings of result files, in words. */
#include <limits.h>

#include "analysis/findings/findings.h"
#include "bench/cli/tool.h"

static int print_all(void *options, int count, char **files, struct message *error)
{
    (void)options;
    struct record **records = tool_load(count, files, error);
    int status = records ? EXIT_GOOD : EXIT_USAGE;
    if (records)
        findings_print(stdout, (const struct record *const *)records, (const char *const *)files,
                       (size_t)count);
    for (int i = 0; i < count && status == EXIT_GOOD; i++)
        if (rows_count(record_rows(records[i])) == 0) {
            complain(error, "%.300s: has no rows", files[i]);
            status = EXIT_MISSED;
        }
    tool_free(records, count);
    return status;
}

int main(int argc, char **argv)
{
    static const struct flag flags[] = {TOOL_FLAGS, {.name = NULL}};
    static const struct syntax syntax = {
        .doc = "prints at most five findings of result files in words",
        .operands = "FILE.jsonl ...",
        .needs = "a result file",
        .fewest = 1,
        .most = INT_MAX,
        .flags = flags,
        .status = "0; 1 a file has no rows; 2 the command line or a file is wrong.\n",
    };
    struct tool_options o = {0};
    return tool_main(&syntax, &o, print_all, argc, argv);
}
