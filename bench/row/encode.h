/* The encoding of a row's batch: one for all programs, and timed as a cost of its own. */
#ifndef GTMARK_BENCH_ENCODE_H
#define GTMARK_BENCH_ENCODE_H

#include "analysis/record/row.h"
#include "bench/cli/config.h"
#include "bench/flops/executed.h"
#include "bench/time/sample.h"
#include "models/encodings/check.h"

struct encoded {
    bool computed;            /* by this process */
    bool cancelled;           /* by a signal or the deadline, which ended sampling early */
    struct encoding encoding; /* the last one computed; empty if none was, for the reason in error */
    struct samples samples;
    struct message error;
    int64_t missed; /* eigenvalues (encoding_missed); -1: not known, for the reason in not_compared */
    struct message not_compared;
    bool is_checked;
    struct encoding_check check;
    struct message checked; /* how, for the row; empty if it was not, for the reason in check.unchecked */
};

/*
 * Takes a turn of the encoding of the configuration's batch: computes it again for each sample, without
 * warm-up. True if it is there, sampled as often as the rule's runs ask for, or if the configuration has
 * none.
 */
bool encode(struct encoded *e, const struct config *c, const struct batch *b, const struct sampling *rule);

/* Whether LapPE's check is known to find skipped pairs in graphs of this name: in tests/test_lappe_check.c it
 * finds 20 of 20 in each family with its default parameters, and in each shape. */
bool encode_check_is_proven(const char *family);

/* Fills e->check and e->checked, once; later calls do nothing. */
void encode_check(struct encoded *e, const struct config *c, const struct batch *b,
                  const struct check_options *o, struct cancel cancel);

/* Sets a computed encoding in a row, with its cost, without its time. */
void encode_write(struct row *row, const struct encoded *e, const struct encoding_config *c, bool uploaded);

/* Counts the FLOPs that computing it executes, for the row. */
void encode_count(struct row *row, const struct encoded *e, const struct config *c, const struct batch *b,
                  struct executed_request how);

void encoded_free(struct encoded *e);

#endif
