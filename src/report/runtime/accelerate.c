/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accelerate, and transformers with it: device_map, from modules to devices.
 * Modules in main memory run on a GPU all the same, which gets their weights
 * for every run, so that they are left out where there is a GPU.
 */
#include <string.h>

#include "report/runtime/runtime.h"

static mo_status split_default(const mo_chain *c, const bool *allowed,
                               mo_split *split, mo_error *err)
{
    return mo_runtime_split_evenly(c, allowed, false, split, err);
}

/* Layers are modules as a whole; modules without weights follow their inputs.
 */
static void write_json(const mo_runtime_case *it, const char *key,
                       mo_json_writer *w)
{
    const mo_chain *c = it->chain;
    const char *last = "";

    mo_json_begin_object(w, key, MO_JSON_LINES);
    for (int i = 0; i < c->graph->n_ops; i++) {
        const mo_op *op = &c->graph->ops[i];
        bool is_layer = c->unit[i] > 0 && c->unit[i] <= c->n_layers;
        const char *name = is_layer ? op->colocate : op->name;
        int k = it->placement->device[c->unit[i]];

        /* The ops of a layer follow one another. */
        if (strcmp(name, last) == 0 ||
            (!is_layer && op->weight_bytes <= 0 && c->unit[i] > 0))
            continue;
        last = name;
        /* A head that has the weights of the embedding. */
        if (strcmp(name, "output") == 0)
            name = "lm_head";
        if (c->cluster->devices[k].is_cpu)
            mo_json_put_text(w, name, "cpu");
        else
            mo_json_put_int(w, name, mo_runtime_gpu_number(c->cluster, k));
    }
    mo_json_end(w);
}

const mo_runtime mo_runtime_accelerate = {
    .name = "accelerate",
    .help = "device_map of transformers, as JSON",
    .format = "transformers",
    .rules = { .in_any_order = true,
               .ties_ends = true,
               .reserve_bytes = 1 << 30 },
    .default_name = "even split",
    .split_default = split_default,
    .write_json = write_json,
};
