/*
 * Preloaded when tests run (Makefile): programs see a last-level cache of 16 MiB. What a benchmark does for
 * cold runs and for calibration grows with this cache, and a virtual machine may show its host's, of half a
 * GiB.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

FILE *fopen(const char *path, const char *mode)
{
    typedef FILE *opener(const char *path, const char *mode);
    static const char processors[] = "/sys/devices/system/cpu/";
    static char size[] = "16384K\n";
    opener *next = (opener *)dlsym(RTLD_NEXT, "fopen");
    FILE *file = next(path, mode);
    if (!file || strncmp(path, processors, strlen(processors)) != 0 || !strstr(path, "/cache/index3/size"))
        return file;
    fclose(file);
    return fmemopen(size, strlen(size), mode);
}
