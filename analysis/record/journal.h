/*
 * The journal of a result file: what changed since the file was last written whole, in PATH.journal. Lines
 * of JSON:
 *
 *     {"journal":1,"bytes":5120,"checksum":"0123456789abcdef"}    the file that it belongs to
 *     {"insert":3,"row":{...}}                                    before row 3, counted from 0, or at the end
 *     {"replace":3,"row":{...}}
 *     {"head":{"fits":[...]}}                                     sets members of the head
 *
 * A journal belongs to the file with this size and checksum, and to no other: a journal that was left over
 * when the file was written again, changes included, is ignored. So is everything from the first line that
 * is incomplete or not as above, which is what remains of a write that did not finish.
 */
#ifndef GTMARK_ANALYSIS_JOURNAL_H
#define GTMARK_ANALYSIS_JOURNAL_H

#include "analysis/record/buffer.h"
#include "analysis/record/row.h"
#include "analysis/record/value.h"

#include <stdint.h>

/* A file as its journal names it; the checksum is FNV-1a of 64 bits. */
struct base {
    size_t bytes;
    uint64_t checksum;
};

/* The base of a file in memory, and of one on disk; false with a message if that cannot be read. */
struct base base_of(const char *text, size_t bytes);
bool base_of_file(const char *path, struct base *base, char *error);

/* The path of a file's journal, to be freed. */
char *journal_path(const char *path);

/* The first line; returns its length. */
enum { JOURNAL_BASE = 128 };
size_t journal_base_line(const struct base *base, char line[JOURNAL_BASE]);

/* Append a line. */
void journal_put_row(size_t index, bool replace, const struct row *row, struct buffer *out);
void journal_put_head(const char *name, const struct value *v, struct buffer *out);

/* Applies a journal to the contents of a file, if it belongs to it. */
void journal_apply(const char *journal, size_t size, const struct base *base, struct value *head,
                   struct rows *rows);

#endif
