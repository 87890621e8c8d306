/* The sentences that findings consist of. */
#ifndef GTMARK_ANALYSIS_SENTENCES_H
#define GTMARK_ANALYSIS_SENTENCES_H

#include "analysis/fits/fits.h"
#include "analysis/record/row.h"

#include <stdio.h>

/* A record, and the fits of its rows. */
struct facts {
    const struct rows *rows;
    const struct fits *fits;
};

/* Writes sentences, one a line, or nothing if the record has none of this kind. */
typedef void sentences(FILE *out, const struct facts *facts);

/* Whether time follows work along an axis; of layers, whether it is linear; of batches, whether the
 * throughput saturates. */
sentences sentences_sweep;

/* What other ways of batching would compute for the largest batch. */
sentences sentences_batching;

/* Where one variant overtakes another, or runs out of memory. */
sentences sentences_crossings;

/* The row with the most work: time, memory and share of the roofline. */
sentences sentences_largest;

/* The parts of the step of a single configuration, and of its first answer. */
sentences sentences_parts;

/* The dearest op of the largest training step that was profiled. */
sentences sentences_profile;

/* What checkpoints save of memory and cost in time. */
sentences sentences_checkpoints;

/* How efficient several ranks are, against one. */
sentences sentences_ranks;

/* Which way to share the work among ranks is predicted to be best. */
sentences sentences_ways;

/* The fastest kernel, and the one furthest from its roofline. */
sentences sentences_kernels;

/* The dearest encoding by time, and when encodings pay off. */
sentences sentences_encodings;

/* How many rows passed the check, and how many are noisy. */
sentences sentences_checks;

/* Whether a program of a row has a time that supports findings. */
bool is_settled(const struct row *row, const char *program);

/* The row's values of the varying axes without op and variant, which may be none; and the same, or its nodes
 * if there are none. */
void describe_axes(const struct facts *facts, const struct row *row, char text[AXES_TEXT]);
void describe_row(const struct facts *facts, const struct row *row, char text[AXES_TEXT]);

#endif
