/* The tape as text: --list tape. */
#ifndef GTMARK_MODELS_LISTING_H
#define GTMARK_MODELS_LISTING_H

#include <stdio.h>

#include "models/tape/tape.h"

/* One line per entry: phase, span, op, variant, shapes, FLOPs, bytes, live bytes. Plans the tape. */
void tape_list(struct tape *t, FILE *out);

/* The entry's outputs and inputs with their shapes, truncated to `size`: "y 100x64 <- x 100x32, w 64x32". */
void entry_shapes(const struct entry *e, char *text, int size);

#endif
