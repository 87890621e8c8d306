/* findings FILE.json ...: the main findings of result files, in words. */
#include <limits.h>
#include <stdlib.h>

#include "analysis/findings/findings.h"
#include "analysis/record/plain.h"
#include "analysis/record/record.h"
#include "bench/cli/tool.h"

static void put_heading(const char *file, bool first)
{
    fputs(first ? "" : "\n", stdout);
    plain_put(stdout, file);
    puts(":");
}

static int print_all(void *options, int count, char **files, struct message *error)
{
    (void)options;
    struct record **records = calloc((size_t)count, sizeof *records);
    struct rows *all = rows_new_view();
    int read = 0;
    if (!records)
        abort();
    while (read < count && (records[read] = record_load_any(files[read], error->text)) != NULL) {
        const struct rows *rows = record_rows(records[read]);
        if (count > 1)
            put_heading(files[read], read == 0);
        findings_print(stdout, records[read++]);
        for (size_t i = 0; i < rows_count(rows); i++)
            rows_append(all, rows_at(rows, i));
    }
    if (read == count)
        findings_print_repeats(stdout, all, count > 1 ? "\nall files:\n" : "");
    rows_free(all);
    for (int i = 0; i < read; i++)
        record_free(records[i]);
    free(records);
    return read < count ? EXIT_USAGE : EXIT_GOOD;
}

int main(int argc, char **argv)
{
    static const struct flag flags[] = {TOOL_FLAGS, {.name = NULL}};
    static const struct syntax syntax = {
        .doc = "prints the main findings of result files in words",
        .operands = "FILE.json ...",
        .needs = "a result file",
        .fewest = 1,
        .most = INT_MAX,
        .flags = flags,
    };
    struct tool_options o = {0};
    return tool_main(&syntax, &o, print_all, argc, argv);
}
