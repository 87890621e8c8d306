/* Numbers with units, as values of flags: "8GiB", "100ms", "1000/s", "1e-4". */
#ifndef GTMARK_BENCH_QUANTITY_H
#define GTMARK_BENCH_QUANTITY_H

#include <stdbool.h>

enum quantity_kind {
    QUANTITY_BYTES,
    QUANTITY_SECONDS,
    QUANTITY_PER_SECOND, /* graphs */
    QUANTITY_NODES_PER_SECOND,
    QUANTITY_EDGES_PER_SECOND,
    QUANTITY_FLOP,
    QUANTITY_FLOP_PER_SECOND,
    QUANTITY_BYTES_PER_SECOND,
    QUANTITY_LINK_RATE, /* bytes a second, also as bits */
    QUANTITY_RATIO,
    QUANTITIES
};

/* Reads a positive number with one of the quantity's units, as bytes, seconds, FLOPs, 1/s or bare. */
bool quantity_parse(const char *text, enum quantity_kind q, double *value);

/* The same, and 0. */
bool quantity_parse_or_zero(const char *text, enum quantity_kind q, double *value);

/* What is allowed: "a number with B, KiB, MiB, GiB or TiB, as in 8GiB". */
const char *quantity_allowed(enum quantity_kind q);

/* Formats a value: three digits and a unit. */
enum { QUANTITY_TEXT = 64 };
void quantity_format(char text[QUANTITY_TEXT], double value, enum quantity_kind q);

/* --- numbers with the suffixes K, M and G, powers of 1000, as flags take them: "16k" */

/* Reads the number that a text begins with; returns what follows it, or null if there is none. */
const char *scan_number(const char *text, double *value);

/* Whether a value is in [min, max], and a whole number where that is asked for. */
bool number_allowed(bool whole, double min, double max, double value);

/* Reads a text that is one allowed number and nothing else. */
bool parse_number(const char *text, bool whole, double min, double max, double *value);

#endif
