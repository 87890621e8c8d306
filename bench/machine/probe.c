/*
 * Threads pass a number on in a ring, each waiting for its turn; the best of several laps counts, since an
 * interrupt can only prolong one. Multiply-adds are timed as a whole, since a thread of another guest on the
 * same core slows some of them only. A thread that is not running holds up the ring: after a millisecond all
 * give up, and that millisecond is the result. Then each thread writes some lines, as many as stay in its
 * own cache, and reads those of the next thread: their time depends on what other guests do to the caches and
 * the fabric between them, as that of the ping does not, which has one line on the way.
 */
#include "bench/machine/probe.h"

#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bench/base/clock.h"

enum { ROUNDS = 20, LAPS = 8, STEPS = 2048, REPEATS = 30, PATIENCE = 256, LINES = 4096, EXCHANGES = 4 };

struct line {
    _Alignas(64) unsigned number;
};

struct ring {
    _Alignas(128) atomic_int number; /* on a cache line of its own */
    _Alignas(128) atomic_bool over;
    double until;
};

/* Waits until the number is `value`. False if the time is over. */
static bool await_number(struct ring *r, int value)
{
    for (int spins = 1; atomic_load_explicit(&r->number, memory_order_acquire) != value; spins++) {
        if (spins % PATIENCE == 0 && clock_now() > r->until)
            atomic_store(&r->over, true);
        if (atomic_load_explicit(&r->over, memory_order_relaxed))
            return false;
    }
    return true;
}

/* Seconds from one thread to the next in the best lap of ROUNDS rounds, on thread 0; on others INFINITY. */
static double pass_round(struct ring *r)
{
    int me = omp_get_thread_num(), all = omp_get_num_threads(), value = me;
    double best = me == 0 ? PROBE_LIMIT : INFINITY;
    bool going = true;
    for (int lap = 0; lap < LAPS && going; lap++) {
        double start = clock_now();
        for (int i = 0; i < ROUNDS && (going = await_number(r, value)); i++, value += all)
            atomic_store_explicit(&r->number, value + 1, memory_order_release);
        if (going && me == 0)
            best = fmin(best, (clock_now() - start) / (ROUNDS * all));
    }
    return best;
}

/* Seconds to read a line of the next thread's; all threads of the team call it. lines[threads][LINES] */
static double share_lines(struct line *lines)
{
    int me = omp_get_thread_num(), next = (me + 1) % omp_get_num_threads();
    struct line *own = lines + (size_t)me * LINES;
    const struct line *others = lines + (size_t)next * LINES;
    double seconds = 0;
    unsigned sum = 0;
    for (int round = 0; round < EXCHANGES; round++) {
        for (unsigned i = 0; i < LINES; i++)
            own[i].number = i + sum;
#pragma omp barrier
        double start = clock_now();
        for (unsigned i = 0; i < LINES; i++)
            sum += others[i].number;
        seconds += clock_now() - start;
#pragma omp barrier
    }
    own->number = sum; /* so that no sum is left out */
    return seconds / (EXCHANGES * LINES);
}

struct probe probe_take(const struct peak *peak, int threads)
{
    struct ring ring = {.until = clock_now() + PROBE_LIMIT};
    bool passes = threads > 1 && threads <= omp_get_num_procs();
    struct line *lines =
        passes ? aligned_alloc(sizeof *lines, (size_t)threads * LINES * sizeof *lines) : NULL;
    double ping = INFINITY, fma = 0, sharing = 0;
#pragma omp parallel num_threads(threads) reduction(min : ping) reduction(max : fma, sharing)
    {
        ping = passes ? pass_round(&ring) : NAN;
        double start = clock_now();
        if (peak)
            peak->multiply_add(STEPS * REPEATS); /* the threads come from the ring at the same time */
        fma = peak ? (clock_now() - start) / REPEATS : NAN;
#pragma omp barrier
        sharing = !lines ? NAN : ring.over ? PROBE_LIMIT : share_lines(lines);
    }
    struct probe found = {{passes ? ping : NAN, peak ? fma : NAN, lines ? sharing : NAN}};
    free(lines);
    return found;
}
