/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/cluster/cluster_builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"

#define BYTES_PER_GIB 1073741824.0

enum { NO_DEVICE = -1 };

typedef struct own_model {
    mo_device figures;
    const char *title; /* or NULL */
} own_model;

struct mo_cluster_builder {
    mo_arena *arena;
    const char *name;
    double host_request_us, host_transfer_us;
    mo_intern *ids;
    int *device_of; /* by number of id, or NO_DEVICE */
    size_t n_ids, ids_room;
    mo_device *devices;
    size_t n_devices, devices_room;
    own_model *models;
    size_t n_models, models_room;
    mo_link
        *links; /* their ends are id numbers until mo_cluster_builder_finish */
    size_t n_links, links_room;
};

mo_status mo_cluster_builder_new(mo_cluster_builder **builder, mo_error *err)
{
    mo_cluster_builder *made = calloc(1, sizeof *made);

    if (!made)
        return mo_fail_memory(err);
    made->arena = mo_arena_new();
    if (made->arena)
        made->ids = mo_intern_new(made->arena);
    if (!made->ids) {
        mo_cluster_builder_free(made);
        return mo_fail_memory(err);
    }
    *builder = made;
    return MO_OK;
}

void mo_cluster_builder_free(mo_cluster_builder *builder)
{
    if (!builder)
        return;
    free(builder->links);
    free(builder->devices);
    free(builder->models);
    free(builder->device_of);
    mo_intern_free(builder->ids);
    mo_arena_free(builder->arena);
    free(builder);
}

mo_arena *mo_cluster_builder_arena(mo_cluster_builder *builder)
{
    return builder->arena;
}

void mo_cluster_builder_name(mo_cluster_builder *builder, const char *name)
{
    builder->name = name;
}

void mo_cluster_builder_host(mo_cluster_builder *builder, double request_us,
                             double transfer_us)
{
    builder->host_request_us = request_us;
    builder->host_transfer_us = transfer_us;
}

mo_status mo_cluster_builder_id(mo_cluster_builder *builder, const char *id,
                                size_t length, int *number, mo_error *err)
{
    mo_status status = mo_intern_put(builder->ids, id, length, number, err);

    if (status != MO_OK || (size_t) *number < builder->n_ids)
        return status;
    status = MO_ARRAY_GROW(builder->device_of, builder->n_ids,
                           builder->ids_room, err);
    if (status == MO_OK)
        builder->device_of[builder->n_ids++] = NO_DEVICE;
    return status;
}

static void complete(double *value, double from_table)
{
    if (*value == MO_DEVICE_UNSET)
        *value = from_table;
}

void mo_device_complete(mo_device *device)
{
    static const mo_device_model unknown = { 0 };
    const mo_device_model *model;

    device->known = device->model ? mo_device_find(device->model) : NULL;
    model = device->known ? device->known : &unknown;
    if (device->generation == MO_GEN_UNKNOWN)
        device->generation = model->generation;
    device->is_cpu |= device->generation == MO_GEN_CPU;
    for (int i = 0; i < MO_MATHS; i++)
        complete(&device->gflops[i], model->gflops[i]);
    complete(&device->bandwidth_gbs, model->bandwidth_gbs);
    complete(&device->clock_mhz, model->clock_mhz);
    complete(&device->cache_mib, model->cache_mib);
    complete(&device->launch_us, model->launch_us);
    complete(&device->overhead_us, 0);
    complete(&device->copy_gbs, 0);
    complete(&device->watts, model->watts);
    complete(&device->process_nm, model->process_nm);
    if (device->sms == MO_DEVICE_UNSET)
        device->sms = model->sms;
    if (device->memory_bytes == MO_DEVICE_UNSET)
        device->memory_bytes =
            model->memory_gib > 0
                ? (int64_t) (model->memory_gib * BYTES_PER_GIB)
                : INT64_MAX;
}

static const own_model *find_own_model(const mo_cluster_builder *builder,
                                       const char *name)
{
    for (size_t i = 0; i < builder->n_models; i++) {
        const own_model *it = &builder->models[i];

        if (mo_device_same_name(it->figures.model, name) ||
            (it->title && mo_device_same_name(it->title, name)))
            return it;
    }
    return NULL;
}

mo_status mo_cluster_builder_model(mo_cluster_builder *builder,
                                   const mo_device *figures, const char *title,
                                   mo_error *err)
{
    mo_status status;

    if (mo_device_find(figures->model) || (title && mo_device_find(title)))
        return mo_fail_at(err, MO_E_INPUT, NULL, figures->line,
                          "model '%.80s' is in the table of devices; give "
                          "yours another name and title",
                          figures->model);
    if (find_own_model(builder, figures->model) ||
        (title && find_own_model(builder, title)))
        return mo_fail_at(err, MO_E_INPUT, NULL, figures->line,
                          "model '%.80s' is there already; keep one of them",
                          figures->model);
    for (size_t i = 0; i < builder->n_devices; i++) {
        const mo_device *it = &builder->devices[i];

        if (it->model && (mo_device_same_name(it->model, figures->model) ||
                          (title && mo_device_same_name(it->model, title))))
            return mo_fail_at(err, MO_E_INPUT, NULL, figures->line,
                              "model '%.80s' is behind device '%.80s', which "
                              "has it; put the <model> first",
                              figures->model, it->id);
    }
    status = MO_ARRAY_GROW(builder->models, builder->n_models,
                           builder->models_room, err);
    if (status == MO_OK)
        builder->models[builder->n_models++] = (own_model){ *figures, title };
    return status;
}

void mo_cluster_builder_inherit(const mo_cluster_builder *builder,
                                mo_device *device)
{
    const own_model *own =
        device->model ? find_own_model(builder, device->model) : NULL;
    const mo_device *from;

    if (!own)
        return;
    from = &own->figures;
    device->model = from->model;
    for (int i = 0; i < MO_MATHS; i++)
        complete(&device->gflops[i], from->gflops[i]);
    complete(&device->bandwidth_gbs, from->bandwidth_gbs);
    complete(&device->clock_mhz, from->clock_mhz);
    complete(&device->cache_mib, from->cache_mib);
    complete(&device->launch_us, from->launch_us);
    complete(&device->overhead_us, from->overhead_us);
    complete(&device->copy_gbs, from->copy_gbs);
    complete(&device->watts, from->watts);
    complete(&device->process_nm, from->process_nm);
    if (device->sms == MO_DEVICE_UNSET)
        device->sms = from->sms;
    if (device->memory_bytes == MO_DEVICE_UNSET)
        device->memory_bytes = from->memory_bytes;
    if (device->generation == MO_GEN_UNKNOWN)
        device->generation = from->generation;
}

mo_status mo_cluster_builder_device(mo_cluster_builder *builder,
                                    const mo_device *device, mo_error *err)
{
    int number, other;
    mo_status status = mo_cluster_builder_id(builder, device->id,
                                             strlen(device->id), &number, err);

    if (status != MO_OK)
        return status;
    other = builder->device_of[number];
    if (other != NO_DEVICE)
        return mo_fail_at(err, MO_E_INPUT, NULL, device->line,
                          "device '%.80s' is there already, from line %d; give "
                          "one of them another id",
                          device->id, builder->devices[other].line);
    if (builder->n_devices == MO_MAX_DEVICES)
        return mo_fail_at(err, MO_E_LIMIT, NULL, device->line,
                          "more than %d devices; place on fewer at a time",
                          MO_MAX_DEVICES);
    status = MO_ARRAY_GROW(builder->devices, builder->n_devices,
                           builder->devices_room, err);
    if (status != MO_OK)
        return status;
    builder->device_of[number] = (int) builder->n_devices;
    builder->devices[builder->n_devices++] = *device;
    return MO_OK;
}

mo_status mo_cluster_builder_link(mo_cluster_builder *builder,
                                  const mo_link *link, mo_error *err)
{
    mo_status status;

    if (link->from == link->to)
        return mo_fail_at(err, MO_E_INPUT, NULL, link->line,
                          "a link from '%.80s' to itself; what stays on a "
                          "device needs no link, remove it",
                          mo_intern_text(builder->ids, link->from));
    if (builder->n_links == MO_MAX_LINKS)
        return mo_fail_at(err, MO_E_LIMIT, NULL, link->line,
                          "more than %d links; describe fewer devices",
                          MO_MAX_LINKS);
    status = MO_ARRAY_GROW(builder->links, builder->n_links,
                           builder->links_room, err);
    if (status == MO_OK)
        builder->links[builder->n_links++] = *link;
    return status;
}

/* Replaces the number of an id by that of its device. */
static mo_status resolve_end(const mo_cluster_builder *builder, int *end,
                             int line, mo_error *err)
{
    int device = builder->device_of[*end];

    if (device == NO_DEVICE)
        return mo_fail_at(err, MO_E_INPUT, NULL, line,
                          "a link to device '%.80s', which does not exist; add "
                          "the device or remove the link",
                          mo_intern_text(builder->ids, *end));
    *end = device;
    return MO_OK;
}

static int compare_links(const void *a, const void *b)
{
    const mo_link *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static mo_status refuse_twins(const mo_cluster_builder *builder, mo_error *err)
{
    for (size_t i = 1; i < builder->n_links; i++) {
        const mo_link *a = &builder->links[i - 1], *b = &builder->links[i];

        if (a->from == b->from && a->to == b->to)
            return mo_fail_at(err, MO_E_INPUT, NULL, b->line,
                              "the link from '%.80s' to '%.80s' is there "
                              "already, from line %d; keep one of them",
                              builder->devices[b->from].id,
                              builder->devices[b->to].id, a->line);
    }
    return MO_OK;
}

static mo_status check(mo_cluster_builder *builder, mo_error *err)
{
    mo_status status;

    if (builder->n_devices == 0)
        return mo_fail(err, MO_E_INPUT,
                       "has no devices; a cluster needs at least one");
    status = MO_OK;
    for (size_t i = 0; i < builder->n_links && status == MO_OK; i++) {
        mo_link *link = &builder->links[i];

        status = resolve_end(builder, &link->from, link->line, err);
        if (status == MO_OK)
            status = resolve_end(builder, &link->to, link->line, err);
    }
    if (status != MO_OK)
        return status;
    if (builder->n_links > 0)
        qsort(builder->links, builder->n_links, sizeof *builder->links,
              compare_links);
    return refuse_twins(builder, err);
}

static void *copy(mo_arena *arena, const void *items, size_t n, size_t size)
{
    void *copied = mo_arena_array(arena, n, size);

    if (copied && n > 0)
        memcpy(copied, items, n * size);
    return copied;
}

mo_status mo_cluster_builder_finish(mo_cluster_builder *builder,
                                    const char *file, mo_cluster **cluster,
                                    mo_error *err)
{
    mo_arena *arena = builder->arena;
    mo_status status = check(builder, err);
    mo_cluster *made;

    if (status != MO_OK)
        return status;
    made = mo_arena_alloc(arena, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->name = builder->name;
    made->host_request_us = builder->host_request_us;
    made->host_transfer_us = builder->host_transfer_us;
    made->file = mo_arena_text(arena, file, strlen(file));
    made->devices = copy(arena, builder->devices, builder->n_devices,
                         sizeof *builder->devices);
    made->n_devices = (int) builder->n_devices;
    made->links =
        copy(arena, builder->links, builder->n_links, sizeof *builder->links);
    made->n_links = (int) builder->n_links;
    if (!made->file || !made->devices || !made->links)
        return mo_fail_memory(err);
    made->arena = arena;
    builder->arena = NULL;
    *cluster = made;
    return MO_OK;
}
