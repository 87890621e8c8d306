/*
 * The generated sections of pages in docs/, as Markdown.
 *
 * A section is the text of its page between the lines "<!-- generated: NAME -->" and "<!-- end -->".
 */
#ifndef GTMARK_TESTS_METRICS_H
#define GTMARK_TESTS_METRICS_H

#include <stdio.h>

#include "kernels/ops.h"

struct section {
    const char *page; /* file in the root of the repository */
    const char *name;
    void (*write)(FILE *out);
};

/* All sections, terminated by a row without a page. */
extern const struct section metrics_sections[];

/*
 * The minimum bytes of an op as a formula in its sizes: for each shape the unconditional accesses, and those
 * of operands that may be absent or accumulated.
 */
enum { BYTES_TERMS = 16 };

struct bytes_term {
    enum dim rows, cols;
    enum role role; /* OFFSETS: rows + 1 entries */
    enum dtype dtype;
    int always;                    /* unconditional accesses */
    unsigned present, accumulated; /* operands (bits) counted if present, and if accumulated */
};

struct bytes_formula {
    const struct op_info *info;
    int count;
    struct bytes_term terms[BYTES_TERMS];
};

struct bytes_formula bytes_formula_of(enum op op);
void bytes_formula_write(const struct bytes_formula *f, FILE *out);

/* Its value for a call with these sizes, which must equal op_bytes. */
int64_t bytes_formula_value(const struct bytes_formula *f, const void *args, const int64_t dims[DIMS]);

#endif
