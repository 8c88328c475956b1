/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/method.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

const mo_method *const mo_method_table[] = {
    &mo_method_moirai,  &mo_method_single, &mo_method_m_topo,
    &mo_method_m_etf,   &mo_method_m_sct,  &mo_method_getf,
    &mo_method_heft,    &mo_method_peft,   &mo_method_cpop,
    &mo_method_pesto,   &mo_method_hare,   &mo_method_dp_contiguous,
    &mo_method_placeto, &mo_method_hrl,    NULL,
};

/* Entries below the count never change. */
static const mo_method *added[MO_METHOD_ADDED_MAX];
static atomic_int n_added;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum { N_BUILT_IN = sizeof mo_method_table / sizeof *mo_method_table - 1 };

const mo_method *mo_method_at(int i)
{
    if (i < N_BUILT_IN)
        return mo_method_table[i];
    return i - N_BUILT_IN < atomic_load(&n_added) ? added[i - N_BUILT_IN]
                                                  : NULL;
}

const mo_method *mo_method_find(const char *name)
{
    const mo_method *method;

    for (int i = 0; (method = mo_method_at(i)); i++)
        if (strcmp(method->name, name) == 0)
            return method;
    return NULL;
}

mo_status mo_method_add(const mo_method *method, mo_error *err)
{
    mo_status status = MO_OK;
    int n;

    pthread_mutex_lock(&lock);
    n = atomic_load(&n_added);
    if (mo_method_find(method->name))
        status = mo_fail(err, MO_E_USAGE, "there is a method '%s' already",
                         method->name);
    else if (n >= MO_METHOD_ADDED_MAX)
        status = mo_fail(err, MO_E_USAGE, "more than %d methods are added",
                         MO_METHOD_ADDED_MAX);
    else {
        added[n] = method;
        atomic_store(&n_added, n + 1);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void mo_method_result_clear(mo_method_result *placed)
{
    mo_schedule_free(placed->schedule);
    *placed = (mo_method_result){ 0 };
}
