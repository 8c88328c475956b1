#include <config.h>

#include "exec/thread/first_error.h"

void mo_failure_init(mo_failure *failure)
{
    atomic_init(&failure->there, false);
    pthread_mutex_init(&failure->lock, NULL);
}

void mo_failure_destroy(mo_failure *failure)
{
    pthread_mutex_destroy(&failure->lock);
}

bool mo_failure_set(mo_failure *failure, const mo_error *why)
{
    bool first;

    pthread_mutex_lock(&failure->lock);
    first = !atomic_load(&failure->there);
    if (first) {
        failure->error = *why;
        /* A failure without a status would pass for success. */
        if (failure->error.status == MO_OK)
            failure->error.status = MO_E_IO;
        atomic_store(&failure->there, true);
    }
    pthread_mutex_unlock(&failure->lock);
    return first;
}

mo_status mo_failure_get(mo_failure *failure, mo_error *err)
{
    if (!mo_failure_is(failure))
        return MO_OK;
    if (err)
        *err = failure->error;
    return failure->error.status;
}
