#include "bench/cli/largest_parse.h"

#include <string.h>

#include "bench/base/quantity.h"

bool largest_parse(const char *text, struct largest *l, struct message *error)
{
    static const char memory[] = "memory:", latency[] = "latency:";
    *l = (struct largest){.kind = LARGEST_MEMORY};
    if (strcmp(text, "memory") == 0)
        return true;
    bool bytes = strncmp(text, memory, strlen(memory)) == 0,
         time = strncmp(text, latency, strlen(latency)) == 0;
    if (time)
        l->kind = LARGEST_LATENCY;
    return (bytes && quantity_parse(text + strlen(memory), QUANTITY_BYTES, &l->limit)) ||
           (time && quantity_parse(text + strlen(latency), QUANTITY_SECONDS, &l->limit)) ||
           complain(error,
                    "--find-max-nodes %.200s: memory, memory:SIZE as memory:4GiB, or latency:TIME as "
                    "latency:100ms",
                    text);
}
