#include "bench/machine/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/statistics/allocate.h"
#include "analysis/tables/units.h"
#include "bench/base/suggest.h"

const char device_allowed[] = "cpu, ref, cuda, cuda:N, cuda:all or meta";
static const char *const names[] = {"cpu", "ref", "cuda", "cuda:all", "meta"};

/* A larger number is a mistake on the command line. */
enum { INDEX_MAX = 999 };

/* The N of cuda:N, 0 for cuda, -1 for anything else. */
static int gpu_index(const char *value)
{
    if (strncmp(value, "cuda", 4) != 0 || (value[4] && value[4] != ':'))
        return -1;
    if (!value[4])
        return 0;
    const char *digits = value + 5;
    size_t count = strspn(digits, "0123456789");
    return count > 0 && count <= 3 && !digits[count] ? atoi(digits) : -1;
}

static bool say_no_device(const char *value, struct message *error)
{
    struct suggestion s = {value, strlen(value), NULL, 0};
    char nearest[SUGGESTION_TEXT];
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        suggest_offer(&s, names[i]);
    if (strcasecmp(value, "gpu") == 0)
        s.nearest = "cuda";
    return complain(error, "--device %.200s: %s%s", value, device_allowed, suggest_text(&s, "", nearest));
}

/*
 * NVIDIA_TF32_OVERRIDE makes every f32 product a TF32 product, or forbids TF32 where it is asked for.
 * CUBLAS_EMULATE_SINGLE_PRECISION, CUBLAS_EMULATION_STRATEGY and others of that kind replace f32 by products
 * of bf16 ("Floating point emulation" in the cuBLAS manual). A row would then be timed and checked as f32 and
 * be something else.
 */

/* The length of the variable's name; 0 if it is none of these. */
static size_t changes_arithmetic(const char *variable)
{
    static const char *const beginnings[] = {"NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULAT", "CUBLAS_FP32_EMULAT"};
    size_t length = strspn(variable, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (variable[length] == '=' && strncmp(variable, beginnings[i], strlen(beginnings[i])) == 0)
            return length;
    return 0;
}

/* Removes them from the environment, before the libraries read it; their names are written to `names`. */
static void environment_clear(char *names, size_t size)
{
    *names = '\0';
    for (char **variable = environ; variable && *variable;) {
        size_t length = changes_arithmetic(*variable), used = strlen(names);
        if (length == 0) {
            variable++;
            continue;
        }
        char *name = copied_part(*variable, length);
        snprintf(names + used, size - used, "%s%s", used ? ", " : "", name);
        unsetenv(name); /* moves the following variables down */
        free(name);
    }
}

static bool parse_gpu(const char *value, struct device_choice *d, struct message *error)
{
    char why[MESSAGE_SIZE / 2];
    d->all = strcmp(value, "cuda:all") == 0;
    d->index = d->all ? 0 : gpu_index(value);
    if (d->index < 0 || d->index > INDEX_MAX)
        return say_no_device(value, error);
    snprintf(d->name, sizeof d->name, "cuda:%d", d->index);
    environment_clear(d->ignored, sizeof d->ignored);
    d->backend = backend_cuda(why, sizeof why);
    return d->backend || complain(error, "--device %.200s: %s", value, why);
}

bool device_parse(const char *value, struct device_choice *d, struct message *error)
{
    *d = (struct device_choice){.given = value, .meta = strcmp(value, "meta") == 0, .count = 1};
    snprintf(d->name, sizeof d->name, "%s", value);
    if (d->meta || strcmp(value, "cpu") == 0)
        d->backend = backend_cpu();
    else if (strcmp(value, "ref") == 0)
        d->backend = &backend_ref;
    else
        return parse_gpu(value, d, error);
    return true;
}

void device_plan_for_gpu(struct device_choice *d)
{
    d->backend = backend_cuda(d->no_library, sizeof d->no_library);
    if (d->backend)
        *d->no_library = '\0';
    else
        d->backend = &backend_cuda_plan;
    d->given = "meta --plan-for cuda";
    snprintf(d->name, sizeof d->name, "meta:cuda");
}

static bool open_gpu(struct device_choice *d, struct message *error)
{
    const struct device *device = d->backend->device;
    char why[MESSAGE_SIZE / 2];
    struct device_facts f;
    snprintf(d->name, sizeof d->name, "cuda:%d", d->index);
    d->context = device->open(d->index, why, sizeof why);
    if (!d->context)
        return d->all ? complain(error, "--device %s: %s: %s", d->given, d->name, why)
                      : complain(error, "--device %s: %s", d->given, why);
    bool known = device->facts(d->index, &f);
    if (known)
        d->nvml = nvml_open(NVML_LIBRARY, f.bus, &d->no_nvml);
    else
        d->no_nvml = "the PCI address of the GPU is unknown";
    snprintf(d->card, sizeof d->card, "%s%s%s%s%s%s", d->name, known ? " (" : "", known ? f.name : "",
             known ? ", " : "", known ? f.bus : "", known ? ")" : "");
    return true;
}

void device_name(const struct device_choice *d, int i, char name[DEVICE_NAME])
{
    if (d->all)
        snprintf(name, DEVICE_NAME, "cuda:%d", i);
    else
        memcpy(name, d->name, DEVICE_NAME);
}

bool device_select(struct device_choice *d, int i, struct message *error)
{
    int index = d->all ? i : d->index;
    if (!d->backend->device || d->meta || (d->context && d->index == index))
        return true;
    device_close(d);
    d->index = index;
    return open_gpu(d, error);
}

bool device_check(struct device_choice *d, struct message *error)
{
    char why[MESSAGE_SIZE / 2];
    int count = d->backend->device && !d->meta ? d->backend->device->count(why, sizeof why) : 1;
    if (count == 0)
        return complain(error, "--device %s: %s", d->given, why);
    if (d->all)
        d->count = count;
    return true;
}

bool device_open(struct device_choice *d, struct message *error)
{
    if (!device_check(d, error))
        return false;
    for (int i = d->count - 1; i >= 0; i--)
        if (!device_select(d, i, error))
            return false;
    return true;
}

void device_close(struct device_choice *d)
{
    nvml_close(d->nvml);
    if (d->context)
        d->backend->device->close(d->context);
    d->context = NULL;
    d->nvml = NULL;
}

struct fault device_fault(const struct device_choice *d)
{
    return d->context ? d->backend->device->fault(d->context) : (struct fault){0};
}

void device_recover(const struct device_choice *d)
{
    if (d->context)
        d->backend->device->recover(d->context);
}

/* NAN, which is null, where the driver does not say. */
static double hertz(double value)
{
    return value > 0 ? value : NAN;
}

static struct value *gpu_json(const struct device *device, int index, const char *ignored)
{
    struct device_facts f;
    char name[16], capability[16];
    const char *why;
    struct value *gpu = value_new_object();
    snprintf(name, sizeof name, "cuda:%d", index);
    value_set_text(gpu, "device", name);
    if (!device->facts(index, &f)) {
        value_set_text(gpu, "missing", "its properties cannot be read");
        return gpu;
    }
    snprintf(capability, sizeof capability, "%d.%d", f.major, f.minor);
    value_set_text(gpu, "name", f.name);
    value_set_text(gpu, "bus", f.bus);
    value_set_count(gpu, "multiprocessors", f.multiprocessors);
    value_set_text(gpu, "compute_capability", capability);
    value_set_count(gpu, "memory", f.memory);
    value_set_real(gpu, "clock", hertz(f.clock));
    value_set_real(gpu, "memory_clock", hertz(f.memory_clock));
    value_set_count(gpu, "cuda_runtime", f.runtime);
    value_set_count(gpu, "cuda_driver", f.driver);
    value_set_count(gpu, "cublas", f.blas);
    value_set_count(gpu, "cublas_lt", f.blas_lt);
    value_set_count(gpu, "cusparse", f.sparse);
    value_set_text(gpu, "ignored_environment", ignored);
    struct nvml *n = nvml_open(NVML_LIBRARY, f.bus, &why); /* the GPU need not be in use */
    value_set(gpu, "state", nvml_json(n, why));
    nvml_close(n);
    return gpu;
}

struct value *device_json(const struct device_choice *d)
{
    struct value *list = value_new_array();
    if (!d->backend->device || d->meta)
        value_append(list, value_new_text(d->name));
    else if (!d->all)
        value_append(list, gpu_json(d->backend->device, d->index, d->ignored));
    for (int i = 0; d->all && i < d->count; i++)
        value_append(list, gpu_json(d->backend->device, i, d->ignored));
    return list;
}

static void list_gpu(const struct device *device, int index, FILE *out)
{
    struct device_facts f;
    char memory[UNITS_TEXT], clock[UNITS_TEXT] = "";
    if (!device->facts(index, &f)) {
        fprintf(out, "cuda:%-3d does not respond\n", index);
        return;
    }
    units_format(memory, (double)f.memory, UNITS_BINARY, "B");
    if (f.clock > 0)
        units_format(clock, f.clock, UNITS_SI, "Hz");
    fprintf(out, "cuda:%-3d %s, %d multiprocessors, %s, %s%s, compute capability %d.%d\n", index, f.name,
            f.multiprocessors, memory, f.clock > 0 ? "up to " : "clock unknown", clock, f.major, f.minor);
}

void device_list(FILE *out)
{
    char why[MESSAGE_SIZE];
    fprintf(out, "cpu      %s\n", backend_cpu()->doc);
    const struct backend *b = backend_cuda(why, sizeof why);
    int count = b ? b->device->count(why, sizeof why) : 0;
    if (count == 0)
        fprintf(out, "cuda     none: %s\n", why);
    for (int i = 0; i < count; i++)
        list_gpu(b->device, i, out);
}
