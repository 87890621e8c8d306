/* The tape as text: --list-tape. */
#ifndef GTMARK_MODELS_LISTING_H
#define GTMARK_MODELS_LISTING_H

#include <stdio.h>

#include "models/tape.h"

/* One line per entry: phase, span, op, variant, shapes, FLOPs, bytes, live bytes. Plans the tape. */
void tape_list(struct tape *t, FILE *out);

#endif
