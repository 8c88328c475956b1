/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch.distributed.pipelining: split_spec of pipeline(), from the modules that
 * begin a stage to SplitPoint, and the device of each stage.
 */
#include <stdio.h>

#include "report/format_units.h"
#include "report/runtime/runtime.h"

static mo_status split_default(const mo_chain *c, const bool *allowed,
                               mo_split *split, mo_error *err)
{
    return mo_runtime_split_evenly(c, allowed, false, split, err);
}

/* Returns the name of the module of a layer. */
static const char *module_of(const mo_chain *c, int unit)
{
    for (int i = 0; i < c->graph->n_ops; i++)
        if (c->unit[i] == unit)
            return c->graph->ops[i].colocate;
    return "";
}

static void put_device(const mo_chain *c, int k, mo_json_writer *w)
{
    char name[MO_FORMAT_SIZE];

    snprintf(name, sizeof name, "cuda:%d",
             mo_runtime_gpu_number(c->cluster, k));
    mo_json_put_text(w, NULL, c->cluster->devices[k].is_cpu ? "cpu" : name);
}

static void write_json(const mo_runtime_case *it, const char *key,
                       mo_json_writer *w)
{
    const mo_chain *c = it->chain;
    const int *device = it->placement->device;

    mo_json_begin_object(w, key, MO_JSON_LINES);
    mo_json_begin_object(w, "split_spec", MO_JSON_LINES);
    for (int u = 2; u <= c->n_layers; u++)
        if (device[u] != device[u - 1])
            mo_json_put_text(w, module_of(c, u), "BEGINNING");
    mo_json_end(w);
    mo_json_begin_array(w, "devices", MO_JSON_INLINE);
    for (int u = 1; u <= c->n_layers; u++)
        if (u == 1 || device[u] != device[u - 1])
            put_device(c, device[u], w);
    mo_json_end(w);
    mo_json_end(w);
}

const mo_runtime mo_runtime_pytorch_pipelining = {
    .name = "pytorch-pipelining",
    .help = "split_spec of torch.distributed.pipelining, as JSON",
    .format = "transformers",
    .rules = { .uses_cpu = true, .reserve_bytes = 1 << 30 },
    .default_name = "even split",
    .split_default = split_default,
    .write_json = write_json,
};
