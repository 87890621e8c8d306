#include "bench/time/exchange.h"

#include "analysis/statistics/statistics.h"
#include "bench/base/clock.h"
#include "kernels/ranks.h"

struct laps {
    const struct tape *tape;
    double last, exposed;
};

static void add_lap(void *context, int entry)
{
    struct laps *l = context;
    double now = clock_now();
    if (op_info(tape_entry(l->tape, entry)->op)->exchange)
        l->exposed += now - l->last;
    l->last = now;
}

static double run_whole(struct tape *t)
{
    struct laps l = {.tape = t};
    tape_ready(t);
    l.last = clock_now();
    tape_run_marked(t, add_lap, &l);
    return l.exposed;
}

static double run_alone(struct tape *t)
{
    tape_ready_exchange(t);
    double start = clock_now();
    tape_run(t);
    return clock_now() - start;
}

/* Bytes through this rank's connection: of a reduction each moves 2 (n - 1) / n times. */
static double moved(const struct tape *t)
{
    double bytes = 0, ranks = tape_config(t)->part.ranks->count;
    for (int i = 0; i < tape_entry_count(t); i++) {
        const struct entry *e = tape_entry(t, i);
        bytes += (op_info(e->op)->sums ? 2 * (ranks - 1) / ranks : 1) * (double)e->sent;
    }
    return bytes;
}

void exchange_measure(struct tape *t, int runs, struct row_program *to)
{
    double alone[EXCHANGE_RUNS], exposed[EXCHANGE_RUNS], until = clock_now() + EXCHANGE_SECONDS;
    int n = 0;
    while (n == 0 || (n < EXCHANGE_RUNS && (runs ? n < runs : clock_now() < until))) {
        exposed[n] = run_whole(t);
        alone[n] = run_alone(t);
        n++;
    }
    to->communication.time = summarize(alone, n).median;
    to->communication.exposed = summarize(exposed, n).median;
    to->communication.bandwidth = 1e-9 * (moved(t) / to->communication.time);
}
