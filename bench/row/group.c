#include "bench/row/group.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/row/workload.h"
#include "kernels/ranks.h"

void group_form(struct options *o)
{
    struct axis_values *ranks = &o->axes[AXIS_RANKS];
    struct message error;
    char all[32];
    if (o->world && o->bench->axis == AXIS_RANKS && !o->given[AXIS_RANKS]) {
        snprintf(all, sizeof all, "1-%d*2", o->world->count);
        axis_parse(AXIS_RANKS, all, ranks, &error);
    }
    for (int i = 0; i < ranks->count && o->world; i++)
        if (ranks->values[i] <= o->world->count)
            o->world->first(o->world, (int)ranks->values[i]);
}

/* What a rank that serves keeps: the workloads that rank 0 has open. */
struct kept {
    bool is_open;
    struct workload work;
};

static bool open_kept(struct kept *k, const struct options *o, const struct config *c)
{
    struct message error;
    k->is_open = k->is_open || workload_generate(&k->work, o, c, &error);
    return k->is_open;
}

static void run_program(struct kept *k, const struct options *o, const struct config *c,
                        enum program_kind kind)
{
    const struct ranks *ranks = o->world->first(o->world, c->ranks);
    struct outcome ignored;
    if (!ranks)
        return;
    bool good = open_kept(k, o, c);
    struct recording r = good ? workload_record(&k->work, kind) : (struct recording){0};
    if (workload_lay_out(&k->work, ranks, good ? &r : NULL, &ignored)) {
        workload_map_pages(r.tape);
        tape_follow(r.tape);
    }
    tape_free(r.tape);
}

static void close_kept(struct kept *k)
{
    if (k->is_open)
        workload_close(&k->work);
    k->is_open = false;
}

/* Rank 0 alone decides when to stop. */
static void ignore_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_IGN);
}

void group_serve(const struct options *o)
{
    size_t rows = (size_t)config_count(o);
    struct kept *kept = calloc(rows, sizeof *kept);
    struct group_order order;
    if (!kept)
        abort();
    ignore_signals();
    for (;;) {
        o->world->broadcast(o->world, &order, sizeof order);
        if (order.kind == GROUP_END)
            break;
        struct config c = config_at(o, order.index);
        if (order.kind == GROUP_CLOSE)
            close_kept(&kept[order.index]);
        else
            run_program(&kept[order.index], o, &c, order.program);
    }
    for (size_t i = 0; i < rows; i++)
        close_kept(&kept[i]);
    free(kept);
}
