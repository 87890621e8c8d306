#ifndef GTMARK_BENCH_CLOCK_H
#define GTMARK_BENCH_CLOCK_H

/* Seconds: of the monotonic clock; of CPU time of the whole process, all threads. */
double clock_now(void);
double clock_cpu(void);

#endif
