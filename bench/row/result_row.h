/* The row of the result file that a result becomes. */
#ifndef GTMARK_BENCH_RESULT_ROW_H
#define GTMARK_BENCH_RESULT_ROW_H

#include "bench/row/result.h"

/* The row: complete by the schema; null with a reason if not measured. The outcome stands for that of *r. */
struct row *result_row(const struct result *r, const struct outcome *outcome);

#endif
