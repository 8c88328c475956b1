/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native format: <cluster> with <model>, <device> and <link>, which have no
 * children, and <models>, with <model> alone. Elements of foreign namespaces
 * are skipped with their contents.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost/xml/attribute_reader.h"
#include "cost/xml/row_reader.h"
#include "cost/cluster/cluster_format.h"
#include "cost/cluster/cpu_list.h"

typedef struct own {
    mo_cluster_builder *builder;
    const char *space; /* the root's namespace, or NULL */
    const char *name;
    double host_request_us, host_transfer_us;
    bool only_models;
    int skipped; /* open foreign elements */
} own;

typedef struct device_attributes {
    mo_device device;
    const char *kind, *generation, *cpus;
    const char *title, *like; /* of a model */
    int64_t memory_gib;       /* in bytes, or MO_DEVICE_UNSET */
    int64_t reserve_bytes;    /* or MO_DEVICE_UNSET */
} device_attributes;

typedef struct link_attributes {
    mo_link link;
    const char *from, *to, *between, *kind;
} link_attributes;

enum { NO_LATENCY = -1 };

#define CLUSTER(field) offsetof(own, field)
#define DEVICE(field)  offsetof(device_attributes, field)
#define LINK(field)    offsetof(link_attributes, field)

static const mo_attribute cluster_table[] = {
    { "name", MO_ATTRIBUTE_TEXT, CLUSTER(name) },
    { "host_request_us", MO_ATTRIBUTE_AMOUNT, CLUSTER(host_request_us) },
    { "host_transfer_us", MO_ATTRIBUTE_AMOUNT, CLUSTER(host_transfer_us) },
    { NULL, MO_ATTRIBUTE_TEXT, 0 },
};

/* Rows of both a device and a model. */
#define FIGURES                                                                \
    { "generation", MO_ATTRIBUTE_TEXT, DEVICE(generation) },                   \
        { "gflops", MO_ATTRIBUTE_POSITIVE,                                     \
          DEVICE(device.gflops[MO_MATH_F32]) },                                \
        { "tf32_gflops", MO_ATTRIBUTE_POSITIVE,                                \
          DEVICE(device.gflops[MO_MATH_TF32]) },                               \
        { "f16_gflops", MO_ATTRIBUTE_POSITIVE,                                 \
          DEVICE(device.gflops[MO_MATH_F16]) },                                \
        { "bf16_gflops", MO_ATTRIBUTE_POSITIVE,                                \
          DEVICE(device.gflops[MO_MATH_BF16]) },                               \
        { "fp8_gflops", MO_ATTRIBUTE_POSITIVE,                                 \
          DEVICE(device.gflops[MO_MATH_FP8]) },                                \
        { "int8_gflops", MO_ATTRIBUTE_POSITIVE,                                \
          DEVICE(device.gflops[MO_MATH_INT8]) },                               \
        { "fp4_gflops", MO_ATTRIBUTE_POSITIVE,                                 \
          DEVICE(device.gflops[MO_MATH_FP4]) },                                \
        { "memory_bandwidth_gbs", MO_ATTRIBUTE_POSITIVE,                       \
          DEVICE(device.bandwidth_gbs) },                                      \
        { "sms", MO_ATTRIBUTE_COUNT, DEVICE(device.sms) },                     \
        { "clock_mhz", MO_ATTRIBUTE_POSITIVE, DEVICE(device.clock_mhz) },      \
        { "cache_mib", MO_ATTRIBUTE_POSITIVE, DEVICE(device.cache_mib) },      \
        { "launch_us", MO_ATTRIBUTE_AMOUNT, DEVICE(device.launch_us) },        \
        { "overhead_us", MO_ATTRIBUTE_AMOUNT, DEVICE(device.overhead_us) },    \
        { "copy_gbs", MO_ATTRIBUTE_POSITIVE, DEVICE(device.copy_gbs) },        \
        { "watts", MO_ATTRIBUTE_POSITIVE, DEVICE(device.watts) },              \
    {                                                                          \
        "process_nm", MO_ATTRIBUTE_POSITIVE, DEVICE(device.process_nm)         \
    }

static const mo_attribute device_table[] = {
    { "id", MO_ATTRIBUTE_TEXT, DEVICE(device.id) },
    { "model", MO_ATTRIBUTE_TEXT, DEVICE(device.model) },
    { "kind", MO_ATTRIBUTE_TEXT, DEVICE(kind) },
    { "memory_bytes", MO_ATTRIBUTE_BYTES, DEVICE(device.memory_bytes) },
    { "memory_gib", MO_ATTRIBUTE_GIB, DEVICE(memory_gib) },
    { "reserve_bytes", MO_ATTRIBUTE_BYTES, DEVICE(reserve_bytes) },
    FIGURES,
    { "rank", MO_ATTRIBUTE_INDEX, DEVICE(device.rank) },
    { "gpu", MO_ATTRIBUTE_INDEX, DEVICE(device.gpu) },
    { "host", MO_ATTRIBUTE_TEXT, DEVICE(device.host) },
    { "threads", MO_ATTRIBUTE_COUNT, DEVICE(device.threads) },
    { "cpus", MO_ATTRIBUTE_TEXT, DEVICE(cpus) },
    { NULL, MO_ATTRIBUTE_TEXT, 0 },
};

static const mo_attribute model_table[] = {
    { "name", MO_ATTRIBUTE_TEXT, DEVICE(device.model) },
    { "title", MO_ATTRIBUTE_TEXT, DEVICE(title) },
    { "like", MO_ATTRIBUTE_TEXT, DEVICE(like) },
    { "memory_bytes", MO_ATTRIBUTE_BYTES, DEVICE(device.memory_bytes) },
    { "memory_gib", MO_ATTRIBUTE_GIB, DEVICE(memory_gib) },
    FIGURES,
    { NULL, MO_ATTRIBUTE_TEXT, 0 },
};

static const mo_attribute link_table[] = {
    { "from", MO_ATTRIBUTE_TEXT, LINK(from) },
    { "to", MO_ATTRIBUTE_TEXT, LINK(to) },
    { "between", MO_ATTRIBUTE_TEXT, LINK(between) },
    { "kind", MO_ATTRIBUTE_TEXT, LINK(kind) },
    { "gbps", MO_ATTRIBUTE_POSITIVE, LINK(link.gbps) },
    { "latency_us", MO_ATTRIBUTE_LATENCY, LINK(link.latency_ns) },
    { NULL, MO_ATTRIBUTE_TEXT, 0 },
};

#define BLANKS " \t\r\n"

static mo_status begin(const mo_xml_element *root, mo_cluster_builder *builder,
                       void **state, mo_error *err)
{
    own *o = calloc(1, sizeof *o);
    mo_arena *arena = mo_cluster_builder_arena(builder);
    mo_status status;

    if (!o)
        return mo_fail_memory(err);
    *state = o;
    o->builder = builder;
    o->only_models = strcmp(root->name, mo_cluster_format_models.root) == 0;
    if (root->space) {
        o->space = mo_arena_text(arena, root->space, strlen(root->space));
        if (!o->space)
            return mo_fail_memory(err);
    }
    status = mo_attribute_read_all(root, cluster_table, o, arena, err);
    mo_cluster_builder_name(builder, o->name);
    mo_cluster_builder_host(builder, o->host_request_us, o->host_transfer_us);
    return status;
}

static mo_status check_id(const mo_device *device, mo_error *err)
{
    if (!device->id)
        return mo_fail_at(err, MO_E_INPUT, NULL, device->line,
                          "a <device> without an id; give it one");
    if (device->id[strcspn(device->id, BLANKS)] != '\0')
        return mo_fail_at(err, MO_E_INPUT, NULL, device->line,
                          "the id '%.80s' of a device has a blank in it; "
                          "leave it out",
                          device->id);
    return MO_OK;
}

/* The kind is that of the model where the model is known. */
static mo_status set_kind(device_attributes *a, mo_error *err)
{
    mo_device *device = &a->device;
    bool is_cpu = a->kind && strcmp(a->kind, "cpu") == 0;

    if (!a->kind)
        return MO_OK;
    if (!is_cpu && strcmp(a->kind, "gpu") != 0)
        return mo_fail_at(err, MO_E_INPUT, NULL, device->line,
                          "device '%.80s' is of kind '%.60s'; kinds are gpu "
                          "and cpu",
                          device->id, a->kind);
    if (device->known && is_cpu != device->is_cpu)
        return mo_fail_at(err, MO_E_INPUT, NULL, device->line,
                          "device '%.80s' is of kind %s, but its model '%.60s' "
                          "is a %s; remove one of the two",
                          device->id, a->kind, device->model,
                          is_cpu ? "GPU" : "CPU");
    device->is_cpu = is_cpu;
    return MO_OK;
}

static mo_status set_generation(device_attributes *a, mo_error *err)
{
    char names[256];
    int length = 0;

    if (!a->generation ||
        mo_generation_find(a->generation, &a->device.generation))
        return MO_OK;
    for (int i = MO_GEN_UNKNOWN + 1; i < MO_GENERATIONS; i++)
        length += snprintf(names + length, sizeof names - (size_t) length,
                           "%s%s", length > 0 ? ", " : "",
                           mo_generation_name((mo_generation) i));
    return mo_fail_at(err, MO_E_INPUT, NULL, a->device.line,
                      "device '%.80s' is of generation '%.60s'; generations "
                      "are %s",
                      a->device.id, a->generation, names);
}

static mo_status set_memory(device_attributes *a, mo_error *err)
{
    mo_device *device = &a->device;

    if (a->memory_gib == MO_DEVICE_UNSET)
        return MO_OK;
    if (device->memory_bytes != MO_DEVICE_UNSET)
        return mo_fail_at(err, MO_E_INPUT, NULL, device->line,
                          "device '%.80s' has memory_bytes and memory_gib; "
                          "keep one of them",
                          device->id);
    device->memory_bytes = a->memory_gib;
    return MO_OK;
}

static mo_status take_reserve(device_attributes *a, mo_error *err)
{
    mo_device *device = &a->device;

    device->has_reserve = a->reserve_bytes != MO_DEVICE_UNSET;
    if (!device->has_reserve)
        return MO_OK;
    if (a->reserve_bytes > device->memory_bytes)
        return mo_fail_at(err, MO_E_INPUT, NULL, device->line,
                          "reserve_bytes of device '%.80s' is more than its "
                          "memory; reserve less",
                          device->id);
    if (device->memory_bytes != INT64_MAX)
        device->memory_bytes -= a->reserve_bytes;
    return MO_OK;
}

/* The default is one thread per processor. */
static mo_status set_cpus(own *o, device_attributes *a, mo_error *err)
{
    mo_device *device = &a->device;

    if (!a->cpus)
        return MO_OK;
    if (!mo_cpu_list_read(a->cpus, mo_cluster_builder_arena(o->builder),
                          &device->cpus, &device->n_cpus))
        return mo_fail_at(err, MO_E_INPUT, NULL, device->line,
                          "cpus '%.80s' of device '%.80s' are no list of "
                          "processors; write numbers below %d, each once, as "
                          "in 0-3,8",
                          a->cpus, device->id, MO_MAX_CPUS);
    if (device->threads == 0)
        device->threads = device->n_cpus;
    return device->cpus ? MO_OK : mo_fail_memory(err);
}

static mo_status read_device(own *o, const mo_xml_element *element,
                             mo_error *err)
{
    device_attributes a = {
        .device = {
            MO_DEVICE_NO_FIGURES,
            .line = element->line,
        },
        .memory_gib = MO_DEVICE_UNSET,
        .reserve_bytes = MO_DEVICE_UNSET,
    };
    mo_status status = mo_attribute_read_all(
        element, device_table, &a, mo_cluster_builder_arena(o->builder), err);

    if (status != MO_OK)
        return status;
    status = check_id(&a.device, err);
    if (status == MO_OK)
        status = set_memory(&a, err);
    if (status == MO_OK)
        status = set_generation(&a, err);
    mo_cluster_builder_inherit(o->builder, &a.device);
    mo_device_complete(&a.device);
    if (status == MO_OK)
        status = set_kind(&a, err);
    if (status == MO_OK)
        status = take_reserve(&a, err);
    if (status == MO_OK)
        status = set_cpus(o, &a, err);
    if (status == MO_OK)
        status = mo_cluster_builder_device(o->builder, &a.device, err);
    return status;
}

/* The figures of a model that is like another one are those of that one where
 * it has none of its own. */
static mo_status inherit_like(const own *o, device_attributes *a, mo_error *err)
{
    const char *name = a->device.model;

    if (!a->like)
        return MO_OK;
    a->device.model = a->like;
    mo_cluster_builder_inherit(o->builder, &a->device);
    if (a->device.model == a->like) {
        mo_device_complete(&a->device);
        if (!a->device.known)
            return mo_fail_at(err, MO_E_INPUT, NULL, a->device.line,
                              "model '%.80s' is like '%.60s', which is "
                              "unknown; moirai-cluster(5) lists models",
                              name, a->like);
    }
    a->device.known = NULL;
    a->device.is_cpu = false; /* by its generation */
    a->device.model = name;
    return MO_OK;
}

static mo_status read_model(own *o, const mo_xml_element *element,
                            mo_error *err)
{
    device_attributes a = {
        .device = { MO_DEVICE_NO_FIGURES, .line = element->line },
        .memory_gib = MO_DEVICE_UNSET,
    };
    mo_status status = mo_attribute_read_all(
        element, model_table, &a, mo_cluster_builder_arena(o->builder), err);

    if (status == MO_OK && !a.device.model)
        status = mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                            "a <model> without a name; give it one");
    a.device.id = a.device.model; /* for messages */
    if (status == MO_OK)
        status = set_memory(&a, err);
    if (status == MO_OK)
        status = set_generation(&a, err);
    if (status == MO_OK)
        status = inherit_like(o, &a, err);
    if (status == MO_OK)
        status = mo_cluster_builder_model(o->builder, &a.device, a.title, err);
    return status;
}

/* Returns the next word of *text and advances it; false when there is none. */
static bool next_word(const char **text, const char **word, size_t *length)
{
    *word = *text + strspn(*text, BLANKS);
    *length = strcspn(*word, BLANKS);
    *text = *word + *length;
    return *length > 0;
}

typedef struct ends {
    const char *from, *to;
    size_t from_length, to_length;
} ends;

static mo_status split_between(const link_attributes *a, ends *e, mo_error *err)
{
    const char *text = a->between, *more;
    size_t length;

    if (a->from || a->to)
        return mo_fail_at(err, MO_E_INPUT, NULL, a->link.line,
                          "a <link> with between and from or to; between is "
                          "both directions, from and to are one");
    if (!next_word(&text, &e->from, &e->from_length) ||
        !next_word(&text, &e->to, &e->to_length) ||
        next_word(&text, &more, &length))
        return mo_fail_at(err, MO_E_INPUT, NULL, a->link.line,
                          "between '%.80s' of a <link> is not two devices; "
                          "write their ids with a blank between them",
                          a->between);
    return MO_OK;
}

static mo_status find_ends(const link_attributes *a, ends *e, mo_error *err)
{
    if (a->between)
        return split_between(a, e, err);
    if (!a->from || !a->to)
        return mo_fail_at(err, MO_E_INPUT, NULL, a->link.line,
                          "a <link> without %s; give from and to, or between",
                          a->from ? "to" : "from");
    *e = (ends){ a->from, a->to, strlen(a->from), strlen(a->to) };
    return MO_OK;
}

static mo_status add_link(own *o, link_attributes *a, mo_error *err)
{
    mo_link back;
    ends e = { 0 };
    mo_status status = find_ends(a, &e, err);

    if (status == MO_OK)
        status = mo_cluster_builder_id(o->builder, e.from, e.from_length,
                                       &a->link.from, err);
    if (status == MO_OK)
        status = mo_cluster_builder_id(o->builder, e.to, e.to_length,
                                       &a->link.to, err);
    if (status == MO_OK)
        status = mo_cluster_builder_link(o->builder, &a->link, err);
    if (status != MO_OK || !a->between)
        return status;
    back = a->link;
    back.from = a->link.to;
    back.to = a->link.from;
    return mo_cluster_builder_link(o->builder, &back, err);
}

typedef struct link_kind {
    const char *name;
    double gbps, latency_us;
} link_kind;

static const link_kind link_kinds[] = {
#define KIND(name, gbps, latency_us) { name, gbps, latency_us },
#include "cost/links.def"
#undef KIND
};

/* Sets what the attributes leave out. */
static mo_status apply_kind(link_attributes *a, int line, mo_error *err)
{
    for (size_t i = 0; i < sizeof link_kinds / sizeof *link_kinds; i++) {
        if (strcmp(link_kinds[i].name, a->kind) != 0)
            continue;
        if (a->link.gbps == 0)
            a->link.gbps = link_kinds[i].gbps;
        if (a->link.latency_ns == NO_LATENCY)
            a->link.latency_ns = (int64_t) (1000 * link_kinds[i].latency_us);
        return MO_OK;
    }
    return mo_fail_at(err, MO_E_INPUT, NULL, line,
                      "a <link> of kind '%.60s', which is unknown; "
                      "moirai-cluster(5) lists them",
                      a->kind);
}

static mo_status read_link(own *o, const mo_xml_element *element, mo_error *err)
{
    link_attributes a = { .link = { .line = element->line,
                                    .latency_ns = NO_LATENCY } };
    mo_status status = mo_attribute_read_all(
        element, link_table, &a, mo_cluster_builder_arena(o->builder), err);

    if (status != MO_OK)
        return status;
    if (a.kind)
        status = apply_kind(&a, element->line, err);
    if (status != MO_OK)
        return status;
    if (a.link.latency_ns == NO_LATENCY)
        a.link.latency_ns = 0;
    if (a.link.gbps == 0)
        return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                          "a <link> without gbps; say how many gigabits a "
                          "second it carries");
    return add_link(o, &a, err);
}

static mo_status start(void *state, const mo_xml_element *element,
                       mo_error *err)
{
    own *o = state;

    if (o->skipped > 0 || mo_xml_is_foreign(o->space, element)) {
        o->skipped++;
        return MO_OK;
    }
    if (element->depth > 1)
        return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                          "a <%.80s> inside a <model>, <device> or <link>; "
                          "nothing belongs there",
                          element->name);
    if (strcmp(element->name, "model") == 0)
        return read_model(o, element, err);
    if (o->only_models)
        return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                          "<models> have no <%.80s>; they have <model>",
                          element->name);
    if (strcmp(element->name, "device") == 0)
        return read_device(o, element, err);
    if (strcmp(element->name, "link") == 0)
        return read_link(o, element, err);
    return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                      "a <cluster> has no <%.80s>; it has <model>, <device> "
                      "and <link>",
                      element->name);
}

static void end(void *state)
{
    own *o = state;

    if (o->skipped > 0)
        o->skipped--;
}

const mo_cluster_format mo_cluster_format_xml = {
    .root = "cluster",
    .begin = begin,
    .start = start,
    .end = end,
    .free = free,
};

const mo_cluster_format mo_cluster_format_models = {
    .root = "models",
    .begin = begin,
    .start = start,
    .end = end,
    .free = free,
};
