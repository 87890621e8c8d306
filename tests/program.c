/*
 * Running programs in a temporary checkout. Output is captured in memory files, which, unlike pipes, cannot
 * block.
 */
#include "tests/program.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 64, TIME_LIMIT = 240 };

void program_path(char path[PATH_MAX], const char *name)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    assert_true(length > 0);
    path[length] = '\0';
    for (int up = 0; up < 2; up++)
        *strrchr(path, '/') = '\0';
    size_t used = strlen(path);
    assert_true(snprintf(path + used, PATH_MAX - used, "/%s", name) < (int)(PATH_MAX - used));
}

static void copy_program(const char *from, const char *to)
{
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    if (in < 0 || out < 0)
        fail_msg("%s to %s: %s", from, to, strerror(errno));
    ssize_t moved;
    while ((moved = sendfile(out, in, NULL, 1 << 30)) > 0)
        continue;
    assert_true(moved == 0 && close(in) == 0 && close(out) == 0);
}

/* A program for another processor is a script that runs what is beside it (EMULATOR in the Makefile). */
static void copy_emulated(const char *from, const char *to)
{
    char elf[2][PATH_MAX + 4];
    snprintf(elf[0], sizeof elf[0], "%s.elf", from);
    snprintf(elf[1], sizeof elf[1], "%s.elf", to);
    if (access(elf[0], R_OK) == 0)
        copy_program(elf[0], elf[1]);
}

static void house_build(struct house *h, const char *program)
{
    char from[PATH_MAX], path[PATH_MAX];
    const char *place = getenv("TMPDIR");
    assert_true(snprintf(h->root, sizeof h->root, "%s/gtmark-XXXXXX", place && *place ? place : "/tmp") <
                (int)sizeof h->root);
    assert_non_null(mkdtemp(h->root));
    snprintf(h->work, sizeof h->work, "%s/work", h->root);
    assert_int_equal(mkdir(h->work, 0777), 0);
    snprintf(path, sizeof path, "%s/results", h->root);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/kernels", h->root);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/kernels/ops.def", h->root);
    assert_int_equal(close(creat(path, 0666)), 0);
    snprintf(path, sizeof path, "%s/build", h->root);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(h->program, sizeof h->program, "%s/build/%s", h->root, basename(program));
    program_path(from, program);
    copy_program(from, h->program);
    copy_emulated(from, h->program);
}

static FTS *walk(const struct house *h)
{
    char *roots[] = {(char *)h->root, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    assert_non_null(tree);
    return tree;
}

int house_of(void **state, const char *program)
{
    struct house *h = calloc(1, sizeof *h);
    assert_non_null(h);
    house_build(h, program);
    *state = h;
    return 0;
}

int house_setup(void **state)
{
    return house_of(state, "bench_node_scaling");
}

int house_teardown(void **state)
{
    FTS *tree = walk(*state);
    for (FTSENT *e; (e = fts_read(tree)) != NULL;)
        if (e->fts_info != FTS_D)
            assert_int_equal(remove(e->fts_path), 0);
    fts_close(tree);
    free(*state);
    return 0;
}

char *house_list(const struct house *h)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    FTS *tree = walk(h);
    for (FTSENT *e; (e = fts_read(tree)) != NULL;)
        if (e->fts_info != FTS_DP)
            fprintf(out, "%s %lld %lld.%09ld\n", e->fts_path, (long long)e->fts_statp->st_size,
                    (long long)e->fts_statp->st_mtim.tv_sec, e->fts_statp->st_mtim.tv_nsec);
    fts_close(tree);
    fclose(out);
    return text;
}

/* leaks: AddressSanitizer looks for them. LeakSanitizer cannot always stop OpenMP's threads, which fails the
 * program. */
static void run_child(const struct house *h, char **argv, int out, int err, bool leaks)
{
    static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT}; /* by nohup, and by shells for background jobs */
    int in = open("/dev/null", O_RDONLY);
    if (chdir(h->work) == 0 && dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2) {
        for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
            signal(ignored[i], SIG_DFL);
        alarm(TIME_LIMIT * (env_set("GTMARK_FOREIGN") ? 10 : 1)); /* inherited across exec */
        if (!leaks)
            setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
        execv(h->program, argv);
    }
    _exit(127);
}

/* Whether a flag, which may not be given twice, is among the arguments. */
static bool has_flag(const char *words, const char *const *more, const char *flag)
{
    bool found = strstr(words, flag) != NULL;
    for (; more && *more; more++)
        found = found || strncmp(*more, flag, strlen(flag)) == 0;
    return found;
}

static pid_t start(const struct house *h, const char *words, const char *const *more, int out, int err,
                   bool leaks)
{
    char *copy = strdup(words), *rest = copy, *argv[ARGUMENTS_MAX] = {(char *)h->program};
    int argc = 1;
    if (strstr(h->program, "/build/bench_")) {
        argv[argc++] = "--no-roofline";
        bool plans = has_flag(words, more, "--dry-run");
        if (!plans && !has_flag(words, more, "--budget"))
            argv[argc++] = "--budget=0.1";
        if (!plans && !has_flag(words, more, "--warmup"))
            argv[argc++] = "--warmup=1";
        if (!h->charts && !has_flag(words, more, "--no-charts"))
            argv[argc++] = "--no-charts";
    }
    for (char *word; (word = strsep(&rest, " ")) != NULL && argc < ARGUMENTS_MAX - 1;)
        if (*word)
            argv[argc++] = word;
    for (; more && *more && argc < ARGUMENTS_MAX - 1; more++)
        argv[argc++] = (char *)*more;
    assert_true(argc < ARGUMENTS_MAX - 1);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        run_child(h, argv, out, err, leaks);
    free(copy);
    return pid;
}

pid_t program_start(const struct house *h, const char *words, const char *const *more, int out, int err)
{
    return start(h, words, more, out, err, false);
}

int program_wait(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int memory_file(void)
{
    int file = memfd_create("output", MFD_CLOEXEC);
    assert_true(file >= 0);
    return file;
}

/* The contents of a memory file, which is closed. */
static char *text_of(int file)
{
    off_t size = lseek(file, 0, SEEK_END);
    char *text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(pread(file, text, (size_t)size, 0), size);
    close(file);
    return text;
}

struct ended program_run(const struct house *h, const char *words, const char *const *more)
{
    int out = memory_file(), err = memory_file();
    struct ended e = {.status = program_wait(start(h, words, more, out, err, getenv("GTMARK_SOAK")))};
    e.out = text_of(out);
    e.err = text_of(err);
    return e;
}

void ended_free(struct ended *e)
{
    free(e->out);
    free(e->err);
    *e = (struct ended){0};
}

void assert_ends(const struct house *h, const char *words, int status, const char *out, const char *err)
{
    struct ended e = program_run(h, words, NULL);
    if (e.status != status || !strstr(e.out, out) || !strstr(e.err, err))
        fail_msg("%s: status %d, not %d\n%s%s", words, e.status, status, e.out, e.err);
    ended_free(&e);
}
