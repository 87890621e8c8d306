/* Rows of a benchmark that runs in the test's own process, with faults that the test planted. */
#ifndef GTMARK_TESTS_PLANTED_H
#define GTMARK_TESTS_PLANTED_H

/* The first row; `reason` is why it is not ok, or if it is ok, the exceptions of the error rules. */
struct planted_row {
    int exit;
    char status[32], checked[32], encoding[256], reason[256]; /* encoding: how it was checked */
};

/* Runs a main, which has bench_main's parameters, with these words, split at blanks; its output is dropped.
 */
struct planted_row planted_run(int (*program)(int argc, char **argv), const char *words);

#endif
