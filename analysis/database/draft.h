/* Internal to this folder: a question as a SELECT statement. */
#ifndef GTMARK_ANALYSIS_DRAFT_H
#define GTMARK_ANALYSIS_DRAFT_H

#include "analysis/database/question.h"

#include <sqlite3.h>
#include <stdint.h>

/* Its columns; those of all axes follow, as in axis_columns. */
enum {
    MACHINE,
    STARTED,
    COMMIT,
    MEDIAN,
    LOW,
    HIGH,
    THROUGHPUT,
    MEMORY,
    EFFICIENCY,
    STATUS,
    NOISY,
    WORK,
    FIRST_AXIS
};

/*
 * Prepares the statement of a question to one machine. The texts that it is bound to are those of *q. Null
 * with a message in error[MESSAGE_SIZE] on failure.
 */
sqlite3_stmt *draft_prepare(sqlite3 *db, const struct question *q, int64_t machine, char *error);

#endif
