/*
 * A parallel radix sort from the least significant digit (Zagha and Blelloch, "Radix sort for vector
 * multiprocessors", Supercomputing 1991): in each pass every thread counts the digits of its share, a prefix
 * sum over digits and threads gives the destinations, and every thread moves its share. The cost of a pass
 * does not depend on the distribution of the words, and each pass is stable, so the result does not depend on
 * how the work is divided.
 *
 * A digit is a window of the word that begins at the lowest bit of the mask that has not been sorted by; bits
 * of the window outside of the mask count as zero.
 */
#include "graphs/radix.h"

#include <omp.h>
#include <stdlib.h>

enum {
    DIGIT_BITS = 11, /* 2048 destinations: they fit the second-level cache and TLB */
    DIGITS = 1 << DIGIT_BITS,
    PARALLEL_FROM = 1 << 14 /* words from which starting threads pays off */
};

/* Turns counts[thread][digit] into the destination of each thread's first word of each digit. */
static void counts_to_places(int64_t *counts, int threads)
{
    int64_t place = 0;
    for (int digit = 0; digit < DIGITS; digit++)
        for (int t = 0; t < threads; t++) {
            int64_t count = counts[t * DIGITS + digit];
            counts[t * DIGITS + digit] = place;
            place += count;
        }
}

/* Sorts `count` words stably by their digit, (word >> shift) & digits. */
static void radix_pass(const uint64_t *from, uint64_t *to, int64_t count, int shift, uint64_t digits,
                       int64_t *counts, int most_threads)
{
#pragma omp parallel num_threads(most_threads)
    {
        int threads = omp_get_num_threads(), thread = omp_get_thread_num();
        int64_t first = count * thread / threads, end = count * (thread + 1) / threads;
        int64_t *place = counts + thread * DIGITS;
        for (int digit = 0; digit < DIGITS; digit++)
            place[digit] = 0;
        for (int64_t i = first; i < end; i++)
            place[from[i] >> shift & digits]++;
#pragma omp barrier
#pragma omp single
        counts_to_places(counts, threads);
        for (int64_t i = first; i < end; i++)
            to[place[from[i] >> shift & digits]++] = from[i];
    }
}

static void copy_words(uint64_t *to, const uint64_t *from, int64_t count)
{
#pragma omp parallel for if (count >= PARALLEL_FROM)
    for (int64_t i = 0; i < count; i++)
        to[i] = from[i];
}

bool radix_sort(uint64_t *word, int64_t count, uint64_t mask, struct cancel cancel)
{
    int threads = count < PARALLEL_FROM ? 1 : omp_get_max_threads();
    int64_t *counts = reallocarray(NULL, (size_t)threads * DIGITS, sizeof *counts);
    uint64_t *spare = reallocarray(NULL, (size_t)count, sizeof *spare), *from = word, *to = spare;
    bool room = counts && spare;
    bool going = true;
    while (room && mask && going) {
        int shift = __builtin_ctzll(mask);
        uint64_t digits = mask >> shift & (DIGITS - 1);
        radix_pass(from, to, count, shift, digits, counts, threads);
        uint64_t *sorted = to;
        to = from;
        from = sorted;
        mask &= ~(digits << shift);
        going = !is_cancelled(cancel);
    }
    if (room && from != word)
        copy_words(word, from, count);
    free(counts);
    free(spare);
    return room && going;
}
