/* The fields of a result file as Markdown. */
#ifndef GTMARK_TESTS_SCHEMA_PAGE_H
#define GTMARK_TESTS_SCHEMA_PAGE_H

#include <stdio.h>

/* Writes the fields as tables, without axes that have a flag; those of all programs appear once, as
 * P.time.median. */
void schema_write_markdown(FILE *out);

/* Writes the fields of a fit as a table. */
void schema_write_fit_markdown(FILE *out);

#endif
