/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/digest.h"

struct mo_atomic_file {
    int fd;
    char *name;      /* for messages */
    char *path;      /* the file to replace, links resolved */
    char *temporary; /* NULL when written directly */
};

enum { MAX_LINKS = 40, MAX_TRIES = 100, LETTERS = 6 };

static void free_target(mo_atomic_file *target)
{
    free(target->temporary);
    free(target->path);
    free(target->name);
    free(target);
}

static mo_atomic_file *new_target(const char *name, const char *path)
{
    mo_atomic_file *target = calloc(1, sizeof *target);

    if (!target)
        return NULL;
    target->fd = -1;
    target->name = strdup(name);
    target->path = strdup(path);
    if (!target->name || !target->path) {
        free_target(target);
        return NULL;
    }
    return target;
}

/* Returns the length of the directory part of path, with its slash. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t) (slash - path) + 1 : 0;
}

/* Replaces *path, a symbolic link, by its target. */
static bool follow_link(char **path, const char *to)
{
    size_t folder = *to == '/' ? 0 : folder_length(*path);
    char *whole = malloc(folder + strlen(to) + 1);

    if (!whole)
        return false;
    memcpy(whole, *path, folder);
    strcpy(whole + folder, to);
    free(*path);
    *path = whole;
    return true;
}

/* Unlike realpath this works for a link to a file that does not exist yet. */
static mo_status resolve_links(mo_atomic_file *target, mo_error *err)
{
    char to[PATH_MAX];

    for (int i = 0; i < MAX_LINKS; i++) {
        ssize_t n = readlink(target->path, to, sizeof to - 1);

        if (n < 0)
            return MO_OK;
        to[n] = '\0';
        if (!follow_link(&target->path, to))
            return mo_fail_memory(err);
    }
    errno = ELOOP;
    return mo_fail_errno(err, target->name, "cannot open");
}

static void random_letters(char *letters, int try)
{
    struct timespec now;
    uint64_t bits;
    int64_t seed[4];

    clock_gettime(CLOCK_REALTIME, &now);
    seed[0] = now.tv_sec;
    seed[1] = now.tv_nsec;
    seed[2] = getpid();
    seed[3] = try;
    bits = mo_digest_of(seed, sizeof seed);
    for (int i = 0; i < LETTERS; i++, bits /= 36)
        letters[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[bits % 36];
    letters[LETTERS] = '\0';
}

/* Returns "folder/.name.moirai-" with space for the random letters; a name
 * close to the system's limit is truncated. The caller frees it. */
static char *temporary_stem(const char *path)
{
    static const char mark[] = ".moirai-";
    size_t folder = folder_length(path), name = strlen(path + folder);
    size_t longest = NAME_MAX - 1 - (sizeof mark - 1) - LETTERS;
    size_t size = strlen(path) + 1 + sizeof mark + LETTERS;
    char *stem = malloc(size);

    if (stem)
        snprintf(stem, size, "%.*s.%.*s%s", (int) folder, path,
                 (int) (name < longest ? name : longest), path + folder, mark);
    return stem;
}

/* Creates the temporary with O_EXCL: a name that exists, such as a link of
 * another user, is not opened. */
static mo_status create_temporary(mo_atomic_file *target, mode_t mode,
                                  mo_error *err)
{
    char *stem = temporary_stem(target->path), *letters;

    if (!stem)
        return mo_fail_memory(err);
    target->temporary = stem;
    letters = stem + strlen(stem);
    for (int i = 0; i < MAX_TRIES; i++) {
        random_letters(letters, i);
        /* Registered before it exists, so that no signal finds it
         * unregistered. */
        mo_cleanup_register(stem);
        target->fd = open(stem, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (target->fd >= 0)
            return MO_OK;
        mo_cleanup_unregister(stem);
        if (errno != EEXIST)
            break;
    }
    return mo_fail_errno(err, target->name,
                         "cannot create a temporary file beside it");
}

/* Copies owner and mode of the old file. Only root may change owners and some
 * file systems have no modes; then the new file stays more restricted, which
 * is safe. */
static void copy_owner_and_mode(int fd, const struct stat *old)
{
    if (fchown(fd, old->st_uid, old->st_gid) != 0 &&
        fchown(fd, (uid_t) -1, old->st_gid) != 0)
        return;
    if (fchmod(fd, old->st_mode & 0777) != 0)
        return;
}

static mo_status open_path(mo_atomic_file *target, mo_error *err)
{
    struct stat old;

    if (stat(target->path, &old) != 0) {
        if (errno == ENOENT) {
            mo_status status = resolve_links(target, err);

            if (status != MO_OK)
                return status;
            if (target->path[folder_length(target->path)] == '\0') {
                errno = *target->path ? EISDIR : ENOENT;
                return mo_fail_errno(err, target->name, "cannot create");
            }
            return create_temporary(target, 0666, err);
        }
        return mo_fail_errno(err, target->name, "cannot open");
    }
    if (S_ISDIR(old.st_mode))
        return mo_fail_at(err, MO_E_IO, target->name, 0,
                          "is a folder; name a file to write");
    if (S_ISREG(old.st_mode)) {
        mo_status status;

        if (faccessat(AT_FDCWD, target->path, W_OK, AT_EACCESS) != 0)
            return mo_fail_errno(err, target->name, "cannot write");
        status = resolve_links(target, err);
        if (status == MO_OK)
            status = create_temporary(target, old.st_mode & 0777, err);
        if (status == MO_OK)
            copy_owner_and_mode(target->fd, &old);
        return status;
    }
    do
        target->fd = open(target->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    while (target->fd < 0 && errno == EINTR);
    if (target->fd < 0)
        return mo_fail_errno(err, target->name, "cannot open");
    return MO_OK;
}

/* Duplicates descriptor 1, so that closing the copy reports whether all was
 * written and the descriptor itself stays open for later output. */
static mo_status open_stdout(mo_atomic_file *target, mo_error *err)
{
    target->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (target->fd < 0)
        return mo_fail_errno(err, target->name, "cannot write");
    return MO_OK;
}

mo_status mo_atomic_file_open(const char *path, mo_atomic_file **target,
                              mo_error *err)
{
    bool is_stdout = !path || strcmp(path, "-") == 0;
    mo_atomic_file *made =
        new_target(is_stdout ? "standard output" : path, is_stdout ? "" : path);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    status = is_stdout ? open_stdout(made, err) : open_path(made, err);
    if (status != MO_OK) {
        free_target(made);
        return status;
    }
    *target = made;
    return MO_OK;
}

int mo_atomic_file_fd(const mo_atomic_file *target)
{
    return target->fd;
}

/* Returns errno or 0. After EINTR the descriptor is closed all the same. */
static int close_fd(int fd)
{
    return close(fd) == 0 || errno == EINTR ? 0 : errno;
}

static void remove_temporary(mo_atomic_file *target)
{
    if (target->temporary) {
        unlink(target->temporary);
        mo_cleanup_unregister(target->temporary);
    }
}

/* No fsync: durability across a power failure in the next seconds is more than
 * a result file needs, and costs more than the writing. */
static int put_in_place(mo_atomic_file *target)
{
    if (!target->temporary)
        return 0;
    if (rename(target->temporary, target->path) != 0)
        return errno;
    mo_cleanup_unregister(target->temporary);
    return 0;
}

mo_status mo_atomic_file_fail(const mo_atomic_file *target, int failure,
                              mo_error *err)
{
    errno = failure;
    return mo_fail_errno(err, target->name, "cannot write");
}

mo_status mo_atomic_file_commit(mo_atomic_file *target, int failure,
                                mo_error *err)
{
    int closing = close_fd(target->fd);
    mo_status status = MO_OK;

    if (!failure)
        failure = closing;
    if (!failure)
        failure = put_in_place(target);
    if (failure) {
        remove_temporary(target);
        status = mo_atomic_file_fail(target, failure, err);
    }
    free_target(target);
    return status;
}

void mo_atomic_file_abandon(mo_atomic_file *target)
{
    if (!target)
        return;
    close_fd(target->fd);
    remove_temporary(target);
    free_target(target);
}
