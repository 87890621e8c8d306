/* Members of a struct as those of a JSON object: one table writes and reads them. */
#ifndef GTMARK_BENCH_MEMBERS_H
#define GTMARK_BENCH_MEMBERS_H

#include <stddef.h>

#include "analysis/record/value.h"

/* char[], int, int64_t, double; a rate is above 0, and so are whole numbers. */
enum member_kind { AS_TEXT, AS_INT, AS_COUNT, AS_REAL, AS_RATE };

struct member {
    const char *name;
    enum member_kind kind;
    size_t at, size;
    bool may_lack; /* an object may lack it, and has none of 0 */
};

#define MEMBER(of, as, member)                                                                               \
    .name = #member, .kind = AS_##as, .at = offsetof(struct of, member),                                     \
    .size = sizeof((struct of *)0)->member

/* Adds those of a table, whose last has no name, to an object. */
void members_write(const struct member *table, const void *from, struct value *object);

/* False if the object lacks one, or has one of another kind. */
bool members_read(const struct member *table, const struct value *object, void *to);

#endif
