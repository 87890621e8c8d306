/* score FILE.jsonl ...: the score of the machine that measured them (analysis/compare/score.h). */
#include <limits.h>

#include "analysis/compare/score.h"
#include "bench/cli/tool.h"

struct asked {
    struct tool_options tool;
    const char *line; /* null: a sentence */
};

static int score_files(void *options, int count, char **files, struct message *error)
{
    const struct asked *o = options;
    struct record **records = tool_load(count, files, error);
    if (!records)
        return EXIT_USAGE;
    struct score score = score_of(records, (size_t)count);
    if (*score.why)
        complain(error, "no score: %s", score.why);
    else if (o->line)
        score_write_line(&score, records, (size_t)count, o->line, stdout);
    else
        score_write(&score, records, (size_t)count, stdout);
    tool_free(records, count);
    return *score.why ? EXIT_MISSED : EXIT_GOOD;
}

int main(int argc, char **argv)
{
    static const struct flag flags[] = {{0, "line", "NAME",
                                         "print the line of results/NAME in the table of machines", FLAG_PATH,
                                         offsetof(struct asked, line), .what = "the name of a directory"},
                                        TOOL_FLAGS,
                                        {.name = NULL}};
    static const struct syntax syntax = {
        .doc = "prints the score of a machine, from the result files of make score",
        .operands = "FILE.jsonl ...",
        .needs = "a result file",
        .fewest = 1,
        .most = INT_MAX,
        .flags = flags,
        .status = "0; 1 no score: a row is missing or its time is not sound, as said;\n2 the command line or "
                  "a file is "
                  "wrong.\n",
    };
    struct asked o = {.line = NULL};
    return tool_main(&syntax, &o.tool, score_files, argc, argv);
}
