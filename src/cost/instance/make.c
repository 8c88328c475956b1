/* SPDX-License-Identifier: Apache-2.0 */
/* Construction of an instance from graph, cluster, profile and cost model. */
#include "cost/instance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost/instance/instance_internal.h"

int mo_instance_maker_column(const mo_measure_column *columns, int n,
                             const char *key)
{
    int low = 0, high = n;

    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = strcmp(columns[middle].key, key);

        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

int64_t mo_instance_maker_round(double ns)
{
    return ns >= 0 && ns <= (double) MO_MAX_TIME_NS ? llround(ns) : -1;
}

static mo_status copy_name(mo_arena *arena, const char *name, const char **copy,
                           mo_error *err)
{
    *copy = mo_arena_text(arena, name, strlen(name));
    return *copy ? MO_OK : mo_fail_memory(err);
}

static mo_status copy_names(mo_instance_maker *m, mo_error *err)
{
    mo_instance *x = m->x;
    mo_status status = MO_OK;

    x->n = m->g->n_ops;
    x->n_devices = m->cluster->n_devices;
    x->op_names = mo_arena_array(x->arena, (size_t) x->n, sizeof *x->op_names);
    x->device_ids =
        mo_arena_array(x->arena, (size_t) x->n_devices, sizeof *x->device_ids);
    if (!x->op_names || !x->device_ids)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n && status == MO_OK; i++)
        status = copy_name(x->arena, m->g->ops[i].name, &x->op_names[i], err);
    for (int k = 0; k < x->n_devices && status == MO_OK; k++)
        status = copy_name(x->arena, m->cluster->devices[k].id,
                           &x->device_ids[k], err);
    return status;
}

static mo_status copy_routes(mo_instance_maker *m, mo_error *err)
{
    mo_instance *x = m->x;
    size_t n_pairs = (size_t) x->n_devices * (size_t) x->n_devices;

    x->routing.n_links = m->cluster->n_links;
    x->routing.n_route_links = m->routes->n_path;
    x->routing.routes =
        mo_arena_array(x->arena, n_pairs, sizeof *x->routing.routes);
    x->routing.route_link = mo_arena_array(x->arena, x->routing.n_route_links,
                                           sizeof *x->routing.route_link);
    if (!x->routing.routes || !x->routing.route_link)
        return mo_fail_memory(err);
    for (size_t pair = 0; pair < n_pairs; pair++) {
        const mo_route *route = &m->routes->routes[pair];

        x->routing.routes[pair] =
            (mo_route_span){ route->first_link, route->hops };
    }
    if (x->routing.n_route_links > 0)
        memcpy(x->routing.route_link, m->routes->path,
               x->routing.n_route_links * sizeof *x->routing.route_link);
    return MO_OK;
}

/* In nanoseconds; -1 when it is more than MO_MAX_OVERHEAD_NS. */
static int64_t overhead_from_us(double us)
{
    double ns = 1e3 * us;

    return ns <= (double) MO_MAX_OVERHEAD_NS ? llround(ns) : -1;
}

/* Those of the cluster, else those of the profile: for CPUs, or for the parts
 * of a GPU. */
static mo_status set_overheads(mo_instance_maker *m, mo_error *err)
{
    mo_instance *x = m->x;
    const mo_profile *profile = m->options->profile;
    size_t K = (size_t) x->n_devices;
    int64_t *ns = mo_arena_array(x->arena, K, sizeof *ns);
    double *gbs = mo_arena_array(x->arena, K, sizeof *gbs);
    bool any = false;

    if (!ns || !gbs)
        return mo_fail_memory(err);
    for (size_t k = 0; k < K; k++) {
        const mo_device *device = &m->cluster->devices[k];
        bool profiled =
            device->overhead_us == 0 && device->copy_gbs == 0 && profile;
        double us = !profiled ? device->overhead_us
                              : profile->parts_overhead_us +
                                    (device->is_cpu ? profile->overhead_us : 0);

        ns[k] = overhead_from_us(us);
        gbs[k] =
            profiled && device->is_cpu ? profile->copy_gbs : device->copy_gbs;
        any = any || ns[k] > 0 || gbs[k] > 0;
        if (ns[k] < 0)
            return mo_fail_at(err, MO_E_INPUT, m->cluster->file, device->line,
                              "overhead_us of device '%.80s' is more than a "
                              "second; give it in microseconds",
                              device->id);
    }
    x->load.overhead_ns = any ? ns : NULL;
    x->load.copy_gbs = any ? gbs : NULL;
    return MO_OK;
}

/* That of the cluster, else that of the profile. */
static mo_status set_host_times(mo_instance_maker *m, mo_error *err)
{
    const mo_cluster *cluster = m->cluster;
    const mo_profile *profile = m->options->profile;
    double request_us = cluster->host_request_us;
    double transfer_us = cluster->host_transfer_us;
    const char *file = cluster->file;

    if (request_us == 0 && transfer_us == 0 && profile) {
        request_us = profile->host_request_us;
        transfer_us = profile->host_transfer_us;
        file = profile->file;
    }
    m->x->load.host_request_ns = overhead_from_us(request_us);
    m->x->load.host_transfer_ns = overhead_from_us(transfer_us);
    if (m->x->load.host_request_ns < 0 || m->x->load.host_transfer_ns < 0)
        return mo_fail_at(err, MO_E_INPUT, file, 0,
                          "host_request_us or host_transfer_us is more than a "
                          "second; give both in microseconds");
    return MO_OK;
}

static mo_status check_profile(mo_instance_maker *m, mo_error *err)
{
    return m->options->profile
               ? mo_profile_check_cluster(m->options->profile, m->cluster, err)
               : MO_OK;
}

static mo_status find_routes(mo_instance_maker *m, mo_error *err)
{
    return mo_routes_make(m->cluster, &m->routes, err);
}

static mo_status new_instance(mo_instance_maker *m, mo_error *err)
{
    m->x = calloc(1, sizeof *m->x);
    if (m->x) {
        m->x->arena = mo_arena_new();
        m->x->formats = m->options->predictor.numeric;
    }
    return m->x && m->x->arena ? MO_OK : mo_fail_memory(err);
}

mo_status mo_instance_make(const mo_graph *g, const mo_cluster *cluster,
                           const mo_instance_options *options,
                           mo_instance **instance, mo_error *err)
{
    static mo_status (*const steps[])(mo_instance_maker *, mo_error *) = {
        check_profile,
        find_routes,
        new_instance,
        copy_names,
        copy_routes,
        mo_instance_maker_flows,
        mo_instance_maker_bindings,
        mo_instance_maker_times,
        mo_instance_maker_comms,
        set_overheads,
        set_host_times,
        mo_instance_maker_check_limits,
        mo_instance_maker_digests,
    };
    mo_instance_maker m = { .g = g, .cluster = cluster, .options = options };
    mo_status status = MO_OK;

    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == MO_OK; i++)
        status = steps[i](&m, err);
    mo_routes_free(m.routes);
    if (status == MO_OK)
        *instance = m.x;
    else
        mo_instance_free(m.x);
    return status;
}

void mo_instance_free(mo_instance *instance)
{
    if (!instance)
        return;
    mo_arena_free(instance->arena);
    free(instance);
}

mo_dag mo_instance_dag(const mo_instance *x)
{
    return (mo_dag){
        .n = x->n,
        .n_edges = x->n_flows,
        .out_start = x->out_start,
        .in_start = x->in_start,
        .to = x->flows ? &x->flows->to : NULL,
        .stride = sizeof *x->flows,
    };
}
