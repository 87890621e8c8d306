/* Why a GPU lowers its clocks, and what happens to the samples taken meanwhile. */
#ifndef GTMARK_BENCH_THROTTLE_H
#define GTMARK_BENCH_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

struct throttle_reason {
    uint64_t bit; /* of NVML */
    const char *name;
    bool spoils; /* samples */
};

/* What slows down a busy GPU, without idleness and clocks set by the user. Ends with a null name. */
extern const struct throttle_reason throttle_reasons[];

enum { THROTTLE_TEXT = 160 };

/* The names of these reasons, "power cap, thermal"; "none" without any. */
void throttle_text(uint64_t reasons, char text[THROTTLE_TEXT]);

enum fate { FATE_KEPT, FATE_DISCARDED, FATE_KEPT_THROTTLED };

/* How often samples of one program are discarded at most. */
enum { DISCARDS_MAX = 10 };

/*
 * What happens to samples at whose end the clocks were low for these reasons, if samples were discarded
 * `discards` times before; time_left: there is time to take them again.
 */
enum fate throttle_judge(uint64_t reasons, int discards, bool time_left);

#endif
