/*
 * Choices as rows have them, and as lines for later runs: the device and the library, the bytes of struct
 * cuda_chosen in hexadecimal digits, and the text. Where the environment limits what is chosen (gpu.c), there
 * are none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/context.h"
#include "kernels/cuda/gpu.h"

enum { DIGITS = 2 * sizeof(struct cuda_chosen) };

/* The length of what lines of this device begin with. */
static size_t begin_line(struct cuda_context *c)
{
    struct cudaDeviceProp p;
    if (!*c->line && !c->limited && cudaGetDeviceProperties(&p, c->device) == cudaSuccess)
        snprintf(c->line, sizeof c->line, "%s, cuBLASLt %zu: ", p.name, cublasLtGetVersion());
    return strlen(c->line);
}

void choices_tell(void *context, bool lines, void (*tell)(void *to, const char *text), void *to)
{
    struct cuda_context *c = context;
    const size_t begin = lines ? begin_line(c) : 0;
    char line[sizeof c->line + DIGITS + CHOICE_TEXT];
    memcpy(line, c->line, begin);
    for (struct cuda_choice *choice = c->choices; choice; choice = choice->next) {
        bool *told = lines ? &choice->timed : &choice->used;
        for (size_t i = 0; i < sizeof choice->is; i++)
            snprintf(line + begin + 2 * i, 3, "%02x", ((const unsigned char *)&choice->is)[i]);
        snprintf(line + begin + DIGITS, CHOICE_TEXT, "%s", choice->text);
        if (*told && tell && (begin || !lines))
            tell(to, lines ? line : choice->text);
        *told = false;
    }
}

void choices_recall(void *context, const char *line)
{
    struct cuda_context *c = context;
    const size_t begin = begin_line(c);
    const char *digits = line + begin;
    if (!begin || strncmp(line, c->line, begin) || strspn(digits, "0123456789abcdef") < DIGITS)
        return;
    struct cuda_choice **last = &c->choices, *one = calloc(1, sizeof *one);
    if (!one)
        abort();
    for (size_t i = 0; i < sizeof one->is; i++)
        sscanf(digits + 2 * i, "%2hhx", (unsigned char *)&one->is + i);
    snprintf(one->text, sizeof one->text, "%s, of an earlier run", digits + DIGITS);
    while (*last && memcmp((*last)->is.key, one->is.key, sizeof one->is.key) != 0)
        last = &(*last)->next;
    if (*last)
        free(one);
    else
        *last = one;
}
