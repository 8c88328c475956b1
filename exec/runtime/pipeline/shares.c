/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The copies of a network: their slots and devices, and the choice of the copy
 * that finishes a request first (earliest finish time). One that works without
 * pause finishes a request each period:
 *
 *     finish = now + max(latency, (pending + 1) * period)
 *
 * Times are predicted until all copies have completed some requests.
 */
#include "exec/runtime/pipeline/pipeline_internal.h"

#include <stdlib.h>

#include "base/minmax.h"

/* Requests per slot until measured times are used. */
enum { FILLS = 4 };

static mo_status find_devices(mo_pipeline *p, mo_error *err)
{
    const mo_exec_plan *plan = p->plan;

    for (int v = 0; v < plan->n_values && p->n_shares > 1; v++) {
        int d = plan->values[v].device;
        int share = MO_PLAN_PHASE_OF(plan, value, v);

        if (p->share_of[d] != MO_PLAN_NONE && p->share_of[d] != share)
            return mo_fail(err, MO_E_INPUT,
                           "two copies of the network use device '%.80s'",
                           plan->devices[d].id);
        p->share_of[d] = share;
    }
    return MO_OK;
}

mo_status mo_pipeline_list_shares(mo_pipeline *p, mo_error *err)
{
    const mo_pipeline_options *o = p->options;
    int first = 0;

    p->n_shares = o->copies ? p->plan->n_phases : 1;
    p->shares = calloc((size_t) p->n_shares, sizeof *p->shares);
    p->share_of = calloc((size_t) p->plan->n_devices + 1, sizeof *p->share_of);
    if (!p->shares || !p->share_of)
        return mo_fail_memory(err);
    for (int d = 0; d < p->plan->n_devices; d++)
        p->share_of[d] = p->n_shares > 1 ? MO_PLAN_NONE : 0;
    for (int s = 0; s < p->n_shares; s++) {
        const mo_pipeline_copy *copy = o->copies ? &o->copies[s] : NULL;

        p->shares[s] = (mo_pipeline_share){
            .first_slot = first,
            .n_slots = copy ? copy->n_slots : o->n_slots,
            .latency_ns = copy ? copy->latency_ns : 0,
            .period_ns = copy ? copy->period_ns : 0,
        };
        first += p->shares[s].n_slots;
    }
    return find_devices(p, err);
}

int mo_pipeline_share_of(const mo_pipeline *p, int slot)
{
    int s = 0;

    while (s + 1 < p->n_shares && slot >= p->shares[s + 1].first_slot)
        s++;
    return s;
}

static double measured_period_ns(const mo_pipeline_share *s, int64_t now_ns)
{
    int64_t busy_ns =
        s->busy_ns + (s->n_pending > 0 ? now_ns - s->since_ns : 0);

    return (double) busy_ns / (double) s->n_done;
}

int mo_pipeline_choose_share(const mo_pipeline *p, int64_t now_ns)
{
    bool measured = true;
    double least_ns = 0;
    int best = 0;

    for (int c = 0; c < p->n_shares; c++)
        measured = measured && p->shares[c].n_done >=
                                   FILLS * (int64_t) p->shares[c].n_slots;
    for (int c = 0; c < p->n_shares && p->n_shares > 1; c++) {
        const mo_pipeline_share *s = &p->shares[c];
        double predicted_ns = (double) mo_max_i64(s->period_ns, 1);
        double period_ns =
            measured ? measured_period_ns(s, now_ns) : predicted_ns;
        double latency_ns = (double) s->latency_ns * period_ns / predicted_ns;
        double finish_ns = (s->n_pending + 1) * period_ns;

        finish_ns = finish_ns > latency_ns ? finish_ns : latency_ns;
        if (c == 0 || finish_ns < least_ns) {
            least_ns = finish_ns;
            best = c;
        }
    }
    return best;
}

void mo_pipeline_share_assign(mo_pipeline_share *share, int64_t now_ns)
{
    if (share->n_pending++ == 0)
        share->since_ns = now_ns;
}

void mo_pipeline_share_complete(mo_pipeline_share *share, int64_t now_ns)
{
    share->busy_ns += now_ns - share->since_ns;
    share->since_ns = now_ns;
    share->n_pending--;
    share->n_done++;
}

int mo_pipeline_first_input(const mo_pipeline *p, int share)
{
    return p->n_shares > 1 ? p->plan->phases[share].start.input : 0;
}

int mo_pipeline_first_output(const mo_pipeline *p, int share)
{
    return p->n_shares > 1 ? p->plan->phases[share].start.output : 0;
}

int mo_pipeline_n_inputs(const mo_pipeline *p)
{
    return p->n_shares > 1 ? p->plan->parts[0]->n_inputs : p->plan->n_inputs;
}
