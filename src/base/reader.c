/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/compress_backend.h"
#include "base/number.h"

enum { BLOCK = 1 << 16 };

#define MIB            ((uint64_t) 1 << 20)
#define MOST_STREAMED  (8192 * MIB)
#define MOST_IN_MEMORY (256 * MIB)
#define ANY_RATIO      (64 * MIB) /* up to here no ratio is too large */
#define MOST_RATIO     1000
#define LIMIT_VARIABLE "MOIRAI_INPUT_MIB"

/* Bytes of the file are at `at`, n_left of them; behind them those that fd
 * yields, unless the file is a buffer (fd < 0) or has ended. */
struct mo_reader {
    const char *name;
    int fd;
    bool owns_fd, is_open, ended;
    char *block;
    const char *at;
    size_t n_left;
    const mo_compress_backend *backend; /* NULL: not compressed */
    void *state;
    bool in_frame;
    uint64_t n_packed, n_read; /* bytes as stored, and as returned */
    uint64_t most;
    bool most_is_given; /* by the user: then any ratio is allowed */
};

static const mo_compress_backend *const backends[] = {
    &mo_compress_backend_gzip, &mo_compress_backend_zstd
};

enum { N_BACKENDS = sizeof backends / sizeof *backends };

/* Formats that are recognized and refused, with the program to unpack them. */
static const struct {
    const char *magic;
    size_t n_magic;
    const char *format, *program;
} unsupported[] = {
    { "\3757zXZ", 5, "xz", "unxz" },
    { "BZh", 3, "bzip2", "bunzip2" },
    { "\x04\x22\x4d\x18", 4, "lz4", "unlz4" },
};

enum { N_UNSUPPORTED = sizeof unsupported / sizeof *unsupported };

const char *mo_reader_name(const mo_reader *reader)
{
    return reader->name;
}

/* Sets *most to the limit that the user has set, or to 0. */
static mo_status read_limit(uint64_t *most, mo_error *err)
{
    const char *text = getenv(LIMIT_VARIABLE);
    int64_t mib;

    *most = 0;
    if (!text || !*text)
        return MO_OK;
    if (mo_number_read_int(text, strlen(text), &mib) != MO_NUMBER_OK ||
        mib <= 0 || mib > INT64_MAX >> 20)
        return mo_fail(err, MO_E_USAGE,
                       LIMIT_VARIABLE " is '%s'; it must be a number of MiB",
                       text);
    *most = (uint64_t) mib * MIB;
    return MO_OK;
}

mo_status mo_reader_memory_limit(uint64_t *most, mo_error *err)
{
    mo_status status = read_limit(most, err);

    if (*most == 0)
        *most = MOST_IN_MEMORY;
    return status;
}

static mo_status new_reader(const char *name, mo_reader **reader, mo_error *err)
{
    mo_reader *made;
    uint64_t given;
    mo_status status = read_limit(&given, err);

    if (status != MO_OK)
        return status;
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->name = name;
    made->fd = -1;
    made->most = given > 0 ? given : MOST_STREAMED;
    made->most_is_given = given > 0;
    *reader = made;
    return MO_OK;
}

static mo_status open_path(mo_reader *r, const char *path, mo_error *err)
{
    struct stat about;

    r->block = malloc(BLOCK);
    if (!r->block)
        return mo_fail_memory(err);
    if (strcmp(path, "-") == 0) {
        r->fd = STDIN_FILENO;
    } else {
        do
            r->fd = open(path, O_RDONLY | O_CLOEXEC);
        while (r->fd < 0 && errno == EINTR);
        if (r->fd < 0)
            return mo_fail_errno(err, r->name, "cannot open");
        r->owns_fd = true;
    }
    if (fstat(r->fd, &about) == 0 && S_ISDIR(about.st_mode))
        return mo_fail_at(err, MO_E_IO, r->name, 0,
                          "is a directory; give a file in it");
    return MO_OK;
}

mo_status mo_reader_open(const char *path, mo_reader **reader, mo_error *err)
{
    const char *name = strcmp(path, "-") == 0 ? MO_READER_STDIN : path;
    mo_reader *made = NULL;
    mo_status status = new_reader(name, &made, err);

    if (status == MO_OK)
        status = open_path(made, path, err);
    if (status == MO_OK)
        *reader = made;
    else
        mo_reader_close(made);
    return status;
}

mo_status mo_reader_memory(const char *name, const char *data, size_t size,
                           mo_reader **reader, mo_error *err)
{
    mo_status status = new_reader(name, reader, err);

    if (status == MO_OK) {
        (*reader)->at = data;
        (*reader)->n_left = size;
        (*reader)->ended = true;
    }
    return status;
}

void mo_reader_close(mo_reader *r)
{
    if (!r)
        return;
    if (r->state)
        r->backend->close_reader(r->state);
    if (r->owns_fd)
        close(r->fd);
    free(r->block);
    free(r);
}

static mo_status fail_size(const mo_reader *r, mo_error *err)
{
    unsigned long long mib = r->most / MIB;

    if (r->backend)
        return mo_fail_at(err, MO_E_LIMIT, r->name, 0,
                          "unpacks to more than %llu MiB; " LIMIT_VARIABLE
                          " allows more",
                          mib);
    return mo_fail_at(err, MO_E_LIMIT, r->name, 0,
                      "is larger than %llu MiB; " LIMIT_VARIABLE " allows more",
                      mib);
}

static mo_status check_size(const mo_reader *r, mo_error *err)
{
    if (r->n_read > r->most)
        return fail_size(r, err);
    if (r->backend && !r->most_is_given && r->n_read > ANY_RATIO &&
        r->n_read / MOST_RATIO > r->n_packed)
        return mo_fail_at(err, MO_E_LIMIT, r->name, 0,
                          "unpacks to more than %d times its size; unpack it "
                          "first (%s), or allow it by " LIMIT_VARIABLE,
                          MOST_RATIO, r->backend->program);
    return MO_OK;
}

/* Reads room bytes of the descriptor, or all that are left. */
static mo_status read_fd(mo_reader *r, char *to, size_t room, size_t *got,
                         mo_error *err)
{
    *got = 0;
    while (*got < room && !r->ended) {
        ssize_t n = read(r->fd, to + *got, room - *got);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mo_fail_errno(err, r->name, "cannot read");
        r->ended = n == 0;
        *got += (size_t) n;
    }
    return MO_OK;
}

/* Fetches the next block when the last one is used up. */
static mo_status refill(mo_reader *r, mo_error *err)
{
    mo_status status;

    if (r->n_left > 0 || r->ended)
        return MO_OK;
    status = read_fd(r, r->block, BLOCK, &r->n_left, err);
    r->at = r->block;
    return status;
}

static mo_status read_plain(mo_reader *r, char *to, size_t room, size_t *got,
                            mo_error *err)
{
    size_t n = room < r->n_left ? room : r->n_left;
    mo_status status;

    if (n > 0)
        memcpy(to, r->at, n);
    r->at += n;
    r->n_left -= n;
    status = read_fd(r, to + n, room - n, got, err);
    *got += n;
    r->n_read += *got;
    return status == MO_OK ? check_size(r, err) : status;
}

static bool begins_with(const char *data, size_t size, const char *magic,
                        size_t n_magic)
{
    return size >= n_magic && memcmp(data, magic, n_magic) == 0;
}

/* A skippable frame (RFC 8878, 3.1.2), which may precede the others. */
static bool is_skippable_zstd(const char *data, size_t size)
{
    return size >= 4 && (data[0] & 0xf0) == 0x50 &&
           memcmp(data + 1, "\x2a\x4d\x18", 3) == 0;
}

static const mo_compress_backend *backend_of(const char *data, size_t size)
{
    if (is_skippable_zstd(data, size))
        return &mo_compress_backend_zstd;
    for (int i = 0; i < N_BACKENDS; i++)
        if (begins_with(data, size, backends[i]->magic, backends[i]->n_magic))
            return backends[i];
    return NULL;
}

static int find_unsupported(const char *data, size_t size)
{
    int i = 0;

    while (i < N_UNSUPPORTED && !begins_with(data, size, unsupported[i].magic,
                                             unsupported[i].n_magic))
        i++;
    return i;
}

bool mo_reader_sniff(const char *data, size_t size)
{
    return backend_of(data, size) ||
           find_unsupported(data, size) < N_UNSUPPORTED;
}

/* Finds the compression by the first bytes. */
static mo_status begin(mo_reader *r, mo_error *err)
{
    mo_status status = r->is_open ? MO_OK : refill(r, err);
    int i;

    if (status != MO_OK || r->is_open)
        return status;
    i = find_unsupported(r->at, r->n_left);
    if (i < N_UNSUPPORTED)
        return mo_fail_at(err, MO_E_SUPPORT, r->name, 0,
                          "is compressed with %s; unpack it first (%s)",
                          unsupported[i].format, unsupported[i].program);
    r->backend = backend_of(r->at, r->n_left);
    if (r->backend && !r->backend->open_reader)
        return mo_fail_at(err, MO_E_SUPPORT, r->name, 0,
                          "is compressed with %s, and this build has no %s; "
                          "unpack it first (%s)",
                          r->backend->format, r->backend->library,
                          r->backend->program);
    if (r->backend) {
        r->state = r->backend->open_reader();
        if (!r->state)
            return mo_fail_memory(err);
    }
    r->is_open = true;
    return MO_OK;
}

/* Decompresses what there is of input into the rest of the output. */
static mo_status unpack_step(mo_reader *r, mo_compress_backend_io *out,
                             mo_error *err)
{
    mo_compress_backend_io io = *out;
    mo_decompress_backend_step step;

    io.in = r->at;
    io.in_left = r->n_left < MO_COMPRESS_BACKEND_PIECE
                     ? r->n_left
                     : MO_COMPRESS_BACKEND_PIECE;
    step = r->backend->unpack(r->state, &io);
    if (step == MO_DECOMPRESS_BACKEND_MEMORY)
        return mo_fail_at(err, MO_E_LIMIT, r->name, 0,
                          "needs too much memory to unpack; unpack it first "
                          "(%s)",
                          r->backend->program);
    if (step == MO_DECOMPRESS_BACKEND_DAMAGED)
        return mo_fail_at(err, MO_E_SYNTAX, r->name, 0,
                          "is compressed with %s, and damaged; %s -t tests it",
                          r->backend->format,
                          r->backend == &mo_compress_backend_gzip ? "gzip"
                                                                  : "zstd");
    r->n_left -= (size_t) (io.in - r->at);
    r->n_packed += (uint64_t) (io.in - r->at);
    r->n_read += out->out_left - io.out_left;
    r->at = io.in;
    r->in_frame = step != MO_DECOMPRESS_BACKEND_END;
    out->out = io.out;
    out->out_left = io.out_left;
    return check_size(r, err);
}

static mo_status read_unpacked(mo_reader *r, char *to, size_t room, size_t *got,
                               mo_error *err)
{
    mo_compress_backend_io io = { .out = to };
    mo_status status = MO_OK;
    size_t n = 0;

    while (n < room && status == MO_OK) {
        size_t piece = room - n < MO_COMPRESS_BACKEND_PIECE
                           ? room - n
                           : MO_COMPRESS_BACKEND_PIECE;
        size_t before = piece, left;

        status = refill(r, err);
        if (status != MO_OK)
            break;
        left = r->n_left;
        if (left == 0 && !r->in_frame)
            break;
        io.out_left = piece;
        status = unpack_step(r, &io, err);
        n += before - io.out_left;
        /* At the end of the file output may still be buffered; without any,
         * the frame is incomplete. */
        if (status == MO_OK && left == 0 && r->in_frame &&
            io.out_left == before)
            status = mo_fail_at(err, MO_E_SYNTAX, r->name, 0,
                                "is compressed with %s, and ends too early; it "
                                "was perhaps not written to its end",
                                r->backend->format);
    }
    *got = n;
    return status;
}

mo_status mo_reader_read(mo_reader *r, char *to, size_t room, size_t *got,
                         mo_error *err)
{
    mo_status status = begin(r, err);

    *got = 0;
    if (status != MO_OK)
        return status;
    return r->backend ? read_unpacked(r, to, room, got, err)
                      : read_plain(r, to, room, got, err);
}

mo_status mo_reader_is_packed(mo_reader *r, bool *packed, mo_error *err)
{
    mo_status status = begin(r, err);

    *packed = r->backend != NULL;
    return status;
}

void mo_reader_limit_to_memory(mo_reader *reader)
{
    if (!reader->most_is_given)
        reader->most = MOST_IN_MEMORY;
}

mo_status mo_reader_all(const char *path, char **text, size_t *size,
                        mo_error *err)
{
    mo_reader *r = NULL;
    mo_status status = mo_reader_open(path, &r, err);
    size_t room = 0, need, got;
    struct stat about;

    *size = 0;
    if (status != MO_OK)
        return status;
    mo_reader_limit_to_memory(r);
    if (fstat(r->fd, &about) == 0 && S_ISREG(about.st_mode) &&
        about.st_size > 0 && (uint64_t) about.st_size < SIZE_MAX / 2)
        need = (size_t) about.st_size;
    else
        need = 0;
    status = need > r->most ? fail_size(r, err) : MO_OK;
    need += 2;
    while (status == MO_OK && (room == 0 || *size == room - 1)) {
        size_t left = (size_t) (r->most - *size) + 1, space;

        got = 0;
        status = mo_array_reserve((void **) text, &room, need, 1, err);
        space = room - *size - 1;
        if (status == MO_OK)
            status = mo_reader_read(r, *text + *size,
                                    space < left ? space : left, &got, err);
        *size += got;
        need = *size + BLOCK;
    }
    if (status == MO_OK)
        (*text)[*size] = '\0';
    mo_reader_close(r);
    return status;
}
