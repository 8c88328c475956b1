/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/jit/disk_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/beneath.h"
#include "base/digest.h"

/* A limit for hostile files; cubins are far smaller. */
static const int64_t largest_file = (int64_t) 1 << 30;

/* The first line of a file, of fixed length: format, key, and length and
 * digest of the body. */
#define HEAD_FORMAT "moirai-cache 1 %016" PRIx64 " %016" PRIx64 " %016" PRIx64
enum { HEAD_SIZE = 15 + 3 * 17, PATH_ROOM = 4096 };

struct mo_cuda_disk_cache {
    char folder[PATH_ROOM];
};

static bool set_folder(char folder[PATH_ROOM], const char *above,
                       const char *below)
{
    int n = snprintf(folder, PATH_ROOM, "%s%s", above, below);

    /* A relative path would depend on the working directory. */
    if (n < PATH_ROOM && folder[0] == '/')
        return true;
    folder[0] = 0;
    return false;
}

mo_status mo_cuda_disk_cache_new(const char *folder, mo_cuda_disk_cache **cache,
                                 mo_error *err)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    mo_cuda_disk_cache *made = calloc(1, sizeof *made);

    if (!made)
        return mo_fail_memory(err);
    if (!folder)
        folder = getenv("MOIRAI_CACHE");
    if (folder) {
        /* "" where the cache is switched off ("none") or the path is too
         * long. */
        if (strcmp(folder, "none") == 0 ||
            snprintf(made->folder, PATH_ROOM, "%s", folder) >= PATH_ROOM)
            made->folder[0] = 0;
    } else if (!(xdg && set_folder(made->folder, xdg, "/moirai")) && home)
        set_folder(made->folder, home, "/.cache/moirai");
    *cache = made;
    return MO_OK;
}

void mo_cuda_disk_cache_free(mo_cuda_disk_cache *cache)
{
    free(cache);
}

const char *mo_cuda_disk_cache_folder(const mo_cuda_disk_cache *cache)
{
    return cache->folder;
}

static bool path_of(const mo_cuda_disk_cache *cache, uint64_t key,
                    const char *kind, char path[PATH_ROOM])
{
    return *cache->folder && snprintf(path, PATH_ROOM, "%s/%016" PRIx64 ".%s",
                                      cache->folder, key, kind) < PATH_ROOM;
}

/* Creates the folder and its parents. */
static bool make_folder(const char *folder)
{
    char path[PATH_ROOM];

    snprintf(path, sizeof path, "%s", folder);
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        (void) mkdir(path, 0777);
        *slash = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static void write_head(char head[HEAD_SIZE + 1], uint64_t key, const void *data,
                       size_t size)
{
    snprintf(head, HEAD_SIZE + 1, HEAD_FORMAT "\n", key, (uint64_t) size,
             mo_digest_of(data, size));
}

static bool read_all(int file, char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = read(file, data, size);

        if (n <= 0 && !(n < 0 && errno == EINTR))
            return false;
        if (n > 0) {
            data += n;
            size -= (size_t) n;
        }
    }
    return true;
}

static bool write_all(int file, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(file, data, size);

        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            data += n;
            size -= (size_t) n;
        }
    }
    return true;
}

/* Returns the allocated body of a file, NULL if its head does not match. */
static char *read_body(int file, uint64_t key, size_t *size)
{
    char head[HEAD_SIZE], right[HEAD_SIZE + 1], *data;
    struct stat state;

    if (fstat(file, &state) != 0 || !S_ISREG(state.st_mode) ||
        state.st_size < HEAD_SIZE || state.st_size > largest_file ||
        !read_all(file, head, HEAD_SIZE))
        return NULL;
    *size = (size_t) state.st_size - HEAD_SIZE;
    data = malloc(*size + 1);
    if (data && read_all(file, data, *size)) {
        data[*size] = 0;
        write_head(right, key, data, *size);
        if (memcmp(head, right, HEAD_SIZE) == 0)
            return data;
    }
    free(data);
    return NULL;
}

bool mo_cuda_disk_cache_read(const mo_cuda_disk_cache *cache, uint64_t key,
                             const char *kind, char **data, size_t *size)
{
    char path[PATH_ROOM];
    char *body;
    int file;

    if (!path_of(cache, key, kind, path))
        return false;
    file = mo_open_nonblocking(path);
    if (file < 0)
        return false;
    body = read_body(file, key, size);
    close(file);
    if (body)
        *data = body;
    return body != NULL;
}

bool mo_cuda_disk_cache_write(const mo_cuda_disk_cache *cache, uint64_t key,
                              const char *kind, const void *data, size_t size)
{
    char path[PATH_ROOM], head[HEAD_SIZE + 1];
    mo_atomic_file *file = NULL;
    bool done;
    int fd;

    if (!path_of(cache, key, kind, path) || !make_folder(cache->folder) ||
        mo_atomic_file_open(path, &file, NULL) != MO_OK)
        return false;
    fd = mo_atomic_file_fd(file);
    write_head(head, key, data, size);
    done = write_all(fd, head, HEAD_SIZE) && write_all(fd, data, size);
    if (done)
        return mo_atomic_file_commit(file, 0, NULL) == MO_OK;
    mo_atomic_file_abandon(file);
    return false;
}
