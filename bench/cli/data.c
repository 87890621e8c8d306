#include "bench/cli/data.h"

bool data_read(const struct argument *a, struct message *error)
{
    const char *text = a->value;
    struct graph_tables *t = (struct graph_tables *)((char *)a->options + a->flag->field);
    const struct {
        const char *name;
        const char **file;
    } kinds[] = {{"features=", &t->features}, {"edge-features=", &t->edge_features}, {"labels=", &t->labels}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].name);
        if (strncmp(text, kinds[i].name, length) != 0 || !text[length])
            continue;
        if (*kinds[i].file)
            return complain(error, "--data %.200s: %.*s is given twice", text, (int)length - 1, text);
        *kinds[i].file = text + length;
        return true;
    }
    return complain(
        error, "--data %.200s: features=FILE, edge-features=FILE or labels=FILE; FILE may be none", text);
}
