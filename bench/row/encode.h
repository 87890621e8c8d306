/* The encoding of a row's batch: computed once for all programs, and timed as a cost of its own. */
#ifndef GTMARK_BENCH_ENCODE_H
#define GTMARK_BENCH_ENCODE_H

#include "bench/cli/config.h"
#include "bench/time/sample.h"

struct encoded {
    bool tried;
    bool cancelled;           /* by a signal or the deadline, which ended sampling early */
    struct encoding encoding; /* the last one computed; empty if none was, for the reason in error */
    struct samples samples;
    struct message error;
    int64_t missed; /* eigenvalues (encoding_missed); -1: not known, for the reason in not_compared */
    struct message not_compared;
};

/*
 * Computes and samples the encoding of the configuration's batch, unless an earlier call did. It is computed
 * repeatedly until sampling_enough or the deadline (clock time); without --runs also for at most three times
 * `seconds`, since SAMPLES_MIN samples of a slow one can take long. True if the encoding is there, sampled
 * as often as --runs asks for, or if the configuration has none.
 */
bool encode(struct encoded *e, const struct options *o, const struct config *c, const struct batch *b,
            double seconds, double deadline);

void encoded_free(struct encoded *e);

#endif
