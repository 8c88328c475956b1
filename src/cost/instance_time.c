#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "cost/instance_parts.h"

/* Where the times of one device stand in the graph's columns. */
typedef struct place {
    int by_id, by_model;   /* columns, or -1 */
} place;

static void find_places(const mo_maker *m, place *places)
{
    const mo_graph *g = m->g;

    for (int k = 0; k < m->cluster->n_devices; k++) {
        const mo_device *device = &m->cluster->devices[k];

        places[k].by_id = mo_maker_column(g->time_columns, g->n_time_columns,
                                          device->id);
        places[k].by_model = -1;
        if (device->model)
            places[k].by_model = mo_maker_column(
                g->time_columns, g->n_time_columns, device->model);
        if (places[k].by_model < 0 && device->known)
            places[k].by_model = mo_maker_column(
                g->time_columns, g->n_time_columns, device->known->name);
    }
}

static double given_us(const mo_graph *g, int op, const place *where)
{
    double us = NAN;

    if (where->by_id >= 0)
        us = mo_graph_time_us(g, op, where->by_id);
    if (isnan(us) && where->by_model >= 0)
        us = mo_graph_time_us(g, op, where->by_model);
    return us;
}

/* Times by decreasing trust; NAN when there is none. */
static double time_us(const mo_maker *m, int op, int device,
                      const place *where, const char *signature)
{
    double us = given_us(m->g, op, where);

    if (isnan(us) && signature)
        us = mo_profile_time_us(m->options->profile,
                                &m->cluster->devices[device], signature);
    if (isnan(us))
        us = mo_predictor_us(&m->options->predictor, m->g, op,
                             &m->cluster->devices[device]);
    return us;
}

static void miss_time(mo_maker *m, int op, int device)
{
    const mo_op *it = &m->g->ops[op];

    mo_maker_miss(m, "op '%s' (%s) has no time on device %s", it->name,
                  it->type ? it->type : "no type",
                  m->cluster->devices[device].id);
}

static mo_status fill_op(mo_maker *m, int op, const place *places,
                         const char *signature, mo_error *err)
{
    mo_instance *x = m->x;
    int pinned = MO_FREE;

    if (m->g->ops[op].pin)
        pinned = mo_cluster_find(m->cluster, m->g->ops[op].pin);
    for (int k = 0; k < x->n_devices; k++) {
        /* Only where it may go must it have a time; elsewhere it has the same,
         * which nobody will look at. */
        int on = pinned >= 0 ? pinned : k;
        double us = time_us(m, op, on, &places[on], signature);
        int64_t ns = mo_maker_ns(us);

        if (isnan(us))
            miss_time(m, op, on);
        else if (ns < 0)
            return mo_fail(err, MO_E_INPUT,
                           "op '%s' takes %g us on device %s; times must lie "
                           "between 0 and 10^11 us", m->g->ops[op].name, us,
                           m->cluster->devices[on].id);
        x->p_ns[(int64_t) op * x->n_devices + k] = ns;
        if (isnan(us) && pinned >= 0)
            break;
    }
    return MO_OK;
}

/* The signature of op as the profile would have it; NULL without a profile. */
static mo_status find_signature(const mo_maker *m, int op, char **signature,
                                mo_error *err)
{
    mo_out *out;
    mo_status status;
    size_t size;

    *signature = NULL;
    if (!m->options->profile)
        return MO_OK;
    status = mo_out_memory(&out, err);
    if (status != MO_OK)
        return status;
    mo_profile_signature(m->g, op, out);
    *signature = mo_out_take(out, &size);
    mo_out_abandon(out);
    return *signature ? MO_OK : mo_fail_memory(err);
}

mo_status mo_maker_times(mo_maker *m, mo_error *err)
{
    mo_instance *x = m->x;
    place *places = calloc((size_t) x->n_devices, sizeof *places);
    size_t n_times;
    mo_status status = MO_OK;

    n_times = (size_t) x->n * (size_t) x->n_devices;
    x->p_ns = mo_arena_array(x->arena, n_times, sizeof *x->p_ns);
    if (!places || !x->p_ns) {
        free(places);
        return mo_fail_memory(err);
    }
    find_places(m, places);
    for (int i = 0; i < x->n && status == MO_OK; i++) {
        char *signature;

        status = find_signature(m, i, &signature, err);
        if (status == MO_OK)
            status = fill_op(m, i, places, signature, err);
        free(signature);
    }
    free(places);
    if (status != MO_OK)
        return status;
    return mo_maker_complete(m, "give time_us.<device> in the graph, a profile "
                                "with -p, or flops and bytes and a device with "
                                "known speed", err);
}
