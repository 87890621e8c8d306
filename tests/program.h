/*
 * Runs a program of the build as a user would, in a temporary checkout, called a house:
 *
 *     ROOT/build/NAME        a copy of the program, from the test's own build
 *     ROOT/kernels/ops.def   what makes ROOT a checkout
 *     ROOT/results
 *     ROOT/work              the program's working directory
 *
 * Everything the program writes, wherever it decides to, is then below ROOT. Errors here fail the test.
 */
#ifndef GTMARK_TESTS_PROGRAM_H
#define GTMARK_TESTS_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct house {
    char root[64], work[80], program[128];
    bool charts; /* whether a benchmark draws charts, which takes longer than its rows; false unless a test
                    sets it */
};

/* Fixtures of a test group: *state is a house with bench_node_scaling, or with another program of the build:
 * "compare", "tests/test_x". */
int house_setup(void **state);
int house_of(void **state, const char *program);
int house_teardown(void **state);

/* Path, size and modification time of everything below the root, one per line. Free it. */
char *house_list(const struct house *h);

/* The result of a program: its exit status, or 128 plus the signal that ended it. */
struct ended {
    int status;
    char *out, *err;
};

/* The path of what the build has under this name, from that of the test program: build/tests/test_x ->
 * build/NAME. */
void program_path(char path[PATH_MAX], const char *name);

/*
 * Starts the program with the arguments `words`, split at blanks, then `more` up to its null (or none), after
 * the flags that make benchmarks short unless the arguments have them: --no-roofline, --budget 0.1 and
 * --warmup 1 (not with --dry-run, whose output depends on them), and --no-charts unless the house has charts.
 * A program that is not waited for is killed after four minutes. Leaks are looked for only by program_run, in
 * long tests.
 */
pid_t program_start(const struct house *h, const char *words, const char *const *more, int out, int err);
int program_wait(pid_t pid);

struct ended program_run(const struct house *h, const char *words, const char *const *more);
void ended_free(struct ended *e);

/* Runs the program, which must end with this status and have these texts in its output and its errors. */
void assert_ends(const struct house *h, const char *words, int status, const char *out, const char *err);

/* A compound literal for `more`. */
#define MORE(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
