/*
 * Folders of data sets: which files a folder, or the folder `raw` in it, has of TUDataset (graphs/tu.h) or
 * the Open Graph Benchmark (graphs/ogb.h); each may have the suffix .gz, and is read
 * without it if it is there twice.
 */
#ifndef GTMARK_GRAPHS_DATASET_H
#define GTMARK_GRAPHS_DATASET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { DATASET_PARTS = 3, DATASET_TABLES = 6, DATASET_GIVEN = 3 };

enum dataset_kind { DATASET_TU, DATASET_OGB };

/* What a table has a row for. An edge here is one of the file. */
enum table_of { TABLE_OF_NODES, TABLE_OF_EDGES, TABLE_OF_GRAPHS };

struct dataset_table {
    const char *name; /* "node attributes" */
    enum table_of of;
    bool given; /* named by the user, not found in the folder: none of it is left out */
    char path[PATH_MAX];
};

struct dataset {
    enum dataset_kind kind;
    char part[DATASET_PARTS][PATH_MAX]; /* the files of the graphs, as tu_read and ogb_read take them */
    int parts;
    struct dataset_table table[DATASET_TABLES + DATASET_GIVEN]; /* those that there are */
    int tables;
};

/* False, with an error that begins with the path, if the folder has neither, or several of TUDataset. */
bool dataset_find(struct dataset *d, const char *path, char *error, size_t error_size);

#endif
