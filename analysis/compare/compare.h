/* A comparison told: as a table with the text around it, as JSON, and as charts. */
#ifndef GTMARK_ANALYSIS_COMPARE_H
#define GTMARK_ANALYSIS_COMPARE_H

#include "analysis/compare/crossing.h"
#include "analysis/compare/exact.h"

/* "Zen 4", or the whole name; if another file has the same name, "machine/bench" for
 * results/machine/bench.json. */
void compare_label(char text[AXES_TEXT], const struct comparison *c, size_t file);

/* "inference", "training step", "kernel", "encoding". */
const char *compare_program(size_t kind);

/* The axes in which rows of one file differ. */
size_t compare_axes(const struct comparison *c, const struct field *axes[AXES_MAX]);

/* Whether no other file is faster in this line, but at least one is slower. */
bool compare_is_best(const struct comparison *c, size_t line, size_t program, size_t file);

/* A line for each row and program, with the axes in which the lines differ, a time for each file, the best
 * marked, and of two files the ratio, and the verdict with its interval. */
void compare_table(FILE *out, enum table_style style, const struct comparison *c);

/* One line for each file, and the differences in how they were built and run. */
void compare_files(FILE *out, const struct comparison *c);

/* The number of verdicts of each kind, and the geometric mean of the ratios, for each file and program. */
void compare_means(FILE *out, const struct comparison *c);

/* A line for each program that is faster or slower and was profiled in both files: the ops with the largest
 * differences. An op has no interval of its own; the verdict is the program's. */
void compare_profiles(FILE *out, const struct comparison *c);

/* For each two files, program, numeric axis and values of the other axes: the second file over the first. */
struct crossings compare_crossings(const struct comparison *c);

/*
 * A line for each where the verdict changes once: "step: Zen 4 is 1.05 times faster than Zen 3 at 100 nodes,
 * 1.28 times slower at 5000; they cross near 250". Nothing where it does not change, or where the rows leave
 * that open.
 */
void compare_flips(FILE *out, const struct comparison *c);

/* Whether row i of a file is not ok or has no partner: then text[MESSAGE_SIZE] says which. */
bool compare_lacks(const struct comparison *c, size_t file, size_t i, char *text);

/* The rows of a file that are not ok, unchecked, or without a partner. */
void compare_left_over(FILE *out, const struct comparison *c, size_t file);

/* Prints a comparison of two: table, means, and leftover rows of the lead. Returns the tally of all pairs. */
struct tally compare_two(FILE *out, const struct comparison *c);

/*
 * A comparison as one JSON document:
 *
 *     {"files": [{"file": "A", "path", "name", "rows", "commit"}, ...],
 *      "margin": 0.01, "same": 0.05,
 *      "pairs": [{"file": "B", "program": "step", "axes": {"nodes": 500, ...}, "baseline_axes": {"threads":
 * 1}, "baseline": {"status", "runs", "median", "low", "high", "n"}, "time": {the same}, "ratio", "low",
 * "high", "verdict", "reason"}, ...], "tally": [{"file": "B", "program": "step", "slower": 1, ..., "mean"},
 * ...]}
 *
 * Times are in seconds. A pair is a program of a row of a file and of its partner in the baseline: `axes` are
 * those of the row, `baseline_axes` the ones in which the partner differs. `mean` is the geometric mean of
 * the ratios. `median` is over runs if there are several; interval and `n` are then null, as what is not
 * known.
 */
void compare_json(FILE *out, const struct comparison *c);

/*
 * What is planned, of two files:
 *
 *     {"files": [the same], "equal": 60, "more": 1, "less": 0, "not_compared": 0, "no_longer_ok": 0,
 *      "rows": [{"file": "A", "axes", "reason": "not in B (nodes 500, not 1000)"}, ...],
 *      "differences": [{"program": "step", "axes", "figure": "memory", "unit": "B", "baseline", "value",
 *                       "verdict": "more", "entry": "layer1.ffn linear"}, ...]}
 *
 * `entry` is the first of the tape that grew, if both files have profiles. A figure that one file lacks is
 * null there and "not compared"; `rows` are those without a partner or not ok.
 */
void compare_json_exact(FILE *out, const struct comparison *c, const struct exact *found);

/* Draws the matched rows over the swept axis, a line for each file, as PREFIX_forward and PREFIX_step, and
 * PREFIX_ratio, of each two files; message[MESSAGE_SIZE] as figures_draw does. */
enum chart_result compare_chart(const struct comparison *c, const char *prefix, char *message);

enum { OVERVIEW_MAX = 512 }; /* files */

/*
 * Compares the files of the same name, MACHINE/NAME.jsonl, and prints a table with a column for each machine,
 * and for each name the rows, or of many rows their geometric mean alone; then where the order of two
 * machines flips, and what has no partner. `ignored`: as comparison_load. `build`: the version of this build.
 * False with one line in error[MESSAGE_SIZE] if a file cannot be read, or if there are more than COMPARED_MAX
 * machines.
 */
bool overview_print(FILE *out, const char *const *paths, size_t count, const char *const *ignored,
                    const char *build, char *error);

#endif
