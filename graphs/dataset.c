#include "graphs/dataset.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The names of files after that of the data set; graphs/tu.h and graphs/ogb.h say what is in them. */
static const struct layout {
    const char *part[DATASET_PARTS + 1];
    struct {
        const char *file, *name;
        enum table_of of;
    } table[DATASET_TABLES];
} layouts[] = {
    [DATASET_TU] = {{"_A.txt", "_graph_indicator.txt", NULL},
                    {{"_node_labels.txt", "node labels", TABLE_OF_NODES},
                     {"_node_attributes.txt", "node attributes", TABLE_OF_NODES},
                     {"_edge_labels.txt", "edge labels", TABLE_OF_EDGES},
                     {"_edge_attributes.txt", "edge attributes", TABLE_OF_EDGES},
                     {"_graph_labels.txt", "graph labels", TABLE_OF_GRAPHS},
                     {"_graph_attributes.txt", "graph attributes", TABLE_OF_GRAPHS}}},
    [DATASET_OGB] = {{"edge.csv", "num-node-list.csv", "num-edge-list.csv", NULL},
                     {{"node-feat.csv", "node features", TABLE_OF_NODES},
                      {"edge-feat.csv", "edge features", TABLE_OF_EDGES},
                      {"node-label.csv", "node labels", TABLE_OF_NODES},
                      {"graph-label.csv", "graph labels", TABLE_OF_GRAPHS}}},
};

/* The path of a file in the folder, with .gz if it is so; false if there is none. */
static bool find(char path[PATH_MAX], const char *folder, const char *prefix, const char *name)
{
    static const char *const suffixes[] = {"", ".gz"};
    for (int i = 0; i < 2; i++)
        if (snprintf(path, PATH_MAX, "%s/%s%s%s", folder, prefix, name, suffixes[i]) < PATH_MAX &&
            access(path, F_OK) == 0)
            return true;
    return false;
}

/* Whether all parts are there; then also which tables. */
static bool find_all(struct dataset *d, const char *folder, const char *prefix, enum dataset_kind kind)
{
    const struct layout *l = &layouts[kind];
    d->kind = kind;
    d->parts = d->tables = 0;
    for (; l->part[d->parts]; d->parts++)
        if (!find(d->part[d->parts], folder, prefix, l->part[d->parts]))
            return false;
    for (int i = 0; i < DATASET_TABLES && l->table[i].file; i++) {
        struct dataset_table *t = &d->table[d->tables];
        if (find(t->path, folder, prefix, l->table[i].file)) {
            t->name = l->table[i].name;
            t->given = false;
            t->of = l->table[i].of;
            d->tables++;
        }
    }
    return true;
}

/* How many data sets of TUDataset are in a folder, and the name of the last. Hidden files are not data: macOS
 * adds a "._NAME" to each. */
static int names_of(const char *folder, char name[NAME_MAX + 1])
{
    const char *const *part = layouts[DATASET_TU].part;
    DIR *all = opendir(folder);
    int count = 0;
    for (struct dirent *e; all && (e = readdir(all)) != NULL;) {
        const char *end = *e->d_name == '.' ? NULL : strstr(e->d_name, part[0]);
        if (end && (end[strlen(part[0])] == '\0' || strcmp(end + strlen(part[0]), ".gz") == 0)) {
            char own[NAME_MAX + 1];
            snprintf(own, sizeof own, "%.*s", (int)(end - e->d_name), e->d_name);
            count += count == 0 || strcmp(own, name) != 0;
            strcpy(name, own);
        }
    }
    if (all)
        closedir(all);
    return count;
}

bool dataset_find(struct dataset *d, const char *path, char *error, size_t error_size)
{
    static const char *const places[] = {"", "/raw"};
    char folder[PATH_MAX], name[NAME_MAX + 1];
    for (int i = 0; i < 2; i++) {
        if (snprintf(folder, sizeof folder, "%s%s", path, places[i]) >= PATH_MAX)
            break;
        int names = names_of(folder, name);
        if (names > 1) {
            snprintf(error, error_size, "%.200s: several data sets: several files named *_A.txt", folder);
            return false;
        }
        if ((names == 1 && find_all(d, folder, name, DATASET_TU)) || find_all(d, folder, "", DATASET_OGB))
            return true;
    }
    snprintf(error, error_size,
             "%.200s: is a directory without NAME_A.txt and NAME_graph_indicator.txt (TUDataset), or "
             "edge.csv, num-node-list.csv and num-edge-list.csv (OGB; all also as .gz)",
             path);
    return false;
}
