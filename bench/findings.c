/* findings FILE.json ...: the main findings of result files, in words. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/findings/findings.h"
#include "analysis/record/plain.h"
#include "analysis/record/record.h"
#include "analysis/report/remarks.h"
#include "analysis/tables/wrap.h"
#include "bench/cli/tool.h"

static void put_heading(const char *file, bool first)
{
    fputs(first ? "" : "\n", stdout);
    plain_put(stdout, file);
    puts(":");
}

/* "- Rows with a warning: drift 3, preempted 5", of the kinds that no finding is about. */
static void print_warnings(const struct rows *rows)
{
    char text[1024] = "- Rows with a warning:";
    struct remark found[REMARKS_MAX];
    size_t counts[REMARKS] = {0}, start = strlen(text), used = start;
    for (size_t i = 0; i < rows_count(rows); i++)
        for (size_t r = 0, n = remarks_of(rows_at(rows, i), found); r < n; r++)
            counts[found[r].kind] += r == 0 || found[r].kind != found[r - 1].kind;
    for (int kind = REMARK_NOISY + 1; kind < REMARKS; kind++)
        if (counts[kind] > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %s %zu", used > start ? "," : "",
                                     remark_word((enum remark_kind)kind), counts[kind]);
    if (used == start)
        return;
    snprintf(text + used, sizeof text - used, "; report names the rows.");
    wrap_text(stdout, text, 0, 2);
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
        print_warnings(rows);
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
