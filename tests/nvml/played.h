/*
 * A fake NVML that plays answers given by a test: a separate library, which the harness opens like the
 * driver's.
 *
 * It is built three times: nvml_whole.so, whose soname is libnvidia-ml.so.1, so that a program that has it
 * open finds it by that name; nvml_old.so, with the functions of very old drivers; nvml_part.so, without a
 * required function.
 */
#ifndef GTMARK_TESTS_NVML_PLAYED_H
#define GTMARK_TESTS_NVML_PLAYED_H

enum { PLAYED_MAX = 64 };

/* Answers in order; the last is repeated. */
struct played_answers {
    unsigned long long answers[PLAYED_MAX];
    int count, asked;
};

struct played {
    const char *bus; /* of the only GPU it knows; null: any GPU */
    int init_error;  /* returned by initialisation */
    int error;       /* returned by every query */
    int started;     /* initialisations minus shutdowns */
    unsigned memory_clock, temperature, power, divided, kernels_busy, memory_busy, power_limit, ecc,
        compute_mode, processes;
    struct played_answers clock, reasons;
    unsigned long long energy, energy_step; /* mJ: the counter, and its increment */
    int energy_every;                       /* increment on every n-th query; 0: never */
    int energy_asked;
};

/* The symbol of the library's data. */
#define PLAYED "played_nvml"

#endif
