/* Names that would not be a library's own: a call goes to the first object of the process that has its name.
 */
#ifndef GTMARK_KERNELS_PLUGIN_CLASH_H
#define GTMARK_KERNELS_PLUGIN_CLASH_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a library that is not open yet exports a name that the process has, with a message. A file that is
 * no library, or is damaged, is left to dlopen. */
bool plugin_clashes(const char *path, char *error, size_t error_size);

/* Whether one that came with an open library exports a name that the program itself exports. */
bool plugin_needs_clash(void *library, char *error, size_t error_size);

#endif
