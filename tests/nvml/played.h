/*
 * An NVML that plays what a test wrote down: a library of its own, which the harness opens as it opens the
 * driver's.
 *
 * It is built three times: nvml_whole.so, which also calls itself libnvidia-ml.so.1, so that a program that
 * has it open finds it under that name; nvml_old.so, which has what drivers of long ago had; nvml_part.so,
 * which lacks what nothing works without.
 */
#ifndef GTMARK_TESTS_NVML_PLAYED_H
#define GTMARK_TESTS_NVML_PLAYED_H

enum { PLAYED_MAX = 64 };

/* Answers one after the other; the last is repeated. */
struct played_answers {
    unsigned long long answers[PLAYED_MAX];
    int count, asked;
};

struct played {
    const char *bus; /* of the only GPU it knows; null: it knows all */
    int init_error;  /* what starting it returns */
    int error;       /* what every question returns */
    int started;     /* times, less those it was shut down */
    unsigned memory_clock, temperature, power, divided, kernels_busy, memory_busy;
    struct played_answers clock, reasons;
    unsigned long long energy, energy_step; /* mJ: the counter, and by how much it moves on */
    int energy_every;                       /* at every so many-th question; 0: never */
    int energy_asked;
};

/* The library's own, under this name. */
#define PLAYED "played_nvml"

#endif
