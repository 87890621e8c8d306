#include "models/layers/check_choice.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/arithmetic.h"
#include "kernels/rng.h"

struct heights heights_of(const struct entry *e)
{
    const struct op_info *info = op_info(e->op);
    struct heights h = {{1}, 0};
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        bool written = operand_is_mat(o) && operand_writes(o) && mat_present(*operand_mat(o, e->args));
        int64_t rows = written ? operand_mat(o, e->args)->rows : 1;
        int n = 0;
        while (n < h.count && h.of[n] != rows)
            n++;
        if (n == h.count && rows > 1)
            h.of[h.count++] = rows;
    }
    h.count = h.count ? h.count : 1;
    return h;
}

struct chosen choose_rows(const struct heights *h, uint64_t key, int most)
{
    struct chosen c = {.draws = most};
    for (int n = 0; n < most; n++) {
        int64_t rows = h->of[n % h->count];
        int64_t random = (int64_t)(rng_bits(key, (uint64_t)n) % (uint64_t)rows);
        int64_t row = n == 0 ? 0 : n <= h->count ? h->of[n - 1] - 1 : random;
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

bool rows_clock_start(struct rows_clock *k, struct rows_limit *limit, const struct check *check,
                      const struct tape *t)
{
    limit->entries = tape_entry_count(t);
    limit->left_out = 0;
    limit->fewest = ROWS_MAX;
    *k =
        (struct rows_clock){.limit = limit, .check = check, .began = omp_get_wtime(), .entry = -1, .tape = t};
    k->took = calloc((size_t)limit->entries + 1, sizeof *k->took);
    return k->took;
}

void rows_clock_end(struct rows_clock *k)
{
    free(k->took);
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

/* Whether an operand is alike in two calls; keys of random numbers need not be. */
static bool is_alike(const struct operand *o, const void *args, const void *other)
{
    if (!operand_is_mat(o))
        return (o->type && strcmp(o->type, "uint64_t") == 0) ||
               memcmp((const char *)args + o->at, (const char *)other + o->at, o->size) == 0;
    struct mat a = *operand_mat(o, args), b = *operand_mat(o, other);
    return mat_present(a) == mat_present(b) && a.rows == b.rows && a.cols == b.cols && a.acc == b.acc;
}

static bool are_alike(const struct entry *a, const struct entry *b)
{
    const struct op_info *info = op_info(a->op);
    bool alike = a->kernel == b->kernel;
    for (int i = 0; i < info->operand_count && alike; i++)
        alike = is_alike(&info->operands[i], a->args, b->args);
    return alike;
}

bool rows_clock_enter(struct rows_clock *k)
{
    const struct entry *e = tape_entry(k->tape, ++k->entry);
    int alike = k->entry - 1;
    k->entered = omp_get_wtime();
    check_tell(k->check, e->op, k->entry, k->limit->entries);
    while (alike >= 0 && !(k->took[alike] > 0 && are_alike(e, tape_entry(k->tape, alike))))
        alike--;
    bool leaves_out = alike >= 0 && k->took[alike] > fmax(0, seconds_left(k));
    k->limit->left_out += leaves_out;
    return !leaves_out;
}

int rows_clock_afford(const struct rows_clock *k, int rows, double seconds)
{
    double share = fmax(0, seconds_left(k)) / (k->limit->entries - k->entry);
    double most = rows + share * rows / (2 * seconds);
    return most < ROWS_MAX ? (int)most : ROWS_MAX;
}

void rows_clock_leave(struct rows_clock *k, int draws)
{
    k->took[k->entry] = omp_get_wtime() - k->entered;
    k->limit->fewest = draws < k->limit->fewest ? draws : k->limit->fewest;
}
