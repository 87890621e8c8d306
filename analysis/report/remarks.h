/* Reasons to doubt a row, found in the row itself. */
#ifndef GTMARK_ANALYSIS_REMARKS_H
#define GTMARK_ANALYSIS_REMARKS_H

#include "analysis/record/row.h"

enum remark_kind {
    REMARK_STATUS,
    REMARK_UNCHECKED,
    REMARK_NOISY,
    REMARK_ROOF,
    REMARK_STATES,
    REMARK_DRIFT,
    REMARK_START,
    REMARK_PREEMPTED,
    REMARK_FAULTS,
    REMARK_DISK,
    REMARK_THROTTLED,
    REMARK_LOST,
    REMARK_ERRORS,
    REMARKS
};

/* "inconclusive"; "inconclusive time, which supports no finding" */
const char *remark_word(enum remark_kind kind);
const char *remark_text(enum remark_kind kind);

struct remark {
    enum remark_kind kind;
    const char *program; /* "": the row as a whole, or its kernel */
    char detail[MESSAGE_SIZE];
};

enum { REMARKS_MAX = REMARKS * TIMED };

/* The remarks on a row, in the order of their kinds; returns how many. */
size_t remarks_of(const struct row *row, struct remark remarks[REMARKS_MAX]);

#endif
