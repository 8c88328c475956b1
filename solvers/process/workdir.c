/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/process/workdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "solvers/process/path_util.h"

#define PREFIX "moirai-solve-"

enum { MAX_DEPTH = 32, TRIES = 100 };

struct mo_workdir {
    int lock; /* the folder, opened and locked */
    char *path;
};

/* Signal handlers remove folders too: nothing here allocates. */

static void remove_content(int folder, int depth);

/* An empty folder goes without a descriptor, of which there may be none.
 * Returns whether the entry is gone. */
static bool remove_entry(int folder, const char *name, int depth)
{
    int inner;

    if (unlinkat(folder, name, 0) == 0 ||
        unlinkat(folder, name, AT_REMOVEDIR) == 0)
        return true;
    if (depth >= MAX_DEPTH)
        return false;
    inner =
        openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0)
        return false;
    remove_content(inner, depth + 1);
    close(inner);
    return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

/* Returns whether any entry went. */
static bool remove_listed(int folder, int depth)
{
    _Alignas(struct dirent64) char entries[1024];
    bool any = false;
    ssize_t got;

    if (lseek(folder, 0, SEEK_SET) != 0)
        return false;
    while ((got = getdents64(folder, entries, sizeof entries)) > 0)
        for (ssize_t at = 0; at < got;) {
            const struct dirent64 *entry = (const void *) (entries + at);

            if (!(strcmp(entry->d_name, ".") == 0 ||
                  strcmp(entry->d_name, "..") == 0) &&
                remove_entry(folder, entry->d_name, depth))
                any = true;
            at += entry->d_reclen;
        }
    return any;
}

/* A list may skip entries while others are removed, so it is read again until
 * nothing of it goes; not for ever, as another process may add some. */
static void remove_content(int folder, int depth)
{
    for (int i = 0; i < TRIES && remove_listed(folder, depth); i++)
        continue;
}

void mo_workdir_remove(const char *path)
{
    remove_entry(AT_FDCWD, path, 0);
}

static int open_folder(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Returns whether the opened folder is still the one of that name. */
static bool is_same_folder(int folder, const char *path)
{
    struct stat opened, named;

    return fstat(folder, &opened) == 0 && lstat(path, &named) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/*
 * A new folder is unlocked for a moment, and another run may take it for a
 * stale one then. A folder is removed only under its lock; so once this
 * process holds it, the folder either still exists, and no other process will
 * touch it, or it is gone.
 *
 * Where folders cannot be locked (NFS) no process can, so that no folder is
 * taken for stale.
 */
static bool lock_workdir(mo_workdir *workdir)
{
    int folder = open_folder(workdir->path);

    if (folder < 0) {
        rmdir(workdir->path);
        return false;
    }
    while (flock(folder, LOCK_EX) != 0 && errno == EINTR)
        continue;
    if (is_same_folder(folder, workdir->path)) {
        workdir->lock = folder;
        return true;
    }
    close(folder);
    return false;
}

static bool is_own_folder(int parent, const char *name)
{
    struct stat state;

    return fstatat(parent, name, &state, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(state.st_mode) && state.st_uid == geteuid();
}

/* A stale folder that cannot be removed is no error. */
static void remove_stale(const char *parent)
{
    DIR *entries = opendir(parent);
    const struct dirent *entry;

    if (!entries)
        return;
    while ((entry = readdir(entries))) {
        char *path;

        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 ||
            !is_own_folder(dirfd(entries), entry->d_name))
            continue;
        path = mo_path_format("%s/%s", parent, entry->d_name);
        if (path) {
            int folder = open_folder(path);

            if (folder >= 0) {
                if (flock(folder, LOCK_EX | LOCK_NB) == 0 &&
                    is_same_folder(folder, path))
                    mo_workdir_remove(path);
                close(folder);
            }
        }
        free(path);
    }
    closedir(entries);
}

static mo_status create_locked(const char *parent, mo_workdir *workdir,
                               mo_error *err)
{
    for (int i = 0; i < TRIES; i++) {
        free(workdir->path);
        workdir->path = mo_path_format("%s/%s", parent, PREFIX "XXXXXX");
        if (!workdir->path)
            return mo_fail_memory(err);
        /* Signals wait until it is registered, so that none finds it
         * unregistered. */
        sigset_t all, old;
        bool made;

        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        made = mkdtemp(workdir->path) != NULL;
        if (made)
            mo_cleanup_register_folder(workdir->path, mo_workdir_remove);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        if (!made)
            return mo_fail_errno(err, parent, "cannot make a folder there");
        if (lock_workdir(workdir))
            return MO_OK;
        mo_cleanup_unregister_folder(workdir->path);
    }
    return mo_fail_errno(err, parent, "folders made there do not last");
}

mo_status mo_workdir_new(mo_workdir **workdir, mo_error *err)
{
    /* Solvers run in other folders, so it has to be an absolute path. */
    const char *named = getenv("TMPDIR");
    char *parent = realpath(named && *named ? named : "/tmp", NULL);
    mo_workdir *w = calloc(1, sizeof *w);
    mo_status status;

    if (!w) {
        free(parent);
        return mo_fail_memory(err);
    }
    w->lock = -1;
    if (!parent) {
        status = mo_fail_errno(err, getenv("TMPDIR"), "no folder to work in");
    } else {
        remove_stale(parent);
        status = create_locked(parent, w, err);
    }
    free(parent);
    if (status == MO_OK) {
        *workdir = w;
    } else {
        free(w->path);
        free(w);
    }
    return status;
}

const char *mo_workdir_path(const mo_workdir *workdir)
{
    return workdir->path;
}

char *mo_workdir_file(const mo_workdir *workdir, const char *name)
{
    return mo_path_format("%s/%s", workdir->path, name);
}

mo_status mo_workdir_create_file(const char *folder, const char *name,
                                 mo_out **out, mo_error *err)
{
    char *path = mo_path_format("%s/%s", folder, name);
    mo_status status = path ? mo_out_open(path, out, err) : mo_fail_memory(err);

    free(path);
    return status;
}

/* The descriptor of the lock is the one that lists the folder: another one may
 * not be available. */
void mo_workdir_free(mo_workdir *workdir)
{
    if (!workdir)
        return;
    remove_content(workdir->lock, 1);
    rmdir(workdir->path);
    mo_cleanup_unregister_folder(workdir->path);
    close(workdir->lock);
    free(workdir->path);
    free(workdir);
}
