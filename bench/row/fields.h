/* The fields of a row that say what was to be measured, and those of its encoding. */
#ifndef GTMARK_BENCH_FIELDS_H
#define GTMARK_BENCH_FIELDS_H

#include "analysis/record/row.h"
#include "bench/row/encode.h"

/* What defines the work, and where it runs. */
void fields_config(struct row *row, const struct config *c, const struct options *o);

/* The encoding of the batch, if the configuration has one, and what its computation took; e null: it was not
 * computed.
 */
void fields_encoding(struct row *row, const struct encoded *e, const struct config *c, const struct batch *b,
                     bool uploaded);

/* After how many runs of a program the encoding is a hundredth of the time; of programs that the row has
 * times of. */
void fields_break_even(struct row *row);

#endif
