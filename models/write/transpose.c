/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "models/write/transpose.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * The counts give the offset of each column's entries, so a transposition puts
 * each entry at its offset (counting sort).  These accesses are random, hence
 * it is done in memory: at once if all entries fit the buffer, and otherwise
 * by buckets, ranges of columns whose entries fit.  A bucket has its area in a
 * temporary file, of known size, and a block in the buffer, which is flushed
 * to the area when full.  When all rows have arrived, the buckets are read
 * back and transposed one after the other.  So every entry is written and read
 * once, in large pieces, however many there are.
 *
 * A column too large for the buffer is a bucket of its own; its entries came
 * in order and need no transposition.
 */

/* Spill file: an unnamed temporary file in TMPDIR, or /tmp, for entries that
 * exceed the buffer.  It disappears with the process, however that ends. */

typedef struct spill_file {
    int fd; /* -1: not open */
} spill_file;

static const char *temp_folder(void)
{
    const char *name = getenv("TMPDIR");

    return name && *name ? name : "/tmp";
}

/* Without O_TMPFILE the file is unlinked at once. */
static int open_named(void)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/moirai-XXXXXX", temp_folder());
    int fd;

    if (length < 0 || (size_t) length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkstemp(path);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static mo_status open_spill(spill_file *spill, mo_error *err)
{
    spill->fd = -1;
#ifdef O_TMPFILE
    spill->fd = open(temp_folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (spill->fd < 0)
        spill->fd = open_named();
    if (spill->fd < 0)
        return mo_fail_errno(err, temp_folder(),
                             "cannot make a temporary file (see TMPDIR)");
    return MO_OK;
}

static mo_status write_spill(spill_file *spill, const void *data, size_t size,
                             uint64_t at, mo_error *err)
{
    const char *bytes = data;

    while (size > 0) {
        ssize_t n = pwrite(spill->fd, bytes, size, (off_t) at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mo_fail_errno(err, temp_folder(),
                                 "cannot write a temporary file (see TMPDIR)");
        bytes += n;
        at += (uint64_t) n;
        size -= (size_t) n;
    }
    return MO_OK;
}

static mo_status read_spill(spill_file *spill, void *data, size_t size,
                            uint64_t at, mo_error *err)
{
    char *bytes = data;

    while (size > 0) {
        ssize_t n = pread(spill->fd, bytes, size, (off_t) at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mo_fail_errno(err, temp_folder(),
                                 "cannot read a temporary file back");
        if (n == 0)
            return mo_fail_at(err, MO_E_IO, temp_folder(), 0,
                              "a temporary file is shorter than written");
        bytes += n;
        at += (uint64_t) n;
        size -= (size_t) n;
    }
    return MO_OK;
}

static void close_spill(spill_file *spill)
{
    if (spill->fd >= 0)
        close(spill->fd);
    spill->fd = -1;
}

typedef struct entry {
    uint32_t column, row;
    double coef;
} entry;

typedef struct bucket {
    int first, end;   /* columns */
    uint64_t n;       /* entries */
    uint64_t area;    /* their offset in the file */
    uint64_t written; /* of them */
    size_t held;      /* in its block */
} bucket;

struct mo_transpose {
    size_t buffer_bytes;
    int n_columns;
    uint64_t n_entries;

    /* By column: number of entries; then, while its bucket is transposed, the
     * offset of the next one. */
    uint32_t *next;

    uint32_t *rows;
    double *coefs;

    /* Only where not all fits:  */
    bool spills;
    spill_file spill;
    bucket *buckets;
    int n_buckets;
    int *page_bucket; /* by page of columns: the bucket of its first column */
    entry *blocks;    /* block_room for each bucket, later the read buffer */
    size_t block_room;
};

enum { DEFAULT_BUFFER = 64 << 20, PAGE_BITS = 10 };

/* Bytes of a transposed entry, without its column. */
enum { ENTRY_BYTES = sizeof(uint32_t) + sizeof(double) };

/* A quarter of the buffer is for reading, the rest for transposing. */
static size_t bucket_room(const mo_transpose *t)
{
    return t->buffer_bytes / sizeof(entry);
}

static size_t read_room(const mo_transpose *t)
{
    return t->buffer_bytes / 4 / sizeof(entry);
}

mo_status mo_transpose_new(size_t buffer_bytes, mo_transpose **transpose,
                           mo_error *err)
{
    mo_transpose *t = calloc(1, sizeof *t);

    if (!t)
        return mo_fail_memory(err);
    t->buffer_bytes = buffer_bytes ? buffer_bytes : DEFAULT_BUFFER;
    if (t->buffer_bytes < 4 * sizeof(entry))
        t->buffer_bytes = 4 * sizeof(entry);
    t->spill.fd = -1;
    *transpose = t;
    return MO_OK;
}

void mo_transpose_free(mo_transpose *transpose)
{
    if (!transpose)
        return;
    close_spill(&transpose->spill);
    free(transpose->next);
    free(transpose->rows);
    free(transpose->coefs);
    free(transpose->buckets);
    free(transpose->page_bucket);
    free(transpose->blocks);
    free(transpose);
}

mo_status mo_transpose_columns(mo_transpose *transpose, int n, mo_error *err)
{
    assert(!transpose->next && n > 0);
    transpose->n_columns = n;
    transpose->next = calloc((size_t) n, sizeof *transpose->next);
    return transpose->next ? MO_OK : mo_fail_memory(err);
}

void mo_transpose_count(mo_transpose *transpose, int n, const int *columns)
{
    for (int i = 0; i < n; i++)
        transpose->next[columns[i]]++;
    transpose->n_entries += (uint64_t) n;
}

static mo_status allocate_entries(mo_transpose *t, size_t n, mo_error *err)
{
    t->rows = malloc((n + 1) * sizeof *t->rows);
    t->coefs = malloc((n + 1) * sizeof *t->coefs);
    return t->rows && t->coefs ? MO_OK : mo_fail_memory(err);
}

/* Counts become offsets; adding entries moves each to the end of its
 * column. */
static void counts_to_offsets(mo_transpose *t, int first, int end)
{
    uint32_t at = 0;

    for (int c = first; c < end; c++) {
        uint32_t n = t->next[c];

        t->next[c] = at;
        at += n;
    }
}

static void store_entry(mo_transpose *t, int column, uint32_t row, double coef)
{
    uint32_t at = t->next[column]++;

    t->rows[at] = row;
    t->coefs[at] = coef;
}

static void visit_transposed(mo_transpose *t, int first, int end,
                             mo_transpose_visit *visit, void *context)
{
    uint32_t at = 0;

    for (int c = first; c < end; c++) {
        uint32_t n = t->next[c] - at;

        if (n > 0)
            visit(context, c, n, t->rows + at, t->coefs + at);
        at = t->next[c];
    }
}

/* Returns the number of buckets, and fills buckets unless it is NULL. */
static int split_into_buckets(mo_transpose *t, bucket *buckets)
{
    int n = 0, first = 0;
    uint64_t area = 0, held = 0;

    for (int c = 0; c <= t->n_columns; c++) {
        uint32_t more = c < t->n_columns ? t->next[c] : 0;

        if (c == t->n_columns || (c > first && held + more > bucket_room(t))) {
            if (buckets)
                buckets[n] = (bucket){ first, c, held, area, 0, 0 };
            n++;
            area += held;
            first = c;
            held = 0;
        }
        held += more;
    }
    return n;
}

static mo_status plan_buckets(mo_transpose *t, mo_error *err)
{
    int b = 0;
    size_t pages = ((size_t) t->n_columns >> PAGE_BITS) + 1, n;

    t->n_buckets = split_into_buckets(t, NULL);
    n = (size_t) t->n_buckets;
    t->block_room = bucket_room(t) / n;
    if (t->block_room == 0)
        t->block_room = 1;
    t->buckets = calloc(n, sizeof *t->buckets);
    t->page_bucket = calloc(pages, sizeof *t->page_bucket);
    t->blocks = malloc(n * t->block_room * sizeof *t->blocks);
    if (!t->buckets || !t->page_bucket || !t->blocks)
        return mo_fail_memory(err);
    split_into_buckets(t, t->buckets);
    for (int page = 0; page <= (t->n_columns - 1) >> PAGE_BITS; page++) {
        while (t->buckets[b].end <= page << PAGE_BITS)
            b++;
        t->page_bucket[page] = b;
    }
    return open_spill(&t->spill, err);
}

mo_status mo_transpose_plan(mo_transpose *transpose, mo_error *err)
{
    mo_transpose *t = transpose;

    t->spills = t->n_entries > t->buffer_bytes / ENTRY_BYTES ||
                t->n_entries > UINT32_MAX;
    if (t->spills)
        return plan_buckets(t, err);
    counts_to_offsets(t, 0, t->n_columns);
    return allocate_entries(t, (size_t) t->n_entries, err);
}

static entry *block_of(mo_transpose *t, const bucket *b)
{
    return t->blocks + (size_t) (b - t->buckets) * t->block_room;
}

static mo_status flush_block(mo_transpose *t, bucket *b, mo_error *err)
{
    uint64_t at = (b->area + b->written) * sizeof(entry);
    size_t size = b->held * sizeof(entry);

    b->written += b->held;
    b->held = 0;
    return write_spill(&t->spill, block_of(t, b), size, at, err);
}

static mo_status spill_entry(mo_transpose *t, entry e, mo_error *err)
{
    bucket *b = &t->buckets[t->page_bucket[e.column >> PAGE_BITS]];

    while (e.column >= (uint32_t) b->end)
        b++;
    block_of(t, b)[b->held++] = e;
    return b->held < t->block_room ? MO_OK : flush_block(t, b, err);
}

mo_status mo_transpose_add(mo_transpose *transpose, uint32_t row, int n,
                           const int *columns, const double *coefs,
                           mo_error *err)
{
    mo_status status = MO_OK;

    if (!transpose->spills) {
        for (int i = 0; i < n; i++)
            store_entry(transpose, columns[i], row, coefs[i]);
        return MO_OK;
    }
    for (int i = 0; i < n && status == MO_OK; i++)
        status = spill_entry(
            transpose, (entry){ (uint32_t) columns[i], row, coefs[i] }, err);
    return status;
}

/* Flushes the blocks and reuses the buffer for reading and transposing. */
static mo_status begin_reading(mo_transpose *t, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < t->n_buckets && status == MO_OK; i++) {
        assert(t->buckets[i].written + t->buckets[i].held == t->buckets[i].n);
        status = flush_block(t, &t->buckets[i], err);
    }
    free(t->blocks);
    t->blocks = NULL;
    if (status != MO_OK)
        return status;
    t->blocks = malloc(read_room(t) * sizeof *t->blocks);
    return t->blocks ? allocate_entries(t, bucket_room(t), err)
                     : mo_fail_memory(err);
}

/* One piece of a bucket from where it is at; *n are read. */
static mo_status read_piece(mo_transpose *t, const bucket *b, uint64_t at,
                            size_t *n, mo_error *err)
{
    uint64_t left = b->n - at;

    *n = left < read_room(t) ? (size_t) left : read_room(t);
    return read_spill(&t->spill, t->blocks, *n * sizeof(entry),
                      (b->area + at) * sizeof(entry), err);
}

static mo_status visit_single_column(mo_transpose *t, const bucket *b,
                                     mo_transpose_visit *visit, void *context,
                                     mo_error *err)
{
    mo_status status = MO_OK;
    size_t n;

    for (uint64_t at = 0; at < b->n && status == MO_OK; at += n) {
        status = read_piece(t, b, at, &n, err);
        if (status != MO_OK)
            break;
        for (size_t i = 0; i < n; i++) {
            t->rows[i] = t->blocks[i].row;
            t->coefs[i] = t->blocks[i].coef;
        }
        visit(context, b->first, n, t->rows, t->coefs);
    }
    return status;
}

static mo_status visit_bucket(mo_transpose *t, const bucket *b,
                              mo_transpose_visit *visit, void *context,
                              mo_error *err)
{
    mo_status status = MO_OK;
    size_t n;

    counts_to_offsets(t, b->first, b->end);
    for (uint64_t at = 0; at < b->n; at += n) {
        status = read_piece(t, b, at, &n, err);
        if (status != MO_OK)
            return status;
        for (size_t i = 0; i < n; i++)
            store_entry(t, (int) t->blocks[i].column, t->blocks[i].row,
                        t->blocks[i].coef);
    }
    visit_transposed(t, b->first, b->end, visit, context);
    return MO_OK;
}

mo_status mo_transpose_visit_columns(mo_transpose *transpose,
                                     mo_transpose_visit *visit, void *context,
                                     mo_error *err)
{
    mo_transpose *t = transpose;
    mo_status status;

    if (!t->spills) {
        visit_transposed(t, 0, t->n_columns, visit, context);
        return MO_OK;
    }
    status = begin_reading(t, err);
    for (int i = 0; i < t->n_buckets && status == MO_OK; i++) {
        const bucket *b = &t->buckets[i];

        status = b->end - b->first == 1
                     ? visit_single_column(t, b, visit, context, err)
                     : visit_bucket(t, b, visit, context, err);
    }
    return status;
}
