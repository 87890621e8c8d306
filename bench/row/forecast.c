#include "bench/row/forecast.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"
#include "bench/machine/roofline.h"
#include "bench/show/profile.h"
#include "kernels/arithmetic.h"
#include "kernels/ranks.h"

/* The operand that a start writes and its wait reads. */
static const struct operand *request_of(const struct op_info *info)
{
    int i = 0;
    while (i < info->operand_count && strcmp(info->operands[i].name, "request") != 0)
        i++;
    return i < info->operand_count ? &info->operands[i] : NULL;
}

/* The bytes of all rows that are moved in a run: too many for caches, even if each exchange has few. */
static int64_t moved_bytes(const struct tape *t)
{
    int64_t bytes = 0;
    for (int i = 0; i < tape_entry_count(t); i++) {
        const struct entry *e = tape_entry(t, i);
        bytes += op_info(e->op)->moves ? min_of(e->bytes, BYTES_MOST - bytes) : 0;
    }
    return bytes;
}

/* Seconds, among `all` bytes that are moved; NAN: not known. */
static double moving_time(const struct entry *e, const struct calibration *peaks, int64_t all)
{
    struct cost cost = entry_cost(e);
    if (!op_info(e->op)->moves || cost.bytes == 0)
        return 0;
    return peaks && cost.bytes > 0 ? roofline_place(peaks, &cost, 1, all).percent / 100 : NAN;
}

/* A start, a wait, or, of an op that waits for what it starts, both: its rows are moved before it. */
static void add_exchange(struct timeline *l, const struct entry *e, int number, double moving)
{
    const struct op_info *info = op_info(e->op);
    const struct operand *request = request_of(info);
    struct exchange_step step = {.starts = !request || operand_writes(request),
                                 .request = request ? operand_mat(request, e->args)->storage : -number - 1,
                                 .kind = info->sums     ? LINK_SUM
                                         : info->shifts ? LINK_MESSAGE
                                                        : LINK_EXCHANGE,
                                 .bytes = e->sent,
                                 .before = l->after,
                                 .moving = moving};
    l->step[l->count++] = step;
    l->after = 0;
    if (!request)
        l->step[l->count++] = (struct exchange_step){.request = step.request, .kind = step.kind};
}

/* Of a recorded program; to be freed. Peak rates: null for none. */
static struct timeline timeline_of(struct tape *t, const struct calibration *peaks)
{
    tape_plan(t);
    struct profile p = profile_plan(t, peaks);
    struct timeline l = {.step = allocate(2 * p.count, sizeof *l.step)};
    int64_t moved = moved_bytes(t);
    for (int i = 0; i < tape_entry_count(t); i++) {
        const struct entry *e = tape_entry(t, i);
        if (op_info(e->op)->exchange)
            add_exchange(&l, e, i, moving_time(e, peaks, moved));
        else
            l.after += p.entries[i].least + p.launches / (double)p.count;
    }
    profile_free(&p);
    return l;
}

/* Seconds of the exchange that begins in this step: those of the rank that sends most. */
static double exchange_seconds(const struct timeline *part, int ranks, int step, const struct link *link)
{
    double most = 0;
    for (int r = 0; r < ranks; r++) {
        const struct exchange_step *s = &part[r].step[step];
        if (s->bytes > 0)
            most = fmax(most, link_predict(link, s->kind, ranks, (double)s->bytes));
    }
    return most;
}

/* Seconds in which the rank with most rows moves them; 0 if that is not known. */
static double moving_seconds(const struct timeline *part, int ranks, int step)
{
    double most = 0;
    for (int r = 0; r < ranks; r++)
        most = fmax(most, part[r].step[step].moving); /* of NAN and a number, the number */
    return most;
}

/* The start of the wait in this step. */
static int start_of(const struct timeline *part, int step)
{
    int k = step - 1;
    while (k >= 0 && !(part->step[k].starts && part->step[k].request == part->step[step].request))
        k--;
    return k;
}

/* Sets when each rank is done. */
static void run_ranks(const struct timeline *part, int ranks, const struct link *link, double *now)
{
    int steps = part->count;
    double *over = allocate((size_t)steps, sizeof *over), busy = 0;
    for (int k = 0; k < steps; k++) {
        double last = 0;
        int start = part->step[k].starts ? k : start_of(part, k);
        for (int r = 0; r < ranks; r++) {
            now[r] += part[r].step[k].before + (start == k ? part[r].step[k].moving : 0);
            last = fmax(last, now[r]);
        }
        if (start == k)
            busy = over[k] = fmax(last, busy) + exchange_seconds(part, ranks, k, link);
        for (int r = 0; r < ranks && start >= 0 && start < k; r++)
            now[r] = fmax(now[r], over[start]) + part[r].step[k].moving;
    }
    for (int r = 0; r < ranks; r++)
        now[r] += part[r].after;
    free(over);
}

static double computed(const struct timeline *part)
{
    double seconds = part->after;
    for (int k = 0; k < part->count; k++)
        seconds += part->step[k].before;
    return seconds;
}

static int64_t sent(const struct timeline *part)
{
    int64_t bytes = 0;
    for (int k = 0; k < part->count; k++)
        bytes += part->step[k].bytes;
    return bytes;
}

/* As of the kinds that the program has: one, as long as alpha and beta are given. */
static void describe_link(struct message *text, const struct timeline *part, const struct link *link)
{
    struct message one;
    bool has[LINK_KINDS] = {false};
    size_t used = 0;
    for (int k = 0; k < part->count; k++)
        has[part->step[k].kind] = has[part->step[k].kind] || part->step[k].bytes > 0;
    *text->text = '\0';
    for (enum link_kind kind = 0; kind < LINK_KINDS && link; kind++) {
        if (!has[kind] || (used > 0 && !link->ranks))
            continue;
        link_text(link, kind, &one);
        used += (size_t)snprintf(text->text + used, sizeof text->text - used, "%s%.150s", used ? "; " : "",
                                 one.text);
    }
}

struct forecast forecast_of(const struct timeline *part, int ranks, const struct link *link)
{
    struct forecast f = {.known = link != NULL};
    double *now = allocate((size_t)ranks, sizeof *now), most = 0;
    bool timed = true;
    for (int r = 0; r < ranks; r++) {
        timed = timed && !isnan(computed(&part[r]));
        most = fmax(most, computed(&part[r]));
        f.bytes = sent(&part[r]) > f.bytes ? sent(&part[r]) : f.bytes;
    }
    for (int k = 0; k < part->count && f.known; k++)
        f.alone += moving_seconds(part, ranks, k) +
                   (part->step[k].starts ? exchange_seconds(part, ranks, k, link) : 0);
    if (f.known)
        run_ranks(part, ranks, link, now);
    describe_link(&f.link, part, link);
    for (int r = 0; r < ranks; r++)
        f.run = fmax(f.run, now[r]);
    f.run = timed && f.known ? f.run : NAN;
    f.exposed = f.run - most;
    free(now);
    return f;
}

/* One rank's part. False with a message if it cannot be planned. */
static bool plan_rank(struct workload *w, int rank, enum program_kind kind, const struct calibration *peaks,
                      struct timeline *part, struct message *error)
{
    struct workload own;
    if (!workload_as_rank(&own, w, rank, error))
        return false;
    struct recording r = workload_record(&own, kind);
    *part = timeline_of(r.tape, peaks);
    if (w->group.facts)
        w->group.facts[rank] = workload_facts(&own, &r);
    tape_free(r.tape);
    return true;
}

struct forecast forecast_make(struct workload *w, enum program_kind kind, const struct calibration *peaks)
{
    int ranks = w->group.ranks ? w->group.ranks->count : 1;
    struct timeline *part = allocate((size_t)ranks, sizeof *part);
    struct forecast f = {0};
    struct message error;
    const struct links *links = &w->options->links;
    bool planned = true;
    for (int r = 0; r < ranks && planned; r++)
        planned = plan_rank(w, r, kind, peaks, &part[r], &error);
    if (planned)
        f = forecast_of(part, ranks, links_for(links, ranks));
    if (!planned)
        complain(&f.reason, "%s", error.text);
    else if (!f.known)
        complain(&f.reason, "%s", links->no_links ? links->no_links : "not asked for (--peaks link=FILE)");
    for (int r = 0; r < ranks; r++)
        free(part[r].step);
    free(part);
    return f;
}
