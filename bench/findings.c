/* findings FILE.jsonl ...: the main findings of result files, in words. */
#include <limits.h>
#include <stdlib.h>

#include "analysis/findings/findings.h"
#include "analysis/record/result_file.h"
#include "analysis/statistics/allocate.h"
#include "bench/cli/tool.h"

static int print_all(void *options, int count, char **files, struct message *error)
{
    (void)options;
    struct record **records = allocate((size_t)count, sizeof *records);
    int read = 0, status = EXIT_GOOD;
    while (read < count && (records[read] = record_load(files[read], error->text)) != NULL)
        read++;
    if (read == count)
        findings_print(stdout, (const struct record *const *)records, (const char *const *)files,
                       (size_t)count);
    for (int i = 0; i < read; i++) {
        if (read == count && status == EXIT_GOOD && rows_count(record_rows(records[i])) == 0) {
            complain(error, "%.300s: has no rows", files[i]);
            status = EXIT_MISSED;
        }
        record_free(records[i]);
    }
    free(records);
    return read < count ? EXIT_USAGE : status;
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
