/* The encoding of a row's batch: computed once for all programs, and timed as a cost of its own. */
#ifndef GTMARK_BENCH_ENCODE_H
#define GTMARK_BENCH_ENCODE_H

#include "bench/cli/config.h"
#include "bench/time/sample.h"

struct encoded {
    bool tried;
    bool cancelled; /* by a signal or the deadline: then that is why there are no more samples, or none */
    struct encoding encoding; /* of the last sample; empty where there is none, as the error says */
    struct samples samples;
    struct message error;
    int64_t missed; /* see encoding_missed; -1: not known, as the message says */
    struct message not_compared;
};

/*
 * Computes the encoding of the configuration's batch unless that was tried before. It is computed again by
 * the rule of `sampling_enough`, until the deadline, of the clock; where no number of samples is asked for
 * also no longer than three times the seconds, since SAMPLES_MIN of a slow one may be long. True where there
 * is an encoding, from as many samples as are asked for, or none is asked for.
 */
bool encode(struct encoded *e, const struct options *o, const struct config *c, const struct batch *b,
            double seconds, double deadline);

void encoded_free(struct encoded *e);

#endif
