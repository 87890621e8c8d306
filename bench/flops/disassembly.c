/*
 * objdump disassembles only the neighbourhood of what was executed: a library may have a hundred times more
 * code than was run, and disassembling all of it would take seconds. A range begins at an executed
 * instruction, so it is aligned with the instructions.
 */
#include "bench/flops/disassembly.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/child.h"

/* Executed instructions that are closer than this are disassembled together: starting objdump takes as long
 * as disassembling about 64 KiB of code. The longest instruction has 15 bytes. */
enum { GAP = 65536, INSTRUCTION_BYTES_MAX = 15 };

/* Neighbouring executions in one object file. */
struct range {
    const struct execution *list;
    size_t count, found;
};

static int by_address(const void *key, const void *member)
{
    uint64_t address = *(const uint64_t *)key, other = ((const struct execution *)member)->address;
    return (address > other) - (address < other);
}

static void add_line(struct range *r, const char *line, struct executed_flops *out)
{
    uint64_t address;
    const char *instruction = opcode_in_line(line, &address);
    const struct execution *end = r->list + r->count;
    const struct execution *e =
        instruction ? bsearch(&address, r->list, r->count, sizeof *r->list, by_address) : NULL;
    if (!e)
        return;
    while (e > r->list && e[-1].address == address)
        e--;
    struct opcode o = opcode_of(instruction);
    for (; e < end && e->address == address; e++) {
        struct executed_flops *to = &out[e->profile];
        r->found++;
        to->flops += e->count * o.flops;
        if (o.flops && o.register_bytes > to->register_bytes)
            to->register_bytes = o.register_bytes;
    }
}

static bool start_objdump(const char *object, const struct range *r, pid_t *child, int *output,
                          struct message *error)
{
    char from[64], to[64];
    snprintf(from, sizeof from, "--start-address=0x%llx", (unsigned long long)r->list[0].address);
    snprintf(to, sizeof to, "--stop-address=0x%llx",
             (unsigned long long)r->list[r->count - 1].address + INSTRUCTION_BYTES_MAX);
    const char *arguments[] = {"objdump", "-d", "-w", "--no-show-raw-insn", from, to, object, NULL};
    return child_start(child, arguments, NULL, output, error);
}

static bool add_range(const char *object, struct range *r, struct executed_flops *out, struct message *error)
{
    pid_t child;
    int output;
    if (!start_objdump(object, r, &child, &output, error))
        return false;
    FILE *in = fdopen(output, "r");
    char *line = NULL;
    size_t size = 0;
    while (in && getline(&line, &size, in) > 0)
        add_line(r, line, out);
    free(line);
    if (in)
        fclose(in);
    else
        close(output);
    if (!child_succeeded("objdump", child_wait(child), error))
        return false;
    return r->found == r->count ||
           complain(error, "%s: %zu of %zu executed instructions cannot be disassembled", object,
                    r->count - r->found, r->count);
}

/* The executions from `first` on that are disassembled together. */
static struct range range_at(const struct executions *e, const struct execution *first)
{
    const struct execution *last = first, *end = e->list + e->count;
    while (last + 1 < end && last[1].object == first->object && last[1].address - last->address < GAP)
        last++;
    return (struct range){.list = first, .count = (size_t)(last - first) + 1};
}

bool disassembly_flops(const struct executions *e, int profiles, struct executed_flops *out,
                       struct message *error)
{
    int64_t all = 0, stray = 0;
    memset(out, 0, (size_t)profiles * sizeof *out);
    for (size_t i = 0; i < e->count;) {
        const struct execution *first = &e->list[i];
        const char *object = e->objects[first->object];
        if (*object != '/') {
            stray += first->count;
            i++;
            continue;
        }
        struct range r = range_at(e, first);
        if (!add_range(object, &r, out, error))
            return false;
        i += r.count;
    }
    for (size_t i = 0; i < e->count; i++)
        all += e->list[i].count;
    /* callgrind has no object file for linkage stubs outside .plt (.plt.got, .plt.sec): a few per call */
    return stray <= all / 1000 ||
           complain(error, "%lld executed instructions belong to no file", (long long)stray);
}
