/*
 * failure.h - the first thing that went wrong, for all threads to see.
 */
#ifndef MO_EXEC_THREAD_FIRST_ERROR_H
#define MO_EXEC_THREAD_FIRST_ERROR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/error.h"

typedef struct mo_failure {
    atomic_bool there;
    pthread_mutex_t lock;
    mo_error error; /* does not change once it is there */
} mo_failure;

void mo_failure_init(mo_failure *failure);
void mo_failure_destroy(mo_failure *failure);

/* False when something else went wrong before. */
bool mo_failure_set(mo_failure *failure, const mo_error *why);

static inline bool mo_failure_is(mo_failure *failure)
{
    return atomic_load(&failure->there);
}

/* Fills err and returns the status; MO_OK when all is well. */
mo_status mo_failure_get(mo_failure *failure, mo_error *err);

#endif
