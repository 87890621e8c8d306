/* compare A.jsonl B.jsonl ...: compares the rows of result files that did the same work, and says which
 * differences are real. See --help. */
#include <math.h>
#include <string.h>

#include "analysis/compare/compare.h"
#include "analysis/record/plain.h"
#include "analysis/tables/wrap.h"
#include "bench/base/build.h"
#include "bench/base/suggest.h"
#include "bench/cli/axes.h"
#include "bench/cli/tool.h"
#include "bench/sweep/gates.h"

enum format { TABLE, MARKDOWN, JSON };

struct asked {
    struct tool_options tool;
    size_t ignored_count;
    const char *ignored[AXES_MAX + 1]; /* axes, null past the last */
    const char *chart;                 /* prefix, or null */
    enum format format;
    bool summary;
    bool programs[TIMED];   /* none: all */
    bool fail_on[VERDICTS]; /* which make the exit status 1 */
    double margin;          /* NAN: not given */
    struct lenience gate;
};

/* Refuses an item of a list: the flag's value is none of these names, null past the last. */
static bool refuse_item(const struct argument *a, const char *const *names, const char *allowed,
                        struct message *error)
{
    struct suggestion s = {a->value, strlen(a->value), NULL, 0};
    char nearest[SUGGESTION_TEXT];
    for (; *names; names++)
        suggest_offer(&s, *names);
    return complain(error, "--%s %.200s: %s%s", a->flag->name, a->value, allowed,
                    suggest_text(&s, "", nearest));
}

static bool read_compared(const struct argument *a, struct message *error)
{
    struct asked *o = a->options;
    for (size_t p = 0; p < TIMED; p++)
        if (strcmp(a->value, program_name(p)) == 0)
            return o->programs[p] = true;
    const char *names[TIMED + 1] = {NULL};
    for (size_t p = 0; p < TIMED; p++)
        names[p] = program_name(p);
    return refuse_item(a, names, "a list of forward, step, kernel, encoding", error);
}

static bool read_fail_on(const struct argument *a, struct message *error)
{
    struct asked *o = a->options;
    for (int k = 0; k < VERDICTS; k++)
        if (strcmp(a->value, verdict_name((enum verdict_kind)k)) == 0)
            return o->fail_on[k] = true;
    const char *names[VERDICTS + 1] = {NULL};
    for (int k = 0; k < VERDICTS; k++)
        names[k] = verdict_name((enum verdict_kind)k);
    return refuse_item(a, names, "a list of slower, faster, same, inconclusive", error);
}

static bool read_exact_gate(const struct argument *a, struct message *error)
{
    struct lenience *l = &((struct asked *)a->options)->gate;
    static const char *const names[] = {"exact", "allow-uncompared", NULL};
    if (strcmp(a->value, names[0]) == 0)
        return l->exact = true;
    if (strcmp(a->value, names[1]) == 0)
        return l->allow_uncompared = true;
    return refuse_item(a, names, "exact, allow-uncompared", error);
}

static bool read_ignore(const struct argument *a, struct message *error)
{
    struct asked *o = a->options;
    enum axis flag = axis_named(a->value, strlen(a->value));
    const struct field *axis = schema_find(flag < AXES ? axis_info(flag)->field : a->value);
    const char *names[AXES_MAX + 1] = {NULL};
    size_t n = 0;
    for (size_t i = 0; i < schema_fields_count && n < AXES_MAX; i++)
        if (schema_fields[i].symbol)
            names[n++] = schema_fields[i].path;
    if (!axis || !axis->symbol)
        return refuse_item(a, names, "an axis, as model, attention or threads", error);
    if (o->ignored_count < AXES_MAX)
        o->ignored[o->ignored_count++] = axis->path;
    return true;
}

static const char *const formats[] = {"table", "md", "json", NULL}; /* enum format */

#define FIELD(name) offsetof(struct asked, name)

static const struct flag flags[] = {
    {0, "format", "NAME", "format of stdout: table, md, json (default table)", FLAG_CHOICE, FIELD(format),
     .choices = formats},
    {0, "phase", "LIST", "what to compare: forward, step, kernel, encoding (default: all)", FLAG_LIST,
     .read = read_compared},
    {0, "margin", "SHARE", "ignore smaller differences, however certain (default 0%)", FLAG_SHARE,
     FIELD(margin), .what = "a share of the baseline's time,"},
    {0, "fail-on", "LIST",
     "exit with status 1 if there is such a verdict: slower, faster, same, inconclusive", FLAG_LIST,
     .read = read_fail_on},
    {0, "gate", "LIST",
     "exact: compare what is planned of two files, not times; exit 1 if it is more or was not compared; "
     "allow-uncompared: pass the latter",
     FLAG_LIST, .read = read_exact_gate},
    {0, "ignore", "LIST", "axes that may differ, as model (device and threads always may)", FLAG_LIST,
     .read = read_ignore},
    {.name = "summary",
     .help = "all files MACHINE/NAME.jsonl on one screen, a column for each machine",
     .kind = FLAG_ON,
     .field = FIELD(summary)},
    {0, "chart", "PREFIX", "draw PREFIX_forward and PREFIX_step, with a line for each file, and PREFIX_ratio",
     FLAG_PATH, FIELD(chart), .what = "the beginning of file names"},
    TOOL_FLAGS,
    {.name = NULL},
};

static const char *const examples[] = {"old.jsonl new.jsonl",
                                       "results/*/bench_node_scaling.jsonl --phase step --chart machines",
                                       "results/*/*.jsonl --summary",
                                       "dense.jsonl unfused.jsonl --ignore attention --format md",
                                       "old.jsonl new.jsonl --fail-on slower --format json",
                                       "planned.jsonl now.jsonl --gate exact --format json",
                                       NULL};

static const struct syntax syntax = {
    .doc = "compares result files: the rows that did the same work",
    .operands = "BASELINE.jsonl OTHER.jsonl ...",
    .needs = "two result files at least",
    .limit = "at most 512 files",
    .fewest = 2,
    .most = OVERVIEW_MAX,
    .flags = flags,
    .notes =
        "\n"
        "A ratio is a time over that of the baseline: above 1 is slower. A row is faster or slower if the\n"
        "interval of the ratio excludes 1: of medians where enough repetitions were in one state of the "
        "machine, "
        "else\n"
        "of the range of all repetitions, wider by what runs differ by. Otherwise it is inconclusive. * "
        "marks the "
        "best.\n"
        "docs/files.md explains the method.\n"
        "\n",
    .examples = examples,
    .status = "0; 1 nothing to compare in a file, a verdict of --fail-on, a miss of --gate, or\n"
              "the output could not be written; 2 the command line or a file is wrong.\n",
};
_Static_assert(COMPARED_MAX == 16 && OVERVIEW_MAX == 512, "the messages of too many files");

/* As JSON stdout gets nothing else; the rest goes to stderr. */
static void print(const struct comparison *c, enum format format)
{
    bool data = format == JSON;
    FILE *notes = data ? stderr : stdout;
    bool markdown = format == MARKDOWN;
    struct wrap w;
    fputs(markdown ? "```\n" : "", stdout);
    compare_files(wrap_begin(&w, notes), c);
    wrap_end(&w);
    fputs(markdown ? "```\n" : "", stdout);
    putc('\n', notes);
    if (data)
        compare_json(stdout, c);
    else
        compare_table(stdout, markdown ? TABLE_MARKDOWN : TABLE_TERMINAL, c);
    if (comparison_lines(c) > 0 && !data)
        putc('\n', stdout);
    fputs(markdown ? "```\n" : "", stdout);
    wrap_begin(&w, notes);
    compare_means(w.lines, c);
    compare_flips(w.lines, c);
    compare_profiles(w.lines, c);
    for (size_t f = 0; f < c->count; f++)
        compare_left_over(w.lines, c, f);
    wrap_end(&w);
    fputs(markdown ? "```\n" : "", stdout);
}

static int draw_charts(const struct comparison *c, const char *prefix, struct message *error)
{
    if (compare_chart(c, prefix, error->text) == CHART_FAILED)
        return EXIT_MISSED;
    plain_put(stderr, error->text);
    putc('\n', stderr);
    return EXIT_GOOD;
}

/* Refuses a file in which nothing can be compared, by what differs. */
static bool refuse_file(const struct comparison *c, size_t file, struct message *error)
{
    struct rows *matched = comparison_rows(c, file);
    bool untimed = rows_count(matched) > 0;
    char why[AXES_TEXT];
    rows_free(matched);
    if (untimed)
        return complain(
            error,
            "%.300s: nothing to compare: no time of such a program; --gate exact compares what is "
            "planned",
            c->files[file].path);
    match_explain(&c->rule, c->files[0].rows, rows_at(c->files[file].rows, 0), why);
    return complain(error, "%.300s: nothing to compare with A: %s; see --ignore", c->files[file].path, why);
}

/* Whether every file has something to compare, and there is no verdict of --fail-on; if not, a message. */
static bool passes(const struct comparison *c, const bool fail_on[VERDICTS], struct message *error)
{
    for (size_t f = 1; f < c->count; f++)
        if (comparison_tally(c, f, TIMED).pairs == 0)
            return refuse_file(c, f, error);
    struct tally all = comparison_tally(c, COMPARED_MAX, TIMED);
    for (int k = VERDICTS - 1; k >= 0; k--)
        if (fail_on[k] && all.verdicts[k] > 0)
            return complain(error, "--fail-on %s: %zu of %zu verdicts", verdict_name((enum verdict_kind)k),
                            all.verdicts[k], all.pairs);
    return true;
}

static bool asks_times(const struct asked *o)
{
    return o->chart || !isnan(o->margin) || memchr(o->fail_on, true, sizeof o->fail_on);
}

static int summarize_files(const struct asked *o, int count, char **files, struct message *error)
{
    bool asked =
        o->format != TABLE || asks_times(o) || o->gate.exact || memchr(o->programs, true, sizeof o->programs);
    if (asked)
        complain(error, "--summary: not with --format, --phase, --margin, --fail-on, --gate or --chart");
    return !asked && overview_print(stdout, (const char *const *)files, (size_t)count, o->ignored,
                                    build_commit(), error->text)
               ? EXIT_GOOD
               : EXIT_USAGE;
}

static int judge_times(const struct comparison *c, const struct asked *o, struct message *error)
{
    print(c, o->format);
    int status = o->chart ? draw_charts(c, o->chart, error) : EXIT_GOOD;
    return status == EXIT_GOOD && !passes(c, o->fail_on, error) ? EXIT_MISSED : status;
}

/* Compares what is planned. Returns the exit status. */
static int judge_exact(const struct comparison *c, const struct asked *o, struct message *error)
{
    FILE *notes = o->format == JSON ? stderr : stdout;
    bool markdown = o->format == MARKDOWN;
    struct exact found = exact_compare(c, exact_counts_alike(c->files[0].record, c->files[1].record));
    struct wrap w;
    fputs(markdown ? "```\n" : "", stdout);
    compare_files(wrap_begin(&w, notes), c);
    wrap_end(&w);
    fputs(markdown ? "```\n\n" : "\n", notes);
    if (o->format == JSON)
        compare_json_exact(stdout, c, &found);
    else
        exact_table(stdout, markdown ? TABLE_MARKDOWN : TABLE_TERMINAL, c, &found);
    fputs(markdown ? "\n```\n" : "", stdout);
    for (size_t f = 0; f < c->count && found.alone + found.fallen > 0; f++)
        compare_left_over(notes, c, f);
    int misses = gate_exact(notes, &found, o->gate);
    fputs(markdown ? "```\n" : "", stdout);
    exact_free(&found);
    if (misses)
        complain(error, "--gate exact: %d missed", misses);
    return misses ? EXIT_MISSED : EXIT_GOOD;
}

static bool check_gate(const struct asked *o, int count, struct message *error)
{
    if (o->gate.allow_uncompared && !o->gate.exact)
        return complain(error, "--gate allow-uncompared: only with exact");
    if (o->gate.exact && asks_times(o))
        return complain(error, "--gate exact: compares no times: not with --margin, --fail-on or --chart");
    return !o->gate.exact || count == 2 || complain(error, "--gate exact: two files, not %d", count);
}

static int compare_run(void *options, int count, char **files, struct message *error)
{
    struct asked *o = options;
    struct comparison c;
    int status = EXIT_USAGE;
    if (o->summary)
        return summarize_files(o, count, files, error);
    if (count > COMPARED_MAX)
        return complain(error, "%.300s: at most 16 files without --summary", files[COMPARED_MAX]), status;
    if (!check_gate(o, count, error))
        return status;
    if (comparison_load(&c, (const char *const *)files, (size_t)count, o->ignored, error->text)) {
        if (!isnan(o->margin))
            c.limits.margin = o->margin;
        c.limits.same = fmax(c.limits.same, c.limits.margin);
        if (memchr(o->programs, true, sizeof o->programs))
            memcpy(c.programs, o->programs, sizeof c.programs);
        status = o->gate.exact ? judge_exact(&c, o, error) : judge_times(&c, o, error);
    }
    comparison_free(&c);
    return status;
}

int main(int argc, char **argv)
{
    struct asked o = {.margin = NAN};
    return tool_main(&syntax, &o.tool, compare_run, argc, argv);
}
