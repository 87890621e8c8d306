/*
 * Checks the results of a tape against double precision, for a whole program or op by op, with the same
 * measure of error.
 *
 * The error of a tensor a against the oracle's r is |a - r| / max(|r|, floor) in the 2-norm. For gradients
 * the floor is 1e-2 |g| sqrt(n / n_all), with g all gradients together, n the entries of this one and n_all
 * of all: some gradients (of a key bias) are exactly zero in theory, and rounding errors there must not
 * count. The worst single row is measured too, relative to the larger of its own norm and the tensor's
 * root-mean-square row norm. Outputs and losses that are small because large terms cancel have floors of
 * their own (docs/methods.md, "Error").
 */
#ifndef GTMARK_MODELS_CHECK_H
#define GTMARK_MODELS_CHECK_H

#include "models/layers/model.h"

/* Error limits in f32; ten times larger for a single row, and kernel_allowance times for each kernel. */
#define CHECK_LIMIT_OUTPUT   1e-5 /* outputs and the loss */
#define CHECK_LIMIT_GRADIENT 1e-4
/* Of whole programs in TF32, whose oracle rounds the same factors. */
#define CHECK_TF32          1e-3
#define CHECK_TF32_GRADIENT 1e-2
/* Of whole programs in BF16; a gradient's floor is 1e-1 |g|, not 1e-2 |g|. */
#define CHECK_BF16_OUTPUT   5e-2
#define CHECK_BF16_GRADIENT 1e-1
/* Of whole programs: how far <a, r> / <r, r> of a gradient a may be from 1, where |r| is beyond the floor.
 * Random errors hardly change it, and a factor does (docs/validation/gradients.md). */
#define CHECK_TF32_SLOPE 5e-3
#define CHECK_BF16_SLOPE 2e-2
#define CHECK_FORGIVEN   3 /* times what a result moves with the last bit of its operands */

/* Exceptions of the error rules: what can make an error pass that is beyond the plain limit. */
enum exception {
    EXCEPTION_FLOOR, /* the norm of the reference is below the floor */
    EXCEPTION_FLOAT, /* three times the error of float */
    EXCEPTION_CUT,   /* products know fewer bits of their operands than a float has */
    EXCEPTIONS
};

enum { TENSOR_NAME = 128, FOUND_TEXT = 200 };

struct check {
    void (*tell)(void *told, const char *op, int entry, int entries); /* of each entry; null: nobody */
    void *told;
    int tensors;              /* number compared so far */
    double norm, worst_row;   /* largest of all */
    double excess;            /* largest ratio of an error to its limit, or the first above 1: wrong */
    char tensor[TENSOR_NAME]; /* the tensor with it */
    char found[FOUND_TEXT];   /* the first fault beside the tensors (check_found); empty if none */
    struct {
        int tensors; /* within their limits only by this exception */
        char first[TENSOR_NAME];
    } excepted[EXCEPTIONS];
};

/* What error is allowed. */
struct rule {
    double limit, floor;
    double slope; /* limit; 0: none */
    struct {
        double limit, floor; /* limit 0: there is no such exception */
        enum exception by;
    } wide; /* allows at least as much */
};

/*
 * Compares rows of a tensor (reals or integers) with the oracle's (f64, or the same integers) and updates
 * the check. `rows` null: all rows. A value that is not finite has infinite error.
 */
void check_tensor(struct check *c, const char *name, struct mat ours, struct mat oracle, const int64_t *rows,
                  int64_t count, struct rule rule);

/* <ours, oracle> / <oracle, oracle>; 1 of zeros. */
double check_slope(struct mat ours, struct mat oracle);

/*
 * A value of this type, F32 or BF16, with the last bit drawn by `key` and the bits before it. So what was
 * moved does not move again, and equal values move equally, since some ops look for the largest of others.
 * Zero stays.
 */
double check_moved(double value, enum dtype dtype, uint64_t key);

/* The exceptions that were needed: "floor (2 tensors, first loss); cut operands (1 tensor, ...)"; or "". */
enum { CHECK_EXCEPTIONS_TEXT = 512 };
void check_exceptions(const struct check *c, char text[CHECK_EXCEPTIONS_TEXT]);

/*
 * The whole program: copies our parameters and inputs to the oracle, runs both once and compares output, loss
 * and every gradient, and the nodes before they are pooled, in which a fault of one node is not diluted. Both
 * recordings are of the same program, laid out and initialised; `oracle` is in double. In inference, batch
 * norm has running statistics of the batch then, in both.
 */
void check_whole(struct check *c, struct recording *ours, struct recording *oracle);

/*
 * The same once more, where check_whole has just found results beyond their limits: sets the check, allowing
 * three times as much as the results move with the last bits of what every op reads. `moved` is the program
 * recorded with the oracle's kernels in float, laid out; it is run up to 16 times. False without memory.
 */
bool check_whole_again(struct check *c, struct recording *ours, struct recording *oracle,
                       struct recording *moved);

/* How long check_rows may take, and what it did in that time. */
struct rows_limit {
    double seconds;        /* INFINITY: any */
    int fewest;            /* set: of 66 rows, how many were drawn of each entry at least */
    int entries, left_out; /* set: of the program; not checked, each of an op of which others were */
};

/*
 * Op by op: runs the program once and, after each entry, recomputes the first, the last and 64 random rows of
 * each output with ref in double, from the entry's actual inputs. If any differ by more than is allowed, the
 * program is initialised and run once more, and it is measured how far those entries move with the last bit
 * of their operands, which takes its time. The limit, null for none, is kept by fewer rows, at least the
 * first and the last, then by leaving entries out. Needs memory for the operands of one entry in double and
 * in float, and once more in double then; returns false without it, or when cancelled.
 */
bool check_rows(struct check *c, struct tape *t, uint64_t seed, struct rows_limit *limit);

/*
 * What a comparison with the oracle does not show. The initial state of a program that is laid out and
 * initialised, which the oracle shares; and AdamW: runs the program once more and recomputes every entry that
 * it moved, in double, from the state before and the gradients after. check_adamw needs memory for three
 * doubles for each entry; it returns false without it, or when cancelled.
 */
void check_initial(struct check *c, const struct tape *t);
bool check_adamw(struct check *c, struct tape *t);

/* Keeps the first fault that is found: a line with what was measured and what is allowed. */
void check_found(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds what another check found, later or of less weight: the first that is wrong stays. */
void check_add(struct check *c, const struct check *other);

#endif
