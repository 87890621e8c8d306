#include "bench/base/kinds.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

void kinds_list(const char *list, cpu_set_t *set)
{
    CPU_ZERO(set);
    for (const char *at = list; *at >= '0' && *at <= '9';) {
        char *end;
        long first = strtol(at, &end, 10), last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            CPU_SET((size_t)cpu, set);
        at = *end == ',' ? end + 1 : end;
    }
}

bool kinds_line(const char *root, const char *path, int cpu, int index, char line[KINDS_LINE])
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, path, root, cpu, index);
    FILE *in = fopen(name, "r");
    bool read = in && fgets(line, KINDS_LINE, in);
    if (in)
        fclose(in);
    return read;
}

/* How fast each processor is: of Intel's 1 or 0, else its capacity. False if all are alike. */
static bool find_speeds(const char *root, int speed[CPU_SETSIZE], bool *intel)
{
    char line[KINDS_LINE];
    cpu_set_t cores;
    *intel = kinds_line(root, "%s/devices/cpu_atom/cpus", 0, 0, line) &&
             kinds_line(root, "%s/devices/cpu_core/cpus", 0, 0, line);
    kinds_list(*intel ? line : "", &cores);
    bool differ = *intel;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        speed[cpu] = CPU_ISSET(cpu, &cores) != 0;
    for (int cpu = 0; !*intel && cpu < CPU_SETSIZE &&
                      kinds_line(root, "%s/devices/system/cpu/cpu%d/cpu_capacity", cpu, 0, line);
         cpu++) {
        speed[cpu] = atoi(line);
        differ = differ || speed[cpu] != speed[0];
    }
    return differ;
}

bool kinds_fastest(const char *root, cpu_set_t *set, char name[KIND_NAME])
{
    bool intel;
    int speed[CPU_SETSIZE], most = 0, before = CPU_COUNT(set);
    *name = '\0';
    if (!find_speeds(root, speed, &intel))
        return true;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, set) && speed[cpu] > most)
            most = speed[cpu];
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (speed[cpu] < most)
            CPU_CLR(cpu, set);
    if (intel)
        snprintf(name, KIND_NAME, "cpu_%s", most ? "core" : "atom");
    else
        snprintf(name, KIND_NAME, "cpu_capacity %d", most);
    return CPU_COUNT(set) == before;
}
