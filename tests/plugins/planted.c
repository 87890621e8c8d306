/*
 * The mean over edges and its gradients as a plug-in, right or with one FAULT of those below, which the audit
 * must name (tests/test_audit.sh).
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <gtmark_plugin.h>

enum {
    NONE,
    TAIL,     /* columns beyond a multiple of 4 are forgotten */
    RACE,     /* threads share their sums */
    COUNT,    /* results depend on the number of threads */
    PAST_END, /* writes one entry past the end of y */
    BEFORE,   /* reads the entry before x */
    BETWEEN,  /* writes between the rows of y */
    INPUT,    /* writes its input */
    SCRATCH,  /* uses more scratch than it declares */
    STALE,    /* reads the scratch of the call before */
    ZERO,     /* takes its scratch for 0, and leaves it so */
    NOISE,    /* every second call differs in the last bits */
    HUB,      /* forgets edges after the 256th of a node */
    LARGE,    /* forgets rows after the 2000th */
    GRADIENT, /* computes no gradient */
    HEAP,     /* allocates */
    THREAD,   /* starts a thread */
    TEAM,     /* has a team of more threads than it may */
    SLEEP,    /* sleeps */
    IGNORE,   /* takes NaN for 0 */
    CRASH,    /* writes to an address of nobody */
    HANG,     /* does not return */
    EXIT,     /* ends the process */
    REPORT,   /* reports an error */
    VERSION,  /* is of another version */
    SIZE,     /* has other structs */
    OP,       /* computes what is no op */
    OPTION    /* names an option of another op */
};

struct job {
    const struct gtmark_call *call;
    struct gtmark_matrix y, x;
    const int64_t *row;
    const int32_t *col;
};

static void *run_thread(void *data)
{

    return data;
}

/* What some faults do besides, once a call. */
static void misbehave(const struct job *j)
{
    static double *volatile kept;
    pthread_t thread;
    float *end = (float *)j->y.data + (j->y.rows - 1) * j->y.ld + j->y.cols;
    if (FAULT == PAST_END)
        *end = 0;
    if (FAULT == BETWEEN && j->y.rows > 1 && j->y.ld > j->y.cols)
        ((float *)j->y.data)[j->y.cols] = 0;
    if (FAULT == BEFORE && j->x.rows)
        (void)((volatile float *)j->x.data)[-1];
    if (FAULT == INPUT && j->x.rows)
        *(volatile float *)j->x.data = 1;
    if (FAULT == SCRATCH)
        ((volatile double *)j->call->scratch)[j->call->threads * j->y.cols] = 1;
    if (FAULT == STALE && kept)
        (void)*(volatile double *)kept;
    if (FAULT == STALE)
        kept = j->call->scratch;
    void *volatile heap = FAULT == HEAP ? malloc((size_t)j->y.rows) : NULL;
    free(heap);
    if (FAULT == THREAD && pthread_create(&thread, NULL, run_thread, NULL) == 0)
        pthread_join(thread, NULL);
#pragma omp parallel num_threads(4) if (FAULT == TEAM)
    sched_yield();
    if (FAULT == SLEEP)
        usleep(1000);
    if (FAULT == CRASH)
        *(volatile int *)(intptr_t)j->call->threads = 0;
    while (FAULT == HANG)
        pause();
    if (FAULT == EXIT)
        exit(0);
}

static float entry_of(const struct job *j, int64_t e, int64_t k)
{
    float x = ((const float *)j->x.data)[e * j->x.ld + k];
    return FAULT == IGNORE && isnan(x) ? 0 : x;
}

static void mean_of_row(const struct job *j, int64_t i, double *sum)
{
    static volatile int calls;
    int64_t columns = FAULT == TAIL ? j->y.cols / 4 * 4 : j->y.cols, count = 0;
    if (FAULT == LARGE && i > 2000)
        return;
    int64_t end = FAULT == HUB && j->row[i + 1] > j->row[i] + 256 ? j->row[i] + 256 : j->row[i + 1];
    for (int64_t k = 0; k < columns && FAULT != ZERO; k++)
        sum[k] = 0;
    for (int64_t e = j->row[i]; e < end; e++) {
        if (j->col[e] == i)
            continue;
        count++;
        for (int64_t k = 0; k < columns; k++)
            sum[k] += entry_of(j, e, k);
        if (FAULT == RACE)
            sched_yield();
    }
    double noise = FAULT == NOISE   ? 1 + 1e-6 * (calls++ % 2)
                   : FAULT == COUNT ? 1 + 1e-6 * j->call->threads
                                    : 1;
    for (int64_t k = 0; k < columns; k++)
        ((float *)j->y.data)[i * j->y.ld + k] = (float)(count ? sum[k] / (double)count * noise : 0);
    for (int64_t k = 0; k < columns && FAULT == ZERO; k++)
        sum[k] = 0;
}

static void mean_of_part(void *data, int thread, int threads)
{
    const struct job *j = data;
    double *sum = (double *)j->call->scratch + (FAULT == RACE ? 0 : thread) * j->y.cols;
    for (int64_t i = thread; i < j->y.rows; i += threads)
        mean_of_row(j, i, sum);
}

static const char *mean(const struct gtmark_call *call)
{
    struct job j = {call, gtmark_matrix(call, "y"), gtmark_matrix(call, "x"),
                    gtmark_matrix(call, "adj.row").data, gtmark_matrix(call, "adj.col").data};
    if (FAULT == REPORT)
        return "no mean today";
    call->team(call, mean_of_part, &j);
    misbehave(&j);
    return NULL;
}

static int64_t mean_scratch(const struct gtmark_call *call)
{
    return call->threads * gtmark_matrix(call, "y").cols * (int64_t)sizeof(double);
}

/* dx_e (+)= dy_i / edges from others to i, 0 on loops */
static const char *mean_backward(const struct gtmark_call *call)
{
    struct gtmark_matrix dx = gtmark_matrix(call, "dx"), dy = gtmark_matrix(call, "dy");
    const int64_t *row = gtmark_matrix(call, "adj.row").data;
    const int32_t *col = gtmark_matrix(call, "adj.col").data;
    for (int64_t i = 0; i < dy.rows && dx.rows && FAULT != GRADIENT; i++) {
        int64_t count = 0;
        for (int64_t e = row[i]; e < row[i + 1]; e++)
            count += col[e] != i;
        for (int64_t e = row[i]; e < row[i + 1]; e++)
            for (int64_t k = 0; k < dx.cols; k++) {
                float *to = (float *)dx.data + e * dx.ld + k;
                float g = col[e] == i ? 0 : ((const float *)dy.data)[i * dy.ld + k] / (float)count;
                *to = (dx.accumulate ? *to : 0) + g;
            }
    }
    return NULL;
}

static const struct gtmark_entry entries[] = {{.op = FAULT == OP ? "edge_man" : "edge_mean",
                                               .variant = "mine",
                                               .device = "cpu",
                                               .types = GTMARK_F32,
                                               .options = FAULT == OPTION ? "dropout" : NULL,
                                               .run = mean,
                                               .scratch = mean_scratch},
                                              {.op = "edge_mean_backward",
                                               .variant = "mine",
                                               .device = "cpu",
                                               .types = GTMARK_F32,
                                               .run = mean_backward}};

/* As GTMARK_PLUGIN(entries) has it, but for two faults. */
const struct gtmark_plugin gtmark_plugin = {
    .version = GTMARK_PLUGIN_VERSION + (FAULT == VERSION),
    .sizes = GTMARK_SIZES + 8 * (FAULT == SIZE),
    .entries = entries,
    .count = sizeof entries / sizeof *entries,
};
