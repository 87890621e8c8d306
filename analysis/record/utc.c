#include "analysis/record/utc.h"

#include <time.h>

void utc_now(char text[UTC_TEXT])
{
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(text, UTC_TEXT, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
