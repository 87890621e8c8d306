/*
 * compare A.json B.json ...: sets result files side by side, the rows that did the same work, and says which
 * differences are real. See --help.
 */
#include "analysis/compare/compare_chart.h"
#include "analysis/compare/compare_notes.h"
#include "analysis/compare/compare_table.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_GOOD, EXIT_UNWRITTEN, EXIT_USAGE };
enum format { TABLE, MARKDOWN, CSV };

struct options {
    size_t files;
    const char *paths[COMPARED_MAX];
    const char *ignored[AXES_MAX + 1]; /* axes, null past the last */
    const char *chart;                 /* prefix, or null */
    enum format format;
    bool programs[COMPARED_PROGRAMS];
    struct verdict_limits limits; /* NAN: not given */
    bool help;
};

struct flag {
    const char *name, *argument, *help;
    bool (*read)(struct options *o, char *value, char *error);
};

__attribute__((format(printf, 2, 3))) static bool complain(char *error, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(error, MESSAGE_SIZE, format, values);
    va_end(values);
    return false;
}

static bool read_format(struct options *o, char *value, char *error)
{
    static const char *const names[] = {"table", "md", "csv"};
    for (enum format f = TABLE; f <= CSV; f++)
        if (strcmp(value, names[f]) == 0) {
            o->format = f;
            return true;
        }
    return complain(error, "--format %s: table, md or csv", value);
}

static bool read_phase(struct options *o, char *value, char *error)
{
    bool chosen[COMPARED_PROGRAMS] = {false};
    char *rest = value;
    for (char *item; (item = strsep(&rest, ",")) != NULL;) {
        size_t p = 0;
        while (p < COMPARED_PROGRAMS && strcmp(item, comparison_program(p)) != 0)
            p++;
        if (p == COMPARED_PROGRAMS)
            return complain(error, "--phase %s: a list of forward, step, kernel, encoding", item);
        chosen[p] = true;
    }
    memcpy(o->programs, chosen, sizeof chosen);
    return true;
}

/* "1%" or "0.01". */
static bool read_share(const char *name, const char *value, double *share, char *error)
{
    char *end;
    double number = isdigit((unsigned char)*value) || *value == '.' ? strtod(value, &end) : NAN;
    bool percent = !isnan(number) && strcmp(end, "%") == 0;
    if (isnan(number) || !(percent || *end == '\0') || number > (percent ? 100 : 1))
        return complain(error, "--%s %s: a share of the baseline's time, from 0%% to 100%%", name, value);
    *share = percent ? number / 100 : number;
    return true;
}

static bool read_margin(struct options *o, char *value, char *error)
{
    return read_share("margin", value, &o->limits.margin, error);
}

static bool read_same(struct options *o, char *value, char *error)
{
    return read_share("same", value, &o->limits.same, error);
}

static bool read_ignore(struct options *o, char *value, char *error)
{
    size_t n = 0;
    char *rest = value;
    for (char *item; (item = strsep(&rest, ",")) != NULL;) {
        const struct field *axis = schema_find(item);
        if (!axis || !axis->symbol)
            return complain(error, "--ignore %s: an axis, as model, attention or threads", item);
        if (n < AXES_MAX)
            o->ignored[n++] = axis->path;
    }
    o->ignored[n] = NULL;
    return true;
}

static bool read_chart(struct options *o, char *value, char *error)
{
    o->chart = value;
    return *value || complain(error, "--chart: needs the beginning of file names");
}

static bool read_help(struct options *o, char *value, char *error)
{
    (void)value, (void)error;
    return o->help = true;
}

static const struct flag flags[] = {
    {"format", "NAME", "on stdout: table, md, csv (default table)", read_format},
    {"phase", "LIST", "what to compare: forward, step, kernel, encoding (default: all)", read_phase},
    {"margin", "SHARE", "a smaller difference is none, however certain (default 1%)", read_margin},
    {"same", "SHARE", "the same, where the interval leaves no larger difference (default 5%)", read_same},
    {"ignore", "LIST", "axes that need not agree; the work must (device and threads need not anyway)",
     read_ignore},
    {"chart", "PREFIX", "draw PREFIX_forward and PREFIX_step, .png and .svg: a line for each file",
     read_chart},
    {"help", NULL, "this text", read_help},
};
enum { FLAGS = sizeof flags / sizeof *flags };

static void print_help(void)
{
    puts(
        "compare BASELINE.json OTHER.json ...: result files side by side, the rows that did the same work\n");
    for (int i = 0; i < FLAGS; i++)
        printf("  --%-8s %-7s %s\n", flags[i].name, flags[i].argument ? flags[i].argument : "",
               flags[i].help);
    puts("\n"
         "Ratios are times over the baseline's: above 1 is slower. A row is faster or slower where the "
         "interval\n"
         "of its ratio (95 %, of medians of samples that may resemble their neighbours) excludes 1 and the\n"
         "ratio is beyond the margin; with fewer than 7 samples nothing is judged. METRICS.md says how.\n"
         "\n"
         "Examples:\n"
         "  compare old.json new.json\n"
         "  compare results/*/bench_node_scaling.json --phase step --chart machines\n"
         "  compare dense.json unfused.json --ignore attention --format md\n"
         "Exit status: 0; 1 what was asked for could not be written; 2 the command line or a file is wrong.");
}

static const struct flag *flag_named(const char *name, size_t length)
{
    for (int i = 0; i < FLAGS; i++)
        if (strlen(flags[i].name) == length && strncmp(flags[i].name, name, length) == 0)
            return &flags[i];
    return NULL;
}

/* Reads one argument, and the next if that is its value. */
static bool read_argument(struct options *o, int argc, char **argv, int *i, char *error)
{
    char *text = argv[*i];
    if (text[0] != '-') {
        if (o->files == COMPARED_MAX)
            return complain(error, "%s: at most %d files", text, COMPARED_MAX);
        o->paths[o->files++] = text;
        return true;
    }
    if (strcmp(text, "-h") == 0)
        return read_help(o, NULL, error);
    char *equals = strchr(text, '=');
    const char *name = text + strspn(text, "-");
    const struct flag *flag = strncmp(text, "--", 2) == 0 ? flag_named(name, strcspn(name, "=")) : NULL;
    if (!flag)
        return complain(error, "%.200s: no such flag; see --help", text);
    if (!flag->argument)
        return equals ? complain(error, "--%s: takes no value", flag->name) : flag->read(o, NULL, error);
    char *value = equals ? equals + 1 : *i + 1 < argc ? argv[++*i] : NULL;
    if (!value)
        return complain(error, "--%s: needs a value; see --help", flag->name);
    return flag->read(o, value, error);
}

static bool read_arguments(struct options *o, int argc, char **argv, char *error)
{
    for (int i = 1; i < argc; i++)
        if (!read_argument(o, argc, argv, &i, error))
            return false;
    if (o->help)
        return true;
    if (o->files < 2)
        return complain(error,
                        "needs two result files at least: compare BASELINE.json OTHER.json; see --help");
    struct verdict_limits standard = verdict_limits_default();
    if (isnan(o->limits.margin))
        o->limits.margin = isnan(o->limits.same) ? standard.margin : fmin(standard.margin, o->limits.same);
    if (isnan(o->limits.same))
        o->limits.same = fmax(standard.same, o->limits.margin);
    return o->limits.same >= o->limits.margin ||
           complain(error, "--same %g%%: not less than the margin, %g%%", 100 * o->limits.same,
                    100 * o->limits.margin);
}

/* What is on stdout in CSV is rows only; the rest is said on stderr. */
static void print(const struct comparison *c, enum format format)
{
    FILE *notes = format == CSV ? stderr : stdout;
    bool markdown = format == MARKDOWN;
    fputs(markdown ? "```\n" : "", stdout);
    compare_files(notes, c);
    fputs(markdown ? "```\n" : "", stdout);
    putc('\n', notes);
    if (format == CSV)
        compare_csv(stdout, c);
    else
        compare_table(stdout, markdown ? TABLE_MARKDOWN : TABLE_TERMINAL, c);
    if (comparison_lines(c) > 0 && format != CSV)
        putc('\n', stdout);
    fputs(markdown ? "```\n" : "", stdout);
    compare_means(notes, c);
    compare_left_over(notes, c);
    fputs(markdown ? "```\n" : "", stdout);
}

static int compare(const struct options *o, char *error)
{
    struct comparison c;
    int status = EXIT_GOOD;
    if (!comparison_load(&c, o->paths, o->files, o->ignored, error)) {
        comparison_free(&c);
        return EXIT_USAGE;
    }
    c.limits = o->limits;
    memcpy(c.programs, o->programs, sizeof c.programs);
    print(&c, o->format);
    if (o->chart) {
        char message[MESSAGE_SIZE];
        if (compare_chart(&c, o->chart, message) == CHART_FAILED) {
            complain(error, "%s", message);
            status = EXIT_UNWRITTEN;
        } else {
            fprintf(stderr, "%s\n", message);
        }
    }
    comparison_free(&c);
    return status;
}

/* A message quotes what it was given, which must neither break the line nor drive the terminal. */
static int fail(const char *error, int status)
{
    fputs("compare: ", stderr);
    for (const char *c = error; *c; c++)
        putc(iscntrl((unsigned char)*c) ? '?' : *c, stderr);
    putc('\n', stderr);
    return status;
}

int main(int argc, char **argv)
{
    char error[MESSAGE_SIZE];
    struct options o = {.programs = {true, true, true, true}, .limits = {NAN, NAN}};
    if (!read_arguments(&o, argc, argv, error))
        return fail(error, EXIT_USAGE);
    if (o.help)
        print_help();
    int status = o.help ? EXIT_GOOD : compare(&o, error);
    if (status != EXIT_GOOD)
        return fail(error, status);
    if (fflush(stdout) != 0)
        return fail("stdout: cannot be written", EXIT_UNWRITTEN);
    return EXIT_GOOD;
}
