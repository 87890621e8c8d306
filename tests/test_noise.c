/*
 * Reading of planted files, resource usage of a region, and warnings where expected, with a remedy. As to the
 * machine's own noise, only what cannot fail is asserted.
 */
#include "bench/base/clock.h"
#include "bench/machine/machine.h"
#include "bench/row/sampling.h"
#include "bench/time/noise.h"
#include "bench/time/watch.h"

#include "tests/files.h"
#include "tests/test.h"
#include <math.h>

#include <sys/mman.h>
#include <unistd.h>

static const struct noise quiet = {.cores = 4,
                                   .threads = 4,
                                   .load = 0.1,
                                   .runnable = 0,
                                   .lost = 0.001,
                                   .largest_gap = 50e-6,
                                   .frequency = 3.4e9,
                                   .frequency_max = 3.5e9,
                                   .governor = "performance"};

/* The text printed by a function, allocated. */
struct sink {
    FILE *out;
    char *text;
    size_t size;
};

static void sink_open(struct sink *s)
{
    *s = (struct sink){0};
    s->out = open_memstream(&s->text, &s->size);
    assert_non_null(s->out);
}

/* Asserts the number of lines, and that one of them contains each of the texts. */
static void sink_expect(struct sink *s, int told, int lines, const char *first, const char *second)
{
    fclose(s->out);
    int counted = 0;
    char *text = unwrapped(s->text);
    free(s->text);
    s->text = text;
    for (const char *c = s->text; (c = strstr(c, "warning: ")) != NULL; c++)
        counted++;
    assert_int_equal(told, lines);
    assert_int_equal(counted, lines);
    if (first && !strstr(s->text, first))
        fail_msg("no \"%s\" in: %s", first, s->text);
    if (second && !strstr(s->text, second))
        fail_msg("no \"%s\" in: %s", second, s->text);
    free(s->text);
}

static void name_row(const void *nothing, int64_t row, char text[AXES_TEXT])
{
    (void)nothing;
    snprintf(text, AXES_TEXT, "row %lld", (long long)row);
}

/* Asserts the number of warnings about row 7, and what they say. */
static void warned(struct warnings *w, int told, int lines, const char *first, const char *second)
{
    struct sink s;
    sink_open(&s);
    warnings_print(w, name_row, NULL, s.out);
    sink_expect(&s, told, lines, first, second);
    warnings_free(w);
}

static void expect_warnings(const struct noise *n, int lines, const char *first, const char *second)
{
    struct sink s;
    sink_open(&s);
    int told = noise_warn(n, s.out);
    sink_expect(&s, told, lines, first, second);
}

TEST(test_probe)
{
    for (int threads = 1; threads <= 2; threads++) {
        double start = clock_now();
        struct noise n = noise_probe(threads, 0.01);
        assert_true(clock_now() - start >= 0.01);
        assert_true(n.cores >= 1 && n.threads == threads);
        assert_true(n.lost >= 0 && n.lost <= 1);
        assert_true(n.largest_gap == 0 || n.largest_gap > NOISE_GAP);
        assert_true((n.lost > 0) == (n.largest_gap > 0));
        assert_true(n.preemptions >= 0);
    }
}

TEST(test_unknown_is_no_warning)
{
    struct noise n = {.load = NAN, .runnable = -1, .frequency = NAN, .frequency_max = NAN};
    expect_warnings(&n, 0, NULL, NULL);
}

static void plant(const char *root, const char *path, const char *text)
{
    char command[512];
    snprintf(command, sizeof command, "mkdir -p $(dirname %s%s) && printf '%s' >%s%s", root, path, text, root,
             path);
    assert_int_equal(system(command), 0);
}

/* Equal parts of the cores; programs that wait are none. */
TEST(test_slowdown)
{
    struct noise n = {.cores = 4, .threads = 2, .load = 2.2, .runnable = 3};
    assert_true(noise_slowdown(&n) == 1);
    n.load = 6;
    assert_true(noise_slowdown(&n) == 2);
    n.runnable = 0;
    assert_true(noise_slowdown(&n) == 1);
    n = (struct noise){.cores = 4, .threads = 2, .load = NAN, .runnable = -1};
    assert_true(noise_slowdown(&n) == 1);
}

TEST(test_reads_files)
{
    char root[] = "/tmp/gtmark-noise-XXXXXX", command[64];
    assert_non_null(mkdtemp(root));
    struct noise n = {.governor = "stale"};
    noise_read_load(root, &n);
    noise_read_frequency(root, 3, &n);
    assert_true(isnan(n.load) && n.runnable == -1);
    assert_true(isnan(n.frequency) && isnan(n.frequency_max) && n.governor[0] == '\0');
    plant(root, "/proc/loadavg", "3.25 1.00 0.50 5/321 777\n");
    plant(root, "/sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", "2100000\n");
    plant(root, "/sys/devices/system/cpu/cpu3/cpufreq/scaling_max_freq", "3500000\n");
    plant(root, "/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "powersave\n");
    noise_read_load(root, &n);
    noise_read_frequency(root, 3, &n);
    assert_true(n.load == 3.25 && n.runnable == 4);
    assert_true(n.frequency == 2.1e9 && n.frequency_max == 3.5e9);
    assert_string_equal(n.governor, "powersave");
    plant(root, "/sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", "<unknown>\n");
    noise_read_frequency(root, 3, &n);
    assert_true(isnan(n.frequency));
    plant(root, "/proc/loadavg", "0.00 0.00 0.00 0/0 0\n");
    noise_read_load(root, &n);
    assert_true(isnan(n.load) && n.runnable == -1);
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

/* Waits of all threads count together; without the files nothing is known. */
TEST(test_lost_time)
{
    char root[] = "/tmp/gtmark-lost-XXXXXX", command[64];
    assert_non_null(mkdtemp(root));
    assert_true(isnan(lost_now(root).waited) && isnan(lost_now(root).stolen));
    plant(root, "/proc/self/task/7/schedstat", "9000000000 1000000000 5\n");
    plant(root, "/proc/self/task/8/schedstat", "9000000000 500000000 5\n");
    plant(root, "/proc/stat", "cpu  100 20 30 1000 2000 6 4 40 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n");
    struct lost l = lost_now(root);
    double second = (double)sysconf(_SC_CLK_TCK);
    assert_true(l.waited == 1.5 && l.stolen == 40 / second && l.busy == 160 / second);
    plant(root, "/proc/stat", "intr 100\n");
    assert_true(isnan(lost_now(root).stolen));
    /* In two seconds a neighbour takes half of the core of one thread: while it waits, so does the other.
     * Then one takes half of each core, and what both threads wait for at once counts twice. */
    plant(root, "/proc/self/task/7/schedstat", "10000000000 2000000000 5\n");
    struct lost one = {lost_now(root).waited, l.stolen, l.busy};
    assert_true(lost_share(&l, &one, 2) == 0.5);
    plant(root, "/proc/self/task/8/schedstat", "10000000000 1500000000 5\n");
    struct lost both = {lost_now(root).waited, l.stolen, l.busy};
    assert_true(lost_share(&l, &both, 2) == 1);
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

TEST(test_share_of_lost_time)
{
    static const struct lost none;
    static const struct {
        struct lost end;
        double seconds, share;
    } cases[] = {{{0, 0, 0}, 1, 0},      {{0.5, 0, 10}, 2, 0.25}, {{0, 1, 9}, 2, 0.1},
                 {{0.5, 1, 9}, 2, 0.35}, {{5, 0, 10}, 2, 1},      {{-0.5, 0, 10}, 2, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(fabs(lost_share(&none, &cases[i].end, cases[i].seconds) - cases[i].share) < 1e-12);
    assert_true(isnan(lost_share(&none, &(struct lost){NAN, 0, 10}, 2)));
    assert_true(isnan(lost_share(&none, &(struct lost){0, NAN, NAN}, 2)));
    assert_true(isnan(lost_share(&none, &(struct lost){0, 0, 0}, 0)));
}

/* Touching new pages causes at least one fault each, spinning uses CPU time, sleeping is a context switch. */
TEST(test_usage)
{
    enum { PAGES = 64 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *fresh = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(fresh != MAP_FAILED);
    madvise(fresh, PAGES * page, MADV_NOHUGEPAGE);
    struct usage start = usage_now();
    for (int i = 0; i < PAGES; i++)
        fresh[(size_t)i * page] = 1;
    double cpu = clock_cpu();
    while (clock_cpu() - cpu < 2e-3)
        continue;
    usleep(1000);
    struct usage used = usage_since(&start);
    munmap(fresh, PAGES * page);
    assert_true(used.minor_faults >= PAGES);
    assert_true(used.major_faults >= 0 && used.involuntary >= 0);
    assert_true(used.voluntary >= 1);
    assert_true(used.cpu >= 2e-3);
}

TEST(test_quiet_machine)
{
    expect_warnings(&quiet, 0, NULL, NULL);
    struct noise many_cores = quiet;
    many_cores.cores = 64, many_cores.load = 50, many_cores.runnable = 50;
    expect_warnings(&many_cores, 0, NULL, NULL);
    struct noise own_past = quiet; /* no other process is ready to run */
    own_past.load = 4;
    expect_warnings(&own_past, 0, NULL, NULL);
}

/* A set of benchmarks is told once what to do. */
TEST(test_told)
{
    char path[] = "/tmp/gtmark-told-XXXXXX";
    int file = mkstemp(path);
    struct noise n = quiet;
    n.cores = n.threads = 2, n.load = 3.2, n.runnable = 3;
    assert_true(file >= 0);
    setenv("GTMARK_TOLD", path, 1);
    for (int run = 0; run < 2; run++) {
        struct sink s;
        sink_open(&s);
        assert_int_equal(noise_warn(&n, s.out), !run);
        fclose(s.out);
        free(s.text);
    }
    strcpy(n.governor, "powersave");
    expect_warnings(&n, 1, "governor powersave", "cpupower frequency-set -g performance");
    unsetenv("GTMARK_TOLD");
    close(file);
    unlink(path);
}

TEST(test_warnings)
{
    struct noise n = quiet;
    n.cores = n.threads = 2, n.load = 3.2, n.runnable = 3;
    expect_warnings(&n, 1, "warning: load average 3.2 on 2 cores", "stop other programs");
    n = quiet, n.lost = 0.029, n.largest_gap = 2.4e-3;
    expect_warnings(&n, 1,
                    "2.9 % of the time is lost in gaps of up to 2.40 ms, and no program on this machine",
                    "not shared");
    n.preemptions = 7;
    expect_warnings(&n, 1, "another program took a core 7 times", "stop other programs");
    n = quiet, strcpy(n.governor, "powersave");
    expect_warnings(&n, 1, "governor powersave", "cpupower frequency-set -g performance");
    n = quiet, n.frequency = 1.2e9;
    expect_warnings(&n, 1, "1.20 GHz, its maximum is 3.50 GHz", "let the machine cool");
    n.lost = 0.5, n.largest_gap = 1;
    strcpy(n.governor, "powersave");
    n.load = 8, n.runnable = 8;
    expect_warnings(&n, 3, NULL, NULL); /* load and lost time have one remedy */
}

TEST(test_usage_warnings)
{
    struct warnings w = {0};
    struct subject step = {&w, 7, "step"};
    const struct usage calm = {.minor_faults = 500, .voluntary = 1000, .involuntary = 40, .cpu = 1};
    warned(&w, noise_warn_usage(&step, &calm, 10, 1), 0, NULL, NULL);
    const struct usage wild = {.minor_faults = 50000, .major_faults = 3, .involuntary = 400};
    warned(&w, noise_warn_usage(&step, &wild, 10, 2), 3, "warning: [row 7, step] 5000 page faults per run",
           "(--warmup)");
    warned(&w, noise_warn_usage(&step, &wild, 10, 2), 3, "preempted 200 times per second",
           "3 pages were read from");
}

TEST(test_sample_warnings)
{
    struct warnings w = {0};
    struct subject forward = {&w, 7, "forward"};
    struct drift none = {NAN, NAN, false}, up = {0.062, 1e-4, true}, down = {-0.05, 1e-4, true};
    struct slow_start fast = {0, NAN}, slow = {2, 1.8};
    warned(&w, noise_warn_samples(&forward, &none, &fast), 0, NULL, NULL);
    warned(&w, noise_warn_samples(&forward, &up, &slow), 2, "[row 7, forward] the samples drift by +6.2 %",
           "slow start: the first sample takes 1.80 times");
    warned(&w, noise_warn_samples(&forward, &down, &fast), 1, "-5.0 %", "run again");
}

/* Turns of 30 samples in one state, after two in another, in which they are longer. */
TEST(test_warnings_of_reported_turns)
{
    enum { TURNS = 12, EACH = 30 };
    double seconds[TURNS * EACH];
    struct turn turns[TURNS];
    for (int t = 0; t < TURNS; t++) {
        bool other = t < 2;
        double ping = other ? 5e-7 : 1e-7 * (1 + 1e-3 * t);
        turns[t] = (struct turn){EACH, {{ping, NAN, NAN}}, {{ping, NAN, NAN}}};
        for (int i = 0; i < EACH; i++)
            seconds[t * EACH + i] = (other ? 3 : 1) + 1e-3 * ((7 * i) % 5);
    }
    struct samples s = {.n = TURNS * EACH,
                        .seconds = seconds,
                        .turns = TURNS,
                        .turn = turns,
                        .batch = 1,
                        .used = {.involuntary = 1000},
                        .elapsed = 1};
    struct states states = states_find(turns, TURNS), none = {0};
    struct warnings w = {0};
    struct subject step = {&w, 7, "step"};
    sampling_warn(&s, &states, &step);
    warned(&w, (int)w.count, 0, NULL, NULL);
    sampling_warn(&s, &none, &step);
    warned(&w, (int)w.count, 2, "slow start: ", "preempted ");
}

TEST(test_throttle_warnings)
{
    struct warnings w = {0};
    struct subject step = {&w, 7, "step"};
    const struct seen capped = {.told = true, .reasons = 0x04}, hot = {.discarded = 12, .reasons = 0x24},
                      always = {.discarded = 10, .throttled = 3, .reasons = 0x80};
    warned(&w, noise_warn_throttle(&step, &capped), 0, NULL, NULL);
    warned(&w, noise_warn_throttle(&step, &hot), 1,
           "the GPU throttled (power cap, thermal:", "12 samples discarded, 0 kept");
    warned(&w, noise_warn_throttle(&step, &always), 1, "power brake", "3 kept");
}

/* The same warning about several rows is one line, with the rows and the range of the amounts. */
TEST(test_warnings_of_many_rows)
{
    struct warnings w = {0};
    struct slow_start slow = {1, 1.5}, slower = {1, 2.25};
    struct drift none = {NAN, NAN, false}, down = {-0.05, 1e-4, true};
    struct subject subjects[] = {{&w, 0, "forward"}, {&w, 0, "step"}, {&w, 3, "step"}};
    for (int i = 0; i < 3; i++)
        noise_warn_samples(&subjects[i], i == 1 ? &down : &none, i == 2 ? &slower : &slow);
    struct sink s;
    sink_open(&s);
    warnings_print(&w, name_row, NULL, s.out);
    fclose(s.out);
    assert_string_equal(
        s.text,
        "warning: [row 0, forward, step; row 3, step] slow start: the first sample takes 1.50 to 2.25 times\n"
        "    the median of the later ones: warm up longer (--warmup)\n"
        "warning: [row 0, step] the samples drift by -5.0 % from first to last: the machine changed\n"
        "    meanwhile; run again\n");
    free(s.text);
    warnings_free(&w);
}

/* Kernels of OpenBLAS for a lesser processor are named, with the way out; what is not known is not judged. */
TEST(test_blas_that_lags)
{
    static const struct {
        const char *core, *backend, *says;
    } cases[] = {{"Prescott", "compiled for avx2",
                  "chose its kernels for Prescott, which do not use avx2; "
                  "OPENBLAS_CORETYPE=Haswell"},
                 {"prescott", "compiled for avx512", "OPENBLAS_CORETYPE=SkylakeX"},
                 {"Zen", "compiled for avx512", "do not use avx512"},
                 {"Zen", "compiled for avx2", NULL},
                 {"SkylakeX", "compiled for avx2", NULL},
                 {"Prescott", "compiled for base", NULL},
                 {"Core", "compiled for avx2", NULL},
                 {"ARMV8", "compiled for base", NULL},
                 {"unknown", "compiled for avx512", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct message note = {""};
        assert_int_equal(machine_blas_is_outdated(cases[i].core, cases[i].backend, &note),
                         cases[i].says != NULL);
        assert_true(!cases[i].says || strstr(note.text, cases[i].says));
    }
}

/* At most six rows are named; the program of a row of an op alone is not. */
TEST(test_warnings_of_too_many_rows)
{
    struct warnings w = {0};
    struct slow_start slow = {1, 1.5};
    struct drift none = {NAN, NAN, false};
    for (int row = 0; row < 8; row++)
        noise_warn_samples(&(struct subject){&w, row, "kernel"}, &none, &slow);
    struct sink s;
    sink_open(&s);
    warnings_print(&w, name_row, NULL, s.out);
    fclose(s.out);
    assert_non_null(strstr(s.text, "[row 0; row 1; row 2; row 3; row 4; row 5; and 2 more rows] slow"));
    free(s.text);
    warnings_free(&w);
}
