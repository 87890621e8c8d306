/*
 * Ranks by MPI: this program starts itself under a launcher (tests/mpirun.sh), with the name of a part, which
 * all ranks then run. A rank that finds something wrong says so and exits, and the launcher reports it.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/ranks.h"
#include "kernels/rng.h"
#include "tests/test.h"

static const char *self;

/* For ranks, which have no cmocka. */
#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "# %s:%d: rank %d of %d: %s\n", __FILE__, __LINE__, r->rank, r->count,           \
                    #condition);                                                                             \
            exit(3);                                                                                         \
        }                                                                                                    \
    } while (0)

/* What `sender` sends as byte i of its exchange number k with `receiver`. */
static unsigned char sent(int sender, int receiver, int64_t i, int k)
{
    return (unsigned char)rng_mix((uint64_t)(((sender * 64 + receiver) * 64 + k) * INT64_C(1000003) + i));
}

/* Bytes from a to b: none for some pairs, and if `silent` is a, for all of its. */
static int64_t size(int a, int b, int k, int silent)
{
    return a == silent || (a + 2 * b + k) % 4 == 0 ? 0 : 1 + 1000 * a + 100 * b + 3 * k;
}

struct exchange {
    unsigned char *to, *from;
    int64_t to_at[65], from_at[65], request;
};

static void exchange_begin(const struct ranks *r, struct exchange *e, int k, int silent)
{
    for (int p = 0; p < r->count; p++) {
        e->to_at[p + 1] = e->to_at[p] + size(p, r->rank, k, silent);
        e->from_at[p + 1] = e->from_at[p] + size(r->rank, p, k, silent);
    }
    e->to = calloc((size_t)e->to_at[r->count] + 1, 1);
    e->from = malloc((size_t)e->from_at[r->count] + 1);
    EXPECT(e->to && e->from);
    for (int p = 0; p < r->count; p++) {
        for (int64_t i = e->from_at[p]; i < e->from_at[p + 1]; i++)
            e->from[i] = sent(r->rank, p, i - e->from_at[p], k);
    }
    e->to[e->to_at[r->count]] = 77;
    r->exchange_start(r, e->to, e->to_at, e->from, e->from_at, &e->request);
}

static void exchange_end(const struct ranks *r, struct exchange *e, int k)
{
    r->wait(r, &e->request);
    for (int p = 0; p < r->count; p++) {
        for (int64_t i = e->to_at[p]; i < e->to_at[p + 1]; i++)
            EXPECT(e->to[i] == sent(p, r->rank, i - e->to_at[p], k));
    }
    EXPECT(e->to[e->to_at[r->count]] == 77);
    free(e->to);
    free(e->from);
}

/* One rank sends nothing; then several are in flight, and end in another order. */
static void exchanges(const struct ranks *r)
{
    enum { IN_FLIGHT = 20 };
    struct exchange e[IN_FLIGHT] = {0};
    for (int silent = 0; silent < r->count; silent++) {
        struct exchange one = {0};
        exchange_begin(r, &one, silent, silent);
        exchange_end(r, &one, silent);
    }
    for (int k = 0; k < IN_FLIGHT; k++)
        exchange_begin(r, &e[k], k, -1);
    for (int k = 0; k < IN_FLIGHT; k++)
        exchange_end(r, &e[k * 7 % IN_FLIGHT], k * 7 % IN_FLIGHT);
}

static float term(int rank, int64_t i)
{
    uint64_t bits = rng_mix((uint64_t)i * 64 + (uint64_t)rank);
    float x = (float)(bits % 2000001) - 1e6f;
    return bits >> 60 < 8 ? x : x * 1e-9f;
}

/* Terms of very different size, so that other orders of addition give other bits. */
static void sum_of_floats(const struct ranks *r, int64_t count)
{
    float *y = malloc((size_t)count * sizeof *y), *all = malloc((size_t)(count * r->count) * sizeof *y);
    int64_t request;
    EXPECT(y && all);
    for (int64_t i = 0; i < count; i++)
        y[i] = term(r->rank, i);
    r->reduce_start(r, REDUCE_SUM, y, count, F32, &request);
    r->wait(r, &request);
    for (int64_t i = 0; i < count; i++) {
        double sum = 0, sizes = 0;
        for (int p = 0; p < r->count; p++) {
            double x = (double)term(p, i);
            sum += x;
            sizes += x < 0 ? -x : x;
        }
        double error = (double)y[i] - sum;
        EXPECT((error < 0 ? -error : error) <= sizes * 0x1p-24 * r->count);
    }
    r->gather(r, all, y, count * (int64_t)sizeof *y);
    for (int p = 1; r->rank == 0 && p < r->count; p++)
        EXPECT(memcmp(all, all + p * count, (size_t)count * sizeof *y) == 0);
    free(all);
    free(y);
}

static void sums(const struct ranks *r)
{
    static const int64_t counts[] = {0, 1, 2, 3, 5, 17, 1000, 4099, 65537};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        sum_of_floats(r, counts[i]);
    /* All types at once, in flight beside an exchange. */
    struct exchange e = {0};
    double f64[300];
    int32_t i32[300];
    int64_t i64[300], request[3];
    for (int i = 0; i < 300; i++) {
        f64[i] = r->rank + i * 0.5;
        i32[i] = r->rank + i;
        i64[i] = ((int64_t)1 << 40) * i + r->rank;
    }
    r->reduce_start(r, REDUCE_SUM, f64, 300, F64, &request[0]);
    exchange_begin(r, &e, 5, -1);
    r->reduce_start(r, REDUCE_SUM, i32, 300, I32, &request[1]);
    r->reduce_start(r, REDUCE_SUM, i64, 300, I64, &request[2]);
    r->wait(r, &request[2]);
    exchange_end(r, &e, 5);
    r->wait(r, &request[1]);
    r->wait(r, &request[0]);
    int ranks = r->count * (r->count - 1) / 2;
    for (int i = 0; i < 300; i++)
        EXPECT(f64[i] == ranks + r->count * i * 0.5 && i32[i] == ranks + r->count * i &&
               i64[i] == ((int64_t)1 << 40) * i * r->count + ranks);
}

static void broadcasts(const struct ranks *r)
{
    char text[1000] = "";
    int all[64] = {0}, mine = 10 + r->rank;
    for (int long_wait = 0; long_wait < 2; long_wait++) {
        if (r->rank == 0) {
            usleep(long_wait ? 20000 : 0); /* so long that the others sleep */
            memset(text, 'a' + long_wait, sizeof text);
        }
        r->broadcast(r, text, sizeof text);
        EXPECT(text[0] == 'a' + long_wait && text[999] == 'a' + long_wait);
    }
    r->broadcast(r, text, 0);
    r->gather(r, r->rank ? NULL : all, &mine, sizeof mine);
    for (int p = 0; p < r->count; p++)
        EXPECT(all[p] == (r->rank ? 0 : 10 + p));
    r->barrier(r);
}

static void first_ranks(const struct ranks *r)
{
    EXPECT(r->first(r, r->count) == r);
    for (int count = 1; count < r->count; count++) {
        const struct ranks *some = r->first(r, count);
        EXPECT((some != NULL) == (r->rank < count) && some == r->first(r, count));
        if (!some)
            continue;
        EXPECT(some->rank == r->rank && some->count == count && some->hosts == 1);
        exchanges(some);
        sums(some);
        broadcasts(some);
        EXPECT(count == 1 || (some->first(some, 1) != NULL) == (r->rank == 0));
    }
    r->barrier(r);
}

/* One rank dies while the others wait for it. */
static void killed(const struct ranks *r, const char *how)
{
    int64_t request;
    double y = 0;
    char byte = 0;
    r->barrier(r);
    if (r->rank == (strcmp(how, "broadcast") == 0 ? 0 : 1))
        raise(SIGKILL);
    if (strcmp(how, "broadcast") == 0)
        r->broadcast(r, &byte, 1);
    r->reduce_start(r, REDUCE_SUM, &y, 1, F64, &request);
    r->wait(r, &request);
    EXPECT(!"reached");
}

/* Of three ranks, for test_pmpi.sh: rank r sends 8 + r bytes to each rank before it, and 3 to each after it.
 */
static void known_bytes(const struct ranks *r)
{
    char to[64], from[64] = "";
    float y[10] = {0};
    int64_t to_at[4] = {0}, from_at[4] = {0}, request;
    for (int p = 0; p < 3; p++) {
        to_at[p + 1] = to_at[p] + (p > r->rank ? 8 + p : 3);
        from_at[p + 1] = from_at[p] + (r->rank > p ? 8 + r->rank : 3);
    }
    r->exchange_start(r, to, to_at, from, from_at, &request);
    r->wait(r, &request);
    r->reduce_start(r, REDUCE_SUM, y, 10, F32, &request);
    r->wait(r, &request);
}

/* A process that a rank starts is none. */
static int child_main(void)
{
    char error[200] = "?";
    return ranks_open(error, sizeof error) || *error ? 3 : 0;
}

static void children(const struct ranks *r)
{
    char command[300];
    snprintf(command, sizeof command, "%s child", self);
    EXPECT(system(command) == 0);
}

static int rank_main(const char *part, int count, const char *how)
{
    char error[200] = "";
    int64_t piece = strcmp(part, "pieces") == 0 ? 64 : strcmp(part, "bytes") == 0 ? 8 : 0;
    const struct ranks *r =
        piece ? ranks_open_pieces(piece, error, sizeof error) : ranks_open(error, sizeof error);
    if (!r) {
        fprintf(stderr, "# no ranks: %s\n", error);
        return 3;
    }
    EXPECT(r->count == count && r->hosts == 1 && strlen(r->mpi) > 4);
    if (strcmp(part, "killed") == 0)
        killed(r, how);
    if (strcmp(part, "bytes") == 0) {
        known_bytes(r);
    } else {
        exchanges(r);
        sums(r);
        broadcasts(r);
        first_ranks(r);
        children(r);
    }
    r->close(r);
    return 0;
}

/*
 * The exit status of a launcher; what it says of ranks that fail on purpose is not shown. MPI leaks memory in
 * modules that it has unloaded at the end, which no suppression can name.
 */
static int launched(const char *part, int count, const char *how)
{
    char command[400];
    snprintf(command, sizeof command,
             "ASAN_OPTIONS=detect_leaks=0 timeout 120 tests/mpirun.sh %d %s %s %d %s %s", count, self, part,
             count, how, *how ? ">/dev/null 2>&1" : "");
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define SKIP_WITHOUT_MPI()                                                                                   \
    if (!HAVE_MPI) {                                                                                         \
        print_message("# ranks: built without MPI (make setup tests)\n");                                    \
        skip();                                                                                              \
    }

static void whole_messages(void **state)
{
    (void)state;
    SKIP_WITHOUT_MPI();
    for (int count = 1; count <= 4; count++)
        assert_int_equal(launched("whole", count, ""), 0);
}

static void messages_in_pieces(void **state)
{
    (void)state;
    SKIP_WITHOUT_MPI();
    for (int count = 1; count <= 4; count++)
        assert_int_equal(launched("pieces", count, ""), 0);
}

/* The launcher fails, and does not wait for ever (124: timeout ended it). */
static void a_rank_that_is_killed(void **state)
{
    (void)state;
    SKIP_WITHOUT_MPI();
    static const char *const how[] = {"sum", "broadcast"};
    for (int i = 0; i < 2; i++) {
        int status = launched("killed", 3, how[i]);
        assert_int_not_equal(status, 0);
        assert_int_not_equal(status, 124);
    }
}

static void alone(void **state)
{
    (void)state;
    char error[200] = "?";
    setenv("SLURM_PROCID", "0", 1);
    setenv("SLURM_NTASKS", "4", 1);
    assert_null(ranks_open(error, sizeof error));
    assert_string_equal(error, "");
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc == 2)
        return child_main();
    if (argc > 2)
        return rank_main(argv[1], atoi(argv[2]), argc > 3 ? argv[3] : "");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone),
        cmocka_unit_test(whole_messages),
        cmocka_unit_test(messages_in_pieces),
        cmocka_unit_test(a_rank_that_is_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
