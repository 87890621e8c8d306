/* merge A.jsonl B.jsonl ...: joins result files, as of the shards of a sweep, into one. See --help. */
#include <errno.h> /* program_invocation_name */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/merge.h"
#include "analysis/record/result_file.h"
#include "analysis/statistics/allocate.h"
#include "bench/base/child.h"
#include "bench/base/paths.h"
#include "bench/cli/tool.h"

struct asked {
    struct tool_options tool;
    const char *output;
};

/* The command that made the file. To be freed. */
static char *command_of(int count, char **files)
{
    char **words = allocate((size_t)count + 1, sizeof *words);
    words[0] = program_invocation_name;
    memcpy(words + 1, files, (size_t)count * sizeof *words);
    char *text = command_text(count + 1, words);
    free(words);
    return text;
}

/* The runs of all files, each with the name of its file. */
struct inputs {
    struct record **records;
    char **names;
    size_t count;
};

/* Joins and writes; with conflicts nothing is written. */
static int merge_and_write(const struct asked *o, const struct inputs *in, struct message *error)
{
    struct merge_found found;
    char *command = command_of((int)in->count, in->names);
    struct record *all = merge_records(in->records, in->names, in->count, command, stderr, &found);
    bool written = !found.conflicts &&
                   (strcmp(o->output, "-") == 0
                        ? record_write_lines(all, stdout) || complain(error, "stdout: cannot be written")
                        : record_save(all, o->output, error->text));
    if (found.conflicts)
        complain(error, "%zu conflict%s; nothing is written", found.conflicts,
                 found.conflicts == 1 ? "" : "s");
    else if (written && found.missing)
        complain(error, "%.300s: is incomplete", o->output);
    record_free(all);
    free(command);
    return written && !found.missing ? EXIT_GOOD : EXIT_MISSED;
}

static bool output_is_apart(const struct asked *o, int count, char **files, struct message *error)
{
    for (int i = 0; i < count; i++)
        if (paths_same(files[i], o->output))
            return complain(error, "--output %.300s: is one of the files", o->output);
    return true;
}

static bool add_file(struct inputs *in, char *file, struct message *error)
{
    struct file_runs runs;
    bool good = runs_load(file, &runs, stderr, error->text);
    size_t count = good ? runs.count : 0;
    for (size_t i = 0; i < count; i++) {
        in->records = grow(in->records, in->count, sizeof *in->records);
        in->names = grow(in->names, in->count, sizeof *in->names);
        in->records[in->count] = runs.list[i];
        in->names[in->count++] = file;
        runs.list[i] = NULL;
    }
    runs_free(&runs);
    return good;
}

static int merge_files(void *options, int count, char **files, struct message *error)
{
    const struct asked *o = options;
    struct inputs in = {0};
    int status = EXIT_USAGE, read = 0;
    if (output_is_apart(o, count, files, error))
        while (read < count && add_file(&in, files[read], error))
            read++;
    if (read == count && merge_possible(in.records, in.names, in.count, error->text))
        status = merge_and_write(o, &in, error);
    for (size_t i = 0; i < in.count; i++)
        record_free(in.records[i]);
    free(in.records);
    free(in.names);
    return status;
}

int main(int argc, char **argv)
{
    static const struct flag flags[] = {{0, "output", "FILE",
                                         "the result file (default merged.jsonl; -: stdout)", FLAG_PATH,
                                         offsetof(struct asked, output), .what = "the name of a file"},
                                        TOOL_FLAGS,
                                        {.name = NULL}};
    static const char *const examples[] = {"shard-*.jsonl -o sweep.jsonl", NULL};
    static const struct syntax syntax = {
        .doc = "joins result files of one benchmark, as of the shards of a sweep, into one",
        .operands = "FILE.jsonl ...",
        .needs = "a result file",
        .fewest = 1,
        .most = INT_MAX,
        .flags = flags,
        .notes =
            "\n"
            "Rows of shards get the order of their sweep. A row that several files have is taken once; if "
            "their\n"
            "results differ on one machine and build, each such row is named and nothing is written. Rows "
            "of\n"
            "several machines or builds are kept apart by the field `origin`. Missing shards are named.\n"
            "\n",
        .examples = examples,
        .status = "0; 1 conflicts, a shard or rows are missing, or the file could not be written;\n"
                  "2 the command line or a file is wrong.\n",
    };
    struct asked o = {.output = "merged.jsonl"};
    return tool_main(&syntax, &o.tool, merge_files, argc, argv);
}
