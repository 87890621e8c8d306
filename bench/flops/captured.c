/*
 * A file consists of calls; after each come its operands. Pointers are offsets in the file. The process that
 * runs them maps the file privately, so that outputs and operands that change are its own, and outputs that
 * are not read are holes in the file. Operands keep their alignment to a cache line.
 */
#include "bench/flops/captured.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/blas.h"
#include "models/encodings/compute.h"

enum { LINE = 64 };

struct call_record {
    int64_t next; /* offset of the next call */
    enum op op;   /* OPS: an encoding */
    enum dtype dtype;
    int bits;
    char variant[64];
    union any_args args;
    struct encoding_config encoding;
    struct batch batch;
};

const char capture_word[] = "run-captured-calls", capture_function[] = "capture_call";

static int64_t round_to_line(int64_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static void write_at(struct capture *c, int64_t at, const void *from, int64_t bytes)
{
    if (fseeko(c->file, at, SEEK_SET) == 0)
        fwrite(from, 1, (size_t)bytes, c->file);
}

/* Room for a copy, which is written if it is read; returns its offset as a pointer. */
static void *put(struct capture *c, const void *from, int64_t bytes, bool read)
{
    int64_t at = round_to_line(c->end) + (int64_t)((uintptr_t)from % LINE);
    c->end = at + bytes;
    if (read)
        write_at(c, at, from, bytes);
    return (void *)(intptr_t)at; // NOLINT(performance-no-int-to-ptr)
}

bool capture_open(struct capture *c, const char *path, struct message *error)
{
    *c = (struct capture){.file = fopen(path, "wb")};
    return c->file || complain(error, "%s: %s", path, strerror(errno));
}

static int64_t begin_call(struct capture *c)
{
    int64_t at = c->end;
    c->end += (int64_t)sizeof(struct call_record);
    c->calls++;
    return at;
}

static void end_call(struct capture *c, int64_t at, struct call_record *r)
{
    c->end = r->next = round_to_line(c->end);
    write_at(c, at, r, sizeof *r);
}

void capture_entry(struct capture *c, const struct entry *e)
{
    const struct op_info *info = op_info(e->op);
    struct call_record r = {.op = e->op, .dtype = e->kernel->dtype, .bits = e->kernel->bits};
    int64_t at = begin_call(c);
    snprintf(r.variant, sizeof r.variant, "%s", e->kernel->variant);
    memcpy(&r.args, e->args, info->args_size);
    r.args.call = (struct call){.threads = 1};
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        struct mat *m = operand_is_mat(o) ? operand_mat(o, &r.args) : NULL;
        if (m && m->data) {
            int64_t elements = m->rows > 0 ? (m->rows - 1) * m->ld + m->cols : 0;
            m->data = put(c, m->data, elements * (int64_t)dtype_size(m->dtype), operand_reads(o, m));
        }
    }
    end_call(c, at, &r);
}

static void put_graph(struct capture *c, struct csr *g)
{
    g->row_ptr = put(c, g->row_ptr, (g->nodes + 1) * (int64_t)sizeof *g->row_ptr, true);
    g->col = put(c, g->col, g->edges * (int64_t)sizeof *g->col, true);
}

void capture_encoding(struct capture *c, const struct encoding_config *pe, const struct batch *b)
{
    struct call_record r = {.op = OPS, .encoding = *pe, .batch = *b};
    int64_t at = begin_call(c);
    put_graph(c, &r.batch.adj);
    put_graph(c, &r.batch.out);
    r.batch.offset = put(c, b->offset, (b->graphs + 1) * (int64_t)sizeof *b->offset, true);
    end_call(c, at, &r);
}

bool capture_close(struct capture *c, struct message *error)
{
    bool good = fflush(c->file) == 0 && !ferror(c->file) && ftruncate(fileno(c->file), c->end) == 0;
    good = fclose(c->file) == 0 && good;
    return good || complain(error, "the operands of %d calls cannot be written (%lld bytes): %s", c->calls,
                            (long long)c->end, strerror(errno));
}

/* --- the process that runs them */

/* Calls of it are counted. Not inlined, and nothing after it is a jump. */
void capture_call(void (*run)(const void *), const void *args);

__attribute__((noinline)) void capture_call(void (*run)(const void *), const void *args)
{
    run(args);
    __asm__ volatile("");
}

static void compute_encoding(const void *call)
{
    const struct call_record *r = call;
    struct encoding e;
    char error[256];
    struct encoding_options with = {.threads = 1};
    if (!encoding_compute(&r->encoding, &r->batch, &with, &e, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        exit(EXIT_MISSED);
    }
    encoding_free(&e);
}

/* Makes a pointer of an offset; null stays null. */
#define LOCATE(pointer) ((pointer) = (pointer) ? (void *)((char *)file + (intptr_t)(pointer)) : NULL)

static void run_encoding(struct call_record *r, void *file)
{
    LOCATE(r->batch.adj.row_ptr);
    LOCATE(r->batch.adj.col);
    LOCATE(r->batch.out.row_ptr);
    LOCATE(r->batch.out.col);
    LOCATE(r->batch.offset);
    capture_call(compute_encoding, r);
}

static void run_kernel(struct call_record *r, void *file)
{
    const struct op_info *info = op_info(r->op);
    const struct kernel *kernel =
        backend_bits_kernel(backend_cpu(), r->op, op_options(r->op, &r->args), r->dtype, r->bits, r->variant);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        if (operand_is_mat(o))
            LOCATE(operand_mat(o, &r->args)->data);
    }
    r->args.call.kernel = kernel;
    int64_t bytes = kernel->scratch ? kernel->scratch(&r->args) : 0;
    void *scratch = aligned_alloc(LINE, (size_t)round_to_line(bytes + 1));
    r->args.call.scratch = bytes ? scratch : NULL;
    capture_call(kernel->run, &r->args);
    free(scratch);
}

int capture_run(const char *path)
{
    struct stat s;
    char unopened[256];
    int in = open(path, O_RDONLY | O_CLOEXEC);
    if (in < 0 || fstat(in, &s) != 0)
        return EXIT_USAGE;
    char *file = mmap(NULL, (size_t)s.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, in, 0);
    if (file == MAP_FAILED)
        return EXIT_USAGE;
    blas_open(1, unopened,
              sizeof unopened); /* now, where it is not counted; calls that need it say what is wrong */
    for (int64_t at = 0; at < s.st_size;) {
        struct call_record *r = (struct call_record *)(void *)(file + at);
        at = r->next;
        if (r->op == OPS)
            run_encoding(r, file);
        else
            run_kernel(r, file);
    }
    return EXIT_GOOD;
}
