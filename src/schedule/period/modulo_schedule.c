/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/period/modulo_schedule.h"

#include <stdlib.h>

#include "base/minmax.h"
#include "schedule/heuristic/heft.h"
#include "schedule/heuristic/single_device.h"
#include "schedule/live_memory.h"
#include "schedule/period/loads.h"
#include "schedule/period/pipeline_search.h"
#include "schedule/resource.h"

/* Up to so many ops all limits are tried. */
enum { ALL_LIMITS_OPS = 100 };

static mo_status check_live(const mo_instance *x, mo_modulo_schedule *made,
                            mo_error *err)
{
    mo_status status;

    if (!made->peak_bytes)
        made->peak_bytes =
            calloc((size_t) x->n_devices + 1, sizeof *made->peak_bytes);
    status = made->peak_bytes
                 ? mo_live_memory_periodic_peak(
                       x, made->request, made->period_ns, made->peak_bytes, err)
                 : mo_fail_memory(err);
    made->fits = status == MO_OK;
    for (int k = 0; k < x->n_devices && made->fits; k++)
        made->fits = made->peak_bytes[k] <= x->capacity_bytes[k];
    return status;
}

/* Replaces *made by one request at a time as listed, with the waits for memory
 * that an order alone does not keep, where that fits; sets *taken. */
static mo_status take_list(const mo_instance *x, const mo_schedule *listed,
                           mo_modulo_schedule *made, bool *taken, mo_error *err)
{
    mo_modulo_schedule m = { .in_flight = 1,
                             .least_in_flight = 1,
                             .fits = true };
    mo_status status = mo_schedule_copy(x, listed, &m.request, err);

    if (status == MO_OK)
        m.period_ns = mo_max_i64(m.request->makespan_ns, 1);
    if (status == MO_OK && made->peak_bytes) {
        m.request->regime = made->request->regime;
        status = check_live(x, &m, err);
    }
    *taken = status == MO_OK && m.fits;
    if (*taken) {
        mo_modulo_schedule_clear(made);
        *made = m;
    } else {
        mo_modulo_schedule_clear(&m);
    }
    return status;
}

static bool share_resource(const mo_instance *x, mo_congestion congestion,
                           const mo_transfer *s, const mo_transfer *t)
{
    int first[2], second[2];
    const int *a, *b;
    int m = mo_resource_list(x, congestion, s->from, s->to, first, &a);
    int n = mo_resource_list(x, congestion, t->from, t->to, second, &b);

    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            if (a[i] == b[j])
                return true;
    return false;
}

/* Whether an op or transfer that takes no time is within another on its
 * resource: with one request in flight that is no schedule of it. */
static bool has_nested_task(const mo_instance *x, const mo_schedule *s)
{
    for (int i = 0; i < x->n; i++)
        for (int j = 0; j < x->n && mo_instance_p_ns(x, i, s->device[i]) == 0;
             j++)
            if (s->device[j] == s->device[i] &&
                s->start_ns[j] < s->start_ns[i] &&
                s->start_ns[i] <
                    s->start_ns[j] + mo_instance_p_ns(x, j, s->device[j]))
                return true;
    for (int i = 0; i < s->n_transfers; i++) {
        const mo_transfer *a = &s->transfers[i], *b = s->transfers;

        for (int j = 0; j < s->n_transfers && a->start_ns == a->end_ns; j++)
            if (b[j].start_ns < a->start_ns && a->start_ns < b[j].end_ns &&
                share_resource(x, s->regime.congestion, a, &b[j]))
                return true;
    }
    return false;
}

/* Replaces the times of *made by one op, with its overheads, or transfer after
 * the other; what an op sends leaves before the next op that reads it. */
static mo_status take_serial(const mo_instance *x, mo_modulo_schedule *made,
                             mo_error *err)
{
    mo_schedule *s = made->request;
    bool once = s->regime.tensors == MO_TENSORS_ONCE;
    int64_t *receive_ns = calloc((size_t) x->n + 1, sizeof *receive_ns);
    int64_t *send_ns = calloc((size_t) x->n + 1, sizeof *send_ns);
    int64_t at_ns = 0;

    if (!receive_ns || !send_ns) {
        free(receive_ns);
        free(send_ns);
        return mo_fail_memory(err);
    }
    mo_period_add_overheads(x, s, receive_ns, send_ns);
    for (int i = 0; i < s->n_transfers; i++)
        s->transfers[i].end_ns = -1;
    for (int op = 0; op < x->n; op++) {
        for (int q = x->in_start[op]; q < x->in_start[op + 1]; q++) {
            int flow = x->in_flows[q];
            mo_transfer *t = mo_schedule_transfer(
                s, once ? x->flows[flow].tensor : flow, s->device[op]);

            if (!t || t->end_ns >= 0)
                continue;
            t->start_ns = at_ns;
            at_ns +=
                mo_schedule_item_ns(x, &s->regime, t->item, t->from, t->to);
            t->end_ns = at_ns;
        }
        at_ns += receive_ns[op];
        s->start_ns[op] = at_ns;
        at_ns += mo_instance_p_ns(x, op, s->device[op]) + send_ns[op];
    }
    free(receive_ns);
    free(send_ns);
    s->makespan_ns = at_ns;
    made->period_ns = mo_max_i64(at_ns, 1);
    made->in_flight = made->least_in_flight = 1;
    return made->peak_bytes ? check_live(x, made, err) : MO_OK;
}

/* What is searched for: pipelines of at most max_in_flight requests (0: any
 * number) with the order of a list schedule; load_ns is the largest load. */
typedef struct limited {
    const mo_instance *x;
    const mo_schedule *listed;
    int64_t load_ns;
    int max_in_flight;
} limited;

/* Searches with a limit, within live memory where the regime has it, and
 * replaces *made where the period is shorter, or memory holds it at last; sets
 * *in_flight to the requests of what was found. */
static mo_status try_limit(const limited *r, int limit,
                           mo_modulo_schedule *made, int *in_flight,
                           mo_error *err)
{
    bool live = made->request->regime.memory == MO_MEMORY_LIVE;
    mo_modulo_schedule m = { .fits = true };
    mo_status status = mo_schedule_copy(r->x, made->request, &m.request, err);

    if (status == MO_OK)
        status = mo_pipeline_search(r->x, r->listed, r->load_ns, limit, live,
                                    &m, err);
    if (status == MO_OK && live)
        status = check_live(r->x, &m, err);
    *in_flight = m.in_flight;
    if (status == MO_OK &&
        (r->max_in_flight == 0 || m.in_flight <= r->max_in_flight) &&
        (made->period_ns == 0 || !made->fits ||
         (m.fits && m.period_ns < made->period_ns))) {
        mo_modulo_schedule_clear(made);
        *made = m;
        return MO_OK;
    }
    mo_modulo_schedule_clear(&m);
    return status;
}

/* Fewer requests hold less: up to ALL_LIMITS_OPS all limits are tried from what
 * the pipeline without a limit has in flight, as long as the longest path
 * leaves them a chance, so that a larger one never has a longer period; of
 * larger graphs, some until one fits. */
static mo_status search_live(const limited *r, mo_modulo_schedule *made,
                             mo_error *err)
{
    int max_in_flight = r->max_in_flight;
    int64_t least_ns = mo_max_i64(r->load_ns, 1);
    bool all_limits = r->x->n <= ALL_LIMITS_OPS;
    int n, limit = all_limits && max_in_flight != 1 ? 0 : max_in_flight;
    mo_status status;

    do {
        status = try_limit(r, limit, made, &n, err);
        if (!all_limits)
            limit = made->fits ? 0 : n - (n + 7) / 8;
        else if (limit > 0)
            limit--;
        else
            limit = max_in_flight > 0 ? mo_min_int(n, max_in_flight) : n;
    } while (status == MO_OK && limit > 0 &&
             (!made->fits || made->period_ns == 0 ||
              (made->period_ns > least_ns && limit >= made->least_in_flight)));
    return status;
}

/* A larger limit never has a longer period, up to ALL_LIMITS_OPS: the smaller
 * ones are tried, too, as long as the longest path leaves them a chance, and so
 * is the pipeline without a limit. */
static mo_status search_within(const limited *r, mo_modulo_schedule *made,
                               mo_error *err)
{
    int max_in_flight = r->max_in_flight;
    int64_t least_ns = mo_max_i64(r->load_ns, 1);
    int n, limit = max_in_flight;
    mo_status status = MO_OK;

    if (made->period_ns == 0)
        status = mo_pipeline_search(r->x, r->listed, r->load_ns, limit, true,
                                    made, err);
    else if (made->period_ns > least_ns)
        status = try_limit(r, limit, made, &n, err);
    if (limit == 0 || r->x->n > ALL_LIMITS_OPS)
        return status;
    if (status == MO_OK && made->period_ns > least_ns)
        status = try_limit(r, 0, made, &n, err);
    while (status == MO_OK && --limit >= made->least_in_flight &&
           made->period_ns > least_ns)
        status = try_limit(r, limit, made, &n, err);
    return status;
}

/* Takes one request at a time, where that is shorter, or what was made does not
 * fit into memory or has a nested task; either schedule may be NULL. */
static mo_status take_one(const mo_instance *x, const mo_schedule *known,
                          const mo_schedule *listed, int max_in_flight,
                          mo_modulo_schedule *made, mo_error *err)
{
    const mo_schedule *one[] = { known, listed };
    bool nested = max_in_flight == 1 && has_nested_task(x, made->request);
    bool live = made->request->regime.memory == MO_MEMORY_LIVE;
    bool no_overheads = !x->load.overhead_ns || made->request->n_transfers == 0;
    mo_status status = MO_OK;

    for (int i = 0; i < 2 && status == MO_OK; i++) {
        bool taken = false;

        if (one[i] && no_overheads &&
            (!made->fits || nested ||
             ((max_in_flight > 0 || live) &&
              one[i]->makespan_ns < made->period_ns)))
            status = take_list(x, one[i], made, &taken, err);
        nested = nested && !taken;
    }
    if (status == MO_OK &&
        (!made->fits || (nested && (no_overheads || !listed))))
        status = take_serial(x, made, err);
    return status;
}

mo_status mo_modulo_schedule_make(const mo_instance *x, const mo_regime *regime,
                                  const int *device, int max_in_flight,
                                  const mo_schedule *known,
                                  mo_modulo_schedule *made, mo_error *err)
{
    bool live = regime->memory == MO_MEMORY_LIVE;
    mo_status (*search)(const limited *, mo_modulo_schedule *, mo_error *) =
        live ? search_live : search_within;
    mo_period_loads loads = { 0 };
    mo_schedule *listed = NULL;
    limited by_list, by_known;
    mo_status status;

    if (max_in_flight == 0 && regime->memory != MO_MEMORY_LIVE)
        known = NULL;
    *made = (mo_modulo_schedule){ .fits = true };
    status = mo_period_loads_compute(x, regime, device, &loads, err);
    if (status == MO_OK) {
        bool alone = true;
        mo_regime listing = { regime->congestion, regime->tensors,
                              live ? MO_MEMORY_LIVE : MO_MEMORY_NONE };

        status = mo_heft(x, &listing, device, &listed, err);
        for (int i = 1; i < x->n; i++)
            alone = alone && device[i] == device[0];
        if (status == MO_OK && !listed && live && alone && x->n > 0)
            status =
                mo_single_device_schedule(x, &listing, device[0], &listed, err);
        listing.memory = MO_MEMORY_NONE;
        if (status == MO_OK && !listed && live)
            status = mo_heft(x, &listing, device, &listed, err);
    }
    if (status == MO_OK)
        status = mo_schedule_new(x, regime, device, &made->request, err);
    by_list = (limited){ x, listed, loads.period_ns, max_in_flight };
    by_known = (limited){ x, known, loads.period_ns, max_in_flight };
    if (status == MO_OK)
        status = search(&by_list, made, err);
    /* The order of the known schedule, too. */
    if (status == MO_OK && known && !(live && x->n > ALL_LIMITS_OPS))
        status = search(&by_known, made, err);
    if (status == MO_OK)
        status = take_one(x, known, listed, max_in_flight, made, err);
    made->period_ns = mo_max_i64(made->period_ns, loads.period_ns);
    mo_schedule_free(listed);
    mo_period_loads_clear(&loads);
    return status;
}

void mo_modulo_schedule_clear(mo_modulo_schedule *made)
{
    mo_schedule_free(made->request);
    free(made->peak_bytes);
    *made = (mo_modulo_schedule){ 0 };
}

mo_status mo_period_objective(const mo_instance *x, mo_objective objective,
                              int max_in_flight, const mo_schedule *schedule,
                              int64_t *objective_ns, mo_error *err)
{
    const mo_regime *regime = &schedule->regime;
    mo_period_loads loads = { 0 };
    mo_modulo_schedule m = { 0 };
    mo_status status;

    *objective_ns = schedule->makespan_ns;
    if (objective == MO_OBJECTIVE_LATENCY)
        return MO_OK;
    if (max_in_flight > 0 || regime->memory == MO_MEMORY_LIVE) {
        status = mo_modulo_schedule_make(x, regime, schedule->device,
                                         max_in_flight, schedule, &m, err);
        *objective_ns = m.period_ns;
        mo_modulo_schedule_clear(&m);
        return status;
    }
    status = mo_period_loads_compute(x, regime, schedule->device, &loads, err);
    *objective_ns = loads.period_ns;
    mo_period_loads_clear(&loads);
    return status;
}
