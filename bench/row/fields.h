/* The fields of a row that describe the configuration, and those of its encoding. */
#ifndef GTMARK_BENCH_FIELDS_H
#define GTMARK_BENCH_FIELDS_H

#include "analysis/record/row.h"
#include "bench/row/encode.h"
#include "models/encodings/bound.h"

/* The work, and the device it runs on. */
void fields_config(struct row *row, const struct config *c, const struct options *o);

/* A computed encoding and its cost, without its time. */
void fields_encoding(struct row *row, const struct encoded *e, const struct encoding_config *c,
                     bool uploaded);

/* What is known of an encoding without computing it: bounds, and its stored bytes. */
void fields_encoding_bound(struct row *row, const struct encoding_bound *b, int64_t storage);

/* After how many runs the encoding is 1 % of the total time, for each program with times. */
void fields_break_even(struct row *row);

#endif
