/*
 * What entries of tapes executed, each distinct one counted once: op, kernel, shapes, attributes, contents of
 * indices, and the alignment of operands.
 */
#ifndef GTMARK_BENCH_ENTRIES_H
#define GTMARK_BENCH_ENTRIES_H

#include "bench/flops/disassembly.h"
#include "models/tape/tape.h"

struct counted_entry {
    uint64_t key;
    struct executed_flops executed;
};

/* Zero is an empty list. */
struct counted_entries {
    struct counted_entry *list;
    int count, capacity;
};

/*
 * A hash of everything on which the number of operations of an entry depends; its operands must hold what
 * they hold when it runs. Entries with the same key run the same instructions equally often.
 */
uint64_t entry_key(const struct entry *e);

/* The index of a key; a new one is added. */
int counted_entry(struct counted_entries *c, uint64_t key);

void counted_entries_free(struct counted_entries *c);

#endif
