/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first_error.h - the first error of several threads; later ones are dropped.
 *
 * The caller owns the struct; all functions but init and destroy may be called
 * from any thread.
 */
#ifndef MO_EXEC_THREAD_FIRST_ERROR_H
#define MO_EXEC_THREAD_FIRST_ERROR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/error.h"

typedef struct mo_first_error {
    atomic_bool is_set;
    pthread_mutex_t lock;
    mo_error error; /* written once, before is_set */
} mo_first_error;

void mo_first_error_init(mo_first_error *failure);
void mo_first_error_destroy(mo_first_error *failure);

/* Stores a copy of *why; returns false when an error is stored already. */
bool mo_first_error_set(mo_first_error *failure, const mo_error *why);

static inline bool mo_first_error_is_set(mo_first_error *failure)
{
    return atomic_load(&failure->is_set);
}

/* Returns the status of the stored error and copies it to *err (NULL: not
 * copied); MO_OK when there is none. */
mo_status mo_first_error_get(mo_first_error *failure, mo_error *err);

#endif
