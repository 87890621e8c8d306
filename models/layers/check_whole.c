/*
 * The comparison of a whole program with the same program in double.
 *
 * A result that is beyond its limit may yet be as right as floats can be: where large terms cancel (norms
 * leave means and gradients of exactly zero), where errors grow from layer to layer, and where a rectifier or
 * a largest entry flips, of which no small error warns. Rounding acts like a change of operands in the last
 * bit: what a right op computes is the exact result of operands moved a little (N. J. Higham, Accuracy and
 * Stability of Numerical Algorithms, 1.5). So it is measured how far results move: the program is run with
 * the oracle's kernels in its own type, and parameters, inputs and what every op writes get a random last bit
 * (D. S. Parker, Monte Carlo Arithmetic, 1997); before that with all operations rounded up, and all rounded
 * down, as far as long sums may drift (W. Kahan, How Futile are Mindless Assessments of Roundoff, 2006).
 * Three times the largest distance from the exact result is allowed.
 *
 * The distance only grows with the number of runs. So they end when it is enough, with the verdict that all
 * would have. It says nothing about single ops where it is large; so what passes by it is checked by rows too
 * (bench/row/verify.c), for which each op's operands are as they are.
 */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/rng.h"
#include "models/layers/check_choice.h"
#include "models/layers/check_statistics.h"
#include "models/tape/tape_internal.h"

enum { MOVES = 16 };

/* The storage with the same name and category in another tape of the same program. */
static const struct storage *counterpart(const struct tape *t, const struct storage *s)
{
    for (int i = 1; i < t->storage_count; i++)
        if (t->storages[i].category == s->category && t->storages[i].name &&
            !strcmp(t->storages[i].name, s->name))
            return &t->storages[i];
    tape_contract("check: the FP64 reference has no %s", s->name);
}

/*
 * Copies parameters and inputs to another tape of the program, or the same, which is on the host; exactly, or
 * changed in the last bit of its type.
 */
static void hand_over(const struct tape *from, const struct tape *to, uint64_t jitter)
{
    for (int i = 1; i < from->storage_count; i++) {
        const struct storage *s = &from->storages[i];
        bool given = s->category == MEMORY_GRAPH || s->category == MEMORY_ENCODINGS;
        if ((s->category != MEMORY_PARAMETERS && !given) || s->alias || !dtype_is_real(s->dtype))
            continue;
        if ((given && from->config.part.ranks) || s->is_copy)
            continue;
        int read = s->copy ? s->copy : i; /* what ops read of it */
        struct mat m = whole_view(&from->storages[read], read), y = m;
        const struct storage *other = counterpart(to, s);
        uint64_t key = rng_key(jitter, s->name);
        void *copy;
        struct mat x = tape_read(from, m, &copy);
        y.dtype = other->dtype;
        y.data = (char *)to->arena + other->offset;
        for (int64_t n = 0; n < s->rows * s->cols; n++) {
            double value = mat_get(x, 0, n);
            if (jitter)
                value = check_moved(value, m.dtype, rng_bits(key, (uint64_t)n));
            mat_set(y, 0, n, value);
        }
        free(copy);
    }
}

/* Rounds the inputs of a program on the host to float, as programs in float draw them. */
static void round_inputs(const struct tape *t)
{
    for (int i = 0; i < tape_input_count(t); i++) {
        struct mat m = tape_input(t, i, NULL);
        for (int64_t n = 0; n < mat_size(m) && dtype_is_real(m.dtype); n++)
            mat_set(m, 0, n, (float)mat_get(m, 0, n));
    }
}

static double squares(struct mat m)
{
    double sum = 0;
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++)
            sum += mat_get(m, i, k) * mat_get(m, i, k);
    return sum;
}

static double magnitudes(struct mat m)
{
    double sum = 0;
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++)
            sum += fabs(mat_get(m, i, k));
    return sum;
}

/*
 * 1e-2 mean(y^2 + target^2) of the tape's mean squared error, 1e-2 mean(|y| + |target|) of its mean absolute
 * error, 0 if there is neither.
 */
static double loss_floor(const struct tape *t)
{
    for (int e = 0; e < tape_entry_count(t); e++) {
        const struct mean_error_args *a = tape_entry(t, e)->args;
        if (tape_entry(t, e)->op != OP_mean_error)
            continue;
        double (*size)(struct mat m) = a->power == 2 ? squares : magnitudes;
        return 1e-2 * (size(a->y) + size(a->target)) / (double)mat_size(a->y);
    }
    return 0;
}

/*
 * 1e-2 (|x| |w| + |b|) over the outputs of a head whose input was kept, the size of the terms that an output
 * sums; otherwise 0.
 */
static double output_floor(const struct tape *t, struct mat output)
{
    for (int e = 0; e < tape_entry_count(t); e++) {
        const struct linear_args *a = tape_entry(t, e)->args;
        if (tape_entry(t, e)->op != OP_linear || a->y.storage != output.storage ||
            !t->storages[a->x.storage].keep)
            continue;
        double x = squares(a->x), w = squares(a->w), b = (double)a->y.rows * squares(a->b);
        return 1e-2 * (sqrt(x * w) + sqrt(b));
    }
    return 0;
}

/* A program that is laid out, and what its run leaves of the nodes before they are pooled to an output. */
struct side {
    const struct recording *is;
    const struct check *check; /* whom to tell */
    bool gathers;              /* running statistics, as the oracle does */
    uint64_t jitter;           /* key of moves of what entries write; 0: none */
    int readout;               /* the entry that pools the nodes */
    struct mat nodes;          /* in double; absent: nothing is pooled, or it is not seen */
};

/* A program and the oracle. */
struct pair {
    struct side program, oracle;
    double gradients; /* the norm of all of the oracle's, after it has run */
};

/* A tensor to compare, and the plain rule. */
struct subject {
    enum { OUTPUT, LOSS, GRADIENT, NODES } kind;
    char name[TENSOR_NAME];
    struct mat in_program, in_oracle;
    struct rule rule;
};

/* What errors of outputs and of gradients are allowed, the least gradient as a share of all, and slopes. */
struct limits {
    double output, gradient, share, slope;
};

static struct limits limits_of(const struct pair *p)
{
    static const struct limits f32 = {CHECK_LIMIT_OUTPUT, CHECK_LIMIT_GRADIENT, 1e-2, 0},
                               tf32 = {CHECK_TF32, CHECK_TF32_GRADIENT, 1e-2, CHECK_TF32_SLOPE},
                               bf16 = {CHECK_BF16_OUTPUT, CHECK_BF16_GRADIENT, 1e-1, CHECK_BF16_SLOPE};
    const struct tape *t = p->program.is->tape;
    return t->config.dtype == BF16 ? bf16 : t->config.bits ? tf32 : f32;
}

static int subject_count(const struct pair *p)
{
    const struct recording *r = p->oracle.is;
    bool pooled = mat_present(p->program.nodes) && mat_present(p->oracle.nodes);
    return 1 + pooled + (mat_present(r->loss) ? 1 + tape_parameter_count(r->tape) : 0);
}

static struct subject gradient_subject(const struct pair *p, int parameter)
{
    const struct tape *t = p->oracle.is->tape, *program = p->program.is->tape;
    const char *name;
    struct subject s = {.kind = GRADIENT,
                        .in_program = tape_gradient(program, tape_parameter(program, parameter, &name)),
                        .in_oracle = tape_gradient(t, tape_parameter(t, parameter, NULL))};
    if (!mat_present(s.in_program))
        tape_contract("check: %s has no gradient", name);
    double share = (double)mat_size(s.in_oracle) / (double)tape_parameter_elements(t);
    struct limits limits = limits_of(p);
    s.rule = (struct rule){
        .limit = limits.gradient, .floor = limits.share * p->gradients * sqrt(share), .slope = limits.slope};
    snprintf(s.name, sizeof s.name, "gradient of %s", name);
    return s;
}

static double gradient_norm(const struct pair *p)
{
    double sum = 0;
    for (int i = 0; mat_present(p->oracle.is->loss) && i < tape_parameter_count(p->oracle.is->tape); i++)
        sum += squares(gradient_subject(p, i).in_oracle);
    return sqrt(sum);
}

/* The output, the loss, the gradients of all parameters, then the nodes; after both have run. */
static struct subject subject_of(const struct pair *p, int index)
{
    const struct recording *program = p->program.is, *oracle = p->oracle.is;
    const struct tape *t = oracle->tape;
    struct rule rule = {.limit = limits_of(p).output};
    if (index == 0) {
        rule.floor = output_floor(t, oracle->output);
        return (struct subject){OUTPUT, "output", program->output, tape_view(t, oracle->output), rule};
    }
    if (!mat_present(oracle->loss) || index > 1 + tape_parameter_count(t))
        return (struct subject){NODES, "nodes before pooling", p->program.nodes, p->oracle.nodes, rule};
    if (index > 1)
        return gradient_subject(p, index - 2);
    rule.floor = loss_floor(t);
    return (struct subject){LOSS, "loss", program->loss, tape_view(t, oracle->loss), rule};
}

/* The entry that pools nodes to the outputs of graphs; -1: there is none. */
static int readout(const struct recording *r)
{
    int found = -1;
    for (int i = 0; i < tape_entry_count(r->tape) && mat_present(r->output); i++) {
        const struct entry *e = tape_entry(r->tape, i);
        bool pools = e->op == OP_mean_pool || e->op == OP_sum_pool || e->op == OP_max_pool;
        if (pools && e->phase == PHASE_FORWARD &&
            operand_mat(operand_named(e->op, "y"), e->args)->rows == r->output.rows)
            found = i;
    }
    return found;
}

static struct mat host_copy(const struct tape *t, struct mat m)
{
    void *copy;
    struct mat from = tape_read(t, m, &copy);
    struct mat to = {.rows = m.rows, .cols = m.cols, .ld = m.cols, .dtype = F64};
    to.data = malloc((size_t)mat_size(to) * sizeof(double));
    if (!to.data)
        abort();
    for (int64_t i = 0; i < to.rows; i++)
        for (int64_t k = 0; k < to.cols; k++)
            mat_set(to, i, k, mat_get(from, i, k));
    free(copy);
    return to;
}

/* What the entry has written, of a program on the host. */
static void move_outputs(const struct entry *e, uint64_t jitter)
{
    const struct op_info *info = op_info(e->op);
    for (int o = 0; o < info->operand_count; o++) {
        const struct operand *operand = &info->operands[o];
        struct mat m = {0};
        if (operand_is_mat(operand) && operand_writes(operand))
            m = *operand_mat(operand, e->args);
        for (int64_t i = 0; i < m.rows && (m.dtype == F32 || m.dtype == BF16); i++)
            for (int64_t k = 0; k < m.cols; k++)
                mat_set(m, i, k, check_moved(mat_get(m, i, k), m.dtype, jitter));
    }
}

/* Called after each entry of a side. */
static void watch(void *side, int entry)
{
    struct side *s = side;
    check_tell(s->check, tape_entry(s->is->tape, entry)->op, entry, tape_entry_count(s->is->tape));
    if (s->jitter)
        move_outputs(tape_entry(s->is->tape, entry), s->jitter);
    if (s->gathers)
        gather_for_next(s->is->tape, entry);
    if (entry == s->readout) {
        const struct entry *e = tape_entry(s->is->tape, entry);
        free(s->nodes.data);
        s->nodes = host_copy(s->is->tape, *operand_mat(operand_named(e->op, "x"), e->args));
    }
}

/* Runs the program. Of several ranks, and of a captured graph, the nodes are not seen. */
static void run_program(struct pair *p)
{
    struct tape *t = p->program.is->tape;
    hand_back_statistics(p->oracle.is->tape, t);
    if (t->config.part.ranks || tape_captured(t))
        tape_run(t);
    else
        tape_run_marked(t, watch, &p->program);
}

/* Runs both from the parameters and inputs of the program. */
static struct pair run_pair(const struct check *c, const struct recording *program,
                            const struct recording *oracle)
{
    struct pair p = {.program = {.is = program, .check = c, .readout = readout(program)},
                     .oracle = {.is = oracle, .check = c, .gathers = true, .readout = readout(oracle)}};
    hand_over(program->tape, oracle->tape, 0);
    if (program->tape->config.part.ranks) /* it has only a part of the inputs */
        round_inputs(oracle->tape);
    tape_run_marked(oracle->tape, watch, &p.oracle);
    run_program(&p);
    p.gradients = gradient_norm(&p);
    return p;
}

static void pair_free(struct pair *p)
{
    free(p->program.nodes.data);
    free(p->oracle.nodes.data);
}

/* What the program has, of all ranks, on the host; the caller frees the copy. */
static struct mat values_of(const struct pair *p, const struct subject *s, void **copy)
{
    const struct tape *t = p->program.is->tape;
    struct mat m = s->in_program;
    *copy = NULL;
    if (s->kind == NODES)
        return m;
    if (!t->config.part.ranks || s->kind == GRADIENT) /* which are summed over the ranks */
        return tape_read(t, m, copy);
    if (s->kind == OUTPUT) {
        m = tape_gather(t, m);
        *copy = m.data;
        return m;
    }
    double *loss = malloc(sizeof *loss);
    if (!loss)
        abort();
    *loss = tape_gather_loss(t, m);
    *copy = loss;
    return (struct mat){.data = loss, .rows = 1, .cols = 1, .ld = 1, .dtype = F64};
}

static void compare_one(struct check *c, const struct pair *p, const struct subject *s)
{
    void *copy;
    struct mat ours = values_of(p, s, &copy);
    check_tensor(c, s->name, ours, s->in_oracle, NULL, s->in_oracle.rows, s->rule);
    free(copy);
}

void check_whole(struct check *c, struct recording *ours, struct recording *oracle)
{
    struct pair p = run_pair(c, ours, oracle);
    for (int i = 0; i < subject_count(&p); i++) {
        struct subject s = subject_of(&p, i);
        compare_one(c, &p, &s);
    }
    pair_free(&p);
}

/* How far a tensor is from the oracle's, and its slope from 1. */
struct distance {
    double norm, slope;
};

static struct distance distance(const struct pair *p, const struct subject *s)
{
    double sum = 0;
    void *copy;
    struct mat m = values_of(p, s, &copy);
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++)
            sum += pow(mat_get(m, i, k) - mat_get(s->in_oracle, i, k), 2);
    struct distance d = {sqrt(sum), s->rule.slope > 0 ? fabs(check_slope(m, s->in_oracle) - 1) : 0};
    free(copy);
    return d;
}

static void round_all(int mode, int threads)
{
#pragma omp parallel num_threads(threads)
    fesetround(mode);
}

/*
 * Runs the program in its type for the n-th time, rounded up or down or from parameters and inputs that are
 * moved, and raises the largest movements.
 */
static void move(struct distance *largest, int count, struct pair *p, int n)
{
    struct tape *t = p->program.is->tape;
    p->program.jitter = n > 2 ? (uint64_t)n : 0;
    tape_init(t);
    hand_over(t, t, p->program.jitter);
    round_all(n == 1 ? FE_UPWARD : n == 2 ? FE_DOWNWARD : FE_TONEAREST, t->config.threads);
    run_program(p);
    round_all(FE_TONEAREST, t->config.threads);
    for (int i = 0; i < count; i++) {
        struct subject s = subject_of(p, i);
        struct distance moved = distance(p, &s);
        if (!isfinite(moved.norm)) /* an overflow allows nothing */
            continue;
        largest[i].norm = fmax(largest[i].norm, moved.norm);
        largest[i].slope = fmax(largest[i].slope, moved.slope);
    }
}

static void compare_moved(struct check *c, const struct pair *p, const struct distance *largest)
{
    *c = (struct check){.tell = c->tell, .told = c->told};
    for (int i = 0; i < subject_count(p); i++) {
        struct subject s = subject_of(p, i);
        s.rule.wide.limit = s.rule.limit;
        s.rule.wide.floor = CHECK_FORGIVEN / s.rule.limit * largest[i].norm;
        s.rule.slope = fmax(s.rule.slope, CHECK_FORGIVEN * largest[i].slope);
        s.rule.wide.by = EXCEPTION_FLOAT;
        compare_one(c, p, &s);
    }
}

bool check_whole_again(struct check *c, struct recording *ours, struct recording *oracle,
                       struct recording *moved)
{
    tape_init(ours->tape);
    tape_init(oracle->tape);
    struct pair exact = run_pair(c, ours, oracle), inexact = exact;
    int count = subject_count(&exact);
    struct distance *largest = calloc((size_t)count, sizeof *largest);
    bool done = largest;
    inexact.program = (struct side){.is = moved, .check = c, .readout = readout(moved)};
    for (int n = 1; done && n <= MOVES && (n == 1 || c->excess > 1); n++) {
        move(largest, count, &inexact, n);
        compare_moved(c, &exact, largest);
    }
    free(inexact.program.nodes.data);
    free(largest);
    pair_free(&exact);
    return done;
}
