/* query FILE.jsonl: prints a result file again; query import FILE.jsonl ...: keeps result files in a store,
 * an SQLite database; query FLAGS: answers questions about their rows. See --help. */
#include <math.h>
#include <string.h>

#include "analysis/database/ask.h"
#include "analysis/database/import.h"
#include "analysis/record/result_file.h"
#include "bench/base/paths.h"
#include "bench/base/quantity.h"
#include "bench/base/suggest.h"
#include "bench/cli/readers.h"
#include "bench/cli/tool.h"
#include "bench/show/saved.h"

struct asked {
    struct tool_options tool;
    struct question question;
    int program;       /* index of program_name */
    const char *store; /* null: the default */
    const char *sql;   /* null: not asked for */
    double timeout;
    int format;                         /* enum format */
    const char *columns[TABLE_COLUMNS]; /* of a file */
    int columns_count;
};

static const char *const measures[] = {"latency", "throughput", "memory", "efficiency",
                                       NULL};                                          /* enum measure */
static const char *const programs[] = {"forward", "step", "kernel", "encoding", NULL}; /* program_name */

/* Adds a condition, whose pattern is the argument from `value` on; null with a message without room. */
static struct condition *add_condition(const struct argument *a, const char *name, size_t length,
                                       const char *value, struct message *error)
{
    struct question *q = &((struct asked *)a->options)->question;
    struct condition *c = &q->conditions[q->conditions_count];
    if (q->conditions_count == CONDITIONS_MAX || strlen(value) >= CONDITION_TEXT ||
        length >= CONDITION_TEXT) {
        complain(error, "--%s %.200s: at most %d conditions, of at most %d bytes", a->flag->name, a->value,
                 CONDITIONS_MAX, CONDITION_TEXT - 1);
        return NULL;
    }
    *c = (struct condition){0};
    memcpy(c->name, name, length);
    strcpy(c->pattern, value);
    q->conditions_count++;
    return c;
}

/* An axis: `what` is the path of its field. */
static bool read_axis_values(const struct argument *a, struct message *error)
{
    double value;
    bool number = schema_find(a->flag->what)->type != FIELD_TEXT;
    if (!*a->value || (number && !parse_number(a->value, false, 0, 1e18, &value)))
        return complain(error, "--%s %.200s: a list of %s", a->flag->name, a->value,
                        number ? "numbers" : "names or patterns, as 'gps*'");
    struct condition *c = add_condition(a, a->flag->name, strlen(a->flag->name), a->value, error);
    if (c)
        c->path = a->flag->what;
    if (c && number) {
        c->number = true;
        c->value = value;
    }
    return c;
}

static bool read_wanted_tag(const struct argument *a, struct message *error)
{
    size_t length = strcspn(a->value, "=");
    if (length == 0 || !a->value[length])
        return complain(error, "--tag %.200s: KEY=VALUE, as the benchmarks were given", a->value);
    struct condition *c = add_condition(a, a->value, length, a->value + length + 1, error);
    if (c)
        c->tag = true;
    return c;
}

static bool read_throughput(const struct argument *a, struct message *error)
{
    double *least = &((struct asked *)a->options)->question.min_throughput;
    return quantity_parse(a->value, QUANTITY_PER_SECOND, least) ||
           complain(error, "--%s %.200s: %s", a->flag->name, a->value, quantity_allowed(QUANTITY_PER_SECOND));
}

static bool read_file_column(const struct argument *a, struct message *error)
{
    struct asked *o = a->options;
    return columns_read(a->value, o->columns, &o->columns_count, error);
}

static bool read_pareto(const struct argument *a, struct message *error)
{
    struct question *q = &((struct asked *)a->options)->question;
    int m = 0;
    while (measures[m] && strcmp(measures[m], a->value) != 0)
        m++;
    if (!measures[m] || q->pareto == 2)
        return complain(error, "--pareto %.200s: two of latency, throughput, memory, efficiency", a->value);
    q->against[q->pareto++] = (enum measure)m;
    return true;
}

static bool read_history(const struct argument *a, struct message *error)
{
    size_t length = strspn(a->value, "0123456789abcdef");
    ((struct asked *)a->options)->question.history = a->value;
    return (length >= 4 && length <= 16 && !a->value[length]) ||
           complain(error, "--history %.200s: the first digits of a work id, 4 to 16 of 0-9 and a-f",
                    a->value);
}

#define ASKS(name)  offsetof(struct asked, question.name)
#define FIELD(name) offsetof(struct asked, name)

static const struct flag flags[] = {
    {0, "program", "NAME",
     "the program whose latency, memory and so on are meant: forward, step, kernel, encoding (default "
     "forward)",
     FLAG_CHOICE, FIELD(program), .choices = programs},
    {0, "max-latency", "TIME", "rows with a median time of at most this, as 10ms", FLAG_SECONDS,
     ASKS(max_latency), .min = 0, .max = 1e9},
    {0, "max-memory", "SIZE",
     "rows with at most this memory, as 2GiB: planned, as for --threshold of benchmarks", FLAG_SIZE,
     .field = ASKS(max_memory)},
    {0, "min-throughput", "RATE", "rows with at least so many graphs a second, as 1000/s", FLAG_OTHER,
     .read = read_throughput},
    {0, "min-efficiency", "SHARE", "rows that reach at least this share of their roofline, as 50%",
     FLAG_SHARE, .field = ASKS(min_efficiency)},
    {0, "by", "MEASURE",
     "rank by latency, throughput (graphs/s), memory, efficiency (share of the roofline) (default "
     "latency)",
     FLAG_CHOICE, ASKS(by), .choices = measures},
    {0, "top", "N", "at most N rows of each machine (default 10; with --pareto all)", FLAG_WHOLE, ASKS(top),
     .min = 1, .max = 100000, .what = "a whole number"},
    {0, "pareto", "A,B", "the Pareto front of two measures, as latency,memory", FLAG_LIST,
     .read = read_pareto},
    {0, "history", "WORK", "the rows of this work over time, by the first digits of its id", FLAG_OTHER,
     .read = read_history},
    {0, "tag", "KEY=VALUE", "rows of files with this tag; the value may be a pattern", FLAG_OTHER,
     .repeats = true, .read = read_wanted_tag},
    {0, "machine", "PATTERN", "machines with such a name, as '*EPYC*'", FLAG_PATH, ASKS(machine),
     .what = "a name or pattern"},
    {0, "all", NULL, "rows of every status and run, not only the newest of each configuration that is ok",
     FLAG_ON, .field = ASKS(all)},
    {0, "sql", "QUERY", "the result of a SELECT statement on the tables of the store", FLAG_PATH, FIELD(sql),
     .what = "a SELECT statement"},
    {0, "format", "NAME",
     "of stdout: table (default), md, csv, and of a file csv-full, csv-profile, json, jsonl, bmf (Bencher), "
     "github (github-action-benchmark)",
     FLAG_CHOICE, FIELD(format), .choices = format_names},
    {0, "columns", "LIST", "of a file's table or CSV: fields of docs/fields.md, or forward, step, ...",
     FLAG_LIST, .read = read_file_column},
    {0, "timeout", "TIME", "give up a question after this time (default 10s)", FLAG_SECONDS, FIELD(timeout),
     .min = 1e-3, .max = 86400},
    {0, "store", "FILE", "the store (default results/local/store.db)", FLAG_PATH, FIELD(store),
     .what = "the name of a file"},
    TOOL_FLAGS,
#define AXIS(id, flag, group, name, kind, place, standard, pace, work, dump, unit, symbol, help, meaning)    \
    {1, flag, "LIST", meaning, FLAG_LIST, .what = SCHEMA_PATH_OF(group, name), .read = read_axis_values},
#define OTHER(name, type, unit, symbol, meaning)                                                             \
    {1, #name, "LIST", meaning, FLAG_LIST, .what = #name, .read = read_axis_values},
#include "analysis/record/axes.def"
    {.name = NULL},
};

static const char *const headings[] = {
    "Questions:", "Axes: numbers, or names with the patterns * ? []:", NULL};

static const char *const examples[] = {"results/local/bench_model.jsonl --format md",
                                       "import results/*/*.jsonl",
                                       "--max-latency 10ms --max-memory 2GiB --model 'gps*' --by throughput",
                                       "--nodes 2000 --pareto latency,memory --program step",
                                       "--history 1a085d19 --program step --format csv",
                                       "--sql 'SELECT status, COUNT(*) FROM rows GROUP BY status'",
                                       NULL};

static const struct syntax syntax = {
    .doc = "prints a result file again, or keeps result files in a store and answers questions about them",
    .operands = "[FILE.jsonl | import FILE.jsonl ...]",
    .most = INT_MAX,
    .headings = headings,
    .flags = flags,
    .notes =
        "\n"
        "FILE.jsonl alone is printed as a benchmark prints it: rows that meet the limits and the axes.\n"
        "import adds result files to the store; files that it has are left as they are, and a run that was\n"
        "resumed replaces what the store has of it. Each machine has its own table, of the newest row of\n"
        "each configuration that is ok. --sql knows the tables machines, files, tags, rows (axes under the\n"
        "names of their flags), texts (whole rows as JSON), programs and latest.\n"
        "\n",
    .examples = examples,
    .status = "0; 1 no rows were found, or a file was skipped or the store not written;\n"
              "2 the command line or the store is wrong.\n",
};

/* Whether any flag asks for rows of a store alone. */
static bool asks_store(const struct asked *o)
{
    const struct question *q = &o->question;
    bool tagged = false;
    for (size_t i = 0; i < q->conditions_count; i++)
        tagged = tagged || q->conditions[i].tag;
    return tagged || q->pareto || q->history || o->sql || q->machine || q->all || q->by >= 0 || q->top > 0 ||
           o->store;
}

static int show_file(struct asked *o, const char *path, struct message *error)
{
    const struct saved_format how = {(enum format)o->format, o->columns, o->columns_count};
    o->question.program = program_name((size_t)o->program);
    if (asks_store(o))
        return refuse(
            error,
            "%.200s: a file takes limits, axes, --program, --format and --columns; import it to ask more",
            path);
    struct record *record = record_load(path, error->text);
    if (!record)
        return EXIT_USAGE;
    size_t rows = saved_keep(record, &o->question);
    if (rows > 0)
        saved_print(record, &how);
    else
        complain(error, "%.200s: no matching rows", path);
    record_free(record);
    return rows > 0 ? EXIT_GOOD : EXIT_MISSED;
}

#if HAVE_SQLITE
/* The default is results/local/store.db; with `create` its directory is made. */
static bool find_store(const struct asked *o, bool create, char path[PATH_MAX], struct message *error)
{
    if (o->store)
        return snprintf(path, PATH_MAX, "%s", o->store) < PATH_MAX ||
               complain(error, "--store %.200s: the path is too long", o->store);
    if (create)
        return paths_default("store.db", path, error);
    return place_name("store.db", path) || complain(error, "results/local/store.db: the path is too long");
}

static bool has_conditions(const struct question *q)
{
    return q->conditions_count > 0 || !isnan(q->max_latency) || !isnan(q->max_memory) ||
           !isnan(q->min_throughput) || !isnan(q->min_efficiency) || q->machine || q->all || q->by >= 0 ||
           q->top > 0;
}

static int import(const struct asked *o, int count, char **files, struct message *error)
{
    char store[PATH_MAX];
    struct import_tally t;
    if (o->sql || o->question.pareto || o->question.history || has_conditions(&o->question))
        return refuse(error, "import: takes result files and --store only");
    if (count == 0)
        return refuse(error, "import: needs a result file");
    if (!find_store(o, true, store, error))
        return EXIT_MISSED;
    if (!import_files(store, files, (size_t)count, stderr, &t, error->text))
        return t.opened ? EXIT_MISSED : EXIT_USAGE;
    printf("files: %zu imported with %zu rows, %zu known, %zu skipped\n", t.files, t.rows, t.known, t.broken);
    if (t.broken > 0)
        complain(error, "%zu of %d files skipped", t.broken, count);
    return t.broken > 0 ? EXIT_MISSED : EXIT_GOOD;
}

static bool check_question(const struct asked *o, struct message *error)
{
    const struct question *q = &o->question;
    if (o->format > FORMAT_CSV || o->columns_count > 0)
        return complain(error,
                        "%s%s: only of a file: query FILE.jsonl; the store answers as table, md or csv",
                        o->columns_count > 0 ? "--columns" : "--format ",
                        o->columns_count > 0 ? "" : format_names[o->format]);
    if ((q->pareto > 0) + (q->history != NULL) + (o->sql != NULL) > 1)
        return complain(error, "--pareto, --history and --sql are different questions: one at a time");
    if (o->sql && has_conditions(q))
        return complain(error, "--sql: conditions belong in the statement; other conditions are not allowed");
    if (q->history && (q->by >= 0 || q->top > 0))
        return complain(error, "--history: lists all rows by date; --by and --top are not allowed");
    if (q->pareto == 1 || (q->pareto == 2 && q->against[0] == q->against[1]))
        return complain(error, "--pareto: two different measures, as latency,memory");
    bool rate = q->by == MEASURE_THROUGHPUT;
    for (int i = 0; i < q->pareto; i++)
        rate = rate || q->against[i] == MEASURE_THROUGHPUT;
    rate = rate || !isnan(q->min_throughput);
    if (rate && strcmp(programs[o->program], "kernel") == 0)
        return complain(error, "--program kernel: an op by itself has no throughput");
    if (q->pareto && q->by >= 0)
        return complain(error, "--pareto: sorts by its first measure; --by is not allowed");
    return true;
}

static int ask(struct asked *o, struct message *error)
{
    char store[PATH_MAX];
    size_t lines;
    if (!check_question(o, error) || !find_store(o, false, store, error))
        return EXIT_USAGE;
    const struct asking how = {store, o->timeout, (enum format)o->format, stdout};
    o->question.program = program_name((size_t)o->program);
    if (o->sql)
        return ask_sql(&how, o->sql, error->text) ? EXIT_GOOD : EXIT_USAGE;
    if (!ask_question(&how, &o->question, &lines, error->text))
        return EXIT_USAGE;
    if (lines == 0)
        complain(error, "no matching rows in the store%s",
                 o->program == 0 ? "; try --program step, kernel or encoding" : "");
    return lines == 0 ? EXIT_MISSED : EXIT_GOOD;
}

static int run_store(struct asked *o, int count, char **words, struct message *error)
{
    struct suggestion s = {.wanted = count > 0 ? words[0] : ""};
    char nearest[SUGGESTION_TEXT];
    if (count == 0)
        return ask(o, error);
    if (strcmp(words[0], "import") == 0)
        return import(o, count - 1, words + 1, error);
    s.length = strlen(words[0]);
    suggest_offer(&s, "import");
    return refuse(error, "%.200s: one FILE.jsonl, `import FILE.jsonl ...`, or flags only%s", words[0],
                  suggest_text(&s, "", nearest));
}
#else
static int run_store(struct asked *o, int count, char **words, struct message *error)
{
    (void)o, (void)count, (void)words;
    return refuse(error, "built without SQLite, which the store needs: make setup, then make");
}
#endif

static int query_run(void *options, int count, char **words, struct message *error)
{
    return count == 1 && strcmp(words[0], "import") != 0 ? show_file(options, words[0], error)
                                                         : run_store(options, count, words, error);
}

int main(int argc, char **argv)
{
    struct asked o = {.question = {.max_latency = NAN,
                                   .max_memory = NAN,
                                   .min_throughput = NAN,
                                   .min_efficiency = NAN,
                                   .by = -1},
                      .timeout = 10};
    return tool_main(&syntax, &o.tool, query_run, argc, argv);
}
