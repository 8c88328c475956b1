/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenVINO: the plugin HETERO runs every op on the device that its attribute
 * "affinity" names.
 */
#include <stdio.h>

#include "report/format_units.h"
#include "report/runtime/runtime.h"

static int count_gpus(const mo_cluster *cluster)
{
    int n = 0;

    for (int k = 0; k < cluster->n_devices; k++)
        n += !cluster->devices[k].is_cpu;
    return n;
}

static void write_ops(const mo_runtime_ops *it, const char *key,
                      mo_json_writer *w)
{
    const mo_graph *g = it->graph;
    char name[MO_FORMAT_SIZE];

    mo_json_begin_object(w, key, MO_JSON_LINES);
    for (int i = 0; i < g->n_ops + g->n_constants; i++) {
        int k = it->device[i];

        if (it->cluster->devices[k].is_cpu)
            snprintf(name, sizeof name, "CPU");
        else if (count_gpus(it->cluster) == 1)
            snprintf(name, sizeof name, "GPU");
        else
            snprintf(name, sizeof name, "GPU.%d",
                     mo_runtime_gpu_number(it->cluster, k));
        mo_json_put_text(w, g->ops[i].name, name);
    }
    mo_json_end(w);
}

const mo_runtime mo_runtime_openvino = {
    .name = "openvino",
    .help = "affinities of ops for HETERO, as JSON",
    .write_ops = write_ops,
};
