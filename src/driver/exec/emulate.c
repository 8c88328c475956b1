/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/emulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost/predict/message_time.h"
#include "cost/cluster/route.h"

/* More SMs than any GPU has. */
enum { MAX_SMS = 1 << 20 };

mo_status mo_emulate_check(mo_exec_config *wants, mo_error *err)
{
    if (!wants->emulate)
        return MO_OK;
    if (strcmp(wants->backend, "cpu") == 0)
        return mo_fail(err, MO_E_USAGE,
                       "--emulate divides a GPU; leave --backend cpu out");
    wants->backend = "cuda";
    return MO_OK;
}

static int count_parts(const char *spec)
{
    int n = 1;

    for (; *spec; spec++)
        n += *spec == ',';
    return n;
}

/* Reads digits up to a comma or the end. */
static mo_status read_number(const char **at, int *number, mo_error *err)
{
    size_t n = strcspn(*at, ",");
    int64_t value = 0;

    if (n == 0 || n > 7 || strspn(*at, "0123456789") < n)
        return mo_fail(err, MO_E_USAGE,
                       "--emulate: '%.*s' is no number of SMs; give one for "
                       "each device, as in 64,32,16,8",
                       (int) (n < 40 ? n : 40), *at);
    for (size_t i = 0; i < n; i++)
        value = value * 10 + ((*at)[i] - '0');
    if (value < 1 || value > MAX_SMS)
        return mo_fail(err, MO_E_USAGE,
                       "--emulate: a part has 1 to %d SMs, not %lld", MAX_SMS,
                       (long long) value);
    *number = (int) value;
    *at += n + ((*at)[n] == ',');
    return MO_OK;
}

mo_status mo_emulate_sm_counts(const char *spec, const mo_cluster *cluster,
                               int n_ranks, int **parts, mo_error *err)
{
    const char *at = spec;
    int n = count_parts(spec);
    mo_status status = MO_OK;
    int *made;

    if (n_ranks > 1)
        return mo_fail(err, MO_E_USAGE,
                       "--emulate divides one GPU in one process, but there "
                       "are %d ranks; start it without a launcher",
                       n_ranks);
    made = calloc((size_t) n, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    for (int i = 0; i < n && status == MO_OK; i++)
        status = read_number(&at, &made[i], err);
    if (status == MO_OK && n != cluster->n_devices)
        status = mo_fail(err, MO_E_INPUT,
                         "--emulate: '%.80s' has %d part%s, but the cluster "
                         "has %d device%s; give one for each",
                         spec, n, n > 1 ? "s" : "", cluster->n_devices,
                         cluster->n_devices > 1 ? "s" : "");
    if (status != MO_OK) {
        free(made);
        return status;
    }
    *parts = made;
    return MO_OK;
}

/* Predicts the time of a transfer on its emulated link. */
static mo_status predict_transfer(const mo_plan_transfer *t,
                                  const mo_problem *problem,
                                  const mo_routes *routes, int64_t *hold_ns,
                                  mo_error *err)
{
    const mo_cluster *cluster = problem->cluster;
    double ns;

    if (t->tensor != MO_PLAN_NONE &&
        (problem->instance->tensor_bytes[t->tensor] == t->bytes ||
         problem->instance->tensor_bytes[t->tensor] == MO_UNKNOWN)) {
        *hold_ns =
            mo_instance_tensor_ns(problem->instance, t->tensor, t->from, t->to);
        return MO_OK;
    }
    ns = mo_predict_message_ns(cluster, routes, problem->profile, t->from,
                               t->to, t->bytes);
    if (!(ns >= 0 && ns <= (double) MO_MAX_TIME_NS))
        return mo_fail(err, MO_E_INPUT,
                       "--emulate: the cluster does not say how long %lld "
                       "bytes take from device '%.80s' to '%.80s'; link them",
                       (long long) t->bytes, cluster->devices[t->from].id,
                       cluster->devices[t->to].id);
    *hold_ns = llround(ns);
    return MO_OK;
}

mo_status mo_emulate_transfer_times(const mo_exec_plan *plan,
                                    const mo_problem *problem,
                                    int64_t **hold_ns, mo_error *err)
{
    mo_routes *routes = NULL;
    int64_t *made = calloc((size_t) plan->n_transfers + 1, sizeof *made);
    mo_status status = made ? mo_routes_make(problem->cluster, &routes, err)
                            : mo_fail_memory(err);

    for (int i = 0; i < plan->n_transfers && status == MO_OK; i++)
        status = predict_transfer(&plan->transfers[i], problem, routes,
                                  &made[i], err);
    mo_routes_free(routes);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    *hold_ns = made;
    return MO_OK;
}
