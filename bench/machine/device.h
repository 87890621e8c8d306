/* The devices on which programs can run, as --device names them. */
#ifndef GTMARK_BENCH_DEVICE_H
#define GTMARK_BENCH_DEVICE_H

#include <stddef.h>
#include <stdio.h>

#include "analysis/record/value.h"
#include "bench/base/message.h"
#include "bench/machine/nvml.h"
#include "kernels/backend.h"

enum { DEVICE_NAME = 16, DEVICE_CARD = 200, DEVICE_IGNORED = 200 };

/* One device, or the GPUs of cuda:all, one of which is in use at a time. */
struct device_choice {
    char name[DEVICE_NAME];        /* of the device in use: cpu, ref, meta, meta:cuda, cuda:0 */
    const char *given;             /* as given on the command line: cuda, cuda:all */
    const struct backend *backend; /* whose kernels run; for meta, whose scratch is planned */
    bool meta;                     /* record and plan only */
    bool all;                      /* all GPUs, one after the other */
    int index;                     /* among the GPUs */
    int count;                     /* devices to use; for cuda:all known only once it is open */
    void *context;                 /* of an open device; otherwise null */
    struct nvml *nvml;             /* of an open GPU that NVML knows; otherwise null */
    const char *no_nvml;           /* why an open GPU has no NVML */
    char card[DEVICE_CARD];        /* an open GPU: its name here, that of its maker and its address */
    char no_library[MESSAGE_SIZE]; /* why a plan for a GPU does not know its kernels; empty: it does, or is
                                      for none */
    char ignored[DEVICE_IGNORED];  /* variables of the environment removed for a GPU */
};

extern const char device_allowed[];

/* Reads cpu, ref, meta, cuda (which is cuda:0), cuda:N or cuda:all; for a GPU clears the environment of what
 * changes its arithmetic. False with a message. */
bool device_parse(const char *value, struct device_choice *d, struct message *error);

/* Makes plans (meta) those for a GPU. */
void device_plan_for_gpu(struct device_choice *d);

/* Opens the device, before anything else. Of several all are tried, the first last. False with a message. */
bool device_open(struct device_choice *d, struct message *error);

/* Only counts the devices: of one in exclusive mode, an open one would keep this program's own runs away. */
bool device_check(struct device_choice *d, struct message *error);
void device_close(struct device_choice *d);

/* What failed on it since device_recover, which forgets it unless the device is lost. Never on the host. */
struct fault device_fault(const struct device_choice *d);
void device_recover(const struct device_choice *d);

/* Switches to the i-th device and closes the one in use. False with a message. */
bool device_select(struct device_choice *d, int i, struct message *error);

/* The name of the i-th device in its rows. */
void device_name(const struct device_choice *d, int i, char name[DEVICE_NAME]);

struct value *device_json(const struct device_choice *d);

void device_list(FILE *out);

/*
 * How fast data are copied between the host and an open device: {bytes, to_device, from_device}, each of
 * which is {pinned, pageable, latency}: GB/s (1e9) of blocks of `bytes` with page-locked and with pageable
 * host memory, and seconds for 4 bytes. What could not be measured is null, and `missing` says why.
 */
struct value *transfer_json(const struct device_choice *d);

#endif
