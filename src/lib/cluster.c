/* SPDX-License-Identifier: Apache-2.0 */
/* Public functions for clusters and profiles: moirai_cluster_...() and
 * moirai_profile_...() of moirai.h. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost/cluster/cluster_builder.h"
#include "cost/cluster/cluster_write.h"
#include "lib/handles.h"

mo_status mo_lib_cluster_make(mo_cluster *cluster, moirai_cluster **wrapped,
                              mo_error *err)
{
    moirai_cluster *made = malloc(sizeof *made);

    if (!made) {
        mo_cluster_free(cluster);
        return mo_fail_memory(err);
    }
    atomic_init(&made->references, 1);
    made->cluster = cluster;
    *wrapped = made;
    return MO_OK;
}

moirai_status moirai_cluster_read(const char *name_or_path,
                                  moirai_cluster **cluster, moirai_error *err)
{
    mo_cluster *read = NULL;
    char *where = NULL;
    mo_status status =
        mo_cluster_choose(name_or_path, NULL, &read, &where, mo_lib_error(err));

    free(where);
    if (status == MO_OK)
        status = mo_lib_cluster_make(read, cluster, mo_lib_error(err));
    return mo_lib_status(status);
}

moirai_status moirai_cluster_read_memory(const char *name, const void *data,
                                         size_t size, moirai_cluster **cluster,
                                         moirai_error *err)
{
    mo_cluster *read = NULL;
    mo_status status =
        mo_cluster_read_memory(name, data, size, &read, mo_lib_error(err));

    if (status == MO_OK)
        status = mo_lib_cluster_make(read, cluster, mo_lib_error(err));
    return mo_lib_status(status);
}

void moirai_cluster_free(moirai_cluster *cluster)
{
    if (!cluster || !mo_lib_release(&cluster->references))
        return;
    mo_cluster_free(cluster->cluster);
    free(cluster);
}

static mo_status add_device(mo_cluster_builder *b, const char *id,
                            int64_t memory_bytes, mo_error *err)
{
    mo_device device = { MO_DEVICE_NO_FIGURES };

    if (!id || !*id || memory_bytes < 0)
        return mo_fail(err, MO_E_INPUT,
                       "a device needs an id, and memory that is not negative");
    device.id = mo_arena_text(mo_cluster_builder_arena(b), id, strlen(id));
    if (!device.id)
        return mo_fail_memory(err);
    mo_device_complete(&device);
    device.memory_bytes = memory_bytes;
    return mo_cluster_builder_device(b, &device, err);
}

static mo_status add_link(mo_cluster_builder *b, const char *const *ids,
                          int from, int to, double gbps, double latency_us,
                          mo_error *err)
{
    mo_link link = { .gbps = gbps };
    double ns = latency_us * 1000;
    mo_status status;

    if (!(gbps > 0 && isfinite(gbps)) ||
        !(ns >= 0 && ns <= (double) MO_MAX_LATENCY_NS))
        return mo_fail(err, MO_E_INPUT,
                       "the link from '%.80s' to '%.80s' has a rate or latency "
                       "out of range",
                       ids[from], ids[to]);
    link.latency_ns = llround(ns);
    status =
        mo_cluster_builder_id(b, ids[from], strlen(ids[from]), &link.from, err);
    if (status == MO_OK)
        status =
            mo_cluster_builder_id(b, ids[to], strlen(ids[to]), &link.to, err);
    return status == MO_OK ? mo_cluster_builder_link(b, &link, err) : status;
}

moirai_status moirai_cluster_new(int n, const char *const *ids,
                                 const int64_t *memory_bytes,
                                 const double *gbps, const double *latency_us,
                                 moirai_cluster **cluster, moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    mo_cluster_builder *b = NULL;
    mo_cluster *made = NULL;
    mo_status status =
        n >= 1 && n <= MO_MAX_DEVICES
            ? mo_cluster_builder_new(&b, e)
            : mo_fail(e, MO_E_INPUT, "a cluster has 1 to %d devices, not %d",
                      MO_MAX_DEVICES, n);

    for (int k = 0; k < n && status == MO_OK; k++)
        status = add_device(b, ids[k],
                            memory_bytes ? memory_bytes[k] : INT64_MAX, e);
    for (int i = 0; i < n && status == MO_OK; i++)
        for (int k = 0; k < n && status == MO_OK; k++) {
            int64_t at = (int64_t) i * n + k;

            if (i != k && gbps[at] != 0)
                status = add_link(b, ids, i, k, gbps[at],
                                  latency_us ? latency_us[at] : 0, e);
        }
    if (status == MO_OK)
        status = mo_cluster_builder_finish(b, "<arrays>", &made, e);
    mo_cluster_builder_free(b);
    if (status == MO_OK)
        status = mo_lib_cluster_make(made, cluster, e);
    return mo_lib_status(status);
}

int moirai_cluster_n_devices(const moirai_cluster *cluster)
{
    return cluster->cluster->n_devices;
}

const char *moirai_cluster_device_id(const moirai_cluster *cluster, int k)
{
    return k >= 0 && k < cluster->cluster->n_devices
               ? cluster->cluster->devices[k].id
               : NULL;
}

moirai_status moirai_cluster_write(const moirai_cluster *cluster,
                                   const char *path, moirai_write_fn *write,
                                   void *context, moirai_error *err)
{
    mo_out *out = NULL;
    mo_status status =
        mo_lib_open_output(path, write, context, &out, mo_lib_error(err));

    if (status == MO_OK)
        mo_cluster_write(cluster->cluster, NULL, out);
    return mo_lib_status(mo_lib_close_output(out, status, mo_lib_error(err)));
}

moirai_status moirai_profile_read(const char *path, moirai_profile **profile,
                                  moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    moirai_profile *made = calloc(1, sizeof *made);
    mo_status status = made ? MO_OK : mo_fail_memory(e);

    if (status == MO_OK) {
        atomic_init(&made->references, 1);
        status = mo_lib_copy_text(path, &made->path, e);
    }
    if (status == MO_OK)
        status = mo_profile_read(path, &made->profile, e);
    if (status == MO_OK)
        *profile = made;
    else
        moirai_profile_free(made);
    return mo_lib_status(status);
}

void moirai_profile_free(moirai_profile *profile)
{
    if (!profile || !mo_lib_release(&profile->references))
        return;
    mo_profile_free(profile->profile);
    free(profile->path);
    free(profile);
}
