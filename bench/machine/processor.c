/* Numbers of the main ID register (MIDR_EL1): Linux, arch/arm64/include/asm/cputype.h. */
#include "bench/machine/processor.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Processors that are made of others' cores have those cores' numbers: Graviton, Grace, Altra, Axion. */
static const struct {
    uint32_t implementer, part;
    const char *name;
} cores[] = {
    {0x41, 0xd03, "Cortex-A53"},   {0x41, 0xd05, "Cortex-A55"},    {0x41, 0xd07, "Cortex-A57"},
    {0x41, 0xd08, "Cortex-A72"},   {0x41, 0xd0b, "Cortex-A76"},    {0x41, 0xd41, "Cortex-A78"},
    {0x41, 0xd0c, "Neoverse N1"},  {0x41, 0xd40, "Neoverse V1"},   {0x41, 0xd49, "Neoverse N2"},
    {0x41, 0xd4f, "Neoverse V2"},  {0x41, 0xd84, "Neoverse V3"},   {0x41, 0xd8e, "Neoverse N3"},
    {0x43, 0x0af, "ThunderX2"},    {0x46, 0x001, "Fujitsu A64FX"}, {0x48, 0xd01, "Kunpeng 920"},
    {0x4e, 0x004, "Carmel"},       {0x51, 0x001, "Oryon"},         {0x61, 0x022, "Apple M1"},
    {0x61, 0x023, "Apple M1"},     {0x61, 0x024, "Apple M1 Pro"},  {0x61, 0x025, "Apple M1 Pro"},
    {0x61, 0x028, "Apple M1 Max"}, {0x61, 0x029, "Apple M1 Max"},  {0x61, 0x032, "Apple M2"},
    {0x61, 0x033, "Apple M2"},     {0x61, 0x034, "Apple M2 Pro"},  {0x61, 0x035, "Apple M2 Pro"},
    {0x61, 0x038, "Apple M2 Max"}, {0x61, 0x039, "Apple M2 Max"},  {0x6d, 0xd49, "Azure Cobalt 100"},
    {0xc0, 0xac3, "AmpereOne"},    {0xc0, 0xac4, "AmpereOne A"},
};

void system_field(const char *path, const char *key, char *value, size_t size)
{
    char line[512];
    snprintf(value, size, "unknown");
    FILE *in = fopen(path, "r");
    while (in && fgets(line, sizeof line, in)) {
        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        const char *from = line + strlen(key);
        from += strspn(from, " \t:=\"");
        snprintf(value, size, "%.*s", (int)strcspn(from, "\"\n"), from);
        break;
    }
    if (in)
        fclose(in);
}

/* A field of the first processor as a number; false: there is none. */
static bool number(const char *root, const char *path, const char *key, uint32_t *value)
{
    char from[PATH_MAX], text[64], *end;
    snprintf(from, sizeof from, "%s%s", root, path);
    system_field(from, key, text, sizeof text);
    *value = (uint32_t)strtoull(text, &end, 16);
    return end != text && !*end;
}

void processor_name(const char *root, char *name, size_t size)
{
    char path[PATH_MAX];
    uint32_t implementer, part, midr;
    snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
    system_field(path, "model name", name, size);
    if (number(root, "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "", &midr))
        implementer = midr >> 24, part = midr >> 4 & 0xfff;
    else if (!number(root, "/proc/cpuinfo", "CPU implementer", &implementer) ||
             !number(root, "/proc/cpuinfo", "CPU part", &part))
        return;
    snprintf(name, size, "ARM implementer 0x%x, part 0x%x", implementer, part);
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
        if (cores[i].implementer == implementer && cores[i].part == part)
            snprintf(name, size, "%s", cores[i].name);
}
