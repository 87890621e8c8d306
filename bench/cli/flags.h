/*
 * The table of flags: the one list of what a command line may say beside the axes. A flag is a row: where its
 * value goes in the options, and what is allowed.
 */
#ifndef GTMARK_BENCH_FLAGS_H
#define GTMARK_BENCH_FLAGS_H

#include <stddef.h>

#include "bench/cli/options.h"

/* In the order of --help. */
enum flag_group { WHERE, WHAT, SAMPLES, OUTPUT, LIMITS, GATES, ABOUT, FLAG_GROUPS };

enum flag_kind {
    FLAG_ON, /* bool, without a value: true */
    FLAG_OFF,
    FLAG_ACTION,  /* enum action, without a value */
    FLAG_WHOLE,   /* int in [min, max] */
    FLAG_NUMBER,  /* double in [min, max] */
    FLAG_SECONDS, /* double in [min, max]: a time with its unit, or a bare number of seconds */
    FLAG_SIZE,    /* double: bytes */
    FLAG_CHOICE,  /* enum: index among the choices */
    FLAG_PATH,    /* const char *: not empty */
    FLAG_OTHER    /* by a reader of its own */
};

struct flag {
    enum flag_group group;
    const char *name, *argument; /* argument null: the flag stands alone */
    const char *help;
    enum flag_kind kind;
    size_t field; /* of struct options: its offset */
    double min, max;
    const char *what;           /* the noun of a value: "seconds" */
    const char *const *choices; /* null past the last */
    enum action action;
    bool repeats; /* may be given more than once */
    bool (*read)(struct options *o, const char *value, struct message *error);
};

/* Null past the last. */
const struct flag *flag_at(int index);

/* Reads a value (null for a flag that stands alone) into the options; false with a message that says what is
 * allowed. */
bool flag_read(const struct flag *f, struct options *o, const char *value, struct message *error);

#endif
