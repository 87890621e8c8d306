/* Result files on their way into a store (database.h). */
#ifndef GTMARK_ANALYSIS_IMPORT_H
#define GTMARK_ANALYSIS_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct import_tally {
    size_t files, rows; /* imported */
    size_t known;       /* files that were in the store, or a later state of their run */
    size_t broken;      /* files that were skipped */
    bool opened;        /* the store could be opened */
};

/*
 * Imports files. What is in the store already is left as it is; a file that continues a
 * run of the store (--resume) replaces it. A file that cannot be read, or is no result file, is skipped with
 * a line to `warnings`. Commits every 32 files: a killed import loses these at most, and the store is whole.
 * False with a message in error[MESSAGE_SIZE] if the store cannot be opened or written.
 */
bool import_files(const char *store, char *const *files, size_t count, FILE *warnings,
                  struct import_tally *tally, char *error);

#endif
