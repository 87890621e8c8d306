/*
 * A comparison as one JSON document:
 *
 *     {"files": [{"file": "A", "path", "name", "rows", "commit"}, ...],
 *      "margin": 0.01, "same": 0.05,
 *      "pairs": [{"file": "B", "program": "step", "axes": {"nodes": 500, ...}, "baseline_axes": {"threads":
 * 1}, "baseline": {"status", "median", "ci95_low", "ci95_high", "n"}, "time": {the same}, "ratio", "low",
 * "high", "verdict", "reason"}, ...], "tally": [{"file": "B", "program": "step", "slower": 1, ..., "mean"},
 * ...]}
 *
 * Times are in seconds. A pair is a program of a row of a file and of its partner in the baseline: `axes` are
 * those of the row, `baseline_axes` the ones in which the partner differs. `mean` is the geometric mean of
 * the ratios. What is not known is null.
 */
#ifndef GTMARK_ANALYSIS_COMPARE_JSON_H
#define GTMARK_ANALYSIS_COMPARE_JSON_H

#include "analysis/compare/comparison.h"

#include <stdio.h>

void compare_json(FILE *out, const struct comparison *c);

#endif
