/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/thread/first_error.h"

void mo_first_error_init(mo_first_error *failure)
{
    atomic_init(&failure->is_set, false);
    pthread_mutex_init(&failure->lock, NULL);
}

void mo_first_error_destroy(mo_first_error *failure)
{
    pthread_mutex_destroy(&failure->lock);
}

bool mo_first_error_set(mo_first_error *failure, const mo_error *why)
{
    bool first;

    pthread_mutex_lock(&failure->lock);
    first = !atomic_load(&failure->is_set);
    if (first) {
        failure->error = *why;
        /* A failure without a status would read as success. */
        if (failure->error.status == MO_OK)
            failure->error.status = MO_E_IO;
        atomic_store(&failure->is_set, true);
    }
    pthread_mutex_unlock(&failure->lock);
    return first;
}

mo_status mo_first_error_get(mo_first_error *failure, mo_error *err)
{
    if (!mo_first_error_is_set(failure))
        return MO_OK;
    if (err)
        *err = failure->error;
    return failure->error.status;
}
