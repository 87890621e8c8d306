/* SIGINT and SIGTERM: the first one asks the sweep to end in order, a second ends the program at once. */
#ifndef GTMARK_BENCH_INTERRUPT_H
#define GTMARK_BENCH_INTERRUPT_H

/* From now on a first signal is only noted. One that was ignored at the start (nohup) stays ignored. */
void interrupt_watch(void);

/* The signal that came; 0: none. */
int interrupt_signal(void);

#endif
