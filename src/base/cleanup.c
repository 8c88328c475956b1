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
 * global: the one exception to the rule against mutable globals. It is
 * accessed by lock-free exchanges alone, which threads and handlers may do at
 * any moment.
 */
static _Atomic(const char *) paths[MAX_PATHS];

/* A forked child must not remove the files of its parent. */
static _Atomic long owner;

void mo_cleanup_run(void)
{
    if (atomic_load(&owner) == (long) getpid())
        for (int i = 0; i < MAX_PATHS; i++) {
            const char *path = atomic_load(&paths[i]);

            /* A folder, registered after its files, is empty by now. */
            if (path && unlink(path) != 0)
                rmdir(path);
        }
}

static void remove_all(int signal_number)
{
    mo_cleanup_run();
    /* The handler was reset on entry: this time the signal has its default
     * effect, as soon as this function returns. */
    raise(signal_number);
}

static void install(int signal_number)
{
    struct sigaction old, ours = { .sa_flags = (int) SA_RESETHAND };

    if (sigaction(signal_number, NULL, &old) != 0 ||
        (old.sa_flags & SA_SIGINFO) || old.sa_handler != SIG_DFL)
        return;
    ours.sa_handler = remove_all;
    sigfillset(&ours.sa_mask);
    sigaction(signal_number, &ours, NULL);
}

void mo_cleanup_register(const char *path)
{
    atomic_store(&owner, (long) getpid());
    for (int i = 0; i < MAX_PATHS; i++) {
        const char *empty = NULL;

        if (atomic_compare_exchange_strong(&paths[i], &empty, path))
            break;
    }
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        install(deadly[i]);
}

void mo_cleanup_unregister(const char *path)
{
    for (int i = 0; i < MAX_PATHS; i++) {
        const char *expected = path;

        if (atomic_compare_exchange_strong(&paths[i], &expected, NULL))
            return;
    }
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
