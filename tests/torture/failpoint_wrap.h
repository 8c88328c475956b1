/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failpoint_wrap.h - macros for functions that stand in front of those of the
 * C library: each counts the call, fails as decided, or calls the next
 * definition of the same name.
 */
#ifndef MO_TESTS_TORTURE_FAILPOINT_WRAP_H
#define MO_TESTS_TORTURE_FAILPOINT_WRAP_H

#include <dlfcn.h>
#include <errno.h>

#include "tests/torture/failpoint.h"

#define CALLER __builtin_return_address(0)

/* Declares real, the definition behind this one. */
#define FIND(name, type, parameters)                                           \
    static type(*real) parameters;                                             \
                                                                               \
    if (!real)                                                                 \
    *(void **) &real = dlsym(RTLD_NEXT, #name)

/* Returns result from the function unless the call is to be made. */
#define REFUSE(verdict, error, result)                                         \
    do {                                                                       \
        if ((verdict) == FAILPOINT_REFUSE || (verdict) == FAILPOINT_EINTR) {   \
            errno = (verdict) == FAILPOINT_EINTR ? EINTR : (error);            \
            return result;                                                     \
        }                                                                      \
    } while (0)

/* Of calls that never wait none is interrupted. */
#define AT_ONCE(verdict)                                                       \
    ((verdict) == FAILPOINT_EINTR ? FAILPOINT_CALL : (verdict))

/* Defines a function that returns -1 when it fails. It may be declared in a
 * header or, as the checked forms, nowhere. */
#define CALL(class, error, type, name, parameters, arguments)                  \
    type name parameters;                                                      \
    type name parameters                                                       \
    {                                                                          \
        failpoint_verdict verdict = failpoint_count(class, CALLER);            \
                                                                               \
        FIND(name, type, parameters);                                          \
        REFUSE(verdict, error, -1);                                            \
        return real arguments;                                                 \
    }

#define CALL_AT_ONCE(class, error, type, name, parameters, arguments)          \
    type name parameters;                                                      \
    type name parameters                                                       \
    {                                                                          \
        failpoint_verdict verdict = failpoint_count(class, CALLER);            \
                                                                               \
        FIND(name, type, parameters);                                          \
        REFUSE(AT_ONCE(verdict), error, -1);                                   \
        return real arguments;                                                 \
    }

/* Follows a new descriptor. */
static inline int failpoint_opened(int fd, const void *caller)
{
    failpoint_track_fd(fd, caller);
    return fd;
}

#define OPENED(fd) failpoint_opened(fd, CALLER)

#define CALL_FD(class, error, name, parameters, arguments)                     \
    int name parameters;                                                       \
    int name parameters                                                        \
    {                                                                          \
        failpoint_verdict verdict = failpoint_count(class, CALLER);            \
                                                                               \
        FIND(name, int, parameters);                                           \
        REFUSE(verdict, error, -1);                                            \
        return OPENED(real arguments);                                         \
    }

#endif
