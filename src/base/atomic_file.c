/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/atomic_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/digest.h"

/*
 * Names of files that are not complete yet: "FOLDER/.NAME.moirai-" and random
 * letters.
 */

enum { LETTERS = 6 };

static const char letters_used[] = "abcdefghijklmnopqrstuvwxyz0123456789";

/* Returns the length of the directory part of path, with its slash. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t) (slash - path) + 1 : 0;
}

/* Returns "folder/.name.moirai-" with space for the random letters; a name
 * close to the system's limit is truncated. The caller frees it; NULL: memory
 * is exhausted. */
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

/* Returns whether name, without a folder, is the stem's and letters. */
static bool is_temporary_name(const char *name, const char *stem)
{
    size_t length = strlen(stem);

    return strncmp(name, stem, length) == 0 &&
           strlen(name + length) == LETTERS &&
           strspn(name + length, letters_used) == LETTERS;
}

struct mo_atomic_file {
    int fd;
    char *name; /* for messages */
    char *path; /* the file to replace, links resolved */
    mode_t mode;
    bool direct;     /* a device or a pipe, which is not replaced */
    bool exclusive;  /* a file of that name is an error */
    char *temporary; /* NULL while the new file has no name */
};

enum { MAX_LINKS = 40, MAX_TRIES = 100, PROC_SIZE = 40 };

/* Writes the link to an open file that gives an unnamed one its name. */
static const char *proc_path(int fd, char link[PROC_SIZE])
{
    snprintf(link, PROC_SIZE, "/proc/self/fd/%d", fd);
    return link;
}

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

/* Returns whether the opened file is still the one of that name. */
static bool is_same_file(int fd, int folder, const char *name)
{
    struct stat opened, named;

    return fstat(fd, &opened) == 0 &&
           fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/* A temporary is locked as long as its writer lives. Where files cannot be
 * locked none is taken for stale. */
static void remove_if_stale(int folder, const char *name)
{
    struct stat about;
    int fd;

    if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(about.st_mode) || about.st_uid != geteuid())
        return;
    fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_same_file(fd, folder, name))
        unlinkat(folder, name, 0);
    close(fd);
}

/* Opens an unnamed file in the folder (Linux), which ceases to exist with the
 * process; it gets a name through /proc when it is complete. Returns -1 where
 * the file system or the kernel has none. */
static int open_unnamed(const char *folder, mode_t mode)
{
#ifdef O_TMPFILE
    int fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
    char link[PROC_SIZE];

    if (fd >= 0 && faccessat(AT_FDCWD, proc_path(fd, link), F_OK, 0) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
#else
    (void) folder;
    (void) mode;
    return -1;
#endif
}

/* Locks the temporary for its lifetime. Another process may take a new one for
 * a stale one before it is locked, and remove it; then this returns false. */
static bool lock_temporary(int fd, const char *path)
{
    while (flock(fd, LOCK_EX) != 0)
        if (errno != EINTR)
            return true; /* no locks here: nothing is removed as stale */
    return is_same_file(fd, AT_FDCWD, path);
}

/* Calls create with fresh names made of stem until one is free. Sets
 * target->temporary, registered for removal, and returns 0, or errno. */
static int find_temporary_name(mo_atomic_file *target, char *stem,
                               bool (*create)(mo_atomic_file *target,
                                              const char *path))
{
    char *letters = stem + strlen(stem);

    for (int i = 0; i < MAX_TRIES; i++) {
        struct timespec now;
        uint64_t bits;
        int64_t seed[4];

        clock_gettime(CLOCK_REALTIME, &now);
        seed[0] = now.tv_sec;
        seed[1] = now.tv_nsec;
        seed[2] = getpid();
        seed[3] = i;
        bits = mo_digest_of(seed, sizeof seed);
        for (int j = 0; j < LETTERS; j++, bits /= 36)
            letters[j] = letters_used[bits % 36];
        letters[LETTERS] = '\0';
        /* Registered before it exists, so that no signal finds it
         * unregistered. */
        mo_cleanup_register(stem);
        if (create(target, stem)) {
            target->temporary = stem;
            return 0;
        }
        mo_cleanup_unregister(stem);
        if (errno != EEXIST)
            return errno;
    }
    return EEXIST;
}

/* Creates the temporary with O_EXCL: a name that exists, such as a link of
 * another user, is not opened. */
static bool create_named(mo_atomic_file *target, const char *path)
{
    target->fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, target->mode);
    if (target->fd < 0)
        return false;
    if (lock_temporary(target->fd, path))
        return true;
    close(target->fd);
    target->fd = -1;
    errno = EEXIST;
    return false;
}

static mo_status create_temporary(mo_atomic_file *target, mode_t mode,
                                  mo_error *err)
{
    char *stem = temporary_stem(target->path), *folder;
    int failure = 0;
    DIR *entries;
    const struct dirent *entry;
    size_t length = folder_length(target->path);

    folder = length > 0 ? strndup(target->path, length) : strdup(".");
    target->mode = mode;
    if (!stem || !folder) {
        free(stem);
        free(folder);
        return mo_fail_memory(err);
    }
    /* Removes the temporaries for this path that killed processes have left.
     * One that cannot be removed is no error. */
    entries = opendir(folder);
    if (entries) {
        while ((entry = readdir(entries)))
            if (is_temporary_name(entry->d_name, stem + folder_length(stem)))
                remove_if_stale(dirfd(entries), entry->d_name);
        closedir(entries);
    }
    target->fd = open_unnamed(folder, mode);
    if (target->fd < 0)
        failure = find_temporary_name(target, stem, create_named);
    if (!target->temporary)
        free(stem);
    free(folder);
    if (!failure)
        return MO_OK;
    errno = failure;
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
    target->direct = true;
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
    target->direct = true;
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

static mo_status fail_existing(const mo_atomic_file *target, mo_error *err)
{
    return mo_fail_at(err, MO_E_IO, target->name, 0,
                      "exists, and is not replaced: remove it first");
}

mo_status mo_atomic_file_create(const char *path, mode_t mode,
                                mo_atomic_file **target, mo_error *err)
{
    mo_atomic_file *made = new_target(path, path);
    struct stat old;
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    made->exclusive = true;
    status = lstat(path, &old) == 0 ? fail_existing(made, err)
                                    : create_temporary(made, mode, err);
    if (status == MO_OK)
        *target = made;
    else
        free_target(made);
    return status;
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

/* Gives the unnamed file a name that is free. */
static bool link_unnamed(mo_atomic_file *target, const char *path)
{
    char link[PROC_SIZE];

    return linkat(AT_FDCWD, proc_path(target->fd, link), AT_FDCWD, path,
                  AT_SYMLINK_FOLLOW) == 0;
}

/* An unnamed file whose target does not exist gets its name in one step; links
 * do not replace a file, so else it gets a temporary name first. */
static int name_file(mo_atomic_file *target)
{
    char *stem;
    int failure;

    if (link_unnamed(target, target->path))
        return 0;
    if (errno != EEXIST || target->exclusive)
        return errno;
    stem = temporary_stem(target->path);
    if (!stem)
        return ENOMEM;
    while (flock(target->fd, LOCK_EX) != 0 && errno == EINTR)
        continue;
    failure = find_temporary_name(target, stem, link_unnamed);
    if (failure)
        free(stem);
    return failure;
}

/* Closing a copy of the descriptor reports what closing would, such as a quota
 * of NFS; the file itself stays open, and its temporary locked, until it is in
 * place. No fsync: an output may be lost or, on file systems that do not order
 * data before a rename, empty after a power failure within the next seconds;
 * durability costs more than the writing, and every output can be made again.
 */
static int put_in_place(mo_atomic_file *target)
{
    int copy = fcntl(target->fd, F_DUPFD_CLOEXEC, 3), failure = 0;

    if (copy < 0)
        return errno;
    failure = close_fd(copy);
    if (!failure && !target->temporary)
        failure = name_file(target);
    if (failure || !target->temporary)
        return failure;
    if (target->exclusive) {
        failure = link(target->temporary, target->path) == 0 ? 0 : errno;
        remove_temporary(target);
    } else if (rename(target->temporary, target->path) == 0) {
        mo_cleanup_unregister(target->temporary);
    } else {
        failure = errno;
    }
    return failure;
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
    mo_status status = MO_OK;
    int closing;

    if (!failure && !target->direct)
        failure = put_in_place(target);
    if (failure)
        remove_temporary(target);
    closing = close_fd(target->fd);
    if (!failure && target->direct)
        failure = closing;
    if (failure == EEXIST && target->exclusive)
        status = fail_existing(target, err);
    else if (failure)
        status = mo_atomic_file_fail(target, failure, err);
    free_target(target);
    return status;
}

void mo_atomic_file_abandon(mo_atomic_file *target)
{
    if (!target)
        return;
    remove_temporary(target);
    close_fd(target->fd);
    free_target(target);
}
