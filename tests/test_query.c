/*
 * The program query: importing twice is importing once, answers are those that the committed result files
 * give when their rows are read one by one, hostile files and statements do no harm, and a store is whole
 * whenever an importer is killed.
 */
#include <stdio.h>

#if HAVE_SQLITE
#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/database/import.h"
#include "analysis/record/axes.h"
#include "analysis/record/file.h"
#include "analysis/record/result_file.h"
#include "analysis/tables/units.h"
#include "analysis/tables/wrap.h"
#include "bench/machine/machine.h"
#include "kernels/rng.h"
#include "tests/events.h"
#include "tests/files.h"
#include "tests/records.h"
#include "tests/refusals.h"
#include "tests/test_analysis_rows.h"

#define STORE "--store s.db "

static int setup(void **state)
{
    return house_of(state, "query");
}

static void in_work(const struct house *h, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", h->work, name);
}

static void remove_store(const struct house *h)
{
    char path[PATH_MAX];
    in_work(h, "s.db", path);
    unlink(path);
    strcat(path, "-journal");
    unlink(path);
}

/* The committed result files, by absolute paths; all but the kernels' where tests are short. */
static glob_t committed(void)
{
    char pattern[PATH_MAX];
    glob_t found;
    assert_non_null(getcwd(pattern, sizeof pattern - 64));
    strcat(pattern, getenv("GTMARK_SMALL") ? "/results/*-*core/*_scaling.jsonl" : "/results/*-*core/*.jsonl");
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    return found;
}

/* Imports files in this process. Every line of warnings is one of a broken file, and safe to print. */
static struct import_tally import_here(const struct house *h, char *const *files, size_t count)
{
    char store[PATH_MAX], error[MESSAGE_SIZE], *text = NULL;
    size_t size, lines = 0;
    struct import_tally t;
    FILE *warnings = open_memstream(&text, &size);
    in_work(h, "s.db", store);
    if (!import_files(store, files, count, warnings, &t, error))
        fail_msg("%s", error);
    fclose(warnings);
    for (size_t i = 0; i < size; i++) {
        lines += text[i] == '\n';
        assert_true((unsigned char)text[i] >= ' ' || text[i] == '\n');
    }
    assert_int_equal(lines, t.broken);
    assert_int_equal(t.files + t.known + t.broken, count);
    free(text);
    return t;
}

static struct import_tally import_committed(const struct house *h)
{
    glob_t g = committed();
    struct import_tally t = import_here(h, g.gl_pathv, g.gl_pathc);
    globfree(&g);
    return t;
}

/* Saves a record of one row, or more, that began at this second. */
static void save_run(const struct house *h, const char *name, int second, int rows, const char *model)
{
    char error[MESSAGE_SIZE], path[PATH_MAX], started[32];
    struct record *record = empty_record();
    struct value *tags = value_new_object();
    snprintf(started, sizeof started, "2026-01-01T%02d:%02d:%02dZ", second / 3600, second / 60 % 60,
             second % 60);
    value_set_text(record_head(record), "started", started);
    value_set_text(record_head(record), "run", started);
    value_set_text(tags, "name", model);
    value_set(record_head(record), "tags", tags);
    value_set_text(value_get(record_head(record), "host"), "processor", "family 25, AMD EPYC 7B13");
    for (int i = 0; i < rows; i++) {
        struct row *row = good_row(100 + i);
        row_set_text(row, "model", model);
        add_row(record, row);
    }
    in_work(h, name, path);
    if (!record_save(record, path, error))
        fail_msg("%s", error);
    record_free(record);
}

/* The number that a statement gives of the store. */
static int64_t number_of(const struct house *h, const char *sql)
{
    char path[PATH_MAX];
    sqlite3 *db;
    sqlite3_stmt *s;
    in_work(h, "s.db", path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return number;
}

static void assert_whole(const struct house *h)
{
    assert_int_equal(
        number_of(h, "SELECT COUNT(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
    assert_int_equal(number_of(h, "SELECT COUNT(*) FROM pragma_foreign_key_check"), 0);
    assert_int_equal(number_of(h, "SELECT COUNT(*) FROM rows WHERE id NOT IN (SELECT \"row\" FROM texts)"),
                     0);
}

static void test_twice(void **state)
{
    const struct house *h = *state;
    char path[PATH_MAX], error[MESSAGE_SIZE];
    size_t before_size, after_size;
    struct import_tally t = import_committed(h);
    assert_int_equal(t.broken + t.known, 0);
    assert_true(t.files >= 5 && t.rows >= 20);
    assert_int_equal(number_of(h, "SELECT COUNT(*) FROM rows"), t.rows);
    assert_whole(h);
    in_work(h, "s.db", path);
    char *before = file_read(path, &before_size, error);
    assert_int_equal(import_committed(h).known, t.files);
    char *after = file_read(path, &after_size, error);
    assert_int_equal(before_size, after_size);
    assert_memory_equal(before, after, before_size);
    free(before);
    free(after);
}

/* A file of which a run was resumed takes the place of the earlier one, in any order. */
static void test_resumed(void **state)
{
    const struct house *h = *state;
    char one[PATH_MAX], two[PATH_MAX];
    in_work(h, "one.json", one);
    in_work(h, "two.json", two);
    remove_store(h);
    save_run(h, "one.json", 1, 1, "gps");
    save_run(h, "two.json", 1, 2, "gps");
    assert_int_equal(import_here(h, (char *[]){one}, 1).rows, 1);
    assert_int_equal(import_here(h, (char *[]){two}, 1).rows, 2);
    assert_int_equal(import_here(h, (char *[]){one}, 1).known, 1);
    assert_int_equal(number_of(h, "SELECT COUNT(*) FROM rows"), 2);
    assert_int_equal(number_of(h, "SELECT COUNT(*) FROM latest WHERE program = 'forward'"), 2);
    assert_whole(h);
}

/* A run takes the place of an older one as the newest. When its file is replaced by one without that row, the
 * older is the newest again. */
static void test_newest_again(void **state)
{
    const struct house *h = *state;
    static const char newest[] = "SELECT COUNT(*) FROM latest WHERE program = 'forward'";
    char one[PATH_MAX], two[PATH_MAX], three[PATH_MAX];
    in_work(h, "one.json", one);
    in_work(h, "two.json", two);
    in_work(h, "three.json", three);
    remove_store(h);
    save_run(h, "one.json", 1, 1, "gps");
    save_run(h, "two.json", 2, 1, "gps");
    save_run(h, "three.json", 2, 2, "gin");
    assert_int_equal(import_here(h, (char *[]){one, two}, 2).rows, 2);
    assert_int_equal(number_of(h, newest), 1);
    assert_int_equal(import_here(h, (char *[]){three}, 1).rows, 2);
    assert_int_equal(number_of(h, newest), 3);
    assert_whole(h);
}

/* A row of the committed files with a program's numbers. */
struct candidate {
    const char *machine, *started;
    const struct row *row;
    double numbers[4]; /* as in enum measure; NAN: none */
};

struct candidates {
    size_t records_count, count;
    struct record *records[32];
    struct candidate list[2048];
};

static double real_or_nan(const struct row *row, const char *program, const char *field)
{
    char path[SCHEMA_PATH];
    double value = NAN;
    snprintf(path, sizeof path, "%s.%s", program, field);
    row_get_real(row, path, &value);
    return value;
}

static struct candidates *read_candidates(const char *program)
{
    static const char *const fields[] = {"time.median", "throughput", "memory.planned", "roofline.percent"};
    struct candidates *all = calloc(1, sizeof *all);
    char error[MESSAGE_SIZE];
    glob_t g = committed();
    assert_non_null(all);
    for (size_t f = 0; f < g.gl_pathc; f++) {
        struct record *record = all->records[all->records_count++] = record_load(g.gl_pathv[f], error);
        assert_non_null(record);
        for (size_t i = 0; i < row_count(record); i++) {
            struct candidate *c = &all->list[all->count];
            c->row = row_at(record, i);
            for (int m = 0; m < 4; m++)
                c->numbers[m] = real_or_nan(c->row, program, fields[m]);
            if (strcmp(program, "encoding") == 0)
                c->numbers[2] = real_or_nan(c->row, program, "peak");
            value_get_text(record_head(record), "started", &c->started);
            value_get_text(value_at(value_get(record_head(record), "calibrations"), 0), "cpu", &c->machine);
            all->count += row_is_ok(c->row) && !isnan(c->numbers[0]);
        }
    }
    globfree(&g);
    return all;
}

static void free_candidates(struct candidates *all)
{
    for (size_t i = 0; i < all->records_count; i++)
        record_free(all->records[i]);
    free(all);
}

static bool same_configuration(const struct candidate *a, const struct candidate *b)
{
    bool same = strcmp(a->machine, b->machine) == 0 && row_same(a->row, b->row, "work");
    for (size_t i = 0; i < schema_fields_count && same; i++) {
        char x[AXES_TEXT], y[AXES_TEXT]; /* null and missing are alike */
        if (!schema_fields[i].symbol)
            continue;
        axes_text(a->row, &schema_fields[i], x);
        axes_text(b->row, &schema_fields[i], y);
        same = strcmp(x, y) == 0;
    }
    return same;
}

/* Whether no later file has the same configuration. */
static bool is_newest(const struct candidates *all, const struct candidate *c)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->list[i].started, c->started) > 0 && same_configuration(&all->list[i], c))
            return false;
    return true;
}

/* Splits a line of CSV in place. */
static size_t split_csv(char *line, char *values[64])
{
    size_t n = 0;
    for (char *at = line, *to; at && n < 64; n++) {
        bool quoted = *at == '"';
        values[n] = to = at += quoted;
        while (*at && (quoted ? *at != '"' : *at != ','))
            *to++ = *at++;
        at += quoted;
        at = *at == ',' ? at + 1 : NULL;
        *to = '\0';
    }
    return n;
}

/* Runs a question and compares its answer with these candidates, in this order of machines and lines. */
static void assert_answer(const struct house *h, const char *words, const struct candidate *const *wanted,
                          size_t n)
{
    char line[512], *rest, *next, *values[64];
    snprintf(line, sizeof line, STORE "--format csv --top 1000 %s", words);
    struct ended e = program_run(h, line, NULL);
    if (e.status != (n == 0))
        fail_msg("%s: status %d, %s", words, e.status, e.err);
    rest = e.out;
    assert_int_equal(strncmp(strsep(&rest, "\n"), "machine,started,commit,median,", 30), 0);
    for (size_t i = 0; i < n; i++) {
        next = strsep(&rest, "\n");
        if (!next || !rest)
            fail_msg("%s: %zu rows instead of %zu", words, i, n);
        assert_true(split_csv(next, values) > 12);
        assert_ptr_equal(strstr(values[0], wanted[i]->machine), values[0]);
        assert_string_equal(values[1], wanted[i]->started);
        assert_true(fabs(strtod(values[3], NULL) / wanted[i]->numbers[0] - 1) < 1e-14);
        assert_string_equal(values[11], text_at(wanted[i]->row, "work"));
    }
    if (rest && *rest)
        fail_msg("%s: more than %zu rows: %s", words, n, rest);
    ended_free(&e);
}

static int by_machine_and(const void *a, const void *b, void *measure)
{
    const struct candidate *x = *(const struct candidate *const *)a, *y = *(const struct candidate *const *)b;
    int m = *(int *)measure, order = strcmp(x->machine, y->machine);
    double difference =
        (x->numbers[m] - y->numbers[m]) * (m % 2 ? -1 : 1); /* more throughput and efficiency is better */
    return order ? order : (difference > 0) - (difference < 0);
}

/* As a user asks: the fastest within limits. */
static void check_ranking(const struct house *h, const struct candidates *all, int measure, const char *words,
                          double latency, double memory, double throughput, double efficiency,
                          const char *models)
{
    const struct candidate *wanted[2048];
    size_t n = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct candidate *c = &all->list[i];
        if (c->numbers[0] <= latency && c->numbers[2] <= memory && !(c->numbers[1] < throughput) &&
            !(c->numbers[3] < efficiency) && !isnan(c->numbers[measure]) && c->row->model &&
            fnmatch(models, c->row->model, 0) == 0 && is_newest(all, c))
            wanted[n++] = c;
    }
    assert_true(n > 3);
    qsort_r(wanted, n, sizeof *wanted, by_machine_and, &measure);
    assert_answer(h, words, wanted, n);
}

/* Whether another row is better in one of two measures, latency and memory, and no worse in the other. */
static bool is_beaten(const struct candidates *all, const struct candidate *c)
{
    for (size_t i = 0; i < all->count; i++) {
        const double *a = all->list[i].numbers, *b = c->numbers;
        if (strcmp(all->list[i].machine, c->machine) == 0 && a[0] <= b[0] && a[2] <= b[2] &&
            (a[0] < b[0] || a[2] < b[2]) && is_newest(all, &all->list[i]))
            return true;
    }
    return false;
}

static void check_pareto(const struct house *h, const struct candidates *all)
{
    const struct candidate *wanted[2048];
    size_t n = 0;
    for (size_t i = 0; i < all->count; i++)
        if (!isnan(all->list[i].numbers[2]) && is_newest(all, &all->list[i]) &&
            !is_beaten(all, &all->list[i]))
            wanted[n++] = &all->list[i];
    assert_true(n > 2);
    qsort_r(wanted, n, sizeof *wanted, by_machine_and, &(int){0});
    assert_answer(h, "--pareto latency,memory --program step", wanted, n);
}

static void check_history(const struct house *h, const struct candidates *all)
{
    size_t most = 0;
    char words[128];
    for (size_t i = 0; i < all->count; i += 7) {
        const char *work = text_at(all->list[i].row, "work");
        size_t lines = 0, wanted = 0;
        snprintf(words, sizeof words, STORE "--history %.10s --program step --format csv", work);
        struct ended e = program_run(h, words, NULL);
        for (const char *at = e.out; (at = strstr(at, work)) != NULL; at++)
            lines++;
        for (size_t j = 0; j < all->count; j++)
            wanted += strcmp(text_at(all->list[j].row, "work"), work) == 0;
        assert_int_equal(e.status, 0);
        assert_int_equal(lines, wanted);
        most = wanted > most ? wanted : most;
        ended_free(&e);
    }
    assert_true(most >= 2);
}

static void test_answers(void **state)
{
    const struct house *h = *state;
    remove_store(h);
    import_committed(h);
    struct candidates *all = read_candidates("forward");
    check_ranking(h, all, 0, "--model gps*", INFINITY, INFINITY, 0, 0, "gps*");
    check_ranking(h, all, 1, "--max-latency 50ms --max-memory 64MiB --by throughput", 0.05, 0x1p26, 0, 0,
                  "*");
    check_ranking(h, all, 2, "--max-latency 1s --min-throughput 20/s --min-efficiency 50% --by memory", 1,
                  INFINITY, 20, 50, "*");
    check_ranking(h, all, 3, "--model g* --by efficiency", INFINITY, INFINITY, 0, 0, "g*");
    free_candidates(all);
    all = read_candidates("encoding");
    check_ranking(h, all, 2, "--program encoding --max-memory 1GiB --by memory", INFINITY, 0x1p30, 0, 0, "*");
    free_candidates(all);
    all = read_candidates("step");
    check_pareto(h, all);
    check_history(h, all);
    free_candidates(all);
    assert_answer(h, "--max-latency 1ns", NULL, 0);
}

/* Rows that are equal by both measures are all of the front, and an op by itself has no graphs/s. */
static void test_ties(void **state)
{
    const struct house *h = *state;
    remove_store(h);
    save_run(h, "one.json", 1, 2, "gps"); /* of which the second takes longer, and more memory */
    save_run(h, "other.json", 2, 1, "gin");
    assert_ends(h, STORE "import one.json other.json", 0, "2 imported with 3 rows", "");
    struct ended e = program_run(h, STORE "--pareto latency,memory --format csv", NULL);
    assert_int_equal(lines_of(e.out), 3);
    ended_free(&e);
    import_committed(h);
    e = program_run(h, STORE "--program kernel", NULL);
    assert_null(strstr(e.out, "graphs/s"));
    ended_free(&e);
}

/* Counts beyond 2^53, which a real does not hold, are the same in the store and in what it prints. */
static void test_large_counts(void **state)
{
    static const char *const names[] = {"memory", "flops"};
    static const int64_t counts[] = {INT64_C(9007199254740993), INT64_MAX};
    const struct house *h = *state;
    char path[PATH_MAX], sql[128], said[32], error[MESSAGE_SIZE];
    struct record *record = empty_record();
    struct row *row = good_row(100);
    row->step.memory.planned = counts[0];
    row->step.flops.analytic = counts[1];
    add_row(record, row);
    in_work(h, "large.json", path);
    assert_true(record_save(record, path, error));
    record_free(record);
    remove_store(h);
    assert_int_equal(import_here(h, (char *[]){path}, 1).files, 1);
    for (size_t i = 0; i < 2; i++) {
        snprintf(sql, sizeof sql, "SELECT %s FROM programs WHERE program = 'step'", names[i]);
        assert_true(number_of(h, sql) == counts[i]);
        struct ended e = program_run(h, STORE, MORE("--sql", sql));
        snprintf(said, sizeof said, "%lld\n", (long long)counts[i]);
        assert_non_null(strstr(e.out, said));
        ended_free(&e);
    }
    remove_store(h);
}

/* No table is wider than the screen. */
static void test_widths(void **state)
{
    static const char *const lines[] = {"",
                                        "--all --top 300",
                                        "--pareto latency,memory",
                                        "--by efficiency --program step",
                                        "--program kernel --top 50",
                                        "--sql SELECT\tprogram,memory\tFROM\tprograms"};
    const struct house *h = *state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char words[256];
        snprintf(words, sizeof words, STORE "%s", lines[i]);
        struct ended e = program_run(h, words, NULL);
        char *rest = e.out;
        if (e.status != 0 && !getenv("GTMARK_SMALL"))
            fail_msg("%s: %s", words, e.err);
        for (char *line; (line = strsep(&rest, "\n")) != NULL;)
            if (units_width(line) > SCREEN)
                fail_msg("%s prints %zu columns: %s", words, units_width(line), line);
        ended_free(&e);
    }
}

/* What the program prints on a terminal of so many columns. To be freed. */
static char *on_terminal(const struct house *h, const char *words, unsigned short columns)
{
    int master, slave, null = open("/dev/null", O_WRONLY);
    open_terminal(columns, &master, &slave);
    pid_t pid = program_start(h, words, NULL, slave, null);
    close(slave);
    close(null);
    char *text = read_rest(master);
    assert_int_equal(program_wait(pid), 0);
    return text;
}

/* The rows of committed files fit on narrow terminals: no line of their tables is wrapped. */
static void test_narrow_terminals(void **state)
{
    static const unsigned short screens[] = {60, 80, 100};
    glob_t files = committed();
    for (size_t f = 0; f < files.gl_pathc; f++)
        for (size_t s = 0; s < sizeof screens / sizeof *screens; s++) {
            char words[PATH_MAX], *line;
            snprintf(words, sizeof words, "%s --format table", files.gl_pathv[f]);
            char *text = on_terminal(*state, words, screens[s]), *rest = text;
            assert_non_null(strstr(text, "  check\r\n")); /* the heading is whole */
            while ((line = strsep(&rest, "\n")) != NULL)
                if (units_width(line) > screens[s] + 1u) /* and a carriage return */
                    fail_msg("%s prints %zu columns: %s", words, units_width(line), line);
            free(text);
        }
    globfree(&files);
}

/* Truncated anywhere, nested deeply, with huge numbers: a line each, and the good file beside them is
 * imported. */
static void test_broken_files(void **state)
{
    const struct house *h = *state;
    char path[PATH_MAX], error[MESSAGE_SIZE], **files = NULL, *nested = malloc(200001);
    size_t size, n = 0;
    remove_store(h);
    save_run(h, "good.json", 1, 1, "gps");
    in_work(h, "good.json", path);
    char *text = file_read(path, &size, error);
    for (size_t cut = 0; text[cut] != '\n';
         cut++, n++) { /* what is after it is whole without its last line */
        char name[64];
        files = realloc(files, (n + 9) * sizeof *files);
        snprintf(name, sizeof name, "cut\x1b[31m%zu.json", cut);
        in_work(h, name, path);
        write_bytes(path, text, cut);
        files[n] = strdup(path);
    }
    memset(nested, '[', 200000);
    nested[200000] = '\0';
    const char *const others[] = {nested, "{\"schema\": 1e999}", "{\"schema\": 99999999999999999999999}",
                                  "{}"};
    for (size_t i = 0; i < 4; i++, n++) {
        char name[64];
        snprintf(name, sizeof name, "other%zu.json", i);
        in_work(h, name, path);
        write_bytes(path, others[i], strlen(others[i]));
        files[n] = strdup(path);
    }
    files[n++] = strdup(h->work); /* a directory */
    in_work(h, "pipe", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    files[n++] = strdup(path);
    files[n++] = strdup("/nonexistent\x1b[2J");
    in_work(h, "good.json", path);
    files[n++] = strdup(path);
    struct import_tally t = import_here(h, files, n);
    assert_int_equal(t.files, 1);
    assert_int_equal(t.broken, n - 1);
    struct ended e = program_run(h, STORE "import good.json other0.json", NULL);
    assert_int_equal(e.status, 1);
    assert_non_null(strstr(e.err, "1 of 2 files skipped"));
    ended_free(&e);
    while (n > 0)
        free(files[--n]);
    free(files);
    free(text);
    free(nested);
}

static void test_hostile_names(void **state)
{
    const struct house *h = *state;
    static const char *const questions[] = {"", "--format csv", "--format md", "--tag name=*script*",
                                            "--sql SELECT\tmodel\tFROM\trows"};
    remove_store(h);
    save_run(h, "hostile.json", 1, 2, "<script>'\"; DROP TABLE rows; --\x1b[31m\xc2\x9b");
    struct ended e = program_run(h, STORE "import hostile.json", NULL);
    assert_int_equal(e.status, 0);
    ended_free(&e);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        char words[256];
        snprintf(words, sizeof words, STORE "%s", questions[i]);
        e = program_run(h, words, NULL);
        assert_int_equal(e.status, 0);
        assert_non_null(strstr(e.out, "<script>'"));
        assert_null(strchr(e.out, '\x1b'));
        assert_null(strstr(e.out, "\xc2\x9b"));
        ended_free(&e);
    }
    assert_int_equal(number_of(h, "SELECT COUNT(*) FROM rows"), 2);
}

static void test_refusals(void **state)
{
    const struct house *h = *state;
    static const char *const statements[] = {"DELETE FROM rows",
                                             "ATTACH 'x.db' AS x",
                                             "PRAGMA journal_mode = wal",
                                             "CREATE TEMP TABLE t (a)",
                                             "BEGIN",
                                             "VACUUM INTO 'x.db'",
                                             "SELECT load_extension('x')",
                                             "SELECT 1; SELECT 2",
                                             ";",
                                             "SELEC 1",
                                             "SELECT * FROM pragma_table_info('rows')"};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        refuses(h, STORE, MORE("--sql", statements[i]), "--sql: ", NULL);
    refuses(h, STORE "--timeout 50ms",
            MORE("--sql", "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
                          "SELECT COUNT(*) FROM c"),
            "--sql: ", "--timeout");
    refuses(h, STORE "--sql x --history abcd", NULL, "--history", NULL);
    refuses(h, STORE "--history xyz", NULL, "--history xyz", "0-9 and a-f");
    refuses(h, STORE "--program kernel --by throughput", NULL, "--program kernel: ", "no throughput");
    refuses(h, STORE "--pareto latency", NULL, "--pareto", "latency,memory");
    refuses(h, STORE "--pareto latency,speed", NULL, "--pareto speed", "efficiency");
    refuses(h, STORE "--by speed", NULL, "--by speed", "latency, throughput, memory or efficiency");
    refuses(h, STORE "--max-latency 10", MORE("--max-memory", "2GX"), "--max-memory 2GX", "GiB");
    refuses(h, STORE "--nodes many", NULL, "--nodes many", "numbers");
    refuses(h, STORE "--tag x", NULL, "--tag x", "KEY=VALUE");
    refuses(h, STORE "--modle gps", NULL, "--modle", "did you mean --model?");
    refuses(h, STORE "--format bmf", NULL, "--format bmf", "query FILE.jsonl");
    refuses(h, STORE "--columns step", NULL, "--columns", "query FILE.jsonl");
    refuses(h, STORE "--min-throughput 2x", NULL, "--min-throughput 2x", "graphs/s");
    refuses(h, STORE "imprt x.json", NULL, "imprt", "did you mean import?");
    refuses(h, STORE "import", NULL, "import", "needs a result file");
    refuses(h, "--store nothing.db", NULL, "nothing.db", "import");
    refuses(h, "--store .", NULL, ".: ", "not a regular file");
    refuses(h, "--store good.json", NULL, "good.json", "not a database");
    refuses(h, "--store good.json import good.json", NULL, "good.json", "not a database");
    char path[PATH_MAX];
    sqlite3 *db;
    in_work(h, "s.db", path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 1", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    refuses(h, STORE, NULL, "s.db", "another version");
    refuses(h, STORE "import good.json", NULL, "s.db", "another version");
    remove_store(h);
}

/* The default store is results/local/store.db of the checkout. */
static void test_default_store(void **state)
{
    const struct house *h = *state;
    char path[PATH_MAX];
    struct ended e = program_run(h, "import good.json", NULL);
    assert_int_equal(e.status, 0);
    assert_string_equal(e.out, "files: 1 imported with 1 rows, 0 known, 0 skipped\n");
    ended_free(&e);
    snprintf(path, sizeof path, "%s/results/local/store.db", h->root);
    assert_int_equal(access(path, F_OK), 0);
    e = program_run(h, "--nodes 100,200 --tag name=g*", NULL);
    assert_int_equal(e.status, 0);
    assert_non_null(strstr(e.out, "family 25, AMD EPYC 7B13\n"));
    ended_free(&e);
}

/* New files name the generation of the processor, calibrated or not. */
static void test_processor(void **state)
{
    (void)state;
    const char *cpu, *processor;
    struct value *context = machine_context(value_new_array(), 1);
    assert_true(value_get_text(context, "host.cpu", &cpu));
    assert_true(value_get_text(context, "host.processor", &processor));
    assert_true(strlen(processor) >= strlen("unknown"));
#if defined __x86_64__
    assert_non_null(strstr(processor, "family "));
    assert_non_null(strstr(processor, cpu));
#endif
    value_free(context);
}

/* Starts an import of all runs. */
static pid_t start_import(const struct house *h, const char *const *names)
{
    int null = open("/dev/null", O_WRONLY);
    pid_t pid = program_start(h, STORE "import", names, null, null);
    close(null);
    return pid;
}

static void test_kills(void **state)
{
    enum { RUNS = 50 };
    const struct house *h = *state;
    char names[RUNS][16];
    const char *words[RUNS + 1] = {NULL};
    int kills = getenv("GTMARK_SOAK") ? 100 : getenv("GTMARK_SMALL") ? 1 : 5;
    struct timespec before, after;
    for (int i = 0; i < RUNS; i++) {
        snprintf(names[i], sizeof names[i], "run%d.json", i);
        save_run(h, names[i], i, 3, "gps");
        words[i] = names[i];
    }
    remove_store(h);
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert_int_equal(program_wait(start_import(h, words)), 0);
    clock_gettime(CLOCK_MONOTONIC, &after);
    double whole = (double)(after.tv_sec - before.tv_sec) * 1e9 + (double)(after.tv_nsec - before.tv_nsec);
    for (int i = 0; i < kills; i++) {
        uint64_t bits = rng_bits(rng_key(19, "kills"), (uint64_t)i);
        if (i % 3 == 0) /* or what the one before left goes on */
            remove_store(h);
        pid_t pid = start_import(h, words);
        double wait = whole * (double)(bits % 1000) / 1000;
        nanosleep(&(struct timespec){(time_t)(wait / 1e9), (long)fmod(wait, 1e9)}, NULL);
        kill(pid, SIGKILL);
        int status = program_wait(pid);
        assert_true(status == 128 + SIGKILL || status == 0);
        struct ended e = program_run(h, STORE "--sql SELECT\tCOUNT(*)\tFROM\trows", NULL);
        assert_true(e.status == 0 || strstr(e.err, "import"));
        ended_free(&e);
    }
    assert_int_equal(program_wait(start_import(h, words)), 0);
    assert_whole(h);
    assert_int_equal(number_of(h, "SELECT COUNT(*) FROM files"), RUNS);
    assert_int_equal(number_of(h, "SELECT COUNT(*) FROM rows"), 3 * RUNS);
    assert_int_equal(number_of(h, "SELECT COUNT(*) FROM latest WHERE program = 'step'"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_twice),         cmocka_unit_test(test_resumed),
        cmocka_unit_test(test_newest_again),  cmocka_unit_test(test_answers),
        cmocka_unit_test(test_widths),        cmocka_unit_test(test_narrow_terminals),
        cmocka_unit_test(test_ties),          cmocka_unit_test(test_broken_files),
        cmocka_unit_test(test_hostile_names), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_default_store), cmocka_unit_test(test_processor),
        cmocka_unit_test(test_large_counts),  cmocka_unit_test(test_kills),
    };
    return cmocka_run_group_tests(tests, setup, house_teardown);
}
#else
int main(void)
{
    puts("ok 1 - query # SKIP built without SQLite\n1..1");
    return 0;
}
#endif
