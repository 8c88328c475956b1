/* SPDX-License-Identifier: Apache-2.0 */
/* Functions on files and names that fail. A variant with a checked buffer
 * (_FORTIFY_SOURCE) fails as its plain form. */
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/torture/failpoint_wrap.h"

/* Sockets of messages, unlike streams, transfer a message or none. */
static bool is_stream(int fd)
{
    int type = SOCK_STREAM, saved = errno;
    socklen_t size = sizeof type;

    syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &size);
    errno = saved;
    return type == SOCK_STREAM;
}

#define READ(name, error, parameters, arguments, size)                         \
    ssize_t name parameters;                                                   \
    ssize_t name parameters                                                    \
    {                                                                          \
        failpoint_verdict verdict = failpoint_count(FAILPOINT_READ, CALLER);   \
                                                                               \
        FIND(name, ssize_t, parameters);                                       \
        if (verdict == FAILPOINT_SHORTEN && size > 1 && is_stream(fd))         \
            size = 1;                                                          \
        REFUSE(verdict, error, -1);                                            \
        return real arguments;                                                 \
    }

READ(read, EIO, (int fd, void *to, size_t size), (fd, to, size), size)
READ(__read_chk, EIO, (int fd, void *to, size_t size, size_t room),
     (fd, to, size, room), size)
READ(pread, EIO, (int fd, void *to, size_t size, off_t at), (fd, to, size, at),
     size)
READ(__pread_chk, EIO, (int fd, void *to, size_t size, off_t at, size_t room),
     (fd, to, size, at, room), size)
READ(recv, ECONNRESET, (int fd, void *to, size_t size, int flags),
     (fd, to, size, flags), size)
READ(__recv_chk, ECONNRESET,
     (int fd, void *to, size_t size, size_t room, int flags),
     (fd, to, size, room, flags), size)
ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_READ, CALLER);

    FIND(getrandom, ssize_t, (void *, size_t, unsigned) );
    /* Up to 256 bytes come whole and without interruption. */
    REFUSE(AT_ONCE(verdict), EAGAIN, -1);
    return real(to, size, flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_READ, CALLER);

    FIND(recvmsg, ssize_t, (int, struct msghdr *, int) );
    REFUSE(verdict, ECONNRESET, -1);
    return real(fd, message, flags);
}

struct dirent *readdir(DIR *folder)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_READ, CALLER);

    FIND(readdir, struct dirent *, (DIR *) );
    REFUSE(verdict == FAILPOINT_REFUSE ? verdict : FAILPOINT_CALL, EIO, NULL);
    return real(folder);
}

ssize_t getdents64(int fd, void *to, size_t size)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_READ, CALLER);

    FIND(getdents64, ssize_t, (int, void *, size_t));
    REFUSE(verdict == FAILPOINT_REFUSE ? verdict : FAILPOINT_CALL, EIO, -1);
    return real(fd, to, size);
}

int glob(const char *pattern, int flags, int (*report)(const char *, int),
         glob_t *found)
{
    FIND(glob, int, (const char *, int, int (*)(const char *, int), glob_t *) );
    if (failpoint_count(FAILPOINT_READ, CALLER) == FAILPOINT_REFUSE)
        return GLOB_NOSPACE;
    return real(pattern, flags, report, found);
}

/* Messages are not counted: a failure could not be reported. */
static failpoint_verdict count_write(int fd, const void *caller)
{
    return fd == STDERR_FILENO ? FAILPOINT_CALL
                               : failpoint_count(FAILPOINT_WRITE, caller);
}

#define WRITE(name, error, parameters, arguments, size)                        \
    ssize_t name parameters;                                                   \
    ssize_t name parameters                                                    \
    {                                                                          \
        failpoint_verdict verdict = count_write(fd, CALLER);                   \
                                                                               \
        FIND(name, ssize_t, parameters);                                       \
        if (verdict == FAILPOINT_SHORTEN && size > 1 && is_stream(fd))         \
            size = 1;                                                          \
        REFUSE(verdict, error, -1);                                            \
        return real arguments;                                                 \
    }

WRITE(write, ENOSPC, (int fd, const void *from, size_t size), (fd, from, size),
      size)
WRITE(pwrite, ENOSPC, (int fd, const void *from, size_t size, off_t at),
      (fd, from, size, at), size)
WRITE(send, ECONNRESET, (int fd, const void *from, size_t size, int flags),
      (fd, from, size, flags), size)

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_WRITE, CALLER);
    struct msghdr one;
    struct iovec part;

    FIND(sendmsg, ssize_t, (int, const struct msghdr *, int) );
    REFUSE(verdict, ECONNRESET, -1);
    if (verdict == FAILPOINT_SHORTEN && message->msg_iovlen > 0 &&
        message->msg_iov[0].iov_len > 1) {
        one = *message;
        part = message->msg_iov[0];
        part.iov_len = 1;
        one.msg_iov = &part;
        one.msg_iovlen = 1;
        return real(fd, &one, flags);
    }
    return real(fd, message, flags);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
    failpoint_verdict verdict = count_write(fd, CALLER);

    FIND(writev, ssize_t, (int, const struct iovec *, int) );
    REFUSE(verdict, ENOSPC, -1);
    if (verdict == FAILPOINT_SHORTEN && n > 0 && parts[0].iov_len > 0)
        return write(fd, parts[0].iov_base, 1);
    return real(fd, parts, n);
}

/* A failure of these has one form: -1 and errno. */
CALL(FAILPOINT_WRITE, ENOSPC, int, ftruncate, (int fd, off_t size), (fd, size))
CALL(FAILPOINT_SYNC, EIO, int, fsync, (int fd), (fd))
CALL(FAILPOINT_SYNC, EIO, int, fdatasync, (int fd), (fd))
CALL(FAILPOINT_READ, EIO, off_t, lseek, (int fd, off_t at, int whence),
     (fd, at, whence))
CALL(FAILPOINT_READ, ENOTTY, int, ioctl,
     (int fd, unsigned long request, void *argument), (fd, request, argument))

static mode_t mode_of(int flags, va_list more)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_OPEN, CALLER);
    va_list more;
    mode_t mode;

    FIND(open, int, (const char *, int, ...));
    va_start(more, flags);
    mode = mode_of(flags, more);
    va_end(more);
    REFUSE(verdict, flags & O_CREAT ? ENOSPC : EMFILE, -1);
    return OPENED(real(path, flags, mode));
}

int openat(int folder, const char *path, int flags, ...)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_OPEN, CALLER);
    va_list more;
    mode_t mode;

    FIND(openat, int, (int, const char *, int, ...));
    va_start(more, flags);
    mode = mode_of(flags, more);
    va_end(more);
    REFUSE(verdict, flags & O_CREAT ? ENOSPC : EMFILE, -1);
    return OPENED(real(folder, path, flags, mode));
}

CALL_FD(FAILPOINT_OPEN, EMFILE, __open_2, (const char *path, int flags),
        (path, flags))
CALL_FD(FAILPOINT_OPEN, EMFILE, __openat_2,
        (int folder, const char *path, int flags), (folder, path, flags))

DIR *opendir(const char *path)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_OPEN, CALLER);

    FIND(opendir, DIR *, (const char *) );
    REFUSE(AT_ONCE(verdict), EMFILE, NULL);
    return real(path);
}

DIR *fdopendir(int fd)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_OPEN, CALLER);

    FIND(fdopendir, DIR *, (int) );
    REFUSE(verdict, ENOMEM, NULL);
    failpoint_forget_fd(fd);
    return real(fd);
}

/* The descriptor is closed all the same, as the kernel does. */
int close(int fd)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_CLOSE, CALLER);
    int result;

    FIND(close, int, (int) );
    failpoint_forget_fd(fd);
    result = real(fd);
    REFUSE(verdict, EIO, -1);
    return result;
}

CALL(FAILPOINT_NAME, EIO, int, rename, (const char *from, const char *to),
     (from, to))
CALL(FAILPOINT_NAME, EIO, int, renameat2,
     (int a, const char *from, int b, const char *to, unsigned flags),
     (a, from, b, to, flags))
CALL(FAILPOINT_NAME, EIO, int, link, (const char *from, const char *to),
     (from, to))
CALL(FAILPOINT_NAME, EIO, int, linkat,
     (int a, const char *from, int b, const char *to, int flags),
     (a, from, b, to, flags))
CALL(FAILPOINT_NAME, EIO, int, symlink, (const char *to, const char *path),
     (to, path))
CALL(FAILPOINT_NAME, ENOSPC, int, mkdir, (const char *path, mode_t mode),
     (path, mode))
CALL_FD(FAILPOINT_NAME, ENOSPC, mkstemp, (char *path), (path))
CALL_FD(FAILPOINT_NAME, ENOSPC, mkostemp, (char *path, int flags),
        (path, flags))

CALL(FAILPOINT_REMOVE, EIO, int, unlink, (const char *path), (path))
CALL(FAILPOINT_REMOVE, EIO, int, unlinkat,
     (int folder, const char *path, int flags), (folder, path, flags))
CALL(FAILPOINT_REMOVE, EIO, int, rmdir, (const char *path), (path))

char *mkdtemp(char *path)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_NAME, CALLER);

    FIND(mkdtemp, char *, (char *) );
    REFUSE(verdict, ENOSPC, NULL);
    return real(path);
}

CALL(FAILPOINT_STAT, EIO, int, stat, (const char *path, struct stat *about),
     (path, about))
CALL(FAILPOINT_STAT, EIO, int, lstat, (const char *path, struct stat *about),
     (path, about))
CALL(FAILPOINT_STAT, EIO, int, fstat, (int fd, struct stat *about), (fd, about))
CALL(FAILPOINT_STAT, EIO, int, fstatat,
     (int folder, const char *path, struct stat *about, int flags),
     (folder, path, about, flags))
CALL(FAILPOINT_STAT, EIO, int, access, (const char *path, int mode),
     (path, mode))
CALL(FAILPOINT_STAT, EIO, int, faccessat,
     (int folder, const char *path, int mode, int flags),
     (folder, path, mode, flags))
CALL(FAILPOINT_STAT, EPERM, int, fchmod, (int fd, mode_t mode), (fd, mode))
CALL(FAILPOINT_STAT, EPERM, int, fchown, (int fd, uid_t user, gid_t group),
     (fd, user, group))
CALL(FAILPOINT_STAT, ENOLCK, int, flock, (int fd, int operation),
     (fd, operation))
CALL(FAILPOINT_STAT, EIO, ssize_t, readlink,
     (const char *path, char *to, size_t size), (path, to, size))
CALL(FAILPOINT_STAT, EIO, ssize_t, __readlink_chk,
     (const char *path, char *to, size_t size, size_t room),
     (path, to, size, room))

#define CALL_TEXT(error, name, parameters, arguments)                          \
    char *name parameters;                                                     \
    char *name parameters                                                      \
    {                                                                          \
        failpoint_verdict verdict = failpoint_count(FAILPOINT_STAT, CALLER);   \
                                                                               \
        FIND(name, char *, parameters);                                        \
        REFUSE(verdict, error, NULL);                                          \
        return real arguments;                                                 \
    }

CALL_TEXT(EIO, realpath, (const char *path, char *to), (path, to))
CALL_TEXT(EIO, __realpath_chk, (const char *path, char *to, size_t room),
          (path, to, room))
CALL_TEXT(ENOENT, getcwd, (char *to, size_t size), (to, size))

void *mmap(void *at, size_t size, int protection, int flags, int fd,
           off_t offset)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_MAP, CALLER);

    FIND(mmap, void *, (void *, size_t, int, int, int, off_t));
    REFUSE(verdict, ENOMEM, MAP_FAILED);
    return real(at, size, protection, flags, fd, offset);
}
