/* The fields of what several ranks exchange: measured, predicted, and by how much the prediction is wrong. */
#ifndef GTMARK_BENCH_FIELDS_EXCHANGE_H
#define GTMARK_BENCH_FIELDS_EXCHANGE_H

#include "bench/row/result.h"

void fields_exchange(struct row *row, enum program_kind kind, const struct program_result *p);

#endif
