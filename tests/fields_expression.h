/*
 * What must hold of the fields of a row, as text:
 *
 *     it = sum(P.profile.flops)      numbers: within 1e-9 of each other, lists item by item
 *     it = 'a*' and it != 'ab'       texts: the right one is a pattern of fnmatch(3)
 *     0 <= it < P.time.max and a ~ b within 1 %
 *     a = b and c = d if e = f
 *
 * with + - * / item by item (of texts: joined by a blank), 'texts', numbers and these functions of lists:
 * sum, count, least, most, mean, std, median, quantile(list, p), drop(list, n) without the first n, at(list,
 * by) where `by` is largest, where(list, texts, 'pattern'); item by item larger(a, b), smaller(a, b),
 * sqrt(a), power(a, b).
 */
#ifndef GTMARK_TESTS_FIELDS_EXPRESSION_H
#define GTMARK_TESTS_FIELDS_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

/* A number or text, or a list of either. */
struct operand_value {
    bool known;
    bool is_text;
    size_t count; /* 1 unless a list */
    double *number;
    const char **text;
};

/* What a statement needs until it is judged. */
struct memory {
    struct block *blocks;
};

struct operand_value value_of_numbers(struct memory *m, const double *numbers, size_t count);
struct operand_value value_of_texts(struct memory *m, const char *const *texts, size_t count);

/* Returns what a name stands for. */
typedef struct operand_value name_value(const void *context, struct memory *m, const char *name,
                                        size_t length);

/* Whether it holds; -1: it says nothing, since something is not known or the condition is false. `why` of
 * this size says what was compared, if it does not hold. */
int statement_holds(const char *statement, name_value *names, const void *context, char *why, size_t size);

#endif
