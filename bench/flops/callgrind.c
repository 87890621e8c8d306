/*
 * The format is in "Callgrind Format Specification" of Valgrind's manual. These of its lines are needed:
 *
 *     positions: instr [line]      the first fields of a cost line
 *     ob=(1) /path   cob=(1)       object file of the following lines, of a callee: a number, with its path
 *                                  at first
 *     0x1149 5   +3 5   * 2        executions of an instruction: its address (absolute, relative to the last
 *                                  one, or the same), then counts
 *     calls=2 0x1130               the next cost line is the work of the callee: it changes the position, but
 *                                  its counts belong to the callee
 *     totals: 30                   the sum of all counts, which shows that the profile is complete and that
 *                                  nothing was counted twice
 *
 * An instruction may occur in several lines, for example in inlined functions.
 */
#include "bench/flops/disassembly.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"

enum { OBJECTS_MAX = 100000 };

struct reader {
    struct executions *out;
    int profile;
    bool positioned;   /* the header has been read */
    int sub_positions; /* after the address */
    int object;        /* of the following lines; -1 before the first */
    uint64_t address;  /* of the last cost line */
    bool after_call;
    int64_t sum, total; /* total: -1 until it was read */
};

static bool starts(const char *line, const char *key, const char **rest)
{
    size_t length = strlen(key);
    *rest = line + length;
    return strncmp(line, key, length) == 0;
}

/* Reads "(number)" or "(number) path", which names the number. */
static bool read_object(struct executions *e, const char *text, int *object)
{
    char *end;
    long id = *text == '(' ? strtol(text + 1, &end, 10) : -1;
    if (id < 0 || id >= OBJECTS_MAX || *end != ')')
        return false;
    while (id >= e->object_count) {
        e->objects = grow(e->objects, (size_t)e->object_count, sizeof *e->objects);
        e->objects[e->object_count++] = NULL;
    }
    *object = (int)id;
    if (end[1] == ' ' && !e->objects[id])
        e->objects[id] = copied(end + 2);
    return e->objects[id] != NULL;
}

/* Reads an address, absolute or relative to the last one; returns the rest of the line, or null. */
static const char *read_address(struct reader *r, const char *text)
{
    if (*text == '*')
        return text + 1;
    int sign = *text == '+' ? 1 : *text == '-' ? -1 : 0;
    text += sign != 0;
    if (!isdigit((unsigned char)*text))
        return NULL;
    char *end;
    uint64_t number = strtoull(text, &end, 0);
    r->address = sign > 0 ? r->address + number : sign < 0 ? r->address - number : number;
    return end;
}

static bool read_cost(struct reader *r, const char *line)
{
    const char *text = read_address(r, line);
    for (int i = 0; text && i < r->sub_positions; i++) {
        text += strspn(text, " \t");
        text += strcspn(text, " \t");
    }
    if (!text || !r->positioned || r->object < 0)
        return false;
    char *end;
    int64_t count = strtoll(text, &end, 10); /* an omitted count is 0 */
    bool inclusive = r->after_call;
    r->after_call = false;
    if (*end && *end != ' ')
        return false;
    if (inclusive || count == 0)
        return true;
    r->sum += count;
    struct executions *e = r->out;
    e->list = grow(e->list, e->count, sizeof *e->list);
    e->list[e->count++] = (struct execution){r->object, r->address, r->profile, count};
    return true;
}

/* A line "key: value" of the header or the end, of which three are needed. */
static bool read_header(struct reader *r, const char *line)
{
    const char *rest;
    if (starts(line, "positions: ", &rest)) {
        r->sub_positions = strcmp(rest, "instr line") == 0;
        return r->positioned = strncmp(rest, "instr", 5) == 0;
    }
    if (starts(line, "totals: ", &rest))
        r->total = strtoll(rest, NULL, 10);
    return starts(line, "events: ", &rest) ? strncmp(rest, "Ir", 2) == 0 : true;
}

static bool read_line(struct reader *r, const char *line)
{
    static const char *const names[] = {"fl=", "fi=", "fe=", "fn=", "cfi=", "cfl=", "cfn="};
    const char *rest;
    int callee;
    if (*line == '\0' || *line == '#')
        return true;
    if (isdigit((unsigned char)*line) || strchr("+-*", *line))
        return read_cost(r, line);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (starts(line, names[i], &rest))
            return true;
    if (starts(line, "ob=", &rest))
        return read_object(r->out, rest, &r->object);
    if (starts(line, "cob=", &rest))
        return read_object(r->out, rest, &callee);
    if (starts(line, "calls=", &rest))
        return r->after_call = true;
    return isalpha((unsigned char)*line) && line[strcspn(line, ":=")] == ':' && read_header(r, line);
}

static int by_place(const void *a, const void *b)
{
    const struct execution *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->profile - y->profile;
}

void executions_sort(struct executions *e)
{
    if (!e->count)
        return;
    qsort(e->list, e->count, sizeof *e->list, by_place);
    size_t last = 0;
    for (size_t i = 1; i < e->count; i++)
        if (by_place(&e->list[last], &e->list[i]) == 0)
            e->list[last].count += e->list[i].count;
        else
            e->list[++last] = e->list[i];
    e->count = last + 1;
}

static bool read_lines(struct reader *r, FILE *in, struct message *error)
{
    char *line = NULL;
    size_t size = 0;
    bool good = true;
    for (int number = 1; good && getline(&line, &size, in) > 0; number++) {
        line[strcspn(line, "\n")] = '\0';
        good = read_line(r, line) ||
               complain(error, "callgrind's profile, line %d: unexpected: %.80s", number, line);
    }
    free(line);
    return good;
}

bool callgrind_read(FILE *in, int profile, struct executions *out, struct message *error)
{
    struct reader r = {.out = out, .profile = profile, .object = -1, .total = -1};
    bool good = read_lines(&r, in, error);
    if (good && r.total != r.sum)
        good = complain(error, "callgrind's profile: the counts sum to %lld, but the total is %lld",
                        (long long)r.sum, (long long)r.total);
    if (!good)
        executions_free(out);
    return good;
}

void executions_free(struct executions *e)
{
    for (int i = 0; i < e->object_count; i++)
        free(e->objects[i]);
    free(e->objects);
    free(e->list);
    *e = (struct executions){0};
}
