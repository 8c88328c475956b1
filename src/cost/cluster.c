/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/cluster.h"

#include <string.h>

#include "base/digest.h"

/* The cluster itself is allocated in its arena. */
void mo_cluster_free(mo_cluster *cluster)
{
    if (cluster)
        mo_arena_free(cluster->arena);
}

int mo_cluster_find(const mo_cluster *cluster, const char *id)
{
    for (int k = 0; k < cluster->n_devices; k++)
        if (strcmp(cluster->devices[k].id, id) == 0)
            return k;
    return -1;
}

/* Links are sorted by their ends. */
int mo_cluster_find_link(const mo_cluster *cluster, int from, int to)
{
    int low = 0, high = cluster->n_links;

    while (low < high) {
        int middle = low + (high - low) / 2;
        const mo_link *link = &cluster->links[middle];

        if (link->from < from || (link->from == from && link->to < to))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == cluster->n_links || cluster->links[low].from != from ||
        cluster->links[low].to != to)
        return -1;
    return low;
}

/* Figures that follow from the model do not count: a file that leaves them out
 * keeps its digest. */
static void digest_exceptions(mo_digest *digest, const mo_device *device)
{
    static const mo_device_model unknown = { 0 };
    const mo_device_model *model = device->known ? device->known : &unknown;

    for (int i = MO_MATH_F32 + 1; i < MO_MATHS; i++) {
        if (device->gflops[i] != model->gflops[i]) {
            mo_digest_int(digest, i);
            mo_digest_double(digest, device->gflops[i]);
        }
    }
    if (!device->is_cpu && device->generation != model->generation)
        mo_digest_text(digest, mo_generation_name(device->generation));
    if (device->cache_mib != model->cache_mib ||
        device->watts != model->watts ||
        device->process_nm != model->process_nm) {
        mo_digest_double(digest, device->cache_mib);
        mo_digest_double(digest, device->watts);
        mo_digest_double(digest, device->process_nm);
    }
    if (device->overhead_us > 0 || device->copy_gbs > 0) {
        mo_digest_double(digest, device->overhead_us);
        mo_digest_double(digest, device->copy_gbs);
    }
}

mo_status mo_cluster_digest(const mo_cluster *cluster, uint64_t *value,
                            mo_error *err)
{
    mo_digest *digest = mo_digest_new();

    if (!digest)
        return mo_fail_memory(err);
    mo_digest_int(digest, cluster->n_devices);
    for (int k = 0; k < cluster->n_devices; k++) {
        const mo_device *device = &cluster->devices[k];

        mo_digest_text(digest, device->id);
        /* A known model counts by its canonical name, in whatever spelling. */
        mo_digest_text(digest,
                       device->known ? device->known->name : device->model);
        mo_digest_int(digest, device->is_cpu);
        mo_digest_double(digest, device->gflops[MO_MATH_F32]);
        mo_digest_double(digest, device->bandwidth_gbs);
        mo_digest_double(digest, device->clock_mhz);
        mo_digest_double(digest, device->launch_us);
        mo_digest_int(digest, device->sms);
        mo_digest_int(digest, device->memory_bytes);
        digest_exceptions(digest, device);
    }
    if (cluster->host_request_us > 0 || cluster->host_transfer_us > 0) {
        mo_digest_double(digest, cluster->host_request_us);
        mo_digest_double(digest, cluster->host_transfer_us);
    }
    mo_digest_int(digest, cluster->n_links);
    for (int l = 0; l < cluster->n_links; l++) {
        const mo_link *link = &cluster->links[l];

        mo_digest_int(digest, link->from);
        mo_digest_int(digest, link->to);
        mo_digest_double(digest, link->gbps);
        mo_digest_int(digest, link->latency_ns);
    }
    *value = mo_digest_value(digest);
    mo_digest_free(digest);
    return MO_OK;
}
