/* SIGHUP, SIGINT, SIGQUIT and SIGTERM: the first asks for an orderly end, the second ends the program. */
#ifndef GTMARK_BENCH_INTERRUPT_H
#define GTMARK_BENCH_INTERRUPT_H

/* Installs the handlers. A signal that is ignored when the program starts (nohup) stays ignored. */
void interrupt_watch(void);

/* The signal that was caught; 0: none. */
int interrupt_signal(void);

const char *interrupt_name(void); /* of it */

#endif
