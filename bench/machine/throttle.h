/* Why a GPU lowers its clocks, and what becomes of the samples that were taken meanwhile. */
#ifndef GTMARK_BENCH_THROTTLE_H
#define GTMARK_BENCH_THROTTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct throttle_reason {
    uint64_t bit; /* as NVML numbers it */
    const char *name;
    bool spoils; /* samples */
};

/* The reasons that slow a busy GPU down; the list ends with a null name. That it is idle or keeps to clocks
 * set by the user is none. */
extern const struct throttle_reason throttle_reasons[];

enum { THROTTLE_TEXT = 160 };

/* The names of these reasons, "power cap, thermal"; "none". */
void throttle_text(uint64_t reasons, char text[THROTTLE_TEXT]);

enum fate { FATE_KEPT, FATE_DISCARDED, FATE_KEPT_THROTTLED };

/* Samples are discarded so often while a program is sampled, then no more. */
enum { DISCARDS_MAX = 10 };

/*
 * What becomes of samples at whose end the clocks were low for these reasons, when samples were discarded
 * `discards` times before; time_left: there is time to take them again.
 */
enum fate throttle_judge(uint64_t reasons, int discards, bool time_left);

#endif
