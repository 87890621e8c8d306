/*
 * Times as documents that programs which track benchmarks read:
 *
 *     {"bench_model: step, 500 nodes": {"latency": {"value": 24e6, "lower_value": ..., "upper_value": ...}}}
 *
 * in ns, the metric format of Bencher (bencher.dev/docs/reference/bencher-metric-format), and
 *
 *     [{"name": "bench_model: step, 500 nodes", "unit": "ms", "value": 24.0, "range": "23.9 to 24.2"}]
 *
 * the list of github-action-benchmark, where smaller is better. Values are medians, with their 95 % intervals
 * if they have them, of rows that are ok. A name has the nodes and every other axis that is not the default
 * of its flag, in the order of the fields, so that it is that of the same configuration in any other sweep.
 */
#ifndef GTMARK_ANALYSIS_TRACKED_H
#define GTMARK_ANALYSIS_TRACKED_H

#include "analysis/tables/table.h"

/* github: the list; otherwise Bencher's object. */
void tracked_print(FILE *out, bool github, const struct value *head, const struct table_line *lines,
                   size_t n);

#endif
