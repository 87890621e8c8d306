/* The devices that programs can run on, by the names of --device. */
#ifndef GTMARK_BENCH_DEVICE_H
#define GTMARK_BENCH_DEVICE_H

#include <jansson.h>
#include <stdio.h>

#include "bench/message.h"
#include "bench/nvml.h"
#include "kernels/backend.h"

struct device_choice {
    char name[16];                 /* cpu, ref, meta, cuda:0 */
    const char *given;             /* the same as it was asked for: cuda */
    const struct backend *backend; /* whose kernels run; of meta, whose scratch is planned */
    bool meta;                     /* record and plan only */
    int index;                     /* among the GPUs */
    void *context;                 /* of an open device; else null */
    struct nvml *nvml;             /* of an open GPU that has it; else null */
    const char *no_nvml;           /* why an open GPU has none */
};

/* Reads cpu, ref, meta, cuda (which is cuda:0) or cuda:N. False with a message. */
bool device_parse(const char *value, struct device_choice *d, struct message *error);

/* Opens the device, if it is one: nothing can be laid out before. False with a message. */
bool device_open(struct device_choice *d, struct message *error);
void device_close(struct device_choice *d);

/* What the result file says of it. */
json_t *device_json(const struct device_choice *d);

/* What --list-devices prints. */
void device_list(FILE *out);

#endif
