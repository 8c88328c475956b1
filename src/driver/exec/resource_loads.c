/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/resource_loads.h"

#include <math.h>
#include <stdlib.h>

#include "driver/exec/emulate.h"
#include "schedule/resource.h"

/* Resources of transfers, by number (schedule/resource.h). */
typedef struct transfer_loads {
    mo_congestion congestion;
    const mo_problem *problem;
    int n_devices;
    int64_t *ns;
} transfer_loads;

static mo_report_throughput_resource describe(const transfer_loads *l, int r)
{
    const mo_cluster *cluster = l->problem->cluster;
    const mo_device *devices = cluster->devices;
    mo_report_throughput_resource row = { .predicted_ns = l->ns[r],
                                          .measured_ns = -1 };
    int n = l->n_devices;

    switch (l->congestion) {
    case MO_CONGESTION_PORT:
        row.kind = r < n ? "out-port" : "in-port";
        row.from = devices[r % n].id;
        break;
    case MO_CONGESTION_CHANNEL:
        row.kind = "channel";
        row.from = devices[r / n].id;
        row.to = devices[r % n].id;
        break;
    case MO_CONGESTION_LINK:
        row.kind = "link";
        row.from = devices[cluster->links[r].from].id;
        row.to = devices[cluster->links[r].to].id;
        break;
    case MO_CONGESTION_NONE:
        break;
    }
    return row;
}

/* A part of a GPU that works alone is not slowed down by others. */
static void remove_slowdown(const mo_problem *problem,
                            mo_report_throughput_resource *devices, int n)
{
    double slowdown = problem->profile ? problem->profile->parts_slowdown : 0;
    mo_report_throughput_resource *used = NULL;

    for (int d = 0; d < n; d++)
        if (devices[d].predicted_ns > 0) {
            if (used)
                return;
            used = &devices[d];
        }
    if (used && slowdown > 0)
        used->predicted_ns =
            (int64_t) ceil((double) used->predicted_ns / slowdown);
}

/* What a request has of it in the mean, where some run the phase only. */
static int64_t part_of(int64_t ns, const double *shares, int phase)
{
    return shares ? llround((double) ns * shares[phase]) : ns;
}

mo_status mo_exec_resource_loads(const mo_exec_plan *plan,
                                 const mo_problem *problem,
                                 const double *shares, mo_congestion congestion,
                                 mo_report_throughput_resource **resources,
                                 int *n, mo_error *err)
{
    const mo_instance *x = problem->instance;
    double n_transfers = 0;
    transfer_loads l = { congestion, problem, plan->n_devices, NULL };
    size_t n_kinds = (size_t) mo_resource_count(problem->instance, congestion);
    mo_report_throughput_resource *made =
        calloc((size_t) plan->n_devices + n_kinds + 2, sizeof *made);
    int64_t *transfer_ns = NULL;
    mo_status status = MO_OK;

    l.ns = calloc(n_kinds + 1, sizeof *l.ns);
    if (!made || !l.ns)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_emulate_transfer_times(plan, problem, &transfer_ns, err);
    if (status == MO_OK) {
        *n = plan->n_devices;
        for (int d = 0; d < plan->n_devices; d++)
            made[d] =
                (mo_report_throughput_resource){ .kind = "device",
                                                 .from = plan->devices[d].id };
        for (int i = 0; i < plan->n_items; i++)
            made[plan->items[i].device].predicted_ns +=
                part_of(plan->items[i].predicted_ns, shares,
                        MO_PLAN_PHASE_OF(plan, item, i));
        remove_slowdown(problem, made, plan->n_devices);
        for (int i = 0; i < plan->n_transfers; i++) {
            const mo_plan_transfer *t = &plan->transfers[i];
            int phase = MO_PLAN_PHASE_OF(plan, transfer, i);
            int pair[2], n_used;
            const int *ids;

            n_used =
                mo_resource_list(x, congestion, t->from, t->to, pair, &ids);
            for (int k = 0; k < n_used; k++)
                l.ns[ids[k]] += part_of(transfer_ns[i], shares, phase);
            n_transfers += shares ? shares[phase] : 1;
            if (congestion == MO_CONGESTION_NONE)
                continue;
            made[t->from].predicted_ns +=
                part_of(mo_instance_bytes_overhead_ns(x, t->bytes, t->from),
                        shares, phase);
            made[t->to].predicted_ns +=
                part_of(mo_instance_bytes_overhead_ns(x, t->bytes, t->to),
                        shares, phase);
        }
        for (size_t r = 0; r < n_kinds; r++)
            if (l.ns[r] > 0)
                made[(*n)++] = describe(&l, (int) r);
        if (mo_instance_has_host(problem->instance))
            made[(*n)++] = (mo_report_throughput_resource){
                .kind = "host",
                .predicted_ns =
                    x->load.host_request_ns +
                    (congestion == MO_CONGESTION_NONE
                         ? 0
                         : llround(n_transfers *
                                   (double) x->load.host_transfer_ns)),
                .measured_ns = -1
            };
        *resources = made;
        made = NULL;
    }
    free(made);
    free(l.ns);
    free(transfer_ns);
    return status;
}
