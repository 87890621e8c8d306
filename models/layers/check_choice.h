/* Which rows of an entry are checked, and for how long. */
#ifndef GTMARK_MODELS_CHECK_CHOICE_H
#define GTMARK_MODELS_CHECK_CHOICE_H

#include "models/layers/check.h"

enum { SEEDED = 64, ROWS_MAX = SEEDED + 2 };

struct chosen {
    int64_t drawn[ROWS_MAX]; /* distinct; fewer rows are the first of these */
    int64_t rows[ROWS_MAX];  /* the same, ascending */
    int count, draws;
};

/* The numbers of rows of an entry's outputs: each once, and 1 only if there is no other. */
struct heights {
    int64_t of[OPERANDS_MAX];
    int count;
};

struct heights heights_of(const struct entry *e);

/* The first, the last of each height, and random rows of each in turn, of at most `most` draws. */
struct chosen choose_rows(const struct heights *h, uint64_t key, int most);

/* The number of chosen rows that a matrix of this many rows has. */
int chosen_within(const struct chosen *chosen, int64_t rows);

/* The time of a check by rows so far. */
struct rows_clock {
    struct rows_limit *limit;
    const struct check *check;
    double began, entered; /* seconds of omp_get_wtime */
    int entry;
    const struct tape *tape;
    double *took; /* of the entries checked so far; else 0 */
};

/* Of a tape; check: whom to tell. False without memory. */
bool rows_clock_start(struct rows_clock *k, struct rows_limit *limit, const struct check *check,
                      const struct tape *t);
void rows_clock_end(struct rows_clock *k);

/*
 * Begins the next entry. False if it is left out: one of the same kernel, sizes, operands and attributes was
 * checked before, and the time does not suffice again.
 */
bool rows_clock_enter(struct rows_clock *k);

/* Tells that an entry begins, or, of a whole program, is over. */
void check_tell(const struct check *c, enum op op, int entry, int entries);

/* How many draws the time allows in this entry, if `rows` took `seconds`; each is computed twice. */
int rows_clock_afford(const struct rows_clock *k, int rows, double seconds);

/* Ends an entry with this many draws. */
void rows_clock_leave(struct rows_clock *k, int draws);

#endif
