/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failure.h - the first thing that went wrong, for all threads to see.
 */
#ifndef MO_EXEC_THREAD_FIRST_ERROR_H
#define MO_EXEC_THREAD_FIRST_ERROR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/error.h"

typedef struct mo_first_error {
    atomic_bool there;
    pthread_mutex_t lock;
    mo_error error; /* does not change once it is there */
} mo_first_error;

void mo_first_error_init(mo_first_error *failure);
void mo_first_error_destroy(mo_first_error *failure);

/* False when something else went wrong before. */
bool mo_first_error_set(mo_first_error *failure, const mo_error *why);

static inline bool mo_first_error_is_set(mo_first_error *failure)
{
    return atomic_load(&failure->there);
}

/* Fills err and returns the status; MO_OK when all is well. */
mo_status mo_first_error_get(mo_first_error *failure, mo_error *err);

#endif
