/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/place/extend_cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/number.h"
#include "cost/cluster/cluster_builder.h"

enum { VALUE_SIZE = 64 };

/* PCI Express 4.0 x16, for a device that is added to one without links. */
static const mo_link usual_link = { .gbps = 252, .latency_ns = 10000 };

static const char *unused_id(const mo_cluster *cluster, const char *model,
                             char *id, size_t size)
{
    int n = 1;

    snprintf(id, size, "%s", model);
    while (mo_cluster_find(cluster, id) >= 0)
        snprintf(id, size, "%s-%d", model, ++n);
    return id;
}

/* Splits "MODEL:GIB"; the device's texts are those of a model. */
static mo_status parse_device(const char *text, mo_device *device,
                              mo_error *err)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t) (colon - text) : strlen(text);
    char name[VALUE_SIZE];
    double gib = 0;

    *device = (mo_device){ MO_DEVICE_NO_FIGURES };
    snprintf(name, sizeof name, "%.*s", (int) mo_min_size(length, VALUE_SIZE),
             text);
    device->known = length < VALUE_SIZE ? mo_device_find(name) : NULL;
    if (!device->known)
        return mo_fail(err, MO_E_USAGE,
                       "--add-device %.80s: there is no model '%.60s'; "
                       "moirai-cluster(5) lists them",
                       text, name);
    if (colon && (mo_number_read_double(colon + 1, strlen(colon + 1), &gib) !=
                      MO_NUMBER_OK ||
                  !(gib > 0 && gib < 1e9)))
        return mo_fail(err, MO_E_USAGE,
                       "--add-device %.80s: '%.40s' is no number of GiB", text,
                       colon + 1);
    device->model = device->known->name;
    mo_device_complete(device);
    if (colon)
        device->memory_bytes = (int64_t) (gib * 1073741824);
    return MO_OK;
}

/* The device that a new one is connected like: the first GPU, else the first
 * device. */
static int find_twin(const mo_cluster *cluster)
{
    for (int k = 0; k < cluster->n_devices; k++)
        if (!cluster->devices[k].is_cpu)
            return k;
    return 0;
}

/* Adds the links of the new device number n: those of its twin, and one between
 * them like those of the twin to another GPU, else to any device. */
static mo_status add_links(mo_cluster_builder *builder,
                           const mo_cluster *cluster, const int *number,
                           mo_error *err)
{
    int twin = find_twin(cluster), n = cluster->n_devices;
    mo_link between = usual_link;
    bool has_gpu = false;
    mo_status status = MO_OK;

    for (int i = 0; i < cluster->n_links && status == MO_OK; i++) {
        mo_link link = cluster->links[i];
        int from = link.from, to = link.to;

        link.from = number[from];
        link.to = number[to];
        status = mo_cluster_builder_link(builder, &link, err);
        if (from == twin && !has_gpu) {
            between.gbps = link.gbps;
            between.latency_ns = link.latency_ns;
            has_gpu = !cluster->devices[to].is_cpu;
        }
        if (status != MO_OK || (from != twin && to != twin))
            continue;
        if (from == twin)
            link.from = number[n];
        else
            link.to = number[n];
        status = mo_cluster_builder_link(builder, &link, err);
    }
    for (int i = 0; i < 2 && status == MO_OK; i++) {
        between.from = number[i == 0 ? n : twin];
        between.to = number[i == 0 ? twin : n];
        status = mo_cluster_builder_link(builder, &between, err);
    }
    return status;
}

mo_status mo_place_extend_cluster(const mo_cluster *cluster, const char *text,
                                  mo_cluster **extended, mo_error *err)
{
    mo_cluster_builder *builder = NULL;
    mo_device added;
    char id[VALUE_SIZE + 16];
    int n = cluster->n_devices;
    int *number = calloc((size_t) n + 1, sizeof *number);
    mo_status status =
        number ? parse_device(text, &added, err) : mo_fail_memory(err);

    if (status == MO_OK)
        status = mo_cluster_builder_new(&builder, err);
    for (int k = 0; k <= n && status == MO_OK; k++) {
        mo_device device = k < n ? cluster->devices[k] : added;
        const char *name =
            k < n ? device.id : unused_id(cluster, added.model, id, sizeof id);

        device.id = mo_arena_text(mo_cluster_builder_arena(builder), name,
                                  strlen(name));
        status = device.id ? mo_cluster_builder_id(builder, name, strlen(name),
                                                   &number[k], err)
                           : mo_fail_memory(err);
        if (status == MO_OK)
            status = mo_cluster_builder_device(builder, &device, err);
    }
    if (status == MO_OK)
        status = add_links(builder, cluster, number, err);
    if (status == MO_OK)
        status =
            mo_cluster_builder_finish(builder, cluster->file, extended, err);
    mo_cluster_builder_free(builder);
    free(number);
    return status;
}
