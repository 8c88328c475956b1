/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int mo_open_nonblocking(const char *path)
{
    int fd;

    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Opens the file at the end of path, which is free of links and "..", from
 * folder on, which is closed. */
static int walk_from(int folder, char *path)
{
    enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NOFOLLOW };
    int saved;

    for (char *name = path, *rest; folder >= 0; name = rest) {
        int next;

        rest = strchr(name, '/');
        if (rest)
            *rest++ = '\0';
        do
            next = openat(folder, *name ? name : ".",
                          FLAGS | (rest ? O_DIRECTORY | O_PATH : O_NONBLOCK));
        while (next < 0 && errno == EINTR);
        saved = errno;
        close(folder);
        errno = saved;
        if (!rest)
            return next;
        folder = next;
    }
    return folder;
}

/* For walk_from(). */
static int open_folder(const char *path)
{
    int fd;

    do
        fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* The part of path below folder, "" for the folder itself, or NULL; both are
 * resolved. */
static char *below(char *path, const char *folder)
{
    size_t n = strlen(folder);

    if (n > 0 && folder[n - 1] == '/') /* the root */
        n--;
    if (strncmp(path, folder, n) != 0)
        return NULL;
    return path[n] == '/' ? path + n + 1 : path[n] == '\0' ? path + n : NULL;
}

int mo_beneath_open(const char *path, const char *const *folders, size_t n,
                    char **outside)
{
    char *real = realpath(path, NULL);
    int file = -1, saved;

    *outside = NULL;
    if (!real)
        return -1;
    for (size_t i = 0; i < n; i++) {
        char *folder = realpath(*folders[i] ? folders[i] : ".", NULL);
        char *rest = folder ? below(real, folder) : NULL;

        if (rest) {
            file = walk_from(open_folder(folder), rest);
            saved = errno;
            free(folder);
            free(real);
            errno = saved;
            return file;
        }
        free(folder);
    }
    *outside = real;
    errno = EXDEV;
    return -1;
}
