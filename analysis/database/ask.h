/*
 * Asking a store (database.h), which is opened read-only. Answers are tables, one for each machine. Functions
 * return false on failure and write a one-line reason to error[MESSAGE_SIZE].
 */
#ifndef GTMARK_ANALYSIS_ASK_H
#define GTMARK_ANALYSIS_ASK_H

#include "analysis/database/question.h"
#include "analysis/tables/printer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* How a store is opened, and answers are printed. */
struct asking {
    const char *store;
    double timeout;     /* s */
    enum format format; /* FORMAT_TABLE, FORMAT_MARKDOWN or FORMAT_CSV */
    FILE *out;
};

/* Answers a question; *lines becomes the number of rows found. */
bool ask_question(const struct asking *how, const struct question *q, size_t *lines, char *error);

/* Prints the result of a SELECT statement; all others are refused. */
bool ask_sql(const struct asking *how, const char *sql, char *error);

#endif
