/*
 * A record that is saved as it grows. PATH holds a complete document at every moment; what was added since it
 * was last written is in PATH.journal (journal.h), and both together are what was saved. When the journal has
 * become as long as the file, the file is written again, at most once in ten seconds: all writing together is
 * proportional to the size of the rows. A killed process loses nothing that was saved.
 *
 * Data is flushed to disk at most once a second and at the end: a power failure loses at most the rows of one
 * second.
 *
 * Functions return false (or null) on failure and write a one-line reason to error[MESSAGE_SIZE].
 */
#ifndef GTMARK_ANALYSIS_STORE_H
#define GTMARK_ANALYSIS_STORE_H

#include "analysis/record/record.h"

#include <stddef.h>

struct store;

/*
 * Takes the lock of the file, PATH.lock, which no two stores have at a time. Nothing is written yet. Where
 * the file system has no locks: a warning to `warnings`.
 */
struct store *store_open(const char *path, FILE *warnings, char *error);

/* Saves the record, which must outlive the store, whole; with `keep` what was there is kept (record_keep). */
bool store_begin(struct store *store, const struct record *record, bool keep, char *error);

/* Saves a row of the record that was inserted at `index`, or has replaced another there. */
bool store_row(struct store *store, size_t index, bool replaced, char *error);

/* Saves a member of the record's head. */
bool store_head(struct store *store, const char *name, char *error);

/* Saves the record whole, if it was begun; releases the lock and frees the store in any case. Null is
 * allowed. */
bool store_close(struct store *store, char *error);

/* A text that changes whenever a store writes the file or its journal. */
enum { STORE_STATE = 256 };
void store_state(const char *path, char state[STORE_STATE]);

#endif
