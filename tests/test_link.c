/*
 * The ceiling of communication: the fit where the model holds, where it does not, and where times leave it
 * open; its JSON; --peaks link=; and its measurement between ranks that are threads.
 */
#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/cli/options.h"
#include "bench/machine/link.h"
#include "tests/rank_threads.h"
#include "tests/sanitized.h"
#include "tests/test.h"

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value / expected - 1) <= tolerance))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* Points of the model, those of odd places off by `off`, with intervals of `width` on either side. */
static int points_of(struct link_point p[LINK_SIZES], enum link_kind kind, int ranks, double off,
                     double width)
{
    struct link_fit truth = {.alpha = 2e-6, .beta = 5e9};
    for (int i = 0; i < LINK_SIZES; i++) {
        struct link_load load = link_load(kind, ranks, (double)link_size(i));
        double s = link_seconds(&truth, load) * (i % 2 ? 1 + off : 1);
        p[i] = (struct link_point){link_size(i), s, s * (1 - width), s * (1 + width)};
    }
    return LINK_SIZES;
}

/* What a rank sends for one: by hand, of 4 ranks. */
TEST(test_loads)
{
    struct link_load l = link_load(LINK_MESSAGE, 4, 1000);
    assert_true(l.messages == 1 && l.bytes == 1000);
    l = link_load(LINK_EXCHANGE, 4, 1200);
    assert_true(l.messages == 3 && l.bytes == 1200);
    l = link_load(LINK_SUM, 4, 1000);
    assert_true(l.messages == 6 && l.bytes == 1500);
    l = link_load(LINK_SUM, 1, 1000);
    assert_true(l.messages == 0 && l.bytes == 0);
    assert_int_equal(link_size(0), 8);
    assert_int_equal(link_size(7), 16 << 20);
    assert_int_equal(link_size(8), 64 << 20);
}

TEST(test_holds)
{
    struct link_point p[LINK_SIZES];
    for (enum link_kind kind = 0; kind < LINK_KINDS; kind++)
        for (int ranks = 2; ranks <= 8; ranks *= 2) {
            int n = points_of(p, kind, ranks, 0, 0.05);
            struct link_fit f = link_fit(kind, ranks, p, n);
            assert_near(f.alpha, 2e-6, 1e-9);
            assert_near(f.beta, 5e9, 1e-9);
            assert_true(f.error < 1e-9);
            assert_int_equal(f.verdict, LINK_HOLDS);
            points_of(p, kind, ranks, 0.1, 0.05);
            f = link_fit(kind, ranks, p, n);
            assert_int_equal(f.verdict, LINK_HOLDS);
            assert_true(f.error > 0.01 && f.error < 0.1);
        }
}

/* Every second size takes twice as long, and the intervals are narrow. */
TEST(test_fails)
{
    struct link_point p[LINK_SIZES];
    int n = points_of(p, LINK_SUM, 2, 1, 0.02);
    assert_int_equal(link_fit(LINK_SUM, 2, p, n).verdict, LINK_FAILS);
}

/* Wide intervals, none at all, or too few sizes. */
TEST(test_cannot_tell)
{
    struct link_point p[LINK_SIZES];
    int n = points_of(p, LINK_EXCHANGE, 2, 0, 0.4);
    assert_int_equal(link_fit(LINK_EXCHANGE, 2, p, n).verdict, LINK_INCONCLUSIVE);
    points_of(p, LINK_EXCHANGE, 2, 0, 0);
    p[3].low = p[3].high = NAN;
    assert_int_equal(link_fit(LINK_EXCHANGE, 2, p, n).verdict, LINK_INCONCLUSIVE);
    points_of(p, LINK_EXCHANGE, 2, 0, 0);
    assert_int_equal(link_fit(LINK_EXCHANGE, 2, p, 2).verdict, LINK_INCONCLUSIVE);
    struct link_fit none = link_fit(LINK_EXCHANGE, 2, p, 0);
    assert_true(isnan(none.alpha) && isnan(none.beta) && none.verdict == LINK_INCONCLUSIVE);
}

/* Neither parameter is below 0. */
TEST(test_bounds)
{
    struct link_point falling[3] = {{8, 3e-6, NAN, NAN}, {64, 2e-6, NAN, NAN}, {512, 1e-6, NAN, NAN}};
    struct link_fit f = link_fit(LINK_MESSAGE, 2, falling, 3);
    assert_true(f.alpha > 0 && isinf(f.beta));
    assert_near(link_seconds(&f, link_load(LINK_MESSAGE, 2, 1e9)), f.alpha, 1e-12);
    struct link_point steep[3] = {{8, 1e-9, NAN, NAN}, {16, 1e-8, NAN, NAN}, {32, 1e-7, NAN, NAN}};
    f = link_fit(LINK_MESSAGE, 2, steep, 3);
    assert_true(f.alpha == 0 && f.beta > 0 && isfinite(f.beta));
}

static struct link constructed(void)
{
    struct link l = {.ranks = 4, .hosts = 2, .mpi = "an MPI", .time = "2000-01-01", .load = 1};
    for (enum link_kind kind = 0; kind < LINK_KINDS; kind++) {
        l.points[kind] = points_of(l.point[kind], kind, l.ranks, 0.1, 0.05);
        l.fit[kind] = link_fit(kind, l.ranks, l.point[kind], l.points[kind]);
    }
    l.point[LINK_SUM][0].low = l.point[LINK_SUM][0].high = NAN;
    return l;
}

static void assert_same(const struct link *a, const struct link *b)
{
    assert_true(a->ranks == b->ranks && a->hosts == b->hosts);
    assert_string_equal(a->mpi, b->mpi);
    assert_string_equal(a->time, b->time);
    for (enum link_kind kind = 0; kind < LINK_KINDS; kind++) {
        assert_int_equal(a->points[kind], b->points[kind]);
        assert_near(b->fit[kind].alpha, a->fit[kind].alpha, 1e-9);
        assert_near(b->fit[kind].beta, a->fit[kind].beta, 1e-9);
    }
    assert_true(isnan(b->point[LINK_SUM][0].low));
}

/* What was measured at its sizes; between them between; elsewhere as the model grows. */
TEST(test_predicted)
{
    struct link l = constructed(), given = link_given(1e-6, 1e9);
    for (enum link_kind kind = 0; kind < LINK_KINDS; kind++) {
        for (int i = 0; i < LINK_SIZES; i++)
            assert_near(link_predict(&l, kind, 4, (double)link_size(i)), l.point[kind][i].seconds, 1e-9);
        double between = link_predict(&l, kind, 4, 10e6);
        assert_true(between > l.point[kind][6].seconds && between < l.point[kind][7].seconds);
        assert_near(link_predict(&l, kind, 4, 0x1p40) / l.point[kind][8].seconds, 0x1p14, 0.01);
        assert_true(link_predict(&l, kind, 4, 1) < l.point[kind][0].seconds);
        assert_near(link_predict(&given, kind, 4, 1000),
                    link_seconds(&given.fit[kind], link_load(kind, 4, 1000)), 1e-12);
    }
    assert_true(link_predict(&l, LINK_SUM, 8, 1e6) > link_predict(&l, LINK_SUM, 4, 1e6));
}

TEST(test_json)
{
    struct link l = constructed(), read;
    struct value *json = link_json(&l);
    assert_true(link_read(json, &read));
    assert_same(&l, &read);
    struct message text;
    link_text(&read, LINK_SUM, &text);
    assert_non_null(strstr(text.text, "of a sum on 4 ranks of 2 hosts, calibrated 2000-01-01"));
    value_set_count(json, "ranks", 1);
    assert_false(link_read(json, &read));
    value_set_count(json, "ranks", 4);
    value_set(json, "sum", value_new_object());
    assert_false(link_read(json, &read));
    value_free(json);
    assert_false(link_read(NULL, &read));
}

TEST(test_given)
{
    struct links all = {0};
    struct message error;
    assert_true(link_parse("400Gb/s,2us", &all, &error));
    assert_int_equal(all.count, 1);
    struct link l = *links_for(&all, 4);
    assert_int_equal(l.ranks, 0);
    assert_near(l.fit[LINK_SUM].alpha, 2e-6, 1e-12);
    assert_near(l.fit[LINK_EXCHANGE].beta, 50e9, 1e-12);
    link_text(&l, LINK_SUM, &error);
    assert_string_equal(error.text, "2.00 µs, 50.0 GB/s, given (--peaks)");
    assert_true(link_parse("1GB/s,0us", &all, &error));
    l = *links_for(&all, 4);
    assert_true(l.fit[LINK_MESSAGE].alpha == 0 && l.fit[LINK_MESSAGE].beta == 1e9);
    assert_near(link_predict(&l, LINK_SUM, 4, 2e6), 3e-3, 1e-12);
    static const char *const bad[] = {"",
                                      "400Gb/s",
                                      "400Gb/s,",
                                      ",2us",
                                      "2us,400Gb/s",
                                      "400Gb/s,2",
                                      "0Gb/s,2us",
                                      "400Gb/s,2us,1us",
                                      "x,y",
                                      "400,2us",
                                      "400Gb/s,-1us",
                                      "-1Gb/s,2us",
                                      "nanGb/s,2us",
                                      "/nowhere"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (link_parse(bad[i], &all, &error))
            fail_msg("link=%s was read", bad[i]);
        assert_non_null(strstr(error.text, "neither a rate and a latency"));
        assert_null(links_for(&all, 2));
    }
}

TEST(test_file)
{
    char path[] = "/tmp/gtmark-link-XXXXXX", why[MESSAGE_SIZE];
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    struct link l = constructed(), other = constructed();
    struct links read = {0};
    struct message error;
    struct value *head = value_new_object(), *links = value_new_array();
    assert_true(value_save(head, path, 1, why));
    assert_false(link_parse(path, &read, &error));
    assert_non_null(strstr(error.text, "the file has no links"));
    value_append(links, value_new_object());
    value_set(head, "links", links);
    assert_true(value_save(head, path, 1, why));
    assert_false(link_parse(path, &read, &error));
    assert_non_null(strstr(error.text, "one of its links is not well-formed"));
    other.ranks = 2;
    value_set(head, "links", links = value_new_array());
    value_append(links, link_json(&l));
    value_append(links, link_json(&other));
    assert_true(value_save(head, path, 1, why));
    assert_true(link_parse(path, &read, &error));
    assert_int_equal(read.count, 2);
    assert_same(&l, links_for(&read, 4));
    assert_int_equal(links_for(&read, 2)->ranks, 2);
    assert_int_equal(links_for(&read, 3)->ranks, 4);
    links_free(&read);
    value_free(head);
    unlink(path);
}

static void measure(const struct ranks *r, void *context)
{
    struct link l = link_measure(r, 0.2);
    if (r->rank == 0)
        *(struct link *)context = l;
}

/* Every kind and size of the first turn, with the bytes that a rank sends. */
TEST(test_measured)
{
    for (int count = 2; count <= 3; count++) {
        struct link l;
        rank_threads_run(count, measure, &l);
        assert_true(l.ranks == count && l.hosts == 1);
        assert_string_equal(l.mpi, "threads");
        for (enum link_kind kind = 0; kind < LINK_KINDS; kind++) {
            assert_true(l.points[kind] > 0);
            for (int i = 0; i < l.points[kind]; i++) {
                int64_t size = link_size(i), share = (size + count - 1) / count;
                const struct link_point *p = &l.point[kind][i];
                assert_int_equal(p->bytes, kind == LINK_EXCHANGE ? share * (count - 1) : size);
                assert_true(p->seconds > 0);
                assert_true(isnan(p->low) || (p->low <= p->seconds && p->seconds <= p->high));
            }
            assert_true(l.fit[kind].alpha >= 0 && l.fit[kind].beta > 0);
        }
    }
}

/* Bytes of the address space in use. */
static rlim_t address_space(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_true(f && fscanf(f, "%ld", &pages) == 1);
    fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

struct pressed {
    rlim_t room;
    struct link link;
};

static void measure_pressed(const struct ranks *r, void *context)
{
    struct pressed *p = context;
    struct rlimit before, little;
    getrlimit(RLIMIT_AS, &before);
    little = before;
    little.rlim_cur = address_space() + p->room;
    r->barrier(r);
    if (r->rank == 0)
        setrlimit(RLIMIT_AS, &little);
    r->barrier(r);
    struct link l = link_measure(r, 0);
    r->barrier(r);
    if (r->rank == 0) {
        setrlimit(RLIMIT_AS, &before);
        p->link = l;
    }
}

/* Whichever rank has no memory, none waits for it, and nothing is measured. */
TEST(test_no_memory)
{
    if (SANITIZED || env_set("GTMARK_FOREIGN"))
        skip(); /* nor does qemu set limits to the address space */
    int refused = 0;
    for (struct pressed p = {0}; p.link.ranks == 0; p.room += (rlim_t)32 << 20) {
        rank_threads_run(2, measure_pressed, &p);
        refused += p.link.ranks == 0;
    }
    assert_true(refused > 3);
}
