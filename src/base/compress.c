/* SPDX-License-Identifier: Apache-2.0 */
#include "base/compress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compress_backend.h"
#include "base/async_writer.h"

enum { ROOM = 128 * 1024 };

struct mo_compress {
    const mo_compress_backend *way;
    void *state;
    int fd;
    char room[ROOM];
};

static const mo_compress_backend *const ways[] = { &mo_compress_backend_gzip,
                                                   &mo_compress_backend_zstd };

enum { WAYS = sizeof ways / sizeof *ways };

/* A name that is nothing but a suffix, ".gz", selects no compression. */
static const mo_compress_backend *backend_of(const char *path)
{
    size_t length = strlen(path);

    for (int i = 0; i < WAYS; i++) {
        size_t n = strlen(ways[i]->ending);

        if (length > n && path[length - n - 1] != '/' &&
            strcmp(path + length - n, ways[i]->ending) == 0)
            return ways[i];
    }
    return NULL;
}

size_t mo_compress_stem(const char *path)
{
    const mo_compress_backend *way = backend_of(path);

    return strlen(path) - (way ? strlen(way->ending) : 0);
}

mo_status mo_compress_check_plain(const char *path, mo_error *err)
{
    const mo_compress_backend *packed = backend_of(path);
    const char *suffix = "";

    for (int i = 0; i < WAYS && !packed && access(path, F_OK) != 0; i++) {
        size_t size = strlen(path) + strlen(ways[i]->ending) + 1;
        char *other = malloc(size);

        if (!other)
            return mo_fail_memory(err);
        snprintf(other, size, "%s%s", path, ways[i]->ending);
        if (access(other, F_OK) == 0) {
            packed = ways[i];
            suffix = packed->ending;
        }
        free(other);
    }
    return packed ? mo_fail_at(err, MO_E_SUPPORT, path, 0,
                               "is read in place and must not be compressed; "
                               "unpack it first (%s %s%s)",
                               packed->program, path, suffix)
                  : MO_OK;
}

mo_status mo_compress_new(const char *path, int fd, mo_compress **compress,
                          mo_error *err)
{
    const mo_compress_backend *way = backend_of(path);
    mo_compress *c;

    *compress = NULL;
    if (!way)
        return MO_OK;
    if (!way->open)
        return mo_fail_at(err, MO_E_SUPPORT, path, 0,
                          "cannot be compressed: this build has no %s; name "
                          "it without %s",
                          way->library, way->ending);
    c = malloc(sizeof *c);
    if (!c)
        return mo_fail_memory(err);
    c->way = way;
    c->fd = fd;
    c->state = way->open();
    if (!c->state) {
        free(c);
        return mo_fail_memory(err);
    }
    *compress = c;
    return MO_OK;
}

static int feed(mo_compress *c, const char *data, size_t size, bool last)
{
    mo_compress_backend_io io = { .in = data, .in_left = size };
    mo_compress_backend_step step;

    do {
        int failure;

        io.out = c->room;
        io.out_left = ROOM;
        step = c->way->step(c->state, &io, last);
        if (step == MO_COMPRESS_BACKEND_FAILED)
            return ENOMEM; /* the only possible failure while there is buffer
                              space */
        failure = mo_write_all(c->fd, c->room, ROOM - io.out_left);
        if (failure)
            return failure;
    } while (step == MO_COMPRESS_BACKEND_MORE);
    return 0;
}

int mo_compress_write(mo_compress *c, const char *data, size_t size)
{
    int failure = 0;

    while (size > 0 && !failure) {
        size_t n =
            size < MO_COMPRESS_BACKEND_PIECE ? size : MO_COMPRESS_BACKEND_PIECE;

        failure = feed(c, data, n, false);
        data += n;
        size -= n;
    }
    return failure;
}

int mo_compress_end(mo_compress *c)
{
    return feed(c, "", 0, true);
}

void mo_compress_free(mo_compress *c)
{
    if (!c)
        return;
    c->way->close(c->state);
    free(c);
}
