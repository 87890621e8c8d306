/*
 * Command lines that are wrong, each by running the program: exit 2, one line on stderr that names the flag,
 * the value and what is allowed, nothing on stdout, and nothing written anywhere.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/program.h"

/* A good command line, which what follows it makes a bad one. */
#define BARE     "--runs 3 --warmup 1"
#define OWN_SIZE "--hidden 16 --heads 2 --layers 1 --output x.json " BARE
#define TINY     "--nodes 8,16 " OWN_SIZE

/* A house in which an earlier run left a result, which must survive. */
static int setup_with_result(void **state)
{
    house_setup(state);
    const struct house *h = *state;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/x.json", h->work);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("an earlier result\n", file) >= 0 && fclose(file) == 0);
    return 0;
}

/* One line: printable, its newline at the end and nowhere else. */
static bool is_one_line(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + 1 < length; i++)
        if (iscntrl((unsigned char)text[i]))
            return false;
    return length > 1 && text[length - 1] == '\n';
}

/* The program refuses `more` after good `words`, saying `names` (flag and value) and, unless null, `allowed`.
 */
static void refuses_after(const struct house *h, const char *words, const char *const *more,
                          const char *names, const char *allowed)
{
    char *before = house_list(h);
    struct ended e = program_run(h, words, more);
    char *after = house_list(h);
    bool good = e.status == 2 && !*e.out && is_one_line(e.err) && strstr(e.err, names) &&
                (!allowed || strstr(e.err, allowed)) && strcmp(before, after) == 0;
    if (!good) {
        for (const char *const *word = more; *word; word++)
            print_error("argument: '%s'\n", *word);
        print_error("status %d, stdout '%s', stderr '%s', wanted '%s' and '%s'\n%s", e.status, e.out, e.err,
                    names, allowed ? allowed : "", strcmp(before, after) == 0 ? "" : "files changed\n");
    }
    free(before);
    free(after);
    ended_free(&e);
    assert_true(good);
}

static void refuses(const struct house *h, const char *const *more, const char *names, const char *allowed)
{
    refuses_after(h, TINY, more, names, allowed);
}

struct bad {
    const char *flag, *value, *allowed;
};

/* Flags and values, given as two arguments: the message names both as they were given. */
static void refuses_all_after(const struct house *h, const char *words, const struct bad *list, int count)
{
    for (int i = 0; i < count; i++) {
        char names[256];
        snprintf(names, sizeof names, "%s %s: ", list[i].flag, list[i].value);
        refuses_after(h, words, MORE(list[i].flag, list[i].value), names, list[i].allowed);
    }
}

static void refuses_all(const struct house *h, const struct bad *list, int count)
{
    refuses_all_after(h, TINY, list, count);
}

static void test_axes(void **state)
{
    static const struct bad list[] = {
        {"--nodes", "ten", "a whole number from 1 to 2147483647"},
        {"--nodes", "0", "from 1 to"},
        {"--nodes", "-5", "from 1 to"},
        {"--nodes", "1e30", "to 2147483647"},
        {"--nodes", "5.5", "a whole number"},
        {"--nodes", "", "a whole number"},
        {"--nodes", "1,,2", "100,500"},
        {"--nodes", "10-5*2", "1k-16k*2"},
        {"--nodes", "1-10*1", "1k-16k*2"},
        {"--nodes", "1-10", "1k-16k*2"},
        {"--nodes", "--runs", "a whole number"},
        {"--degree", "-1", "a number from 0 to"},
        {"--degree", "inf", "a number from 0 to"},
        {"--layers", "0", "from 1 to"},
        {"--threads", "100000", "from 0 to 1024"},
        {"--model", "nope", "graph_transformer"},
        {"--act", "swish", "gelu, gelu_tanh, relu"},
        {"--act", "none", "gelu, gelu_tanh, relu"},
        {"--attention", "linear", "model, none, dense, sparse, unfused"},
        {"--mpnn", "gcn", "model, none, gin"},
        {"--norm", "instance", "layer, batch, graph, none"},
        {"--pool", "attention", "mean, sum, max"},
        {"--task", "edge", "graph, node"},
        {"--batch", "0", "a whole number from 1 to"},
        {"--graph", "star", "er, grid, ba, rmat, NAME:giant, file:PATH, undirected:PATH"},
        {"--graph", "file:", "er, grid, ba, rmat, NAME:giant, file:PATH, undirected:PATH"},
    };
    refuses_all(*state, list, sizeof list / sizeof *list);
}

/* Flags that are good alone and not together: the message names them. */
static void test_parts_and_files(void **state)
{
    refuses(*state, MORE("--model", "gin", "--mpnn", "none"), "--model gin --attention none --mpnn none",
            "a layer needs attention or message passing");
    refuses_after(*state, BARE, MORE("--hidden", "10", "--heads", "4"), "--heads 4 --hidden 10",
                  "heads must divide hidden");
    refuses(*state, MORE("--graph", "file:x"), "--graph file:x --nodes: ", "the file says");
    refuses_after(*state, OWN_SIZE, MORE("--graph", "er,file:x"), "--graph file:x: ", "a run of its own");
    refuses_after(*state, OWN_SIZE, MORE("--graph", "er,file:x", "--batch", "5"),
                  "--graph file:x --batch: ", "the file says");
    refuses_after(*state, OWN_SIZE, MORE("--graph", "file:no-such-file"),
                  "--graph file:no-such-file: ", "No such file or directory");
    refuses_after(*state, OWN_SIZE, MORE("--graph", "file:."), "--graph file:.: ", "is a directory");
    refuses_after(*state, OWN_SIZE, MORE("--graph", "file:x.json"), "--graph file:x.json: ", "x.json:1: ");
}

static void test_flags(void **state)
{
    static const struct bad list[] = {
        {"--device", "tpu", "cpu, ref, cuda, cuda:N, cuda:all or meta"},
        {"--device", "cuda:x", "cpu, ref, cuda, cuda:N, cuda:all or meta"},
        {"--device", "cuda1", "cpu, ref, cuda, cuda:N, cuda:all or meta"},
        {"--format", "xml", "table, md, csv, json or jsonl"},
        {"--phase", "sideways", "forward, step"},
        {"--phase", "forward,", "forward, step"},
        {"--runs", "0", "a whole number from 1 to"},
        {"--runs", "1.5", "a whole number from 1 to"},
        {"--warmup", "-1", "a whole number from 0 to"},
        {"--cold", "-1", "a whole number from 0 to 1000"},
        {"--min-samples", "many", "a whole number from 1 to"},
        {"--max-noise", "2", "from 0 to 1"},
        {"--budget", "-1", "seconds"},
        {"--budget", "nan", "seconds"},
        {"--mem-limit", "lots", "KiB, MiB, GiB or TiB"},
        {"--mem-limit", "GiB", "KiB, MiB, GiB or TiB"},
        {"--mem-limit", "5", "KiB, MiB, GiB or TiB"},
        {"--seed", "-1", "a whole number from 0 to"},
        {"--seed", "9007199254740993", "a whole number from 0 to"}, /* 2^53 + 1, which a double cannot hold */
        {"--impl", "linear=magic", "--list-ops"},
        {"--impl", "nope=x", "--list-ops"},
        {"--impl", "linear", "--list-ops"},
    };
    refuses_all(*state, list, sizeof list / sizeof *list);
}

/* Encodings and solvers for which the build lacks a library. */
static void test_solvers_of_the_build(void **state)
{
    static const struct bad no_arpack[] = {{"--solver", "arpack", "no ARPACK; auto and iterative need none"}};
    static const struct bad no_lapack[] = {{"--pe", "lap:4", "no LAPACK; rwse:K needs none"},
                                           {"--pe", "lap-pyg:4", "no LAPACK; rwse:K needs none"},
                                           {"--solver", "lapack", "no LAPACK; auto with --pe rwse:K"},
                                           {"--solver", "iterative", "no LAPACK; auto with --pe rwse:K"}};
    if (HAVE_LAPACK && HAVE_ARPACK)
        skip();
    refuses_all(*state, HAVE_LAPACK ? no_arpack : no_lapack, HAVE_LAPACK ? 1 : 4);
}

static void test_unwritable_output(void **state)
{
    static const struct bad list[] = {
        {"--output", "no-such-directory/x.json", "No such file or directory"},
        {"--output", ".", "not a regular file"},
        {"--output", "/dev/null", "not a regular file"},
        {"--output", "/proc/x", "cannot be written"},
    };
    refuses_all_after(*state, BARE, list, sizeof list / sizeof *list);
    refuses_after(*state, BARE, MORE("--output", "x.json/y.json"),
                  "--output x.json/y.json: ", "Not a directory");
}

static void test_combinations(void **state)
{
    refuses_after(*state, BARE, MORE("--heads", "7", "--hidden", "256"),
                  "--heads 7 --hidden 256: ", "must divide");
    refuses_after(*state, BARE, MORE("--heads", "2,3", "--hidden", "16"),
                  "--heads 3 --hidden 16: ", "must divide");
    refuses_after(*state, BARE, MORE("--hidden", "16", "--heads", "2", "--pe", "none,rwse:4"),
                  "--hidden 16 --pe rwse:4:16: ", "width must be less than hidden");
    refuses_after(*state, BARE, MORE("--nodes", "1-1000+1", "--layers", "1-1000+1"), "combinations",
                  "100000");
}

static void test_not_flags(void **state)
{
    refuses(*state, MORE("--nope"), "--nope: ", "--help");
    refuses(*state, MORE("--nope=3"), "--nope: ", "--help");
    refuses(*state, MORE("--node", "8"), "--node: ", "--help");
    refuses(*state, MORE("--"), "--: ", "--help");
    refuses(*state, MORE("-n", "8"), "-n: ", "--help");
    refuses(*state, MORE("stray", "words"), "stray: ", "--help");
    refuses(*state, MORE(""), ": ", "--help");
}

/* A value is shown as it was given, but can neither break the line nor drive the terminal. */
static void test_strange_values(void **state)
{
    refuses(*state, MORE("--nodes", "8\n16"), "--nodes 8?16: ", "a whole number");
    refuses(*state, MORE("--runs", "\033[2J"), "--runs ?[2J: ", "a whole number");
    refuses_after(*state, BARE, MORE("--output", "a\nb/x.json"), "--output a?b/x.json: ", "No such file");
    refuses(*state, MORE("--device", "gr\xc3\xbc\xc3\x9f"), "--device gr\xc3\xbc\xc3\x9f: ", "cpu, ref");
}

/* However long a value is, what is allowed stands behind it. */
static void test_long_values(void **state)
{
    static const struct bad list[] = {
        {"--nodes", "9", "a whole number"},
        {"--runs", "9", "a whole number from 1"},
        {"--seed", "9", "a whole number"},
        {"--budget", "9", "seconds, from 0"},
        {"--mem-limit", "9", "KiB, MiB, GiB or TiB"},
        {"--format", "9", "table, md, csv"},
        {"--phase", "9", "forward, step"},
        {"--impl", "9", "--list-ops"},
        {"--impl", "linear=9", "--list-ops"},
        {"--device", "9", "cpu, ref"},
        {"--threshold", "9", "latency:TIME"},
        {"--threshold", "latency:9", "ns, us, ms"},
        {"--find-max-nodes", "9", "memory:4GiB"},
        {"--output", "9", "File name too long"},
        {"--trace", "9", "File name too long"},
        {"--dump", "9", "give each one value"},
        {"--against", "9", "needs an executable file"},
        {"--baseline", "9", "File name too long"},
        {"--graph", "file:9", "File name too long"},
        {"--9", "", "no such flag"},
        {"9", "", "not a flag"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char nines[1000], flag[1100], value[1100];
        memset(nines, '9', sizeof nines - 1);
        nines[sizeof nines - 1] = '\0';
        bool in_flag = !*list[i].value;
        const char *given = in_flag ? list[i].flag : list[i].value;
        snprintf(value, sizeof value, "%.*s%s", (int)strlen(given) - 1, given, nines);
        snprintf(flag, sizeof flag, "%s", in_flag ? value : list[i].flag);
        refuses_after(*state, BARE, MORE(flag, in_flag ? NULL : value), "99999", list[i].allowed);
    }
}

/* What nobody knows is answered with the nearest name that there is, and what is far from all with none. */
static void test_did_you_mean(void **state)
{
    static const struct bad list[] = {
        {"--model", "gsp", "did you mean gps?"},
        {"--model", "gin,graph_transfomer", "did you mean graph_transformer?"},
        {"--graph", "gird", "did you mean grid?"},
        {"--act", "rleu", "did you mean relu?"},
        {"--format", "SCV", "did you mean csv?"},
        {"--act", "GE", "did you mean gelu?"},
        {"--device", "cdua", "did you mean cuda?"},
        {"--format", "jsno", "did you mean json?"},
        {"--count", "valgrnd", "did you mean valgrind?"},
        {"--impl", "lienar=blas", "did you mean linear?"},
        {"--impl", "linear=reff", "did you mean ref?"},
    };
    refuses_all(*state, list, sizeof list / sizeof *list);
    refuses(*state, MORE("--noeds", "8"), "--noeds: ", "did you mean --nodes?");
    refuses(*state, MORE("--list-model"), "--list-model: ", "did you mean --list-models?");
    struct ended e = program_run(*state, "--zzz", NULL);
    assert_null(strstr(e.err, "did you mean"));
    ended_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axes),
        cmocka_unit_test(test_parts_and_files),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_combinations),
        cmocka_unit_test(test_solvers_of_the_build),
        cmocka_unit_test(test_unwritable_output),
        cmocka_unit_test(test_not_flags),
        cmocka_unit_test(test_strange_values),
        cmocka_unit_test(test_long_values),
        cmocka_unit_test(test_did_you_mean),
    };
    return cmocka_run_group_tests(tests, setup_with_result, house_teardown);
}
