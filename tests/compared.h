/* Result files for the program compare, and what it prints. */
#ifndef GTMARK_TESTS_COMPARED_H
#define GTMARK_TESTS_COMPARED_H

#include "analysis/record/record.h"
#include "tests/program.h"
#include "tests/records.h"

enum { SAMPLES = 12 }; /* of a program */

/* Numbers of nodes, terminated by 0. */
extern const int64_t three[];

/* A row whose programs take this many seconds, with correlated noise of 0.5 %. */
struct row *timed_row(int64_t nodes, double forward, double step);

/*
 * A record of a processor, with rows of these nodes, terminated by 0; the step takes `slower` times as long.
 */
struct record *machine(const char *cpu, const int64_t *nodes, double slower);

/* Writes the record to the house's work directory and frees it. */
void save(const struct house *h, const char *name, struct record *record);

void assert_says(const char *out, const char *text);

/* Runs compare, which must exit with `status` and say `missed` on stderr, and returns its stdout, allocated.
 */
char *compare_missed(const struct house *h, const char *words, int status, const char *missed);

/* Runs compare, which must exit with `status`, and returns its stdout, allocated. */
char *compare(const struct house *h, const char *words, int status);

/* The number of occurrences of a text, in which lines may be broken. */
size_t occurrences(const char *out, const char *text);

#endif
