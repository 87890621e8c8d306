/* The sentences that findings consist of. */
#ifndef GTMARK_ANALYSIS_SENTENCES_H
#define GTMARK_ANALYSIS_SENTENCES_H

#include "analysis/fits/fits.h"
#include "analysis/record/record.h"
#include "analysis/statistics/allocate.h"

/* A record, its rows and their fits. */
struct facts {
    const struct record *record;
    const struct rows *rows;
    struct fits fits;
};

/* How many rows a sentence rests on, of how many: all, unless it sets that. None: it is of plans. */
struct basis {
    size_t rows, of;
};

/*
 * Writes one sentence, or nothing if the rows show nothing of this kind or leave it open. Returns how much it
 * weighs: of several records that of the largest is told. 0: nothing was written.
 */
typedef double sentence(FILE *out, const struct facts *facts, struct basis *basis);

/* How time grows, and in which range; weighs the work of the largest row. */
sentence sentence_growth;

/* What bounds the program with the most work, and the op to work on; of single ops, the one that could gain
 * most. */
sentence sentence_bound;

/* The memory of the largest program, what saves some of it, and what would fill the machine's. */
sentence sentence_memory;

/* How efficient the most ranks are, or which way to share the work is predicted to be best. */
sentence sentence_ranks;

/* Where one variant overtakes another or runs out of memory, or which is faster everywhere. */
sentence sentence_variants;

/* After how many runs every encoding has paid off. */
sentence sentence_encodings;

/* How many rows of several records to distrust, and why; where most of them are, if there are several. False:
 * none, and nothing was written. */
bool sentence_doubts(FILE *out, const struct facts *facts, const char *const *names, size_t n);

/* A line for each work whose time is predicted for several ways. */
void ways_write(FILE *out, const struct rows *rows);

/* Whether a text is there, and not empty. */
bool has_text(const char *text);

/* Whether a program of a row, or its encoding, has a time that supports findings. */
bool is_settled(const struct row *row, size_t kind);

/* The row, among those that `use` accepts, with the most work in training steps, or else in inference;
 * *kind: which of them, *work: its FLOPs. Null if there is none. */
const struct row *row_of_most_work(const struct rows *rows, bool (*use)(const struct row *, size_t),
                                   size_t *kind, double *work);

/* "a training step" or "inference". */
const char *subject_of(size_t kind);

/* The row's values of the varying axes, without op and variant and what presets determine; if there are none,
 * its preset or size. */
void describe_row(const struct rows *rows, const struct row *row, char text[AXES_TEXT]);

#endif
