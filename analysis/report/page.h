/*
 * Result files as one HTML page that needs nothing else: findings first, then what was measured and
 * all warnings, then each file with charts, tables, profiles and its command, then the machines.
 */
#ifndef GTMARK_ANALYSIS_PAGE_H
#define GTMARK_ANALYSIS_PAGE_H

#include "analysis/record/record.h"

struct page {
    size_t count; /* at least 1 */
    const char *const *paths;
    struct record *const *records;
};

/* Writes a struct page. False if the stream failed. */
bool page_write(const void *page, FILE *out);

#endif
