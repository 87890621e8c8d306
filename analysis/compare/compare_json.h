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
#ifndef GTMARK_ANALYSIS_COMPARE_JSON_H
#define GTMARK_ANALYSIS_COMPARE_JSON_H

#include "analysis/compare/exact.h"

#include <stdio.h>

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

#endif
