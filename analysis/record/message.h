/* The size of the buffers that get messages: one line, without newline. */
#ifndef GTMARK_ANALYSIS_MESSAGE_H
#define GTMARK_ANALYSIS_MESSAGE_H

enum { MESSAGE_SIZE = 512 }; /* bytes */

#endif
