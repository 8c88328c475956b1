/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/cleanup.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

enum { MAX_PATHS = 32 };

/* Signals from outside that end a process by default. Signals that a process
 * causes itself (SIGSEGV) leave the files for inspection. */
static const int deadly[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGXCPU,
                              SIGALRM, SIGUSR1, SIGUSR2, SIGXFSZ, SIGPIPE };

/*
 * A signal handler gets nothing but the signal, so its data can only be
 * global: an exception to the rule against mutable globals, as the line of
 * base/progress.c is. It is accessed by lock-free exchanges alone, which
 * threads and handlers may do at any moment.
 */
static _Atomic(const char *) paths[MAX_PATHS];
static _Atomic(const char *) folders[MAX_PATHS];
static _Atomic(mo_cleanup_remover *) remove_folder;

/* A forked child must not remove the files of its parent. */
static _Atomic long owner;

void mo_cleanup_run(void)
{
    mo_cleanup_remover *remover = atomic_load(&remove_folder);

    if (atomic_load(&owner) != (long) getpid())
        return;
    for (int i = 0; i < MAX_PATHS; i++) {
        const char *path = atomic_load(&paths[i]);
        const char *folder = atomic_load(&folders[i]);

        if (path)
            unlink(path);
        if (folder && remover)
            remover(folder);
    }
}

static void remove_all(int signal_number)
{
    mo_cleanup_run();
    /* The handler was reset on entry: this time the signal has its default
     * effect, as soon as this function returns. */
    raise(signal_number);
}

static void add(_Atomic(const char *) *slots, const char *path)
{
    long self = (long) getpid(), previous = atomic_exchange(&owner, self);

    if (previous != 0 && previous != self)
        for (int i = 0; i < MAX_PATHS; i++) {
            atomic_store(&paths[i], NULL);
            atomic_store(&folders[i], NULL);
        }
    for (int i = 0; i < MAX_PATHS; i++) {
        const char *empty = NULL;

        if (atomic_compare_exchange_strong(&slots[i], &empty, path))
            break;
    }
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        struct sigaction old, ours = { .sa_flags = (int) SA_RESETHAND };

        if (sigaction(deadly[i], NULL, &old) != 0 ||
            (old.sa_flags & SA_SIGINFO) || old.sa_handler != SIG_DFL)
            continue;
        ours.sa_handler = remove_all;
        sigfillset(&ours.sa_mask);
        sigaction(deadly[i], &ours, NULL);
    }
}

static void drop(_Atomic(const char *) *slots, const char *path)
{
    for (int i = 0; i < MAX_PATHS; i++) {
        const char *expected = path;

        if (atomic_compare_exchange_strong(&slots[i], &expected, NULL))
            return;
    }
}

void mo_cleanup_register(const char *path)
{
    add(paths, path);
}

void mo_cleanup_unregister(const char *path)
{
    drop(paths, path);
}

void mo_cleanup_register_folder(const char *path, mo_cleanup_remover *remover)
{
    atomic_store(&remove_folder, remover);
    add(folders, path);
}

void mo_cleanup_unregister_folder(const char *path)
{
    drop(folders, path);
}

void mo_cleanup_ignore_write_signals(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

/* Each is opened in the wrong direction: using it is an error, as if it were
 * closed. */
void mo_cleanup_reserve_standard_fds(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
            return;
}
