/*
 * What variables of OpenMP do to threads: by default a row has as many as there are processors, wherever
 * threads are bound; it never says more than run; and whether as many run as are asked for does not depend on
 * how busy the machine is. How threads wait, in OpenMP's own words.
 */
#include "tests/records.h"
#include "tests/refusals.h"
#include "tests/test.h"
#include "tests/values.h"

#include <sched.h>

#ifdef __clang__
enum { IS_LIBOMP = true }; /* 14 aborts on some values of OMP_NUM_THREADS that are no numbers of threads */
#else
enum { IS_LIBOMP = false };
#endif

#define SMALL "--nodes 20 --hidden 8 --heads 1 --layers 1 --phase forward "

static int processors(void)
{
    cpu_set_t granted;
    assert_int_equal(sched_getaffinity(0, sizeof granted, &granted), 0);
    return CPU_COUNT(&granted);
}

static int last_processor(void)
{
    cpu_set_t granted;
    assert_int_equal(sched_getaffinity(0, sizeof granted, &granted), 0);
    int cpu = CPU_SETSIZE - 1;
    while (!CPU_ISSET((size_t)cpu, &granted))
        cpu--;
    return cpu;
}

static int64_t threads_with(const struct house *h, const char *name, const char *value, const char *words)
{
    setenv(name, value, 1);
    struct record *record = run_json(h, words, 0);
    unsetenv(name);
    int64_t threads = count_at(row_at(record, 0), "threads");
    record_free(record);
    return threads;
}

static void refused_with(const struct house *h, const char *name, const char *value, const char *words,
                         const char *names)
{
    setenv(name, value, 1);
    refuses(h, words, NULL, names, name);
    unsetenv(name);
}

TEST(test_bound)
{
    char one[16], more[16]; /* than there are */
    snprintf(one, sizeof one, "%d", last_processor());
    snprintf(more, sizeof more, "0-%d", last_processor() + 1);
    int64_t all = threads_with(*state, "OMP_PROC_BIND", "false", "--device meta " SMALL);
    assert_between(all, 1, processors()); /* fewer with the quota of a control group */
    assert_int_equal(threads_with(*state, "OMP_PROC_BIND", "true", "--device meta " SMALL), all);
    assert_int_equal(threads_with(*state, "OMP_PROC_BIND", "spread", SMALL), all);
    assert_int_equal(threads_with(*state, "OMP_PLACES", "threads", "--device meta " SMALL), all);
    assert_int_equal(threads_with(*state, "GOMP_CPU_AFFINITY", more, "--device meta " SMALL), all);
    assert_int_equal(threads_with(*state, "GOMP_CPU_AFFINITY", one, "--device meta " SMALL), 1);
    if (all > 1)
        refused_with(*state, "OMP_PROC_BIND", "master", SMALL "--threads 2",
                     "--threads 2: OpenMP binds them to 1 of ");
}

TEST(test_limited)
{
    static const char two[] = SMALL "--threads 2", refusal[] = "--threads 2: OpenMP runs 1 ";
    refused_with(*state, "OMP_THREAD_LIMIT", "1", two, refusal);
    refused_with(*state, "OMP_THREAD_LIMIT", "2", SMALL "--threads 1,3", "--threads 3: OpenMP runs 2 ");
    refused_with(*state, "OMP_MAX_ACTIVE_LEVELS", "0", two, refusal);
    assert_int_equal(threads_with(*state, "OMP_THREAD_LIMIT", "1", SMALL "--threads 1"), 1);
    assert_int_equal(threads_with(*state, "OMP_THREAD_LIMIT", "1", "--device meta " SMALL "--threads 2"), 2);
}

/* With OMP_DYNAMIC the library takes no more threads than processors that are idle. */
TEST(test_dynamic)
{
    int64_t more = processors() + 1;
    char words[128];
    snprintf(words, sizeof words, SMALL "--threads %d", (int)more);
    assert_int_equal(threads_with(*state, "OMP_DYNAMIC", "true", words), more);
    assert_int_equal(threads_with(*state, "OMP_NUM_THREADS", "1", words), more);
}

/* --threads 0 is what OMP_NUM_THREADS says, but at most the cores. */
TEST(test_number)
{
    static const char plan[] = "--device meta " SMALL, zero[] = "--device meta --threads 0 " SMALL;
    unsetenv("OMP_NUM_THREADS");
    int64_t all = threads_with(*state, "UNRELATED", "1", plan);
    assert_int_equal(threads_with(*state, "OMP_NUM_THREADS", "1", plan), 1);
    assert_int_equal(threads_with(*state, "OMP_NUM_THREADS", "1", zero), 1);
    assert_int_equal(threads_with(*state, "OMP_NUM_THREADS", "1 ,4", plan), 1);
    assert_int_equal(threads_with(*state, "OMP_NUM_THREADS", "1", "--device meta --threads 3 " SMALL), 3);
    static const char *const ignored[] = {"", "0", "-1", "1x", "x", "1000000", "1.5", "99999999999999999999"};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored && !IS_LIBOMP; i++)
        assert_int_equal(threads_with(*state, "OMP_NUM_THREADS", ignored[i], plan), all);
}

/* With the variable, OpenMP is loaded so often, and says `says`; the file says `recorded`. */
static void expect_waiting(const struct house *h, const char *name, const char *value, size_t loaded,
                           const char *says, const char *recorded)
{
    setenv(name, value, 1);
    struct ended e = run_words(h, "--device meta --format json " SMALL, 0);
    unsetenv(name);
    size_t times = 0;
    for (const char *at = e.err; (at = strstr(at, "DISPLAY ENVIRONMENT BEGIN")) != NULL; at++)
        times++;
    if (times != loaded || !strstr(e.err, says))
        fail_msg("%s=%s: loaded %zu times, not %zu, or not %s: %s", name, value, times, loaded, says, e.err);
    struct record *record = record_of(e.out);
    assert_string_equal(text_in(value_get(record_head(record), "host"), "waiting"), recorded);
    record_free(record);
    ended_free(&e);
}

/* With libgomp a program starts itself again, once, unless the user chose. */
TEST(test_waiting)
{
    char *set_here = getenv("OMP_WAIT_POLICY"), *before = set_here ? strdup(set_here) : NULL;
    unsetenv("OMP_WAIT_POLICY");
    setenv("OMP_DISPLAY_ENV", "verbose", 1);
#ifdef __clang__
    expect_waiting(*state, "UNRELATED", "1", 1, "", "default of libomp");
    expect_waiting(*state, "KMP_BLOCKTIME", "7", 1, "KMP_BLOCKTIME='7", "KMP_BLOCKTIME=7");
#else
    expect_waiting(*state, "UNRELATED", "1", 2, "GOMP_SPINCOUNT = '3000'", "GOMP_SPINCOUNT=3000");
    expect_waiting(*state, "GOMP_SPINCOUNT", "7", 1, "GOMP_SPINCOUNT = '7'", "GOMP_SPINCOUNT=7");
    expect_waiting(*state, "LD_PRELOAD", "libvgpreload_none.so", 1, "", "default of libgomp");
#endif
    expect_waiting(*state, "OMP_WAIT_POLICY", "active", 1, "OMP_WAIT_POLICY", "OMP_WAIT_POLICY=active");
    unsetenv("OMP_DISPLAY_ENV");
    if (before)
        setenv("OMP_WAIT_POLICY", before, 1);
    free(before);
}

GROUP("tests", house_setup, house_teardown)
