/*
 * Time that a program loses to others: its threads are ready to run, and do not, because another program or
 * thread has the processor, or the host of a virtual machine runs another guest.
 */
#ifndef GTMARK_BENCH_LOST_H
#define GTMARK_BENCH_LOST_H

/* So far, in seconds; NAN: the kernel does not say. */
struct lost {
    double waited;       /* of this process, of all its threads together */
    double stolen, busy; /* of all processors of the machine: by other guests, and not idle */
};

/* `root` is put before /proc, normally "". */
struct lost lost_now(const char *root);

/*
 * The most that may have been lost of the seconds between two looks, as a share, at most 1; NAN: not known.
 * Threads wait for one another, so the waits of all of them are added: while one waits at a time, nothing
 * else goes on, and only what two wait at once is added twice. Of what the host took, its share of the time
 * in which processors were wanted.
 */
double lost_share(const struct lost *start, const struct lost *end, double seconds);

#endif
