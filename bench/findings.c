/* findings FILE.json ...: the main findings of result files, in words. */
#include <limits.h>

#include "analysis/record/record.h"
#include "analysis/tables/findings.h"
#include "bench/cli/tool.h"

static int print_all(void *options, int count, char **files, struct message *error)
{
    (void)options;
    for (int i = 0; i < count; i++) {
        struct record *record = record_load_any(files[i], error->text);
        if (!record)
            return EXIT_USAGE;
        findings_print(stdout, record);
        record_free(record);
    }
    return EXIT_GOOD;
}

int main(int argc, char **argv)
{
    static const struct flag flags[] = {TOOL_FLAGS, {.name = NULL}};
    static const struct syntax syntax = {
        .name = "findings",
        .doc = "says in words what result files show",
        .operands = "FILE.json ...",
        .needs = "a result file",
        .fewest = 1,
        .most = INT_MAX,
        .flags = flags,
    };
    struct tool_options o = {0};
    return tool_main(&syntax, &o, print_all, argc, argv);
}
