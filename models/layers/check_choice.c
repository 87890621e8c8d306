#include "models/layers/check_choice.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/arithmetic.h"
#include "kernels/rng.h"

struct chosen choose_rows(int64_t rows, uint64_t key, int most)
{
    struct chosen c = {.draws = most};
    for (int n = 0; n < most; n++) {
        int64_t row = n == 0 ? 0 : n == 1 ? rows - 1 : (int64_t)(rng_bits(key, (uint64_t)n) % (uint64_t)rows);
        int at = c.count;
        while (at > 0 && c.rows[at - 1] > row)
            at--;
        if (at > 0 && c.rows[at - 1] == row)
            continue;
        memmove(c.rows + at + 1, c.rows + at, (size_t)(c.count - at) * sizeof *c.rows);
        c.rows[at] = row;
        c.drawn[c.count++] = row;
    }
    return c;
}

int chosen_within(const struct chosen *chosen, int64_t rows)
{
    int count = 0;
    while (count < chosen->count && chosen->rows[count] < rows)
        count++;
    return count;
}

struct rows_clock rows_clock_start(struct rows_limit *limit, const struct check *check, int entries)
{
    limit->entries = entries;
    limit->left_out = 0;
    limit->fewest = ROWS_MAX;
    return (struct rows_clock){.limit = limit, .check = check, .began = omp_get_wtime(), .entry = -1};
}

void check_tell(const struct check *c, enum op op, int entry, int entries)
{
    if (c->tell)
        c->tell(c->told, op_info(op)->name, entry + 1, entries);
}

static double seconds_left(const struct rows_clock *k)
{
    return k->limit->seconds - (omp_get_wtime() - k->began);
}

bool rows_clock_enter(struct rows_clock *k, enum op op)
{
    struct rows_limit *l = k->limit;
    k->entry++;
    k->entered = omp_get_wtime();
    check_tell(k->check, op, k->entry, l->entries);
    bool leaves_out = k->took[op] > fmax(0, seconds_left(k));
    l->left_out += leaves_out;
    return !leaves_out;
}

int rows_clock_afford(const struct rows_clock *k, int rows, double seconds)
{
    double share = fmax(0, seconds_left(k)) / (k->limit->entries - k->entry);
    double most = rows + share * rows / (2 * seconds);
    return most < ROWS_MAX ? (int)most : ROWS_MAX;
}

void rows_clock_leave(struct rows_clock *k, enum op op, int draws)
{
    k->took[op] = omp_get_wtime() - k->entered;
    k->limit->fewest = draws < k->limit->fewest ? draws : k->limit->fewest;
}
