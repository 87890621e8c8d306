/*
 * Names of x86 arithmetic consist of an optional v (VEX and EVEX forms), the operation, the operand order of
 * a fused multiply-add (132, 213, 231) or the bits of an approximation (14, 28), and the type (ss sd sh
 * scalar, ps pd ph packed). x87 names begin with f or fi and end with the size of the operand or a pop.
 */

#include "bench/flops/disassembly.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *stem;
    int flops; /* per lane */
} arithmetic[] = {
    {"add", 1},   {"sub", 1},    {"mul", 1},    {"div", 1},      {"sqrt", 1},     {"rcp", 1},
    {"rsqrt", 1}, {"hadd", 1},   {"hsub", 1},   {"addsub", 1},   {"dp", 2},       {"fmadd", 2},
    {"fmsub", 2}, {"fnmadd", 2}, {"fnmsub", 2}, {"fmaddsub", 2}, {"fmsubadd", 2},
};

/* The bytes of a lane, and whether there is only one; 0 if the name does not end with a type. */
static int lane_bytes(const char *name, size_t length, bool *scalar)
{
    if (length < 3 || !strchr("sp", name[length - 2]))
        return 0;
    *scalar = name[length - 2] == 's';
    switch (name[length - 1]) {
    case 'h':
        return 2;
    case 's':
        return 4;
    case 'd':
        return 8;
    default:
        return 0;
    }
}

static int flops_per_lane(const char *name, size_t length)
{
    while (length && isdigit((unsigned char)name[length - 1]))
        length--;
    for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++)
        if (strlen(arithmetic[i].stem) == length && strncmp(arithmetic[i].stem, name, length) == 0)
            return arithmetic[i].flops;
    return 0;
}

static int x87_flops(const char *name, size_t length)
{
    static const char *const stems[] = {"add", "sub", "mul", "div", "sqrt"};
    static const char *const endings[] = {"", "p", "s", "l", "r", "rp", "rs", "rl"};
    if (*name != 'f')
        return 0;
    size_t prefix = name[1] == 'i' ? 2 : 1;
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        for (size_t j = 0; j < sizeof endings / sizeof *endings; j++) {
            size_t stem = strlen(stems[i]), ending = strlen(endings[j]);
            if (length == prefix + stem + ending && strncmp(name + prefix, stems[i], stem) == 0 &&
                strncmp(name + prefix + stem, endings[j], ending) == 0)
                return 1;
        }
    return 0;
}

static int widest_register(const char *instruction)
{
    return strstr(instruction, "%zmm")   ? 64
           : strstr(instruction, "%ymm") ? 32
           : strstr(instruction, "%xmm") ? 16
                                         : 0;
}

struct opcode opcode_of(const char *instruction)
{
    while (*instruction == '{') /* a prefix on the encoding: "{evex} vaddps ..." */
        instruction += strcspn(instruction, " ") + strspn(instruction + strcspn(instruction, " "), " ");
    const char *name = instruction;
    size_t length = strcspn(name, " \t\n");
    struct opcode o = {.register_bytes = widest_register(instruction)};
    if (!o.register_bytes)
        o.flops = x87_flops(name, length);
    else {
        size_t v = *name == 'v';
        bool scalar;
        int lane = lane_bytes(name, length, &scalar);
        if (lane && length >= v + 2)
            o.flops = flops_per_lane(name + v, length - v - 2) * (scalar ? 1 : o.register_bytes / lane);
    }
    return o;
}

const char *opcode_in_line(const char *line, uint64_t *address)
{
    if (*line != ' ')
        return NULL;
    char *end;
    *address = strtoull(line, &end, 16);
    return strncmp(end, ":\t", 2) == 0 ? end + 2 : NULL;
}
