#include "bench/base/quantity.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tables/units.h"

/* A suffix must come before a shorter one that it ends with. */
struct unit {
    const char *suffix;
    double factor;
};

enum { UNITS_MAX = 6 };

static const struct {
    const char *name, *allowed; /* the unit without a prefix; what values are */
    struct unit units[UNITS_MAX];
} quantities[QUANTITIES] = {
    [QUANTITY_BYTES] = {"B",
                        "a number with B, KiB, MiB, GiB or TiB, as in 8GiB",
                        {{"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"B", 1}}},
    [QUANTITY_SECONDS] = {"s",
                          "a number with ns, us, ms, s or min, as in 100ms",
                          {{"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"min", 60}, {"s", 1}}},
    [QUANTITY_PER_SECOND] = {"/s",
                             "a number with /s, graphs/s or samples/s, as in 1k/s",
                             {{"graphs/s", 1}, {"samples/s", 1}, {"/s", 1}}},
    [QUANTITY_NODES_PER_SECOND] = {"nodes/s", "a number with nodes/s, as in 50knodes/s", {{"nodes/s", 1}}},
    [QUANTITY_EDGES_PER_SECOND] = {"edges/s", "a number with edges/s, as in 1Medges/s", {{"edges/s", 1}}},
    [QUANTITY_FLOP] = {"FLOP", "a number with FLOP, as in 10GFLOP", {{"TFLOP", 1e12}, {"FLOP", 1}}},
    [QUANTITY_FLOP_PER_SECOND] = {"FLOP/s",
                                  "a number with FLOP/s, as in 60GFLOP/s",
                                  {{"TFLOP/s", 1e12}, {"FLOP/s", 1}}},
    [QUANTITY_BYTES_PER_SECOND] = {"B/s", "a number with B/s, as in 20GB/s", {{"TB/s", 1e12}, {"B/s", 1}}},
    [QUANTITY_LINK_RATE] = {"B/s",
                            "a number with b/s or B/s, as in 400Gb/s",
                            {{"Tb/s", 1e12 / 8}, {"b/s", 1.0 / 8}, {"TB/s", 1e12}, {"B/s", 1}}},
    [QUANTITY_RATIO] = {"", "a number, as in 1e-4", {{"", 1}}},
};

/* Reads a number, at least this, followed by exactly this suffix. */
static bool read_with(const char *text, const struct unit *u, double least, double *value)
{
    size_t length = strlen(text), suffix = strlen(u->suffix);
    char number[32] = "";
    if (length <= suffix || length - suffix >= sizeof number ||
        strcmp(text + length - suffix, u->suffix) != 0)
        return false;
    memcpy(number, text, length - suffix);
    if (!parse_number(number, false, least, 1e15, value))
        return false;
    *value *= u->factor;
    return true;
}

static bool read_from(const char *text, enum quantity_kind q, double least, double *value)
{
    for (const struct unit *u = quantities[q].units; u < quantities[q].units + UNITS_MAX && u->suffix; u++)
        if (read_with(text, u, least, value))
            return true;
    return false;
}

bool quantity_parse(const char *text, enum quantity_kind q, double *value)
{
    return read_from(text, q, 1e-12, value);
}

bool quantity_parse_or_zero(const char *text, enum quantity_kind q, double *value)
{
    return read_from(text, q, 0, value);
}

const char *quantity_allowed(enum quantity_kind q)
{
    return quantities[q].allowed;
}

void quantity_format(char text[QUANTITY_TEXT], double value, enum quantity_kind q)
{
    if (q == QUANTITY_RATIO)
        snprintf(text, QUANTITY_TEXT, "%.3g", value);
    else
        units_format(text, value, q == QUANTITY_BYTES ? UNITS_BINARY : UNITS_SI, quantities[q].name);
}

const char *scan_number(const char *text, double *value)
{
    if (!isdigit((unsigned char)text[*text == '.']) ||
        (text[0] == '0' && tolower((unsigned char)text[1]) == 'x'))
        return NULL;
    char *end;
    *value = strtod(text, &end);
    static const char suffixes[] = "kmg";
    const char *suffix = *end ? strchr(suffixes, tolower((unsigned char)*end)) : NULL;
    for (int power = suffix ? (int)(suffix - suffixes) : -1; power >= 0; power--)
        *value *= 1000;
    return suffix ? end + 1 : end;
}

bool number_allowed(bool whole, double min, double max, double value)
{
    return value >= min && value <= max && (!whole || value == floor(value));
}

bool parse_number(const char *text, bool whole, double min, double max, double *value)
{
    const char *end = scan_number(text, value);
    return end && !*end && number_allowed(whole, min, max, *value);
}
