/* Files that are no text, by their first bytes. */
#ifndef GTMARK_GRAPHS_CONTAINER_H
#define GTMARK_GRAPHS_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

/* The first bytes of a file that container_find takes into account. */
enum { CONTAINER_HEAD = 512 };

struct container {
    const char *magic;
    size_t size, at;   /* of the magic bytes, and where they are */
    const char *entry; /* of a ZIP archive: how the name of its first file ends; null: any */
    bool npy, npz;     /* an array of NumPy, or an archive of some */
    const char *said;  /* what it is, and what to do */
};

/* Null: none that is known. */
const struct container *container_find(const char *head, size_t size);

#endif
