/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parser of NCCL topology dumps.
 *
 * The format is NVIDIA's and grows with every release: elements and attributes
 * without information about GPUs and their links are ignored.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "cost/cluster/cluster_format.h"
#include "cost/cluster/nccl/nccl_rate.h"
#include "cost/cluster/nccl/nccl_topology.h"

/* The parent for the children of an open element. */
typedef struct place {
    int node, gpu; /* or MO_NCCL_TOPOLOGY_NONE */
} place;

typedef struct dump {
    mo_nccl_topology topology;
    mo_cluster_builder *builder;
    place places[MO_XML_MAX_DEPTH];
} dump;

enum { VENDOR_NVIDIA = 0x10de, TEXT_SIZE = MO_NCCL_TOPOLOGY_TEXT_SIZE };

static mo_status refuse(const mo_xml_element *element,
                        const mo_xml_attribute *attribute, mo_error *err)
{
    return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                      "%s '%.*s' of a <%s> is not a number that makes sense; "
                      "dump the topology again",
                      attribute->name,
                      (int) (attribute->length < 60 ? attribute->length : 60),
                      attribute->value, element->name);
}

/* Reads an integer; *value is unchanged when the attribute is absent. */
static mo_status read_int(const mo_xml_element *element, const char *name,
                          int *value, mo_error *err)
{
    const mo_xml_attribute *attribute = mo_xml_find(element, name);
    int64_t read;

    if (!attribute)
        return MO_OK;
    if (mo_number_read_int(attribute->value, attribute->length, &read) !=
            MO_NUMBER_OK ||
        read < INT_MIN || read > INT_MAX)
        return refuse(element, attribute, err);
    *value = (int) read;
    return MO_OK;
}

/* Reads a text, truncated to the buffer. */
static const char *read_text(const mo_xml_element *element, const char *name,
                             char text[TEXT_SIZE])
{
    const mo_xml_attribute *attribute = mo_xml_find(element, name);

    snprintf(text, TEXT_SIZE, "%.*s",
             attribute && attribute->length < TEXT_SIZE
                 ? (int) attribute->length
                 : 0,
             attribute ? attribute->value : "");
    return text;
}

/* Reads a hexadecimal number, vendor="0x10de"; -1 when it is absent. */
static long read_hex(const mo_xml_element *element, const char *name)
{
    char text[TEXT_SIZE];

    read_text(element, name, text);
    return *text ? strtol(text, NULL, 16) : -1;
}

static mo_status read_cpu(dump *d, const mo_xml_element *element, place *here,
                          mo_error *err)
{
    char text[TEXT_SIZE];
    int family = 0, model = 0, host = MO_NCCL_TOPOLOGY_NONE;
    mo_status status = read_int(element, "familyid", &family, err);

    if (status == MO_OK)
        status = read_int(element, "modelid", &model, err);
    if (status == MO_OK)
        status = mo_nccl_topology_find_host(
            &d->topology, read_text(element, "host_hash", text), &host, err);
    if (status == MO_OK)
        status = mo_nccl_topology_add_node(
            &d->topology, host,
            mo_nccl_topology_socket_gbps(read_text(element, "vendor", text),
                                         family, model),
            &here->node, err);
    return status;
}

static mo_status read_pci(dump *d, const mo_xml_element *element, place *here,
                          mo_error *err)
{
    mo_nccl_topology *t = &d->topology;
    char text[TEXT_SIZE];
    int width = 0, parent = here->node;
    double gbps;
    mo_status status = read_int(element, "link_width", &width, err);

    if (status == MO_OK && parent == MO_NCCL_TOPOLOGY_NONE)
        status = mo_nccl_topology_find_host(t, "", &parent, err);
    if (status != MO_OK)
        return status;
    gbps = mo_nccl_topology_pci_gbps(read_text(element, "link_speed", text),
                                     width);
    status = mo_nccl_topology_add_node(t, parent, gbps, &here->node, err);
    if (status != MO_OK)
        return status;
    if (read_hex(element, "vendor") == VENDOR_NVIDIA)
        t->nodes[here->node].model =
            mo_nccl_topology_model((int) read_hex(element, "device"));
    return mo_nccl_topology_find_bus(t, here->node,
                                     read_text(element, "busid", text),
                                     &t->nodes[here->node].bus, err);
}

static mo_status read_gpu(dump *d, const mo_xml_element *element, place *here,
                          mo_error *err)
{
    mo_nccl_topology *t = &d->topology;
    mo_nccl_topology_gpu gpu = { .node = here->node,
                                 .dev = MO_NCCL_TOPOLOGY_NONE,
                                 .rank = MO_NCCL_TOPOLOGY_NONE,
                                 .is_part =
                                     mo_xml_find(element, "mlopart") != NULL,
                                 .line = element->line };
    mo_status status = read_int(element, "dev", &gpu.dev, err);

    if (status == MO_OK)
        status = read_int(element, "sm", &gpu.sm, err);
    if (status == MO_OK)
        status = read_int(element, "rank", &gpu.rank, err);
    if (status != MO_OK)
        return status;
    if (gpu.rank < 0)
        gpu.rank = MO_NCCL_TOPOLOGY_NONE;
    if (gpu.node == MO_NCCL_TOPOLOGY_NONE || gpu.dev < 0)
        return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                          "a <gpu> %s; dump the topology again",
                          gpu.dev < 0 ? "without dev, its number"
                                      : "outside of <cpu> and <pci>");
    gpu.model = t->nodes[gpu.node].model;
    gpu.bus = t->nodes[gpu.node].bus;
    status = MO_ARRAY_GROW(t->gpus, t->n_gpus, t->gpus_room, err);
    if (status != MO_OK)
        return status;
    here->gpu = (int) t->n_gpus;
    t->gpus[t->n_gpus++] = gpu;
    return MO_OK;
}

static mo_status add_nvlink(mo_nccl_topology *t, int gpu, const char *target,
                            double gbps, mo_error *err)
{
    mo_nccl_topology_nvlink link = { .gpu = gpu, .gbps = gbps };
    mo_status status =
        MO_ARRAY_GROW(t->nvlinks, t->n_nvlinks, t->nvlinks_room, err);

    if (status == MO_OK)
        status = mo_nccl_topology_find_bus(t, t->gpus[gpu].node, target,
                                           &link.target, err);
    if (status == MO_OK)
        t->nvlinks[t->n_nvlinks++] = link;
    return status;
}

/* tclass, the PCI class of the other end, identifies its kind. */
static mo_status read_nvlink(dump *d, const mo_xml_element *element,
                             place *here, mo_error *err)
{
    enum { CLASS_SWITCH = 0x068000, CLASS_CPU = 0x068001 };
    char target[TEXT_SIZE];
    long class = read_hex(element, "tclass");
    int count = 0;
    mo_nccl_topology_gpu *gpu;
    double gbps;
    mo_status status = read_int(element, "count", &count, err);

    if (status != MO_OK || here->gpu == MO_NCCL_TOPOLOGY_NONE || count <= 0)
        return status;
    gpu = &d->topology.gpus[here->gpu];
    gbps = count * mo_nccl_topology_nvlink_gbps(gpu->sm);
    if (class == CLASS_SWITCH)
        gpu->switch_gbps += gbps;
    else if (class == CLASS_CPU)
        gpu->cpu_gbps += gbps;
    else
        status = add_nvlink(&d->topology, here->gpu,
                            read_text(element, "target", target), gbps, err);
    return status;
}

/* NVLink-C2C of GPUs beside their CPU: `count` lanes of `bw` MB/s. */
static mo_status read_c2c(dump *d, const mo_xml_element *element, place *here,
                          mo_error *err)
{
    const double mbs_per_gbps = 125;
    int bw = 0, count = 0;
    mo_status status = read_int(element, "bw", &bw, err);

    if (status == MO_OK)
        status = read_int(element, "count", &count, err);
    if (status == MO_OK && here->gpu != MO_NCCL_TOPOLOGY_NONE && bw > 0 &&
        count > 0)
        d->topology.gpus[here->gpu].cpu_gbps += bw / mbs_per_gbps * count;
    return status;
}

/* A card that is part of a virtual one is listed beside it with net="0". */
static mo_status read_net(dump *d, const mo_xml_element *element, place *here,
                          mo_error *err)
{
    enum { USUAL_MBPS = 10000 }; /* where a card reports no speed */
    mo_nccl_topology *t = &d->topology;
    const mo_xml_attribute *latency = mo_xml_find(element, "latency");
    int mbps = 0, in_use = 1;
    double latency_us = 0;
    mo_status status = read_int(element, "speed", &mbps, err);

    if (status == MO_OK)
        status = read_int(element, "net", &in_use, err);
    if (status == MO_OK && latency &&
        (mo_number_read_double(latency->value, latency->length, &latency_us) !=
             MO_NUMBER_OK ||
         !(latency_us * 1000 <= (double) MO_MAX_LATENCY_NS / 2)))
        status = refuse(element, latency, err);
    if (status != MO_OK || here->node == MO_NCCL_TOPOLOGY_NONE || in_use == 0)
        return status;
    status = MO_ARRAY_GROW(t->nets, t->n_nets, t->nets_room, err);
    if (status == MO_OK)
        t->nets[t->n_nets++] = (mo_nccl_topology_net){
            .node = here->node,
            .gbps = (mbps > 0 ? mbps : USUAL_MBPS) / 1000.0,
            .latency_ns = latency_us > 0 ? (int64_t) (latency_us * 1000) : 0,
        };
    return status;
}

static const struct {
    const char *name;
    mo_status (*read)(dump *d, const mo_xml_element *element, place *here,
                      mo_error *err);
} elements[] = {
    { "cpu", read_cpu },       { "pci", read_pci }, { "gpu", read_gpu },
    { "nvlink", read_nvlink }, { "c2c", read_c2c }, { "net", read_net },
};

static mo_status begin(const mo_xml_element *root, mo_cluster_builder *builder,
                       void **state, mo_error *err)
{
    dump *d = calloc(1, sizeof *d);

    (void) root;
    if (!d)
        return mo_fail_memory(err);
    *state = d;
    d->builder = builder;
    d->places[0] = (place){ MO_NCCL_TOPOLOGY_NONE, MO_NCCL_TOPOLOGY_NONE };
    return mo_nccl_topology_init(&d->topology,
                                 mo_cluster_builder_arena(builder), err);
}

static mo_status start(void *state, const mo_xml_element *element,
                       mo_error *err)
{
    dump *d = state;
    place *here = &d->places[element->depth];

    *here = d->places[element->depth - 1];
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (strcmp(elements[i].name, element->name) == 0)
            return elements[i].read(d, element, here, err);
    return MO_OK;
}

static mo_status finish(void *state, mo_error *err)
{
    dump *d = state;

    return mo_nccl_topology_build_cluster(&d->topology, d->builder, err);
}

static void free_dump(void *state)
{
    dump *d = state;

    if (d)
        mo_nccl_topology_clear(&d->topology);
    free(d);
}

const mo_cluster_format mo_cluster_format_nccl = {
    .root = "system",
    .begin = begin,
    .start = start,
    .finish = finish,
    .free = free_dump,
};
