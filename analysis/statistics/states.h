/*
 * States of the machine. A virtual machine's processors are moved about: two of them may share a core, a
 * cache or neither, for seconds or minutes at a time, and a program's time depends on it. A sweep measures
 * each program in turns, with a probe of the machine before and after every turn. The probes of a run tell
 * its states apart, and a program is reported in a state that has more than half of its turns, else in all. A
 * core that is shared with another guest's thread executes multiply-adds a little slower, which makes a state
 * of its own. Where other guests use the same caches and the fabric between them, data takes longer from
 * thread to thread.
 */
#ifndef GTMARK_ANALYSIS_STATES_H
#define GTMARK_ANALYSIS_STATES_H

#include <stdbool.h>
#include <stddef.h>

/* What a probe measures, in seconds: a cache line passing from thread to thread, a fixed number of
 * multiply-adds on all threads, and a line of many that another thread has just written, read by all threads
 * at once. NAN: not measured. */
enum { PROBE_PING, PROBE_FMA, PROBE_SHARING, PROBE_PARTS };
struct probe {
    double seconds[PROBE_PARTS];
};
extern const char *const probe_parts[PROBE_PARTS]; /* their names in records */

/* A ping that takes this many seconds was given up: a thread was not running. No turn beside such a probe is
 * in any state. */
#define PROBE_LIMIT 1e-3

/* A turn: some samples in a row, and the probes around them. */
struct turn {
    size_t samples;
    struct probe before, after;
};

/* The samples of all turns, in the order taken. */
struct turns {
    size_t count;
    const struct turn *list;
    const double *samples;
};

enum { BORDERS_MAX = 7, BORDER_SIDE = 3 };

/* The values, ascending, that separate the clusters of some probes. */
struct borders {
    size_t count;
    double at[BORDERS_MAX];
};

/*
 * Borders in the gaps between positive values[n], which it sorts. A gap is a border if it is wider, on a
 * logarithmic scale, than three times the extent of the nearest quarter of the values on either side, and a
 * quarter of the smaller value; each side must have at least BORDER_SIDE values.
 */
struct borders borders_find(double *values, size_t n);

/* The cluster of a value: the number of borders below it. */
size_t borders_locate(const struct borders *b, double value);

/*
 * The borders of each part of the probes, and for each cluster of multiply-adds the time that they do not
 * exceed on cores of the guest's own: (first quartile / least)^4 of the least, at least 0.2 % above it. A
 * turn's multiply-adds are the quicker ones of its two probes, since an interrupt prolongs only one of them.
 */
struct states {
    struct borders part[PROBE_PARTS];
    double unshared[BORDERS_MAX + 1]; /* INFINITY: not measured */
};

/* The states in the probes around turns[n]; parts that were not measured have none. */
struct states states_find(const struct turn *turns, size_t n);

/* Whether two probes are in the same state. */
bool states_same(const struct states *s, const struct probe *a, const struct probe *b);

/* Whether multiply-adds that take so long show that the cores were shared. */
bool states_shared(const struct states *s, double multiply_adds);

/* Whether the state did not change during a turn, and was that of `other`. */
bool states_holds(const struct states *s, const struct turn *t, const struct turn *other);

/* A turn of the state with the most turns, the first of several such states; null if no turn is in one. */
const struct turn *states_best_filled(const struct states *s, const struct turn *turns, size_t n);

/* Medians over the turns that count (null: all) of the probes before and after, of multiply-adds of the
 * quicker one; NAN for parts that were not measured. */
struct probe states_median(const struct turn *turns, size_t n, const bool *counts);

/* Which turns are reported. */
struct reported {
    size_t turns, others; /* reported, and left out: in other states, or while the state changed */
    double *medians;      /* of each reported turn, in order */
    bool *is_reported;    /* of each turn */
    struct probe state;   /* medians over the turns of the fullest state; over all if there is none */
    bool stateless;       /* no turn was in one state */
    bool settled;         /* they are of one state, or as fast as its turns: their median has an interval */
};

/* Fewest turns whose median has an interval: the extremes of 6 enclose it with only 96.9 %, and two such
 * ranges have less than 95 % together. */
enum { REPORTED_MIN = 7 };

/* Whether so many turns of all that were taken stand for them: a minority would be the worst estimate of any.
 */
bool reported_suffices(size_t turns, size_t all);

/*
 * Chooses the state with the most turns, if they suffice; others are left out unless the program takes the
 * same time in them: their median is between the quartiles of those chosen. Else all turns are reported. To
 * be freed by reported_free.
 */
struct reported reported_choose(const struct turns *t, const struct states *s);
void reported_free(struct reported *r);

/* The same turns for other samples of theirs, such as the time of one phase. To be freed by reported_free. */
struct reported reported_part(const struct turns *t, const struct reported *whole);

/* The median of the reported turns' medians. */
double reported_median(const struct reported *r);

/* The values of the reported turns; values[] has one per sample. To be freed. */
double *reported_values(const struct turns *t, const struct reported *r, const double *values, size_t *n);

#endif
