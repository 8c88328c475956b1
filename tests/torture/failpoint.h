/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failpoint.h - fault injection by interposed functions of the C library.
 *
 * failpoint.so is preloaded into a command. It counts calls by class and by
 * origin, and lets the n-th of one class and origin fail, return less, be
 * interrupted or kill the process. Configuration and counts are in a file that
 * the processes of a run map together ($FAILPOINT_STATE), so that children
 * continue the count of their parent; campaign.py writes and reads it.
 *
 * Only processes whose name begins with "moirai" are affected. Blocks and
 * descriptors that the command itself has acquired are tracked until it exits.
 */
#ifndef MO_TESTS_TORTURE_FAILPOINT_H
#define MO_TESTS_TORTURE_FAILPOINT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum failpoint_class {
    FAILPOINT_ALLOC,   /* malloc, calloc, realloc, aligned_alloc, strdup */
    FAILPOINT_READ,    /* read, pread, recv, fread, fgets, getline, readdir */
    FAILPOINT_WRITE,   /* write, pwrite, send, sendmsg, fprintf */
    FAILPOINT_OPEN,    /* open, openat, fopen, opendir, dlopen */
    FAILPOINT_CLOSE,   /* close, fclose: closed, but an error is returned */
    FAILPOINT_NAME,    /* rename, linkat, mkdir, mkdtemp, symlink */
    FAILPOINT_SYNC,    /* fsync, fdatasync */
    FAILPOINT_STAT,    /* stat, access, realpath, readlink, flock, fchmod */
    FAILPOINT_PROCESS, /* fork, pipe2, dup2, socketpair, memfd_create */
    FAILPOINT_EXEC,    /* execv, execvp, execvpe */
    FAILPOINT_NET,     /* socket, connect, bind, accept4, getaddrinfo */
    FAILPOINT_MAP,     /* mmap */
    FAILPOINT_THREAD,  /* pthread_create */
    FAILPOINT_WAIT,    /* poll, waitpid, waitid, nanosleep */
    FAILPOINT_REMOVE,  /* unlink, unlinkat, rmdir */
    FAILPOINT_SETTING, /* setrlimit, sched_setaffinity, prctl, chdir, sysconf */
    FAILPOINT_N_CLASSES
} failpoint_class;

/* The code that called: the first caller outside of the C library. */
typedef enum failpoint_origin {
    FAILPOINT_OWN,    /* the command */
    FAILPOINT_PARSER, /* libraries that report errors: libxml2, zlib, ... */
    FAILPOINT_OTHER,  /* further libraries: BLAS, MPI, OpenSSL, solvers */
    FAILPOINT_N_ORIGINS
} failpoint_origin;

typedef enum failpoint_action {
    FAILPOINT_COUNT,     /* no call fails; stacks are logged */
    FAILPOINT_FAIL,      /* the n-th fails */
    FAILPOINT_FAIL_FROM, /* the n-th and all later ones fail */
    FAILPOINT_KILL,      /* SIGKILL in place of the n-th */
    FAILPOINT_LESS,      /* the n-th transfers one byte */
    FAILPOINT_LESS_FROM, /* and all later ones */
    FAILPOINT_INTERRUPT  /* the n-th fails with EINTR */
} failpoint_action;

/* What the wrapper of a call does. */
typedef enum failpoint_verdict {
    FAILPOINT_CALL,
    FAILPOINT_REFUSE,
    FAILPOINT_SHORTEN,
    FAILPOINT_EINTR
} failpoint_verdict;

enum { FAILPOINT_FRAMES = 16, FAILPOINT_MAGIC = 0x4d6f4650 };

/* The file: words of 64 bits, read by campaign.py in this order. */
typedef struct failpoint_state {
    uint64_t magic, action, class, origin, nth;
    uint64_t trace; /* number of an own allocation to record the stack of */
    uint64_t log_capacity;
    _Atomic uint64_t fired; /* calls that did not succeed */
    _Atomic uint64_t n_exits, n_leaked, n_left_open;
    uint64_t leaked_number; /* which allocation was leaked first */
    _Atomic uint64_t n_logged;
    uint64_t fired_stack[FAILPOINT_FRAMES]; /* addresses of the executable */
    uint64_t traced_stack[FAILPOINT_FRAMES];
    uint64_t image[16]; /* name of the executable that was hit */
    _Atomic uint64_t counts[FAILPOINT_N_CLASSES][FAILPOINT_N_ORIGINS];
    _Atomic uint64_t log[]; /* class << 56 | origin << 48 | hash of stack */
} failpoint_state;

/* Counts a call. caller is the return address of the wrapper. */
failpoint_verdict failpoint_count(failpoint_class class, const void *caller);

/* Whether the code at caller, or the first one outside of the C library that
 * called it, is the command's. */
bool failpoint_is_own(const void *caller);

/* Follow what the command has acquired. */
void failpoint_track_block(void *block);
void failpoint_forget_block(void *block);
void failpoint_track_fd(int fd, const void *caller);
void failpoint_forget_fd(int fd);

/* Lock the set of blocks, as around fork(). */
void failpoint_hold_blocks(void);
void failpoint_release_blocks(void);

/* At exit: what is still there. */
size_t failpoint_live_blocks(uint64_t *first_number);
size_t failpoint_live_fds(void);

/* The own allocations so far, 0 when the process is not affected. */
uint64_t failpoint_alloc_number(void);

#endif
