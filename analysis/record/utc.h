/* Times of day as texts: UTC, ISO 8601, "2026-01-31T12:00:00Z". */
#ifndef GTMARK_ANALYSIS_UTC_H
#define GTMARK_ANALYSIS_UTC_H

enum { UTC_TEXT = 32 }; /* bytes, terminator included */

/* The time now, to the second. */
void utc_now(char text[UTC_TEXT]);

#endif
