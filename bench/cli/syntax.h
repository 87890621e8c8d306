/* The syntax of a command line: a table of flags, by which arguments are read and the help is printed. */
#ifndef GTMARK_BENCH_SYNTAX_H
#define GTMARK_BENCH_SYNTAX_H

#include <stddef.h>
#include <stdio.h>

#include "bench/base/message.h"

enum { FLAGS_MAX = 128 };

enum flag_kind {
    FLAG_ON, /* bool, without a value: true */
    FLAG_OFF,
    FLAG_SET,     /* int or enum, without a value: `value` */
    FLAG_WHOLE,   /* int in [min, max] */
    FLAG_SHARE,   /* double in [0, 1]: "0.02" or "2%" */
    FLAG_SECONDS, /* double in [min, max]: a time with its unit, or a bare number of seconds */
    FLAG_SIZE,    /* double: bytes */
    FLAG_CHOICE,  /* enum: `value` and the index among the choices */
    FLAG_PATH,    /* const char *: not empty */
    FLAG_LIST,    /* `read` is called for each item of a comma list */
    FLAG_OTHER    /* `read` is called with the value */
};

struct argument;

struct flag {
    int group;                   /* index into the headings of the help */
    const char *name, *argument; /* argument: what the help calls the value; null: takes none */
    const char *help;
    enum flag_kind kind;
    size_t field; /* offset in the options */
    double min, max;
    const char *what;           /* what a value is: "a whole number", "the name of a file" */
    const char *const *choices; /* null past the last */
    int value;
    bool repeats;         /* may be given more than once */
    bool unlisted;        /* not in the help: means nothing in this program */
    const char *standard; /* default that the help appends; null: none */
    const char *former;   /* its name in the version before, which answers too; null: the same */
    bool (*read)(const struct argument *a, struct message *error);
};

/* A flag of the command line, with its value (null if it takes none) and the options to change. */
struct argument {
    const struct flag *flag;
    void *options;
    const char *value;
};

/* A flag of other tools, and what to give instead; for programs that have the first flag that it names. */
struct hint {
    const char *name, *instead;
};
extern const struct hint hints[]; /* name null past the last */

struct syntax {
    const char *name, *doc;
    const char *operands; /* arguments that are not flags: "FILE.json [PREFIX]"; null: there are none */
    const char *needs;    /* the least number of operands in words: "two result files at least" */
    const char *limit;    /* the greatest: "at most 16 files" */
    int fewest, most;
    const char *const *headings; /* of groups, null past the last; null: there are no groups */
    const struct flag *flags;    /* name null past the last; FLAGS_MAX at most with it */
    const char *notes;           /* of the help; null: none */
    const char *const *examples; /* arguments of examples in the help, null past the last; null: none */
    const char *status;          /* in the help, what the exit status means; null: none */
};

/* Reads the arguments after the first into the options; "--" ends the flags. Returns the number of operands,
 * which are moved to argv[1] and on; -1 with a message that names the flag, the value and what is allowed. */
int syntax_read(const struct syntax *s, void *options, int argc, char **argv, struct message *error);

void syntax_help(const struct syntax *s, FILE *out);

#endif
