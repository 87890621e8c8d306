#include "bench/base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
