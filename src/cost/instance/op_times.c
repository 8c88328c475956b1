/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Execution times of ops by device: given, measured by signature, interpolated
 * between measured ones, or predicted.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "cost/instance/instance_internal.h"
#include "graph/phases.h"

/* Columns of the graph with the times of one device. */
typedef struct device_columns {
    int by_id, by_model; /* columns, or -1 */
} device_columns;

/* The op being timed; derived data is computed on first use, once for all
 * devices. */
typedef struct timing {
    mo_instance_maker *m;
    const mo_graph *g; /* of the op: that of its phase in a workload */
    const device_columns *places;
    int op, row;     /* in g and in the instance */
    int64_t runs;    /* in a request */
    char *signature; /* or NULL */
    mo_predictor_input input;
    bool has_basis;
} timing;

/* A column may name a known model in any spelling. */
static int find_model(const mo_graph *g, const mo_device *device)
{
    int column = -1;

    if (device->model)
        column = mo_instance_maker_column(g->time_columns, g->n_time_columns,
                                          device->model);
    for (int c = 0; c < g->n_time_columns && column < 0 && device->known; c++)
        if (mo_device_find(g->time_columns[c].key) == device->known)
            column = c;
    return column;
}

static double given_us(const timing *t, int device)
{
    const device_columns *where = &t->places[device];
    double us = NAN;

    if (where->by_id >= 0)
        us = mo_graph_time_us(t->g, t->op, where->by_id);
    if (isnan(us) && where->by_model >= 0)
        us = mo_graph_time_us(t->g, t->op, where->by_model);
    return us;
}

/* Parts of a GPU slow each other down: measured is each with the others idle.
 */
static double with_slowdown(const mo_profile *profile, double us)
{
    return profile->parts_slowdown > 0 ? us * profile->parts_slowdown : us;
}

static mo_status profiled_us(timing *t, int device, double *us, mo_error *err)
{
    const mo_profile *profile = t->m->options->profile;
    mo_status status = MO_OK;

    if (!profile)
        return MO_OK;
    if (!t->signature) {
        mo_out *out;
        size_t size;

        status = mo_out_memory(&out, err);
        if (status != MO_OK)
            return status;
        mo_profile_signature(t->g, t->op, out);
        t->signature = mo_out_take(out, &size);
        mo_out_abandon(out);
        status = t->signature ? MO_OK : mo_fail_memory(err);
    }
    if (status == MO_OK)
        *us = mo_profile_time_us(profile, &t->m->cluster->devices[device],
                                 t->signature);
    *us = with_slowdown(profile, *us);
    return status;
}

/* After profiled_us, which has found the signature. */
static double interpolated_us(const timing *t, int device)
{
    const mo_profile *profile = t->m->options->profile;
    const mo_op *op = &t->g->ops[t->op];

    if (!profile)
        return NAN;
    return with_slowdown(profile, mo_profile_interpolate_us(
                                      profile, &t->m->cluster->devices[device],
                                      t->signature, op->flops, op->bytes));
}

static double rated_us(const timing *t, int device)
{
    const mo_profile *profile = t->m->options->profile;
    const mo_op *op = &t->g->ops[t->op];

    return profile
               ? mo_profile_rate_us(profile, &t->m->cluster->devices[device],
                                    op->flops, op->bytes)
               : NAN;
}

static double predicted_us(timing *t, int device)
{
    const mo_predictor *predictor = &t->m->options->predictor;

    if (!t->has_basis)
        t->input = mo_predictor_input_of(predictor, t->g, t->op);
    t->has_basis = true;
    return mo_predictor_input_us(predictor, &t->input,
                                 &t->m->cluster->devices[device]);
}

/* Finds the time by decreasing priority, rounded; MO_UNKNOWN when there is
 * none. */
static mo_status find_time(timing *t, int device, int64_t *ns, mo_error *err)
{
    const mo_instance_options *options = t->m->options;
    const char *how = "", *by = "";
    double us = given_us(t, device);
    mo_time_source source = MO_TIME_GIVEN;
    mo_status status = MO_OK;

    if (isnan(us)) {
        status = profiled_us(t, device, &us, err);
        source = MO_TIME_MEASURED;
        how = " by profile ";
        by = options->profile ? options->profile->file : "";
    }
    if (status != MO_OK)
        return status;
    if (isnan(us)) {
        us = interpolated_us(t, device);
        source = MO_TIME_INTERPOLATED;
    }
    if (isnan(us))
        us = rated_us(t, device);
    if (isnan(us)) {
        us = predicted_us(t, device);
        source = MO_TIME_PREDICTED;
        how = " by --cost ";
        by = options->predictor.text ? options->predictor.text : "roofline";
    }
    if (t->m->x->origins) {
        const mo_instance_maker *m = t->m;
        const mo_device *it = &m->cluster->devices[device];
        mo_time_origin *origin =
            &m->x->origins[(int64_t) t->row * m->x->n_devices + device];

        *origin = (mo_time_origin){ .source = source, .error = NAN };
        if (source == MO_TIME_MEASURED) {
            const mo_profile_op *row =
                mo_profile_find(m->options->profile, it, t->signature);

            if (row && row->median_us > 0)
                origin->error = row->spread_us / row->median_us;
        } else if (source == MO_TIME_PREDICTED)
            *origin = mo_time_origin_predicted(&m->options->predictor,
                                               &t->input, it, us);
    }
    *ns = isnan(us) ? MO_UNKNOWN : mo_instance_maker_round(us * 1000);
    if (isnan(us))
        return MO_OK;
    if (*ns >= 0 && *ns <= MO_MAX_TIME_NS / t->runs) {
        *ns *= t->runs;
        return MO_OK;
    }
    us *= (double) t->runs;
    return mo_fail_at(err, MO_E_INPUT, NULL, t->g->ops[t->op].line,
                      "op '%.200s' takes %g us on device %.60s%s%.200s; times "
                      "must lie between 0 and 10^11 us",
                      t->g->ops[t->op].name, us,
                      t->m->cluster->devices[device].id, how, by);
}

/* Writes "A, B and 254 more"; as many names as fit on a line. */
static void name_devices(const timing *t, const int64_t *ns, int first,
                         int last, char *names, size_t size)
{
    size_t length = 0;
    int n_left = 0;

    names[0] = '\0';
    for (int k = first; k < last; k++) {
        if (ns[k] >= 0)
            continue;
        if (length > size / 2)
            n_left++;
        else
            length += (size_t) snprintf(names + length, size - length,
                                        "%s%.40s", length > 0 ? ", " : "",
                                        t->m->cluster->devices[k].id);
    }
    if (n_left > 0)
        snprintf(names + length, size - length, " and %d more", n_left);
}

/* Reports that the op has no time on the devices without one in ns, of first
 * to last. A device without a speed is a mistake of the cluster, a missing
 * time to scale from one of --cost, everything else of the graph. */
static void report_op(const timing *t, const int64_t *ns, int first, int last)
{
    const mo_op *op = &t->g->ops[t->op];
    const mo_predictor *predictor = &t->m->options->predictor;
    const mo_device *culprit = NULL;
    char names[160], reason[256] = "", lacks[256];
    mo_instance_missing what = { .kind = "op", .line = op->line };

    name_devices(t, ns, first, last, names, sizeof names);
    snprintf(lacks, sizeof lacks, "no time on %s", names);
    for (int k = last - 1; k >= first; k--)
        if (ns[k] < 0)
            culprit = &t->m->cluster->devices[k];
    if (predictor->is_wave && isnan(t->input.origin_us)) {
        snprintf(lacks, sizeof lacks,
                 "no time on %.80s, from which --cost wave scales",
                 predictor->origin.id);
        what.remedy = "time_us of that device, or a profile (-p) with it";
    } else if (op->flops < 0 || op->bytes < 0) {
        what.remedy = "time_us.<device>, a profile (-p), or flops and bytes";
    } else {
        if (predictor->is_wave && (predictor->origin.gflops[MO_MATH_F32] <= 0 ||
                                   predictor->origin.bandwidth_gbs <= 0)) {
            culprit = &predictor->origin;
            snprintf(names, sizeof names, "%.80s", culprit->id);
        }
        snprintf(reason, sizeof reason, "%s without a speed: %s: ",
                 strchr(names, ',') || strstr(names, " and ") ? "devices"
                                                              : "device",
                 names);
        if (culprit != &predictor->origin)
            snprintf(lacks, sizeof lacks, "no time there");
        what.remedy =
            "model, or gflops and memory_bandwidth_gbs, to the cluster, "
            "time_us.<device> to the graph, or a profile (-p)";
        what.file = t->m->cluster->file;
        what.line = culprit->line;
    }
    what.reason = reason;
    what.lacks = lacks;
    mo_instance_maker_add_missing(t->m, &what, "'%.140s' (%.40s)", op->name,
                                  op->type ? op->type : "no type");
}

/* An op that is restricted to one device needs a time only there; devices
 * without a time get the same. */
static mo_status fill_op(timing *t, int64_t *ns, mo_error *err)
{
    int n = t->m->cluster->n_devices, pin = t->m->x->pin[t->row];
    int first = pin == MO_FREE ? 0 : pin, last = pin == MO_FREE ? n : pin + 1;
    mo_time_origin *origins =
        t->m->x->origins ? t->m->x->origins + (int64_t) t->row * n : NULL;
    bool is_complete = true;

    for (int k = 0; k < n; k++) {
        mo_status status = find_time(t, k, &ns[k], err);

        if (status != MO_OK)
            return status;
        if (k >= first && k < last)
            is_complete = is_complete && ns[k] >= 0;
    }
    if (!is_complete)
        report_op(t, ns, first, last);
    for (int k = 0; k < n && pin != MO_FREE; k++)
        if (ns[k] < 0) {
            ns[k] = ns[pin];
            if (origins)
                origins[k] = (mo_time_origin){ .source = MO_TIME_ELSEWHERE,
                                               .error = NAN };
        }
    return MO_OK;
}

/* Fills the times of the ops of g, which are those of the instance, or of a
 * phase of a workload. */
static mo_status fill_graph(mo_instance_maker *m, const mo_graph *g,
                            const int *row_of, int64_t runs,
                            device_columns *places, mo_error *err)
{
    mo_status status = MO_OK;

    for (int k = 0; k < m->cluster->n_devices; k++) {
        const mo_device *device = &m->cluster->devices[k];

        places[k].by_id = mo_instance_maker_column(
            g->time_columns, g->n_time_columns, device->id);
        places[k].by_model = find_model(g, device);
    }
    for (int i = 0; i < g->n_ops && status == MO_OK; i++) {
        int row = row_of ? row_of[i] : i;
        timing t = {
            .m = m, .g = g, .places = places, .op = i, .row = row, .runs = runs
        };

        status = fill_op(&t, m->x->p_ns + (int64_t) row * m->x->n_devices, err);
        free(t.signature);
    }
    return status;
}

/* Gates of a workload take no time. */
static mo_status fill_phases(mo_instance_maker *m, device_columns *places,
                             mo_error *err)
{
    const mo_phases *phases = m->g->phases;
    int64_t n_times = (int64_t) m->x->n * m->x->n_devices;
    mo_status status = MO_OK;

    for (int64_t i = 0; i < n_times && m->x->origins; i++)
        m->x->origins[i] =
            (mo_time_origin){ .source = MO_TIME_GIVEN, .error = NAN };
    for (int p = 0; p < phases->n && status == MO_OK; p++)
        status = fill_graph(m, phases->items[p].graph, phases->items[p].op_of,
                            phases->items[p].weight, places, err);
    return status;
}

mo_status mo_instance_maker_times(mo_instance_maker *m, mo_error *err)
{
    mo_instance *x = m->x;
    size_t n_times = (size_t) x->n * (size_t) x->n_devices;
    device_columns *places;
    mo_status status;

    if (n_times > MO_INSTANCE_MAX_NUMBERS)
        return mo_fail(err, MO_E_LIMIT,
                       "%d ops on %d devices are more than %d times; coarsen "
                       "the graph, or use fewer devices",
                       x->n, x->n_devices, MO_INSTANCE_MAX_NUMBERS);
    places = calloc((size_t) x->n_devices, sizeof *places);
    x->p_ns = mo_arena_array(x->arena, n_times, sizeof *x->p_ns);
    if (m->options->explain)
        x->origins = mo_arena_array(x->arena, n_times, sizeof *x->origins);
    if (!places || !x->p_ns || (!x->origins && m->options->explain))
        status = mo_fail_memory(err);
    else if (m->g->phases)
        status = fill_phases(m, places, err);
    else
        status = fill_graph(m, m->g, NULL, 1, places, err);
    free(places);
    return status;
}
