/* Of many rows of kernels those that are worth a look. */
#ifndef GTMARK_ANALYSIS_KERNEL_TABLE_H
#define GTMARK_ANALYSIS_KERNEL_TABLE_H

#include "analysis/tables/table.h"

enum { KERNEL_TABLE_MOST = 20 }; /* rows of each part */

/*
 * Prints rows that are not ok, and of the default kernels, the first of each op, those with the least share
 * of their roofline; then the kernels that are slower than the reference and the default ones that are slower
 * than another of their op, with 95 % intervals apart. All rows if they are few, or none has a share.
 */
void kernel_table_print(struct table *t, const struct table_line *lines, size_t n);

#endif
