/* The columns of a table that give way where the screen is narrow. */
#ifndef GTMARK_ANALYSIS_SPARE_H
#define GTMARK_ANALYSIS_SPARE_H

#include <stddef.h>

/* Puts the indices of those among columns[count] into spares[count], the first to give way first; returns how
 * many. */
size_t spare_columns(const char *const *columns, size_t count, size_t *spares);

#endif
