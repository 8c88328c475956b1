/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/period/replicas.h"

#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "schedule/period/loads.h"

int mo_replicas_shared_device(const mo_instance *x, const mo_replica *copies,
                              int n)
{
    for (int k = 0; k < x->n_devices; k++) {
        int users = 0;

        for (int c = 0; c < n; c++) {
            bool uses = false;

            for (int i = 0; i < x->n && !uses; i++)
                uses = copies[c].device[i] == k;
            users += uses;
        }
        if (users > 1)
            return k;
    }
    return MO_FREE;
}

void mo_replicas_clear(mo_replica *copies, int n)
{
    for (int c = 0; c < n; c++) {
        free(copies[c].device);
        copies[c] = (mo_replica){ .device = NULL };
    }
}

mo_status mo_replicas_period(const mo_instance *x, const mo_regime *regime,
                             const mo_replica *copies, int n,
                             int64_t *period_ns, mo_error *err)
{
    size_t n_resources =
        (size_t) mo_period_resource_count(x, regime->congestion);
    double *mean_ns = calloc(n_resources + 1, sizeof *mean_ns);
    int *users = calloc(n_resources + 1, sizeof *users);
    double rate = 0;
    mo_status status = mean_ns && users ? MO_OK : mo_fail_memory(err);

    for (int c = 0; c < n; c++)
        rate += 1 / (double) mo_max_i64(copies[c].period_ns, 1);
    *period_ns = n == 1 ? copies[0].period_ns : (int64_t) ceil(1 / rate - 1e-9);
    for (int c = 0; c < n && n > 1 && status == MO_OK; c++) {
        double share = 1 / (double) mo_max_i64(copies[c].period_ns, 1) / rate;
        mo_period_loads loads = { 0 };

        status =
            mo_period_loads_compute(x, regime, copies[c].device, &loads, err);
        for (int r = 0; r < loads.n && status == MO_OK; r++) {
            mean_ns[r] += share * (double) loads.load_ns[r];
            users[r] += loads.load_ns[r] > 0;
        }
        mo_period_loads_clear(&loads);
    }
    for (size_t r = 0; r < n_resources && status == MO_OK; r++)
        if (users[r] > 1)
            *period_ns =
                mo_max_i64(*period_ns, (int64_t) ceil(mean_ns[r] - 1e-9));
    free(users);
    free(mean_ns);
    return status;
}

int64_t mo_replicas_least_ns(const mo_instance *x)
{
    double sum_ns = 0;

    for (int i = 0; i < x->n; i++) {
        int64_t ns = INT64_MAX;

        for (int k = 0; k < x->n_devices; k++)
            ns = mo_min_i64(ns, mo_instance_p_ns(x, i, k));
        sum_ns += (double) ns;
    }
    return mo_max_i64((int64_t) ceil(sum_ns / x->n_devices * (1 - 1e-12)),
                      x->load.host_request_ns);
}
