/* What a plug-in reports in one run of a tape: sections, with their times, and values of its metrics. */
#ifndef GTMARK_BENCH_SECTIONS_H
#define GTMARK_BENCH_SECTIONS_H

#include "bench/base/message.h"
#include "kernels/plugin_rows.h"
#include "models/tape/tape.h"

enum { SECTION_NAME = 32, SECTION_METADATA = 128, SECTIONS_DEEP = 8, METRICS_MAX = 64 };

struct section {
    char name[SECTION_NAME], metadata[SECTION_METADATA];
    int entry, parent; /* of the tape; the section around it, -1: none */
    double begin, end; /* by clock_now, without the time of the call's reports before */
};

struct metric {
    char name[SECTION_NAME];
    bool mean; /* of what was recorded; otherwise the sum */
    double sum;
    int64_t count;
};

struct sections {
    struct section *list; /* in the order in which they were opened */
    int count;
    int open, depth;             /* the innermost open section, -1: none; how many are open */
    int entry;                   /* that is running */
    double now, reporting, look; /* of the last report; what reports of this call took; a look at the clock */
    struct metric metrics[METRICS_MAX];
    int metric_count;
    struct message
        fault; /* the first that the plug-in made: sections that do not nest, values that are none */
    struct plugin_listener listener;
};

/* Listens, from the next run on; s must stay where it is. To be ended. */
void sections_begin(struct sections *s, struct plugin *p);
void sections_end(struct sections *s, struct plugin *p);

/* Before another run: forgets the sections. Metrics go on. */
void sections_clear(struct sections *s);

/* Whether a tape has calls of a plug-in. */
bool sections_possible(const struct tape *t);

#endif
