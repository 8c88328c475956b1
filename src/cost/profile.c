/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"

/* The profile itself is allocated in its arena. */
void mo_profile_free(mo_profile *profile)
{
    if (profile)
        mo_arena_free(profile->arena);
}

mo_status mo_profile_digest(const mo_profile *profile, uint64_t *value,
                            mo_error *err)
{
    mo_digest *digest = mo_digest_new();

    if (!digest)
        return mo_fail_memory(err);
    mo_digest_int(digest, profile->n_ops);
    for (int i = 0; i < profile->n_ops; i++) {
        const mo_profile_op *op = &profile->ops[i];

        mo_digest_text(digest, op->device);
        mo_digest_text(digest, op->signature);
        mo_digest_double(digest, op->median_us);
        mo_digest_double(digest, op->spread_us);
        mo_digest_int(digest, op->count);
        mo_digest_double(digest, op->flops);
        mo_digest_double(digest, op->bytes);
        mo_digest_double(digest, op->output_elements);
        mo_digest_int(digest, op->class);
    }
    mo_digest_int(digest, profile->n_links);
    for (int i = 0; i < profile->n_links; i++) {
        const mo_profile_link *link = &profile->links[i];

        mo_digest_text(digest, link->from);
        mo_digest_text(digest, link->to);
        mo_digest_double(digest, link->latency_us);
        mo_digest_double(digest, link->gbps);
        mo_digest_int(digest, link->from_bytes);
    }
    for (int i = 0; i < profile->n_rates; i++) {
        const mo_profile_rate *rate = &profile->rates[i];

        mo_digest_text(digest, rate->device);
        mo_digest_double(digest, rate->gflops);
        mo_digest_double(digest, rate->bandwidth_gbs);
        mo_digest_double(digest, rate->overhead_us);
    }
    if (profile->overhead_us > 0 || profile->copy_gbs > 0) {
        mo_digest_double(digest, profile->overhead_us);
        mo_digest_double(digest, profile->copy_gbs);
    }
    if (profile->host_request_us > 0 || profile->host_transfer_us > 0) {
        mo_digest_double(digest, profile->host_request_us);
        mo_digest_double(digest, profile->host_transfer_us);
    }
    if (profile->parts_slowdown > 0)
        mo_digest_double(digest, profile->parts_slowdown);
    if (profile->parts_overhead_us > 0)
        mo_digest_double(digest, profile->parts_overhead_us);
    *value = mo_digest_value(digest);
    mo_digest_free(digest);
    return MO_OK;
}

static int compare_op(const void *key, const void *item)
{
    const mo_profile_op *wanted = key, *op = item;
    int order = strcmp(wanted->device, op->device);

    return order != 0 ? order : strcmp(wanted->signature, op->signature);
}

static const mo_profile_op *find_op(const mo_profile_op *ops, int n,
                                    const char *device, const char *signature)
{
    mo_profile_op key = { .device = device, .signature = signature };

    if (n == 0)
        return NULL;
    return bsearch(&key, ops, (size_t) n, sizeof *ops, compare_op);
}

const mo_profile_op *mo_profile_find(const mo_profile *profile,
                                     const mo_device *device,
                                     const char *signature)
{
    const mo_profile_op *found =
        find_op(profile->ops, profile->n_ops, device->id, signature);

    if (!found && device->known)
        found = find_op(profile->model_ops, profile->n_model_ops,
                        device->known->name, signature);
    else if (!found && device->model)
        found = find_op(profile->ops, profile->n_ops, device->model, signature);
    return found;
}

double mo_profile_time_us(const mo_profile *profile, const mo_device *device,
                          const char *signature)
{
    const mo_profile_op *found = mo_profile_find(profile, device, signature);

    return found ? found->median_us : NAN;
}

static int compare_pair(const mo_profile_link *link, const char *from,
                        const char *to)
{
    int order = strcmp(link->from, from);

    return order != 0 ? order : strcmp(link->to, to);
}

/* Returns the last row of the pair with from_bytes <= bytes; a message smaller
 * than any measured one uses the first row. */
static const mo_profile_link *find_link(const mo_profile_link *links, int n,
                                        const char *from, const char *to,
                                        int64_t bytes)
{
    int low = 0, high = n;

    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = compare_pair(&links[middle], from, to);

        if (order < 0 || (order == 0 && links[middle].from_bytes <= bytes))
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && compare_pair(&links[low - 1], from, to) == 0)
        return &links[low - 1];
    if (low < n && compare_pair(&links[low], from, to) == 0)
        return &links[low];
    return NULL;
}

const mo_profile_link *mo_profile_find_link(const mo_profile *profile,
                                            const mo_device *from,
                                            const mo_device *to, int64_t bytes)
{
    const mo_profile_link *link =
        find_link(profile->links, profile->n_links, from->id, to->id, bytes);

    if (link)
        return link;
    /* By model; both devices must have one, or neither. */
    if (from->known && to->known)
        return find_link(profile->model_links, profile->n_model_links,
                         from->known->name, to->known->name, bytes);
    if (from->model && to->model)
        return find_link(profile->links, profile->n_links, from->model,
                         to->model, bytes);
    return NULL;
}

double mo_profile_link_ns(const mo_profile *profile, const mo_device *from,
                          const mo_device *to, int64_t bytes)
{
    const mo_profile_link *link =
        mo_profile_find_link(profile, from, to, bytes);

    if (!link)
        return NAN;
    /* 1 Gbit/s is 1 bit/ns. */
    return link->latency_us * 1000 + (double) bytes * 8 / link->gbps;
}

const mo_profile_rate *mo_profile_find_rate(const mo_profile *profile,
                                            const mo_device *device)
{
    const mo_profile_rate *found = NULL;

    for (int i = 0; i < profile->n_rates; i++) {
        const mo_profile_rate *rate = &profile->rates[i];

        if (strcmp(rate->device, device->id) == 0)
            return rate;
        if (device->known
                ? mo_device_find(rate->device) == device->known
                : device->model && strcmp(rate->device, device->model) == 0)
            found = rate;
    }
    return found;
}

double mo_profile_rate_us(const mo_profile *profile, const mo_device *device,
                          double flops, double bytes)
{
    const mo_profile_rate *rate = mo_profile_find_rate(profile, device);

    if (!rate || flops < 0 || bytes < 0)
        return NAN;
    return rate->overhead_us +
           fmax(flops / rate->gflops, bytes / rate->bandwidth_gbs) / 1000;
}
