/*
 * The command line of a bench binary from a user's perspective: the output on stdout in each format, and the
 * effect of flags. Wrong command lines are in test_usage.c, results in test_results.c.
 */
#include <dirent.h>

#include "analysis/record/record.h"
#include "analysis/record/schema.h"
#include "bench/cli/axes.h"
#include "tests/files.h"
#include "tests/records.h"
#include "tests/test.h"
#include "tests/values.h"

#define TINY "--hidden 16 --heads 2 --layers 1 --runs 3 --warmup 1 --threads 1 --output x.json "

TEST(test_json)
{
    struct ended e = run_words(*state, TINY "--nodes 8,16 --format json --profile", 0);
    struct record *out = record_of(e.out), *file = record_in(*state, "work/x.json");
    assert_true(records_equal(out, file));
    assert_int_equal(row_count(out), 2);
    assert_int_equal(count_at(row_at(out, 1), "nodes"), 16);
    assert_int_equal(row_at(out, 1)->step.time.samples.count, 3);
    assert_int_equal(count_at(row_at(out, 1), "step.time.warmup"), 3); /* one in each turn */
    assert_non_null(strstr(text_in(record_head(out), "command"), "--nodes 8,16 --format json"));
    assert_non_null(strstr(e.err, "profile of step at 16 nodes")); /* not part of stdout */
    record_free(out);
    record_free(file);
    ended_free(&e);
}

/* --output - prints the record and leaves no file. */
TEST(test_output_to_stdout)
{
    char *before = house_list(*state);
    struct ended e = run_words(*state, "--nodes 8 --hidden 16 --layers 1 --runs 1 -o -", 0);
    char *after = house_list(*state);
    struct record *record = record_of(e.out);
    assert_int_equal(row_count(record), 1);
    assert_string_equal(before, after);
    assert_null(strstr(e.err, "results: "));
    record_free(record);
    ended_free(&e);
    free(before);
    free(after);
}

/* The fields of a CSV line; quoted ones may contain commas. */
static size_t csv_fields(const char *line)
{
    size_t fields = 1;
    bool quoted = false;
    for (; *line; line++) {
        quoted ^= *line == '"';
        fields += *line == ',' && !quoted;
    }
    assert_false(quoted);
    return fields;
}

static void check_csv(const struct house *h, const char *flags, size_t fields)
{
    char words[512];
    snprintf(words, sizeof words, TINY "--nodes 8,16 %s", flags);
    struct ended e = run_words(h, words, 0);
    char *rest = e.out;
    for (int line = 0; line < 3; line++) {
        const char *text = strsep(&rest, "\n");
        assert_non_null(rest);
        assert_int_equal(csv_fields(text), fields);
        assert_int_equal(strncmp(text, line ? "ok,," : "status,reason,", line ? 4 : 14), 0);
    }
    assert_string_equal(rest, "");
    ended_free(&e);
}

TEST(test_tag)
{
    struct record *record = run_json(*state, TINY "--nodes 8 --tag kernel=new --tag run=a=b", 0);
    assert_string_equal(text_in(record_head(record), "tags.kernel"), "new");
    assert_string_equal(text_in(record_head(record), "tags.run"), "a=b");
    record_free(record);
}

TEST(test_csv)
{
    check_csv(*state, "--format csv --profile", 29);
    check_csv(*state, "--format csv-full", schema_fields_count);
    check_csv(*state, "--format csv --columns step,graph.edges,forward.flops", 9);
    struct ended e = run_words(*state, TINY "--nodes 8 --repetitions 1 --format csv", 0);
    static const char reason[] = ",\"1 repetition, fewer than 7\",";
    char *forward = strstr(e.out, reason);
    assert_true(strstr(e.out, ",forward.time.noisy,") && strstr(e.out, ",step.time.noisy,"));
    assert_true(forward && strstr(forward + strlen(reason), reason));
    ended_free(&e);
}

static int occurrences(const char *text, char c)
{
    int n = 0;
    for (; *text; text++)
        n += *text == c;
    return n;
}

TEST(test_markdown_and_table)
{
    struct ended e = run_words(*state, TINY "--nodes 8,16 --format md", 0);
    assert_true(occurrences(e.out, '\n') >= 4); /* and what is to be said below the table */
    char *rest = strstr(e.out, "\n\n| ");       /* after the title */
    assert_non_null(rest);
    rest += 2;
    int bars = occurrences(e.out, '|') / 4;
    for (int line = 0; line < 4; line++) {
        const char *text = strsep(&rest, "\n");
        assert_int_equal(occurrences(text, '|'), bars);
        assert_int_equal(strncmp(text, line == 1 ? "| --" : "| ", 2), 0);
    }
    ended_free(&e);
    e = run_words(*state, TINY "--nodes 8,16 --columns step --device meta", 0);
    assert_int_equal(lines_of(heading_in(e.out)), 3);
    assert_non_null(strstr(heading_in(e.out), "nodes "));
    ended_free(&e);
}

/* The examples of a help text work when pasted into a shell; here with --dry-run. */
static void check_examples(const struct house *h, const char *help)
{
    const char *line = strstr(help, "\nExamples: ");
    assert_non_null(line);
    for (int i = 0; i < 3; i++) {
        char command[512];
        line = strchr(line + 1, '\n');
        snprintf(command, sizeof command, "%.*s --dry-run >/dev/null", (int)strcspn(line + 1, "\n"),
                 line + 1);
        assert_int_equal(strncmp(line + 1, "  ", 2), 0);
        assert_non_null(strstr(command, h->program));
        if (system(command) != 0)
            fail_msg("%s", command);
    }
}

/* The help of --budget states this benchmark's defaults. */
static void check_budget(const struct house *h, const char *help)
{
    struct ended e = run_words(h, "--dry-run --hidden 64", 0);
    const char *said = strstr(e.out, "a budget of "), *line = strstr(help, "  --budget ");
    char number[32], text[128];
    assert_non_null(said);
    assert_non_null(strstr(e.out, "\n--budget: up to "));
    assert_int_equal(sscanf(said, "a budget of %31s s", number), 1);
    snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
    if (!strstr(text, number))
        fail_msg("'%s' does not say %s", text, number);
    ended_free(&e);
}

/* Asserts that the lines of a help fit on the screen, and returns how many there are. */
static int help_lines(const char *help)
{
    int lines = 0;
    for (const char *line = help; *line; line += strcspn(line, "\n") + 1, lines++)
        if (strncmp(line, "  /", 3) != 0) /* an example, with the path of the program */
            assert_true(strcspn(line, "\n") <= 100);
    return lines;
}

static int flags_before(const char *help, const char *end)
{
    int flags = 0;
    for (const char *at = help; (at = strstr(at, "\n  --")) != NULL && at < end; at++)
        flags++;
    return flags;
}

/* The benchmark's own axis is the first of about fifteen, and at most 42 flags are not axes. */
static void check_help(const char *program, const char *own)
{
    void *h;
    house_of(&h, program);
    struct ended e = run_words(h, "--help", 0), same = run_words(h, "-h", 0);
    assert_string_equal(e.out, same.out);
    assert_string_equal(e.err, "");
    assert_int_equal(strncmp(strstr(e.out, "\n  --") + 5, own, strlen(own)), 0);
    assert_between(flags_before(e.out, strstr(e.out, "\nOther axes:")), 13, 19);
    assert_true(help_lines(e.out) < 100);
    int flags = flags_before(e.out, strchr(e.out, '\0')), axes = 0;
    for (int a = 0; a < AXES; a++) {
        char flag[40];
        snprintf(flag, sizeof flag, "  --%s LIST ", axis_info((enum axis)a)->name);
        axes += strstr(e.out, flag) != NULL;
    }
    assert_true(flags - axes <= 42);
    assert_int_equal(axes < AXES, strcmp(program, "bench_kernels") == 0);
    check_examples(h, e.out);
    check_budget(h, e.out);
    ended_free(&e);
    ended_free(&same);
    house_teardown(&h);
}

static const char *own_axis(const char *program)
{
    return strcmp(program, "bench_pe_scaling") == 0      ? "pe "
           : strcmp(program, "bench_layer_scaling") == 0 ? "layers "
           : strcmp(program, "bench_batch_scaling") == 0 ? "batch "
           : strcmp(program, "bench_presets") == 0       ? "preset "
           : strcmp(program, "bench_rank_scaling") == 0  ? "ranks "
                                                         : "nodes ";
}

TEST(test_help)
{
    DIR *all = opendir("bench"); /* tests run in the root of the repository */
    assert_non_null(all);
    int programs = 0;
    for (const struct dirent *e; (e = readdir(all)) != NULL;) {
        const char *end = strrchr(e->d_name, '.');
        if (strncmp(e->d_name, "bench_", 6) != 0 || !end || strcmp(end, ".c") != 0)
            continue;
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(end - e->d_name), e->d_name);
        check_help(name, own_axis(name));
        programs++;
    }
    closedir(all);
    assert_true(programs > 1);
}

/* Informational flags print to stdout and write nothing. */
TEST(test_about)
{
    static const char *const questions[][2] = {
        {"--version", "gtmark"},
        {"--list models", "graph_transformer"},
        {"--list presets", "pcqm4m-deep"},
        {"--list graphs", "undirected:PATH"},
        {"--list devices", "cpu "},
        {"--list ops", "attention: y = softmax"},
        {"--list tape --nodes 8", "layer6.ffn.down"},
    };
    char *before = house_list(*state);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        struct ended e = run_words(*state, questions[i][0], 0);
        assert_non_null(strstr(e.out, questions[i][1]));
        assert_string_equal(e.err, "");
        ended_free(&e);
    }
    char *after = house_list(*state);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

static void assert_nodes(const struct house *h, const char *words, const int64_t *nodes, size_t count)
{
    char all[256];
    snprintf(all, sizeof all, "--device meta %s", words);
    struct record *record = run_json(h, all, 0);
    assert_int_equal(row_count(record), count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(count_at(row_at(record, i), "nodes"), nodes[i]);
    record_free(record);
}

#define NODES(...) (const int64_t[]){__VA_ARGS__}, sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t)

TEST(test_values)
{
    assert_nodes(*state, "--nodes=8", NODES(8));
    assert_nodes(*state, "--degree 1 --nodes 1K,0.002m,1.5k,2G", NODES(1000, 2000, 1500, 2000000000));
    assert_nodes(*state, "--nodes 8-15+3", NODES(8, 11, 14));
    assert_nodes(*state, "--nodes 5,8-32*2,7", NODES(5, 8, 16, 32, 7));
}

/* The number of entries of a listed tape with this op; all must have the variant. */
static int entries_with(const char *listing, const char *op, const char *variant)
{
    int entries = 0;
    for (const char *line = listing; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        char op_there[64], variant_there[64];
        if (sscanf(line, "%*d %*s %*s %63s %63s", op_there, variant_there) == 2 &&
            strcmp(op_there, op) == 0) {
            assert_string_equal(variant_there, variant);
            entries++;
        }
    }
    return entries;
}

/* Whether a line of --list ops begins with an op and options of it. */
static bool names_form(const char *line)
{
    size_t length =
        strncmp(line, "    ", 4) == 0 ? strspn(line + 4, "abcdefghijklmnopqrstuvwxyz0123456789_+") : 0;
    const char *plus = length ? strchr(line + 5, '+') : NULL;
    return plus && plus < line + 4 + length && line[4 + length] == ':';
}

/* Every variant of --list ops is accepted, also of ops with options, and appears on the tape. */
TEST(test_variants)
{
    struct ended ops = run_words(*state, "--list ops", 0);
    char op[64] = "", *lines = ops.out;
    int chosen = 0;
    for (char *line; (line = strsep(&lines, "\n")) != NULL;) {
        char *words = strstr(line, "    variants:");
        if (names_form(line)) {
            snprintf(op, sizeof op, "%.*s", (int)strcspn(line + 4, ":"), line + 4);
            words = line;
        } else if (!words)
            sscanf(line, "%63[a-z0-9_]: ", op);
        bool wanted = !getenv("GTMARK_SMALL") || strstr(op, "attention");
        strsep(&words, ":");
        for (char *variant; wanted && (variant = strsep(&words, " ")) != NULL;) {
            char command[256];
            snprintf(command, sizeof command,
                     "--list tape --nodes 8 --layers 1 --hidden 16 --heads 2 --impl %s=%s", op, variant);
            if (!*variant)
                continue;
            struct ended e = run_words(*state, command, 0);
            chosen += entries_with(e.out, op, variant) > 0;
            ended_free(&e);
        }
    }
    assert_true(chosen >= 4);
    ended_free(&ops);
}

TEST(test_phase)
{
    struct record *record = run_json(*state, TINY "--nodes 8 --phase forward", 0);
    const struct row *row = row_at(record, 0);
    assert_int_equal(row->forward.time.samples.count, 3);
    assert_absent(row, "step.time.median");
    assert_absent(row, "step.flops.analytic");
    record_free(record);
}

GROUP("tests", house_setup, house_teardown)
