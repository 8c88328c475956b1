/* SPDX-License-Identifier: Apache-2.0 */
#include "report/runtime/chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "cost/cluster/route.h"
#include "cost/predict/message_time.h"

/* Returns the number that a name of a layer ends with, or -1. */
static int layer_number(const char *name)
{
    size_t end = strlen(name), begin = end;
    long number = 0;

    while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9')
        begin--;
    if (begin == end || end - begin > 6)
        return -1;
    for (size_t i = begin; i < end; i++)
        number = 10 * number + (name[i] - '0');
    return (int) number;
}

/* An op of no layer is in front of them if it leads to one, else behind. */
static bool leads_to_layer(const mo_graph *g, const int *unit, int head, int op)
{
    for (int e = g->out_start[op]; e < g->out_start[op + 1]; e++)
        if (unit[g->edges[e].to] < head)
            return true;
    return false;
}

static mo_status check_chain(const mo_graph *g, const int *unit, mo_error *err)
{
    for (int e = 0; e < g->n_edges; e++) {
        int from = unit[g->edges[e].from], to = unit[g->edges[e].to];

        if (to < from || to > from + 1)
            return mo_fail(err, MO_E_SUPPORT,
                           "layers are no chain: '%.100s' reads '%.100s'",
                           g->ops[g->edges[e].to].name,
                           g->ops[g->edges[e].from].name);
    }
    return MO_OK;
}

mo_status mo_chain_units_of(const mo_graph *g, int *unit, int *n_layers,
                            mo_error *err)
{
    int n = 0;

    for (int i = 0; i < g->n_ops; i++) {
        unit[i] = g->ops[i].colocate ? layer_number(g->ops[i].colocate) : -1;
        n = mo_max_int(n, unit[i] + 1);
    }
    if (n == 0 || n > MO_CHAIN_MAX_LAYERS)
        return mo_fail(err, MO_E_SUPPORT,
                       "has no layers; runtimes of language models place GGUF "
                       "files and folders of transformers");
    for (int i = g->n_ops - 1; i >= 0; i--)
        if (unit[i] >= 0)
            unit[i]++;
        else
            unit[i] = leads_to_layer(g, unit, n + 1, i) ? 0 : n + 1;
    *n_layers = n;
    return check_chain(g, unit, err);
}

/* Experts are named so in GGUF; the activation between them is theirs. */
static bool is_expert(const mo_graph *g, int op)
{
    static const char suffix[] = "_exps";
    const char *name = g->ops[op].name;
    size_t length = strlen(name), tail = sizeof suffix - 1;

    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

static bool is_between_experts(const mo_graph *g, int op)
{
    int n_in = mo_graph_in_degree(g, op);
    bool inside = n_in > 0 && mo_graph_out_degree(g, op) > 0 &&
                  g->ops[op].weight_bytes <= 0;

    for (int i = g->in_start[op]; i < g->in_start[op + 1]; i++)
        inside = inside && is_expert(g, g->edges[g->in_edges[i]].from);
    for (int e = g->out_start[op]; e < g->out_start[op + 1]; e++)
        inside = inside && is_expert(g, g->edges[e].to);
    return inside;
}

typedef struct maker {
    mo_chain *c;
    const mo_profile *profile;
    mo_routes *routes;
    const int *unit; /* by op */
    bool *of_expert; /* by op */
    int gpu;         /* that runs units in main memory, or MO_CHAIN_NONE */
    mo_error *err;
} maker;

/* The CPU is the first one; others are those of other machines. */
static void find_host(mo_chain *c)
{
    const mo_device *devices = c->cluster->devices;
    const char *here;

    c->host = MO_CHAIN_NONE;
    for (int k = c->n_devices - 1; k >= 0; k--)
        if (devices[k].is_cpu)
            c->host = k;
    here = devices[mo_max_int(c->host, 0)].host;
    for (int k = 0; k < c->n_devices; k++)
        c->is_remote[k] =
            k != c->host && (devices[k].is_cpu ||
                             (devices[k].host &&
                              (!here || strcmp(here, devices[k].host) != 0)));
}

static mo_status message_ns(const maker *m, int from, int to, int64_t bytes,
                            int64_t *ns)
{
    double time;

    *ns = 0;
    if (from == to || bytes <= 0)
        return MO_OK;
    time = mo_predict_message_ns(m->c->cluster, m->routes, m->profile, from, to,
                                 bytes);
    if (isnan(time))
        return mo_routes_connected(m->c->cluster, m->routes, m->err);
    *ns = (int64_t) ceil(fmin(time, 1e17));
    return MO_OK;
}

static mo_status transfer_ns(const maker *m, int from, int to, int64_t bytes,
                             int64_t *ns)
{
    const mo_chain *c = m->c;
    int64_t there, on;
    mo_status status;

    if (!c->rules.routes_by_host || c->host == MO_CHAIN_NONE || from == to ||
        from == c->host || to == c->host ||
        (!c->is_remote[from] && !c->is_remote[to]))
        return message_ns(m, from, to, bytes, ns);
    status = message_ns(m, from, c->host, bytes, &there);
    if (status == MO_OK)
        status = message_ns(m, c->host, to, bytes, &on);
    *ns = status == MO_OK ? there + on : 0;
    return status;
}

/* Sets the times of a transfer of that size between all pairs. */
static mo_status fill_pairs(const maker *m, int64_t bytes, int64_t *ns)
{
    int n = m->c->n_devices;
    mo_status status = MO_OK;

    for (int a = 0; a < n && status == MO_OK; a++)
        for (int b = 0; b < n && status == MO_OK; b++)
            status = transfer_ns(m, a, b, bytes, &ns[a * n + b]);
    return status;
}

/* Sums the bytes of the tensors that go from ops of one kind to the other:
 * from unit u to the next, or into experts of a layer and out of them. */
static mo_status boundary_bytes(const maker *m, const mo_graph *g,
                                int64_t *next, int64_t *experts)
{
    int layer = -1; /* whose experts are counted */

    for (int t = 0; t < g->n_tensors; t++) {
        const mo_tensor *it = &g->tensors[t];
        int from = m->unit[it->producer];
        bool leaves = false, crosses = false;

        for (int e = it->first_edge; e < it->first_edge + it->n_edges; e++) {
            int to = g->edges[e].to;

            leaves = leaves || m->unit[to] != from;
            crosses =
                crosses || (m->unit[to] == from &&
                            m->of_expert[to] != m->of_expert[it->producer]);
        }
        if ((leaves || crosses) && it->bytes == MO_UNKNOWN)
            return mo_fail(m->err, MO_E_INPUT,
                           "the output of '%.200s' has no size",
                           g->ops[it->producer].name);
        if (leaves && !mo_int64_add(next[from], it->bytes, &next[from]))
            return mo_fail(m->err, MO_E_LIMIT, "tensors are too large");
        if (crosses && (layer < 0 || layer == from)) {
            layer = from;
            if (!mo_int64_add(*experts, it->bytes, experts))
                return mo_fail(m->err, MO_E_LIMIT, "tensors are too large");
        }
    }
    return MO_OK;
}

static mo_status make_transfers(const maker *m, const mo_graph *g,
                                mo_chain_phase *phase)
{
    const mo_chain *c = m->c;
    size_t pairs = (size_t) c->n_devices * (size_t) c->n_devices;
    int64_t *next = calloc((size_t) c->n_units, sizeof *next), experts = 0;
    mo_status status =
        next ? boundary_bytes(m, g, next, &experts) : mo_fail_memory(m->err);

    /* The output is computed in f32. */
    for (int i = 0; i < g->n_ops && status == MO_OK; i++)
        if (m->unit[i] == c->n_units - 1 && mo_graph_out_degree(g, i) == 0 &&
            g->ops[i].output_bytes > 0)
            next[c->n_units - 1] += 2 * g->ops[i].output_bytes;
    for (int u = 0; u < c->n_units && status == MO_OK; u++) {
        int64_t *row = phase->transfer_ns + (size_t) u * pairs;

        if (u > 0 && next[u] == next[u - 1])
            memcpy(row, row - pairs, pairs * sizeof *row);
        else
            status = fill_pairs(m, next[u], row);
    }
    /* Half of the tensors go there, and half come back. */
    if (status == MO_OK)
        status = fill_pairs(m, experts / 2, phase->expert_transfer_ns);
    for (size_t i = 0; i < pairs; i++)
        phase->expert_transfer_ns[i] *= 2;
    free(next);
    return status;
}

/* Time of an op in main memory: on a GPU with a copy of the weights for every
 * batch, where the runtime does so. */
static mo_status host_ns(const maker *m, const mo_chain_source *source, int op,
                         int64_t *ns)
{
    const mo_chain_rules *rules = &m->c->rules;
    int64_t copy, batches = 1;
    mo_status status;

    *ns = mo_instance_p_ns(source->x, op, m->c->host);
    if (m->gpu == MO_CHAIN_NONE || rules->copies_from_tokens == 0 ||
        source->tokens < rules->copies_from_tokens ||
        source->graph->ops[op].weight_bytes <= 0)
        return MO_OK;
    if (rules->batch_tokens > 0)
        batches = mo_ceil_div(source->tokens, rules->batch_tokens);
    status = message_ns(m, m->c->host, m->gpu,
                        source->graph->ops[op].weight_bytes, &copy);
    if (status == MO_OK)
        *ns = mo_instance_p_ns(source->x, op, m->gpu) +
              mo_min_i64(copy, INT64_MAX / 4096 / batches) * batches;
    return status;
}

static mo_status make_times(const maker *m, const mo_chain_source *source,
                            mo_chain_phase *phase)
{
    const mo_chain *c = m->c;
    mo_status status = MO_OK;

    for (int i = 0; i < source->graph->n_ops; i++)
        for (int k = 0; k < c->n_devices && status == MO_OK; k++) {
            int64_t *sum = m->of_expert[i] ? phase->expert_ns : phase->time_ns;
            int64_t ns = mo_instance_p_ns(source->x, i, k);

            if (k == c->host)
                phase->alone_ns[m->unit[i]] += ns;
            if (k == c->host && m->unit[i] > 0)
                status = host_ns(m, source, i, &ns);
            sum[m->unit[i] * c->n_devices + k] += ns;
        }
    return status;
}

/* Memory is the larger one of all phases: that of a cache with room for the
 * whole context. */
static void add_memory(const maker *m, const mo_chain_source *sources, int n)
{
    mo_chain *c = m->c;

    for (int i = 0; i < sources[0].graph->n_ops; i++) {
        int64_t bytes = 0;

        for (int s = 0; s < n; s++)
            bytes = mo_max_i64(bytes, sources[s].x->memory_bytes[i]);
        if (m->of_expert[i]) {
            c->expert_bytes[m->unit[i]] += bytes;
            mo_chain_add_part(c, m->unit[i], sources[0].graph->ops[i].name,
                              bytes);
        } else
            c->memory_bytes[m->unit[i]] += bytes;
    }
}

/* A table that embedding and head share is counted in the memory of the head
 * and makes a group of both. */
static void find_tied(const maker *m, const mo_graph *g)
{
    mo_chain *c = m->c;
    const char *group = NULL;

    for (int i = 0; i < g->n_ops; i++)
        if (m->unit[i] == 0 && g->ops[i].colocate)
            group = g->ops[i].colocate;
    for (int i = 0; i < g->n_ops && group; i++)
        if (m->unit[i] == c->n_units - 1 && g->ops[i].colocate &&
            strcmp(g->ops[i].colocate, group) == 0)
            c->tied_bytes += mo_max_i64(g->ops[i].weight_bytes, 0);
}

static bool same_ops(const mo_graph *a, const mo_graph *b)
{
    bool same = a->n_ops == b->n_ops;

    for (int i = 0; i < a->n_ops && same; i++)
        same = strcmp(a->ops[i].name, b->ops[i].name) == 0;
    return same;
}

static bool allocate(mo_chain *c)
{
    size_t units = (size_t) c->n_units, devices = (size_t) c->n_devices;
    bool done;

    c->memory_bytes = calloc(units, sizeof(int64_t));
    c->expert_bytes = calloc(units, sizeof(int64_t));
    c->part_bytes = calloc(units, sizeof *c->part_bytes);
    c->capacity_bytes = calloc(devices, sizeof(int64_t));
    done = c->memory_bytes && c->expert_bytes && c->part_bytes &&
           c->capacity_bytes;
    for (int i = 0; i < c->n_phases; i++) {
        mo_chain_phase *phase = &c->phases[i];

        phase->time_ns = calloc(units * devices, sizeof(int64_t));
        phase->expert_ns = calloc(units * devices, sizeof(int64_t));
        phase->alone_ns = calloc(units, sizeof(int64_t));
        phase->transfer_ns = calloc(units * devices * devices, sizeof(int64_t));
        phase->expert_transfer_ns = calloc(devices * devices, sizeof(int64_t));
        done = done && phase->time_ns && phase->expert_ns && phase->alone_ns &&
               phase->transfer_ns && phase->expert_transfer_ns;
    }
    return done;
}

void mo_chain_free(mo_chain *c)
{
    if (!c)
        return;
    for (int i = 0; i < c->n_phases; i++) {
        free(c->phases[i].time_ns);
        free(c->phases[i].expert_ns);
        free(c->phases[i].alone_ns);
        free(c->phases[i].transfer_ns);
        free(c->phases[i].expert_transfer_ns);
    }
    free(c->unit);
    free(c->memory_bytes);
    free(c->expert_bytes);
    free(c->part_bytes);
    free(c->capacity_bytes);
    free(c);
}

/* Memory of a GPU that units may fill; a reserve of the cluster stands for that
 * of the runtime. */
static int64_t usable_bytes(const mo_chain *c, int device, int64_t bytes)
{
    const mo_device *it = &c->cluster->devices[device];

    if (it->is_cpu || bytes == INT64_MAX)
        return bytes;
    if (!it->has_reserve)
        bytes -= mo_min_i64(c->rules.reserve_bytes, bytes / 8) +
                 (int64_t) (c->rules.reserve_share * (double) bytes);
    return mo_max_i64(bytes - c->buffer_bytes[device], 0);
}

/* Sets what GPUs need for the values of a batch, in f32, next to the weights:
 * in a layer the stream and the three widest values, on the first GPU with a
 * weight that is copied there; on top of it the output, in the memory of the
 * head. */
static void find_buffers(const maker *m, const mo_chain_source *source)
{
    mo_chain *c = m->c;
    const mo_graph *g = source->graph;
    int64_t batch = 2 * c->rules.batch_tokens / source->tokens;
    int64_t copied = 0, widest = 0, stream = 0, output = 0;

    for (int i = 0; i < g->n_ops; i++) {
        const mo_op *op = &g->ops[i];
        int64_t bytes = batch * mo_max_i64(op->output_bytes, 0);

        if (m->unit[i] == 0)
            stream = mo_max_i64(stream, bytes);
        else if (m->unit[i] == c->n_units - 1)
            output = mo_max_i64(output, bytes);
        else
            widest = mo_max_i64(widest, bytes);
        if (m->unit[i] > 0 && m->unit[i] <= c->n_layers &&
            c->host != MO_CHAIN_NONE)
            copied = mo_max_i64(copied, op->weight_bytes);
    }
    for (int k = 0; k < c->n_devices; k++)
        c->buffer_bytes[k] =
            2 * stream + 3 * widest + (k == m->gpu ? copied : 0);
    output += 2 * stream - c->buffer_bytes[mo_max_int(m->gpu, 0)];
    c->memory_bytes[c->n_units - 1] += mo_max_i64(output, 0);
}

static mo_status fill(maker *m, const mo_chain_source *sources)
{
    mo_chain *c = m->c;
    const mo_graph *g = sources[0].graph;
    mo_status status = mo_routes_make(c->cluster, &m->routes, m->err);

    find_host(c);
    m->gpu = MO_CHAIN_NONE;
    for (int k = c->n_devices - 1; k >= 0; k--)
        if (!c->cluster->devices[k].is_cpu && !c->is_remote[k])
            m->gpu = k;
    if (c->rules.batch_tokens > 0)
        find_buffers(m, &sources[c->n_phases - 1]);
    for (int k = 0; k < c->n_devices; k++)
        c->capacity_bytes[k] =
            usable_bytes(c, k, sources[0].x->capacity_bytes[k]);
    for (int i = 0;
         i < g->n_ops && c->rules.moves_experts && c->host != MO_CHAIN_NONE;
         i++)
        m->of_expert[i] = is_expert(g, i) || is_between_experts(g, i);
    add_memory(m, sources, c->n_phases);
    find_tied(m, g);
    for (int i = 0; i < c->n_phases && status == MO_OK; i++) {
        c->phases[i].name = sources[i].name;
        c->phases[i].weight = sources[i].weight;
        c->phases[i].tokens = sources[i].tokens;
        if (!same_ops(g, sources[i].graph))
            status =
                mo_fail(m->err, MO_E_INPUT, "phases have different operations");
        if (status == MO_OK)
            status = make_times(m, &sources[i], &c->phases[i]);
        if (status == MO_OK)
            status = make_transfers(m, sources[i].graph, &c->phases[i]);
    }
    mo_routes_free(m->routes);
    return status;
}

mo_status mo_chain_make(const mo_chain_source *sources, int n_phases,
                        const mo_cluster *cluster, const mo_profile *profile,
                        const mo_chain_rules *rules, mo_chain **chain,
                        mo_error *err)
{
    const mo_graph *g = sources[0].graph;
    size_t n_ops = (size_t) g->n_ops;
    mo_chain *c = calloc(1, sizeof *c);
    maker m = { .c = c, .profile = profile, .err = err };
    mo_status status = MO_OK;

    if (c)
        c->unit = calloc(n_ops + 1, sizeof *c->unit);
    m.of_expert = calloc(n_ops + 1, sizeof *m.of_expert);
    if (!c || !c->unit || !m.of_expert)
        status = mo_fail_memory(err);
    else if (cluster->n_devices > MO_CHAIN_MAX_DEVICES)
        status = mo_fail(err, MO_E_LIMIT,
                         "%d devices; for a runtime there may be %d",
                         cluster->n_devices, MO_CHAIN_MAX_DEVICES);
    else
        status = mo_chain_units_of(g, c->unit, &c->n_layers, err);
    if (status == MO_OK) {
        m.unit = c->unit;
        c->graph = g;
        c->cluster = cluster;
        c->rules = *rules;
        c->n_devices = cluster->n_devices;
        c->n_units = c->n_layers + 2;
        c->n_phases = n_phases;
        status = allocate(c) ? fill(&m, sources) : mo_fail_memory(err);
    }
    if (status == MO_OK)
        *chain = c;
    else
        mo_chain_free(c);
    free(m.of_expert);
    return status;
}
