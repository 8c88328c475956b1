/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "driver/place/extend_cluster.h"
#include "driver/place/runtime_job.h"

mo_status mo_runtime_job_chain(const mo_runtime_job *j, mo_cluster *cluster,
                               mo_chain **chain, mo_error *err)
{
    mo_driver_load_options options = j->prepare->load;
    mo_driver_devices devices = { cluster, j->devices.profile };
    mo_instance *x[MO_RUNTIME_PHASES] = { NULL, NULL };
    mo_chain_source sources[MO_RUNTIME_PHASES] = {
        { "prompt", 1, j->lengths.prompt, j->graphs[0], NULL },
        { "token", (double) j->lengths.generate, 1, j->graphs[1], NULL }
    };
    mo_status status = MO_OK;

    options.any_size = true;
    for (int i = 0; i < MO_RUNTIME_PHASES && status == MO_OK; i++) {
        status = mo_driver_load_instance(&options, j->path, j->graphs[i],
                                         &devices, j->logger, &x[i], err);
        sources[i].x = x[i];
    }
    if (status == MO_OK)
        status =
            mo_chain_make(sources, MO_RUNTIME_PHASES, cluster,
                          j->devices.profile, &j->runtime->rules, chain, err);
    for (int i = 0; i < MO_RUNTIME_PHASES; i++)
        mo_instance_free(x[i]);
    return status;
}

/* Adds a row for a split that was found, or for the reason why there is none;
 * any other failure is one of the command. */
static mo_status add_row(mo_runtime_job *j, const char *label, mo_status status,
                         const mo_split *split, mo_error *err)
{
    mo_handover_row *row = &j->rows[j->n_rows];

    if (status != MO_OK && status != MO_E_INFEASIBLE)
        return status;
    mo_utf8_escape_controls(row->label, sizeof row->label, label);
    if (status == MO_E_INFEASIBLE) {
        j->reasons[j->n_rows] = strdup(err->text);
        row->why = j->reasons[j->n_rows];
        if (!row->why)
            return mo_fail_memory(err);
    } else if (!split->figures.fits) {
        row->why = "does not fit into memory";
    } else {
        mo_handover_row_set(row, &split->figures);
    }
    j->n_rows++;
    return MO_OK;
}

static mo_status add_split(mo_runtime_job *j, const mo_chain *chain,
                           const bool *allowed, const char *label,
                           mo_error *err)
{
    mo_split split = { .bound_ns = 0 };
    mo_status status = mo_split_find(chain, allowed, &split, err);

    status = add_row(j, label, status, &split, err);
    mo_split_clear(&split);
    return status;
}

static mo_status add_default(mo_runtime_job *j, const mo_chain *chain,
                             mo_error *err)
{
    bool all[MO_CHAIN_MAX_DEVICES];
    char label[MO_HANDOVER_LABEL];
    mo_split split = { .bound_ns = 0 };
    mo_status status;

    for (int k = 0; k < chain->n_devices; k++)
        all[k] = true;
    snprintf(label, sizeof label, "%s: %s", j->runtime->name,
             j->runtime->default_name);
    status = j->runtime->split_default(chain, all, &split, err);
    status = add_row(j, label, status, &split, err);
    mo_split_clear(&split);
    return status;
}

static bool may_use(const mo_runtime_job *j, const mo_chain *chain, int device)
{
    return j->runtime->rules.uses_cpu ||
           !chain->cluster->devices[device].is_cpu;
}

static bool has_experts_on_host(const mo_chain *chain, const mo_split *split)
{
    for (int u = 0; u < chain->n_units; u++)
        if (split->placement.experts_on_host[u])
            return true;
    return false;
}

/* Adds the row of a device alone; experts in main memory need the CPU, too. */
static mo_status add_alone(mo_runtime_job *j, const mo_chain *chain,
                           const bool *allowed, int device, mo_error *err)
{
    const mo_device *devices = chain->cluster->devices;
    char label[MO_HANDOVER_LABEL];
    mo_split split = { .bound_ns = 0 };
    mo_status status = mo_split_find(chain, allowed, &split, err);

    if (status == MO_OK && device != chain->host &&
        has_experts_on_host(chain, &split))
        snprintf(label, sizeof label, "%.40s with experts on %.30s",
                 devices[device].id, devices[chain->host].id);
    else
        snprintf(label, sizeof label, "%.60s alone", devices[device].id);
    status = add_row(j, label, status, &split, err);
    mo_split_clear(&split);
    return status;
}

static bool is_dropped(const mo_place_runtime_options *o, const char *id)
{
    for (size_t i = 0; i < o->dropped.count; i++)
        if (strcmp(o->dropped.items[i], "all") == 0 ||
            strcmp(o->dropped.items[i], id) == 0)
            return true;
    return false;
}

static mo_status check_dropped(const mo_runtime_job *j, const mo_chain *chain,
                               mo_error *err)
{
    for (size_t i = 0; i < j->o->dropped.count; i++) {
        const char *name = j->o->dropped.items[i];
        bool known = strcmp(name, "all") == 0;

        for (int k = 0; k < chain->n_devices; k++)
            known = known || strcmp(chain->cluster->devices[k].id, name) == 0;
        if (!known)
            return mo_fail(err, MO_E_USAGE,
                           "--drop-device: there is no device '%.80s'; all "
                           "stands for each",
                           name);
    }
    return MO_OK;
}

/* Each device alone, or all but one that is to be dropped. */
static mo_status add_subsets(mo_runtime_job *j, const mo_chain *chain,
                             bool alone, mo_error *err)
{
    bool allowed[MO_CHAIN_MAX_DEVICES];
    char label[MO_HANDOVER_LABEL];
    mo_status status = MO_OK;

    for (int k = 0; k < chain->n_devices && status == MO_OK; k++) {
        if (!alone && !is_dropped(j->o, chain->cluster->devices[k].id))
            continue;
        for (int i = 0; i < chain->n_devices; i++)
            allowed[i] = (i == k) == alone;
        if (!may_use(j, chain, k))
            continue;
        snprintf(label, sizeof label, "without %.60s",
                 chain->cluster->devices[k].id);
        status = alone ? add_alone(j, chain, allowed, k, err)
                       : add_split(j, chain, allowed, label, err);
    }
    return status;
}

/* A device that is of no use is left out, so that it does no harm. */
static mo_status add_device(mo_runtime_job *j, const char *text,
                            const mo_split *own, mo_error *err)
{
    bool all[MO_CHAIN_MAX_DEVICES];
    char label[MO_HANDOVER_LABEL];
    mo_split split = { .bound_ns = 0 };
    bool useless;
    mo_cluster *cluster = NULL;
    mo_chain *chain = NULL;
    mo_status status =
        mo_place_extend_cluster(j->devices.cluster, text, &cluster, err);

    for (int k = 0; k < MO_CHAIN_MAX_DEVICES; k++)
        all[k] = true;
    if (status == MO_OK)
        status = mo_runtime_job_chain(j, cluster, &chain, err);
    if (status == MO_OK)
        status = mo_split_find(chain, all, &split, err);
    useless = own && (status == MO_E_INFEASIBLE ||
                      (status == MO_OK &&
                       split.figures.request_ns >= own->figures.request_ns));
    if (useless)
        status = MO_OK;
    snprintf(label, sizeof label, "with one more %.60s%s", text,
             useless ? ", not used" : "");
    status = add_row(j, label, status, useless ? own : &split, err);
    mo_split_clear(&split);
    mo_chain_free(chain);
    mo_cluster_free(cluster);
    return status;
}

mo_status mo_runtime_job_add_rows(mo_runtime_job *j, const mo_chain *chain,
                                  const mo_split *own, mo_error *err)
{
    mo_status status = MO_OK;

    if (j->o->added.count > 64)
        return mo_fail(err, MO_E_LIMIT, "more than 64 times --add-device");
    if (j->runtime->split_default)
        status = add_default(j, chain, err);
    if (status == MO_OK && chain->n_devices > 1)
        status = add_subsets(j, chain, true, err);
    if (status == MO_OK)
        status = check_dropped(j, chain, err);
    if (status == MO_OK && chain->n_devices > 1)
        status = add_subsets(j, chain, false, err);
    for (size_t i = 0; i < j->o->added.count && status == MO_OK; i++)
        status = add_device(j, j->o->added.items[i], own, err);
    return status;
}
