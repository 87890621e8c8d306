/*
 * NVIDIA_TF32_OVERRIDE makes every f32 product a TF32 product, or forbids TF32 where it is asked for.
 * CUBLAS_EMULATE_SINGLE_PRECISION, CUBLAS_EMULATION_STRATEGY and others of that kind replace f32 by products
 * of bf16 ("Floating point emulation" in the cuBLAS manual). A row would then be timed and checked as f32 and
 * be something else.
 */
#include "bench/machine/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

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

void environment_clear(char *names, size_t size)
{
    *names = '\0';
    for (char **variable = environ; variable && *variable;) {
        size_t length = changes_arithmetic(*variable), used = strlen(names);
        if (length == 0) {
            variable++;
            continue;
        }
        char *name = strndup(*variable, length);
        if (!name)
            abort();
        snprintf(names + used, size - used, "%s%s", used ? ", " : "", name);
        unsetenv(name); /* moves the following variables down */
        free(name);
    }
}
