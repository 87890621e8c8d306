/*
 * One file of a ZIP archive (PKWARE, APPNOTE.TXT; RFC 1951), as numpy.savez writes: stored or deflated, with
 * sizes before the data.
 */
#ifndef GTMARK_GRAPHS_ARCHIVE_H
#define GTMARK_GRAPHS_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

struct archive;

/* The file of this name; `gz` is a gzFile of zlib at the archive's beginning, and stays the caller's. Or
 * null. */
struct archive *archive_find(void *gz, const char *name);

/* Its next bytes, at most `size`. How many; 0 at its end; -1 if it is damaged or cut. */
int archive_read(struct archive *a, void *bytes, int size);

void archive_free(struct archive *a);

#endif
