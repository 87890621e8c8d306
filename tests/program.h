/*
 * Runs a program of the build as a user does, in a house of its own: a temporary checkout
 *
 *     ROOT/build/NAME    a copy of the program, of the build that the test belongs to
 *     ROOT/results       what makes ROOT a checkout
 *     ROOT/work          where the program runs
 *
 * Whatever the program writes, wherever it chooses to, is then below ROOT. What goes wrong here fails the
 * test.
 */
#ifndef GTMARK_TESTS_PROGRAM_H
#define GTMARK_TESTS_PROGRAM_H

#include <limits.h>
#include <sys/types.h>

struct house {
    char root[64], work[80], program[128];
};

/* Fixtures of a test group: *state is a house of bench_node_scaling, or of another program. */
int house_setup(void **state);
int house_of(void **state, const char *program);
int house_teardown(void **state);

/* Path, size and time of the last change of everything below the root, one line each. Free it. */
char *house_list(const struct house *h);

/* What a program left: the status of its exit, or 128 and the signal that ended it. */
struct ended {
    int status;
    char *out, *err;
};

/*
 * Starts the program: its arguments are `words`, split at blanks, then `more` up to its null (or none), after
 * --no-roofline if it is a benchmark, since calibrating takes seconds (a later --calibrate overrides it). A
 * program that is not waited for ends by itself after a minute.
 */
pid_t program_start(const struct house *h, const char *words, const char *const *more, int out, int err);
int program_wait(pid_t pid);

struct ended program_run(const struct house *h, const char *words, const char *const *more);
void ended_free(struct ended *e);

/* A compound literal for `more`. */
#define MORE(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
