#include "cost/instance.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "cost/instance_parts.h"

void mo_maker_miss(mo_maker *m, const char *format, ...)
{
    char what[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (m->n_missing++ == 0)
        snprintf(m->first_missing, sizeof m->first_missing, "%.250s", what);
    if (m->options->missing)
        m->options->missing(m->options->context, what);
}

mo_status mo_maker_complete(const mo_maker *m, const char *advice,
                            mo_error *err)
{
    if (m->n_missing == 0)
        return MO_OK;
    if (m->n_missing == 1)
        return mo_fail(err, MO_E_INPUT, "%s; %s", m->first_missing, advice);
    return mo_fail(err, MO_E_INPUT, "%s, and %d more like it; %s",
                   m->first_missing, m->n_missing - 1, advice);
}

int mo_maker_column(const mo_column *columns, int n, const char *key)
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

int64_t mo_maker_ns(double us)
{
    double ns = us * 1000;

    return ns >= 0 && ns <= (double) MO_MAX_TIME_NS ? llround(ns) : -1;
}

static mo_status copy_names(mo_maker *m, mo_error *err)
{
    mo_instance *x = m->x;

    x->n = m->g->n_ops;
    x->n_devices = m->cluster->n_devices;
    x->op_names = mo_arena_array(x->arena, (size_t) x->n,
                                 sizeof *x->op_names);
    x->device_ids = mo_arena_array(x->arena, (size_t) x->n_devices,
                                   sizeof *x->device_ids);
    if (!x->op_names || !x->device_ids)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n; i++) {
        const char *name = m->g->ops[i].name;

        x->op_names[i] = mo_arena_text(x->arena, name, strlen(name));
        if (!x->op_names[i])
            return mo_fail_memory(err);
    }
    for (int k = 0; k < x->n_devices; k++) {
        const char *id = m->cluster->devices[k].id;

        x->device_ids[k] = mo_arena_text(x->arena, id, strlen(id));
        if (!x->device_ids[k])
            return mo_fail_memory(err);
    }
    return MO_OK;
}

static mo_status copy_routes(mo_maker *m, mo_error *err)
{
    mo_instance *x = m->x;
    size_t n_pairs = (size_t) x->n_devices * (size_t) x->n_devices;
    size_t n = 0;

    x->n_links = m->cluster->n_links;
    x->route_start = mo_arena_array(x->arena, n_pairs + 1,
                                    sizeof *x->route_start);
    if (!x->route_start)
        return mo_fail_memory(err);
    for (size_t pair = 0; pair < n_pairs; pair++) {
        x->route_start[pair] = (int) n;
        n += (size_t) m->routes->routes[pair].hops;
    }
    x->route_start[n_pairs] = (int) n;
    x->route_link = mo_arena_array(x->arena, n, sizeof *x->route_link);
    if (!x->route_link)
        return mo_fail_memory(err);
    for (size_t pair = 0; pair < n_pairs; pair++) {
        const mo_route *route = &m->routes->routes[pair];

        for (int h = 0; h < route->hops; h++)
            x->route_link[x->route_start[pair] + h] =
                m->routes->path[route->first_link + h];
    }
    return MO_OK;
}

static void hash_ints(mo_digest *d, const int *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mo_digest_int(d, values[i]);
}

static void hash_int64s(mo_digest *d, const int64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mo_digest_int(d, values[i]);
}

static void hash_instance(const mo_instance *x, mo_digest *d)
{
    size_t n = (size_t) x->n, k = (size_t) x->n_devices;
    size_t t = (size_t) x->n_tensors;

    mo_digest_int(d, x->n);
    mo_digest_int(d, x->n_devices);
    mo_digest_int(d, x->n_flows);
    mo_digest_int(d, x->n_tensors);
    mo_digest_int(d, x->n_comm_rows);
    for (size_t i = 0; i < n; i++)
        mo_digest_text(d, x->op_names[i]);
    for (size_t i = 0; i < k; i++)
        mo_digest_text(d, x->device_ids[i]);
    hash_int64s(d, x->p_ns, n * k);
    hash_int64s(d, x->memory_bytes, n);
    hash_int64s(d, x->weight_bytes, n);
    hash_int64s(d, x->capacity_bytes, k);
    for (int q = 0; q < x->n_flows; q++) {
        mo_digest_int(d, x->flows[q].from);
        mo_digest_int(d, x->flows[q].to);
        mo_digest_int(d, x->flows[q].tensor);
    }
    hash_ints(d, x->flow_row, (size_t) x->n_flows);
    hash_ints(d, x->tensor_row, t);
    hash_int64s(d, x->comm_ns, (size_t) x->n_comm_rows * k * k);
    hash_ints(d, x->pin, n);
    hash_ints(d, x->group, n);
    hash_ints(d, x->route_start, k * k + 1);
    hash_ints(d, x->route_link, (size_t) x->route_start[k * k]);
}

static mo_status find_digests(mo_maker *m, mo_error *err)
{
    mo_instance *x = m->x;
    mo_digest *d = mo_digest_new();
    mo_status status;

    if (!d)
        return mo_fail_memory(err);
    hash_instance(x, d);
    x->digest = mo_digest_value(d);
    mo_digest_free(d);
    status = mo_graph_digest(m->g, &x->graph_digest, err);
    if (status == MO_OK)
        status = mo_cluster_digest(m->cluster, &x->cluster_digest, err);
    if (status == MO_OK && m->options->profile)
        status = mo_profile_digest(m->options->profile, &x->profile_digest,
                                   err);
    return status;
}

static mo_status check_profile(const mo_maker *m, mo_error *err)
{
    return m->options->profile
               ? mo_profile_fits(m->options->profile, m->cluster, err)
               : MO_OK;
}

mo_status mo_instance_make(const mo_graph *g, const mo_cluster *cluster,
                           const mo_instance_options *options,
                           mo_instance **instance, mo_error *err)
{
    static mo_status (*const steps[])(mo_maker *, mo_error *) = {
        copy_names,     mo_maker_flows,    copy_routes,
        mo_maker_times, mo_maker_comms,    mo_maker_bindings,
        mo_maker_memory, find_digests,
    };
    mo_maker m = { .g = g, .cluster = cluster, .options = options };
    mo_status status = check_profile(&m, err);

    if (status == MO_OK)
        status = mo_routes_make(cluster, &m.routes, err);
    if (status == MO_OK) {
        m.x = calloc(1, sizeof *m.x);
        if (m.x)
            m.x->arena = mo_arena_new();
        if (!m.x || !m.x->arena)
            status = mo_fail_memory(err);
    }
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
