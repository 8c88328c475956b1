/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selection of the cost model by --cost, and its prediction of an op's time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost/cluster/cluster_builder.h"
#include "cost/predict.h"

mo_device mo_device_from_model(const mo_device_model *model)
{
    mo_device device = {
        .id = model->name,
        .model = model->name,
        MO_DEVICE_NO_FIGURES,
    };

    mo_device_complete(&device);
    return device;
}

static mo_status find_origin(const char *name, const mo_cluster *cluster,
                             mo_device *origin, mo_error *err)
{
    int id = cluster ? mo_cluster_find(cluster, name) : -1;
    const mo_device_model *model = mo_device_find(name);

    if (id < 0 && !model)
        return mo_fail(err, MO_E_USAGE,
                       "--cost wave:%s: '%s' is neither a device of the "
                       "cluster nor a model we know (moirai-cluster(5))",
                       name, name);
    *origin = id >= 0 ? cluster->devices[id] : mo_device_from_model(model);
    return MO_OK;
}

/* Returns the text behind prefix, or NULL. */
static const char *text_after(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);

    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

mo_status mo_predictor_parse(const char *text, const mo_cluster *cluster,
                             const mo_profile *profile, mo_predictor *predictor,
                             mo_error *err)
{
    const char *rest;

    *predictor = (mo_predictor){ .text = text, .profile = profile };
    if (strcmp(text, "roofline") == 0)
        return MO_OK;
    if ((rest = text_after(text, "roofline:")) && *rest)
        return mo_efficiencies_read(rest, &predictor->efficiencies, err);
    if ((rest = text_after(text, "wave:")) && *rest) {
        predictor->is_wave = true;
        return find_origin(rest, cluster, &predictor->origin, err);
    }
    return mo_fail(err, MO_E_USAGE,
                   "--cost '%s' is none of roofline, roofline:FILE and "
                   "wave:DEVICE",
                   text);
}

static double column_us(const mo_graph *g, int op, const char *key)
{
    for (int c = 0; key && c < g->n_time_columns; c++)
        if (strcmp(g->time_columns[c].key, key) == 0)
            return mo_graph_time_us(g, op, c);
    return NAN;
}

/* Returns the time of op on device in the profile; NAN when memory is
 * exhausted, too. */
static double profile_us(const mo_profile *profile, const mo_graph *g, int op,
                         const mo_device *device)
{
    mo_out *out;
    char *signature;
    size_t size;
    double us = NAN;

    if (!profile || mo_out_memory(&out, NULL) != MO_OK)
        return NAN;
    mo_profile_signature(g, op, out);
    signature = mo_out_take(out, &size);
    if (signature)
        us = mo_profile_time_us(profile, device, signature);
    free(signature);
    mo_out_abandon(out);
    return us;
}

/* Returns the time of op on the device that others are scaled from. */
static double origin_us(const mo_predictor *p, const mo_graph *g, int op)
{
    const mo_device *origin = &p->origin;
    double us = column_us(g, op, origin->id);

    if (isnan(us))
        us = column_us(g, op, origin->model);
    if (isnan(us) && origin->known)
        us = column_us(g, op, origin->known->name);
    return isnan(us) ? profile_us(p->profile, g, op, origin) : us;
}

mo_predictor_input mo_predictor_input_of(const mo_predictor *predictor,
                                         const mo_graph *g, int op)
{
    return (mo_predictor_input){ mo_workload_in(&predictor->numeric, g, op),
                                 predictor->is_wave
                                     ? origin_us(predictor, g, op)
                                     : NAN };
}

double mo_predictor_input_us(const mo_predictor *predictor,
                             const mo_predictor_input *input,
                             const mo_device *device)
{
    if (predictor->is_wave)
        return mo_predict_wave_us(&predictor->efficiencies, &input->work,
                                  &predictor->origin, input->origin_us, device);
    return mo_predict_roofline_us(&predictor->efficiencies, &input->work,
                                  device);
}

double mo_predictor_us(const mo_predictor *predictor, const mo_graph *g, int op,
                       const mo_device *device)
{
    mo_predictor_input input = mo_predictor_input_of(predictor, g, op);

    return mo_predictor_input_us(predictor, &input, device);
}
