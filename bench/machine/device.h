/* The devices that programs can run on, by the names of --device. */
#ifndef GTMARK_BENCH_DEVICE_H
#define GTMARK_BENCH_DEVICE_H

#include <jansson.h>
#include <stdio.h>

#include "bench/base/message.h"
#include "bench/machine/nvml.h"
#include "kernels/backend.h"

enum { DEVICE_NAME = 16 };

/* One device, or the GPUs of cuda:all, of which one is in use at a time. */
struct device_choice {
    char name[DEVICE_NAME];        /* of that in use: cpu, ref, meta, cuda:0 */
    const char *given;             /* as it was asked for: cuda, cuda:all */
    const struct backend *backend; /* whose kernels run; of meta, whose scratch is planned */
    bool meta;                     /* record and plan only */
    bool all;                      /* GPUs, one after the other */
    int index;                     /* among the GPUs */
    int count;                     /* devices to use; of cuda:all only known when it is open */
    void *context;                 /* of an open device; else null */
    struct nvml *nvml;             /* of an open GPU that has it; else null */
    const char *no_nvml;           /* why an open GPU has none */
};

/* Reads cpu, ref, meta, cuda (which is cuda:0), cuda:N or cuda:all. False with a message. */
bool device_parse(const char *value, struct device_choice *d, struct message *error);

/* Opens the device, if it is one: nothing can be laid out before. Of several each is tried, and the first is
 * then open. False with a message. */
bool device_open(struct device_choice *d, struct message *error);
void device_close(struct device_choice *d);

/* Takes the i-th of the devices into use, which closes that in use. False with a message. */
bool device_select(struct device_choice *d, int i, struct message *error);

/* What the rows of the i-th of the devices call it, whichever is in use. */
void device_name(const struct device_choice *d, int i, char name[DEVICE_NAME]);

/* What the result file says of the devices: an array. */
json_t *device_json(const struct device_choice *d);

/* What --list-devices prints. */
void device_list(FILE *out);

/*
 * How fast data go between host and an open device, by copies alone: {bytes, to_device, from_device}, each
 * way {pinned, pageable, latency}: GB/s (1e9) of blocks of `bytes` from and to memory that is page-locked and
 * memory that is not, and seconds for 4 bytes. What could not be had is null, and `missing` says why.
 */
json_t *transfer_json(const struct device_choice *d);

#endif
