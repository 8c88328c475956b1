/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz_instance.h"

#include <assert.h>

#include "cost/cluster/cluster_builder.h"
#include "graph/build.h"

/* Properties of the whole instance. */
typedef struct traits {
    int n_ops, n_devices;
    bool equal_devices; /* one column of times for all */
    bool edge_times;    /* edges have times, and there are no links */
    bool line;          /* links from each device to the next only */
    bool fractions;     /* times are not whole microseconds */
    int scale;          /* factor of all times */
    int memory;         /* 0: no limit; else bytes by device, in units */
} traits;

static const char *const device_ids[FUZZ_DEVICES] = { "A", "B", "C" };
static const int scales[] = { 1, 1, 1000, 10000000 };

static traits draw_traits(fuzz_input *in)
{
    traits t = { .n_ops = 1 + fuzz_below(in, FUZZ_OPS),
                 .n_devices = 1 + fuzz_below(in, FUZZ_DEVICES) };
    int flags = fuzz_byte(in);

    t.equal_devices = flags & 1;
    t.edge_times = flags & 2;
    t.line = flags & 4;
    t.fractions = flags & 8;
    t.scale = scales[flags >> 4 & 3];
    t.memory = flags & 64 ? 1 + fuzz_below(in, 24) : 0;
    return t;
}

static double draw_us(fuzz_input *in, const traits *t)
{
    double us = fuzz_below(in, 16);

    return (t->fractions ? us + us / 7 : us) * t->scale;
}

/* Texts of a graph are interned. */
static const char *keep_text(mo_builder *builder, const char *text)
{
    const char *kept = NULL;
    mo_error err = { 0 };

    assert(!mo_builder_text(builder, text, 1, &kept, &err));
    return kept;
}

/* Every device has a column of measured times; equal ones have equal times. */
static void draw_op(fuzz_input *in, const traits *t, mo_builder *builder,
                    int id)
{
    char name[2] = { (char) ('a' + id), '\0' };
    int slot, column, flags = fuzz_byte(in);
    double us = draw_us(in, t);
    mo_error err = { 0 };
    mo_op *op;

    assert(!mo_builder_slot(builder, name, 1, 1, &slot, &err));
    assert(!mo_builder_define(builder, slot, 1, &op, &err));
    op->weight_bytes = 1000 * (flags & 3);
    op->workspace_bytes = 1000 * (flags >> 2 & 3);
    if ((flags & 0x70) == 0x10)
        op->pin = keep_text(builder, device_ids[(flags >> 7) % t->n_devices]);
    else if ((flags & 0x70) == 0x20)
        op->colocate = keep_text(builder, "g");
    for (int k = 0; k < t->n_devices; k++) {
        if (k > 0 && !t->equal_devices)
            us = draw_us(in, t);
        assert(
            !mo_builder_time_column(builder, device_ids[k], 1, &column, &err));
        assert(!mo_builder_time(builder, slot, column, us, &err));
    }
}

static void draw_comm(fuzz_input *in, const traits *t, mo_builder *builder,
                      int edge)
{
    double us = draw_us(in, t);
    mo_error err = { 0 };

    for (int a = 0; a < t->n_devices; a++)
        for (int b = 0; b < t->n_devices; b++) {
            char key[4] = { *device_ids[a], '.', *device_ids[b], '\0' };
            int column;

            if (a == b)
                continue;
            if (!t->equal_devices)
                us = draw_us(in, t);
            assert(!mo_builder_comm_column(builder, key, 3, &column, &err));
            assert(!mo_builder_comm(builder, edge, column, us, &err));
        }
}

/* A byte for every pair: whether there is an edge, and of which tensor. */
static void draw_edges(fuzz_input *in, const traits *t, mo_builder *builder)
{
    mo_error err = { 0 };

    for (int to = 1; to < t->n_ops; to++)
        for (int from = 0; from < to; from++) {
            int flags = fuzz_byte(in), number;
            mo_builder_edge edge = { .from = from,
                                     .to = to,
                                     .src_port = MO_PORT_NONE,
                                     .dst_port = MO_PORT_NONE,
                                     .bytes = 1000 * (flags >> 4 & 7),
                                     .line = 1 };

            if (!(flags & 3))
                continue;
            if (flags & 4)
                edge.tensor = keep_text(builder, flags & 8 ? "u" : "v");
            assert(!mo_builder_add_edge(builder, &edge, &number, &err));
            if (t->edge_times)
                draw_comm(in, t, builder, number);
        }
}

static mo_graph *draw_graph(fuzz_input *in, const traits *t)
{
    mo_builder *builder = NULL;
    mo_graph *g = NULL;
    mo_error err = { 0 };

    assert(!mo_builder_new("fuzz", &builder, &err));
    for (int i = 0; i < t->n_ops; i++)
        draw_op(in, t, builder, i);
    draw_edges(in, t, builder);
    assert(!mo_builder_finish(builder, &g, &err));
    mo_builder_free(builder);
    return g;
}

static void add_link(mo_cluster_builder *builder, int from, int to, int gbps)
{
    mo_link link = { .gbps = gbps, .latency_ns = 1000 * (gbps % 3), .line = 1 };
    mo_error err = { 0 };

    assert(
        !mo_cluster_builder_id(builder, device_ids[from], 1, &link.from, &err));
    assert(!mo_cluster_builder_id(builder, device_ids[to], 1, &link.to, &err));
    assert(!mo_cluster_builder_link(builder, &link, &err));
}

static mo_cluster *draw_cluster(fuzz_input *in, const traits *t)
{
    mo_cluster_builder *builder = NULL;
    mo_cluster *cluster = NULL;
    mo_error err = { 0 };
    int gbps = 1 << fuzz_below(in, 8);

    assert(!mo_cluster_builder_new(&builder, &err));
    for (int k = 0; k < t->n_devices; k++) {
        mo_device device = { .id = device_ids[k],
                             .memory_bytes = INT64_MAX,
                             .rank = -1,
                             .gpu = -1,
                             .line = 1 };

        if (t->memory > 0)
            device.memory_bytes =
                1000 * (t->memory + (t->equal_devices ? 0 : fuzz_below(in, 8)));
        assert(!mo_cluster_builder_device(builder, &device, &err));
    }
    for (int a = 0; a < t->n_devices && !t->edge_times; a++)
        for (int b = 0; b < t->n_devices; b++) {
            if (a == b || (t->line && a - b != 1 && b - a != 1))
                continue;
            if (!t->equal_devices)
                gbps = 1 << fuzz_below(in, 8);
            add_link(builder, a, b, gbps);
        }
    assert(!mo_cluster_builder_finish(builder, "fuzz", &cluster, &err));
    mo_cluster_builder_free(builder);
    return cluster;
}

bool fuzz_instance_make(fuzz_input *in, fuzz_instance *made)
{
    mo_instance_options options = { 0 };
    mo_error err = { 0 };
    traits t = draw_traits(in);

    *made = (fuzz_instance){ 0 };
    made->cluster = draw_cluster(in, &t);
    made->graph = draw_graph(in, &t);
    if (!mo_instance_make(made->graph, made->cluster, &options, &made->x, &err))
        return true;
    assert(err.text[0] != '\0');
    fuzz_instance_clear(made);
    return false;
}

void fuzz_instance_clear(fuzz_instance *made)
{
    mo_instance_free(made->x);
    mo_cluster_free(made->cluster);
    mo_graph_free(made->graph);
    *made = (fuzz_instance){ 0 };
}

mo_regime fuzz_regime(fuzz_input *in)
{
    int number = fuzz_below(in, 24);

    return (mo_regime){ (mo_congestion) (number % 4),
                        (mo_tensors) (number / 4 % 2),
                        (mo_memory) (number / 8) };
}
