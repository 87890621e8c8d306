#include "analysis/statistics/allocate.h"
#include "bench/row/workload.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/build.h"
#include "bench/base/child.h"
#include "kernels/plugin_rows.h"
#include "kernels/ranks.h"
#include "kernels/rng.h"

/* What each rank tells before anything else. */
struct arrival {
    bool parsed; /* it takes the command line */
    uint64_t command;
    char kernels[16]; /* cpu-avx2: other instruction sets round otherwise */
};

/* A hash of the program, its build and its arguments. */
static uint64_t hash_command(const char *program, int argc, char **argv)
{
    char *words = command_text(argc - 1, argv + 1);
    char *all;
    size_t size;
    FILE *out = open_text(&all, &size);
    build_version(program, out);
    fputs(words, out);
    free(words);
    fclose(out);
    uint64_t hash = rng_key(0, all);
    free(all);
    return hash;
}

/* The first rank that did not arrive as rank 0 did; 0 if all did. On rank 0. */
static int find_odd(const struct ranks *world, const struct arrival *all)
{
    for (int p = 1; p < world->count; p++)
        if (all[p].parsed != all[0].parsed || all[p].command != all[0].command ||
            strcmp(all[p].kernels, all[0].kernels) != 0)
            return p;
    return 0;
}

bool group_agrees(const struct ranks *world, const char *program, int argc, char **argv, bool parsed,
                  struct message *error)
{
    struct arrival own = {.parsed = parsed, .command = hash_command(program, argc, argv)};
    snprintf(own.kernels, sizeof own.kernels, "%s", backend_cpu()->name);
    struct arrival *all = allocate((size_t)world->count, sizeof *all);
    world->gather(world, all, &own, sizeof own);
    int odd = world->rank == 0 ? find_odd(world, all) : 0;
    bool other = odd && all[odd].command != own.command,
         mixed = odd && !other && strcmp(all[odd].kernels, own.kernels) != 0;
    struct {
        bool good;
        int speaker; /* the rank that says why not */
    } answer = {parsed && !odd, parsed && !other && !mixed ? odd : 0};
    world->broadcast(world, &answer, sizeof answer);
    if (world->rank == 0 && parsed && other)
        complain(error, "rank %d was started with other arguments, or is of another build", odd);
    else if (parsed && mixed)
        complain(error,
                 "rank %d has kernels %s and rank 0 %s, which round differently; set one GTMARK_ISA for all",
                 odd, all[odd].kernels, own.kernels);
    free(all);
    if (!answer.good && answer.speaker != world->rank)
        *error->text = '\0';
    return answer.good;
}

void group_form(const struct options *o)
{
    const struct axis_values *ranks = &o->axes[AXIS_RANKS];
    for (int i = 0; i < ranks->count && o->world; i++)
        if (ranks->values[i] <= o->world->count)
            o->world->first(o->world, (int)ranks->values[i]);
}

/* On each of the first `count` ranks; what counts is rank 0's. */
static struct link measure_link(const struct options *o, int count, double seconds)
{
    const struct ranks *r = o->world->first(o->world, count);
    return r ? link_measure(r, seconds) : (struct link){0};
}

/* Whether it is the first value of several ranks, which have a link, in the list. */
static bool has_link(const struct axis_values *v, int index)
{
    int first = 0;
    while (v->values[first] != v->values[index])
        first++;
    return v->values[index] > 1 && first == index;
}

void group_calibrate(struct options *o)
{
    const struct axis_values *v = &o->axes[AXIS_RANKS];
    int groups = 0;
    if (!o->world || o->device.meta)
        return;
    for (int i = 0; i < v->count; i++)
        groups += has_link(v, i);
    if (!o->roofline)
        o->links.no_links = "not asked for (--no-roofline)";
    for (int i = 0; i < v->count && o->roofline; i++) {
        if (!has_link(v, i))
            continue;
        int ranks = (int)v->values[i];
        orders_tell(o, (struct group_order){.kind = GROUP_LINK, .index = ranks});
        struct link l = measure_link(o, ranks, LINK_SECONDS / groups);
        if (l.ranks)
            links_add(&o->links, &l);
        else
            o->links.no_links = "no memory to measure the link";
    }
}

/* What a rank that serves keeps: the workloads that rank 0 has open. */
struct kept {
    bool is_open;
    struct workload work;
    struct partition partition; /* what it has of rank 0, if nodes are divided by one */
};

static void run_program(struct kept *k, const struct options *o, struct group_order order)
{
    struct config c = o->plan.list[order.index];
    const struct ranks *ranks = o->world->first(o->world, c.ranks);
    struct outcome outcome;
    if (!ranks)
        return;
    c.graph.partition = k->partition.number ? &k->partition : NULL;
    bool good = k->is_open = k->is_open || workload_open(&k->work, o, &c, &outcome);
    struct recording r = good ? workload_record(&k->work, order.program) : (struct recording){0};
    if (workload_lay_out(&k->work, ranks, good ? &r : NULL, &outcome)) {
        workload_map_pages(r.tape);
        tape_follow(r.tape);
    }
    struct message error;
    if (plugin_fault(o->plugin.opened)) { /* which rank 0 does not learn otherwise */
        complain(&error, "rank %d: %s", o->world->rank, plugin_fault(o->plugin.opened));
        exit(message_fail(o->bench->name, &error, EXIT_MISSED));
    }
    tape_free(r.tape);
}

static void close_kept(struct kept *k)
{
    if (k->is_open)
        workload_close(&k->work);
    k->is_open = false;
    partition_free(&k->partition);
}

static void get_partition(struct kept *k, const struct options *o, int64_t index)
{
    const struct ranks *ranks = o->world->first(o->world, o->plan.list[index].ranks);
    partition_free(&k->partition);
    if (ranks)
        orders_share(ranks, NULL, &k->partition);
}

void group_serve(const struct options *o)
{
    size_t rows = (size_t)o->plan.count;
    struct kept *kept = allocate(rows, sizeof *kept);
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    struct group_order order;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_IGN); /* rank 0 alone decides when to stop */
    for (;;) {
        o->world->broadcast(o->world, &order, sizeof order);
        if (order.kind == GROUP_END)
            break;
        if (order.kind == GROUP_CLOSE)
            close_kept(&kept[order.index]);
        else if (order.kind == GROUP_PARTITION)
            get_partition(&kept[order.index], o, order.index);
        else if (order.kind == GROUP_LINK)
            measure_link(o, (int)order.index, LINK_SECONDS);
        else
            run_program(&kept[order.index], o, order);
    }
    for (size_t i = 0; i < rows; i++)
        close_kept(&kept[i]);
    free(kept);
}
