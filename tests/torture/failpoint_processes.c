/* SPDX-License-Identifier: Apache-2.0 */
/* Functions on processes, threads, sockets and waiting that fail. */
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/torture/failpoint_wrap.h"

pid_t fork(void)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_PROCESS, CALLER);
    pid_t child;

    FIND(fork, pid_t, (void) );
    REFUSE(verdict, EAGAIN, -1);
    failpoint_hold_blocks();
    child = real();
    failpoint_release_blocks();
    return child;
}

CALL(FAILPOINT_EXEC, ENOMEM, int, execv, (const char *path, char *const *words),
     (path, words))
CALL(FAILPOINT_EXEC, ENOMEM, int, execvp,
     (const char *file, char *const *words), (file, words))
CALL(FAILPOINT_EXEC, ENOMEM, int, execvpe,
     (const char *file, char *const *words, char *const *environment),
     (file, words, environment))
CALL(FAILPOINT_EXEC, ENOMEM, int, execve,
     (const char *path, char *const *words, char *const *environment),
     (path, words, environment))
CALL(FAILPOINT_PROCESS, EMFILE, int, dup2, (int from, int to), (from, to))
CALL(FAILPOINT_PROCESS, EMFILE, int, dup3, (int from, int to, int flags),
     (from, to, flags))
CALL_FD(FAILPOINT_PROCESS, EMFILE, signalfd,
        (int fd, const sigset_t *set, int flags), (fd, set, flags))
CALL_FD(FAILPOINT_PROCESS, EMFILE, memfd_create,
        (const char *name, unsigned flags), (name, flags))

static void track_both(const int *fds, const void *caller)
{
    failpoint_track_fd(fds[0], caller);
    failpoint_track_fd(fds[1], caller);
}

int pipe2(int fds[2], int flags)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_PROCESS, CALLER);
    int result;

    FIND(pipe2, int, (int *, int) );
    REFUSE(verdict, EMFILE, -1);
    result = real(fds, flags);
    if (result == 0)
        track_both(fds, CALLER);
    return result;
}

int socketpair(int domain, int type, int protocol, int fds[2])
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_PROCESS, CALLER);
    int result;

    FIND(socketpair, int, (int, int, int, int *) );
    REFUSE(verdict, EMFILE, -1);
    result = real(domain, type, protocol, fds);
    if (result == 0)
        track_both(fds, CALLER);
    return result;
}

/* Only duplication acquires something; other commands are not counted. */
int fcntl(int fd, int command, ...)
{
    bool duplicates = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
    failpoint_verdict verdict = duplicates
                                    ? failpoint_count(FAILPOINT_PROCESS, CALLER)
                                    : FAILPOINT_CALL;
    va_list more;
    void *argument;
    int result;

    FIND(fcntl, int, (int, int, ...));
    va_start(more, command);
    argument = va_arg(more, void *);
    va_end(more);
    REFUSE(verdict, EMFILE, -1);
    result = real(fd, command, argument);
    return duplicates ? OPENED(result) : result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*run)(void *), void *context)
{
    FIND(pthread_create, int,
         (pthread_t *, const pthread_attr_t *, void *(*) (void *), void *) );
    if (failpoint_count(FAILPOINT_THREAD, CALLER) == FAILPOINT_REFUSE)
        return EAGAIN;
    return real(thread, attributes, run, context);
}

CALL_FD(FAILPOINT_NET, EMFILE, accept4,
        (int fd, struct sockaddr *from, socklen_t *size, int flags),
        (fd, from, size, flags))
int socket(int domain, int type, int protocol)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_NET, CALLER);

    FIND(socket, int, (int, int, int) );
    REFUSE(AT_ONCE(verdict), EMFILE, -1);
    return OPENED(real(domain, type, protocol));
}

CALL_AT_ONCE(FAILPOINT_NET, EADDRINUSE, int, bind,
             (int fd, const struct sockaddr *to, socklen_t size),
             (fd, to, size))
CALL_AT_ONCE(FAILPOINT_NET, EADDRINUSE, int, listen, (int fd, int n), (fd, n))
CALL_AT_ONCE(FAILPOINT_NET, ECONNREFUSED, int, connect,
             (int fd, const struct sockaddr *to, socklen_t size),
             (fd, to, size))
CALL_AT_ONCE(FAILPOINT_NET, ENOBUFS, int, setsockopt,
             (int fd, int level, int option, const void *value, socklen_t size),
             (fd, level, option, value, size))
CALL_AT_ONCE(FAILPOINT_NET, ENOBUFS, int, getsockopt,
             (int fd, int level, int option, void *value, socklen_t *size),
             (fd, level, option, value, size))
CALL_AT_ONCE(FAILPOINT_NET, ENOBUFS, int, getsockname,
             (int fd, struct sockaddr *name, socklen_t *size), (fd, name, size))
CALL_AT_ONCE(FAILPOINT_NET, ENOTCONN, int, getpeername,
             (int fd, struct sockaddr *name, socklen_t *size), (fd, name, size))
CALL_AT_ONCE(FAILPOINT_NET, ENOTCONN, int, shutdown, (int fd, int how),
             (fd, how))
CALL_AT_ONCE(FAILPOINT_NET, ENOMEM, int, getifaddrs, (struct ifaddrs * *list),
             (list))

int getaddrinfo(const char *host, const char *service,
                const struct addrinfo *hints, struct addrinfo **list)
{
    FIND(getaddrinfo, int,
         (const char *, const char *, const struct addrinfo *,
          struct addrinfo **) );
    if (failpoint_count(FAILPOINT_NET, CALLER) == FAILPOINT_REFUSE)
        return EAI_MEMORY;
    return real(host, service, hints, list);
}

CALL(FAILPOINT_WAIT, ENOMEM, int, poll,
     (struct pollfd * fds, nfds_t n, int timeout_ms), (fds, n, timeout_ms))
CALL(FAILPOINT_WAIT, ENOMEM, int, ppoll,
     (struct pollfd * fds, nfds_t n, const struct timespec *timeout,
      const sigset_t *mask),
     (fds, n, timeout, mask))
CALL(FAILPOINT_WAIT, ENOMEM, int, __ppoll_chk,
     (struct pollfd * fds, nfds_t n, const struct timespec *timeout,
      const sigset_t *mask, size_t room),
     (fds, n, timeout, mask, room))
CALL(FAILPOINT_WAIT, ENOMEM, int, __poll_chk,
     (struct pollfd * fds, nfds_t n, int timeout_ms, size_t room),
     (fds, n, timeout_ms, room))
CALL(FAILPOINT_WAIT, ECHILD, pid_t, waitpid,
     (pid_t child, int *status, int options), (child, status, options))
CALL(FAILPOINT_WAIT, ECHILD, int, waitid,
     (idtype_t kind, id_t id, siginfo_t *about, int options),
     (kind, id, about, options))

/* It is interrupted, and fails in no other way. */
int nanosleep(const struct timespec *delay, struct timespec *left)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_WAIT, CALLER);

    FIND(nanosleep, int, (const struct timespec *, struct timespec *) );
    if (left)
        *left = *delay;
    REFUSE(verdict == FAILPOINT_EINTR ? verdict : FAILPOINT_CALL, EINTR, -1);
    return real(delay, left);
}

CALL(FAILPOINT_SETTING, EACCES, int, chdir, (const char *path), (path))
CALL(FAILPOINT_SETTING, EPERM, pid_t, setsid, (void), ())
CALL(FAILPOINT_SETTING, EPERM, int, setpgid, (pid_t child, pid_t group),
     (child, group))
CALL(FAILPOINT_SETTING, EINVAL, int, getrlimit,
     (__rlimit_resource_t resource, struct rlimit *limit), (resource, limit))
CALL(FAILPOINT_SETTING, EPERM, int, setrlimit,
     (__rlimit_resource_t resource, const struct rlimit *limit),
     (resource, limit))
CALL(FAILPOINT_SETTING, EINVAL, int, getrusage,
     (__rusage_who_t who, struct rusage *usage), (who, usage))
CALL(FAILPOINT_SETTING, EINVAL, int, sched_getaffinity,
     (pid_t thread, size_t size, cpu_set_t *set), (thread, size, set))
CALL(FAILPOINT_SETTING, EINVAL, int, sched_setaffinity,
     (pid_t thread, size_t size, const cpu_set_t *set), (thread, size, set))
CALL(FAILPOINT_SETTING, ENAMETOOLONG, int, gethostname,
     (char *name, size_t size), (name, size))
CALL(FAILPOINT_SETTING, EFAULT, int, uname, (struct utsname * about), (about))
CALL(FAILPOINT_SETTING, EINVAL, int, madvise,
     (void *at, size_t size, int advice), (at, size, advice))

/* The size of a page and of a clock tick are constants. */
long sysconf(int name)
{
    FIND(sysconf, long, (int) );
    if ((name == _SC_NPROCESSORS_ONLN || name == _SC_PHYS_PAGES) &&
        failpoint_count(FAILPOINT_SETTING, CALLER) == FAILPOINT_REFUSE)
        return -1;
    return real(name);
}

int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
    FIND(pthread_setaffinity_np, int, (pthread_t, size_t, const cpu_set_t *) );
    if (failpoint_count(FAILPOINT_SETTING, CALLER) == FAILPOINT_REFUSE)
        return EINVAL;
    return real(thread, size, set);
}

int prctl(int option, ...)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_SETTING, CALLER);
    unsigned long more[4];
    va_list values;

    FIND(prctl, int, (int, ...));
    va_start(values, option);
    for (int i = 0; i < 4; i++)
        more[i] = va_arg(values, unsigned long);
    va_end(values);
    REFUSE(verdict, EINVAL, -1);
    return real(option, more[0], more[1], more[2], more[3]);
}
