/* The argument of --link: a file with a calibration between ranks, or a rate and a latency. */
#ifndef GTMARK_BENCH_LINK_PARSE_H
#define GTMARK_BENCH_LINK_PARSE_H

#include "bench/machine/link.h"

/* Reads "400Gb/s,2us", or the links of a result file, in the place of those read before. False with a
 * message.
 */
bool link_parse(const char *text, struct links *all, struct message *error);

#endif
