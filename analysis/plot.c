/* plot FILE.json [PREFIX]: draws the charts of a result file, by default beside it under its name. */
#include "analysis/chart.h"
#include "analysis/record.h"

#include <limits.h>
#include <string.h>

/* The file's path without ".json". */
static void default_prefix(char prefix[PATH_MAX], const char *path)
{
    size_t length = strlen(path), end = strlen(".json");
    if (length > end && strcmp(path + length - end, ".json") == 0)
        length -= end;
    snprintf(prefix, PATH_MAX, "%.*s", (int)length, path);
}

int main(int argc, char **argv)
{
    char message[MESSAGE_SIZE], prefix[PATH_MAX];
    if (argc < 2 || argc > 3 || argv[1][0] == '-') {
        fprintf(stderr, "usage: plot FILE.json [PREFIX]   draws PREFIX_time and others, as .png and .svg\n");
        return 2;
    }
    json_t *record = record_load(argv[1], message);
    if (!record) {
        fprintf(stderr, "plot: %s\n", message);
        return 2;
    }
    default_prefix(prefix, argv[1]);
    enum chart_result result = chart_draw(record, NULL, NULL, argc == 3 ? argv[2] : prefix, message);
    fprintf(stderr, "%s\n", message);
    json_decref(record);
    return result == CHART_FAILED;
}
