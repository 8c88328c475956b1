/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vLLM: pipeline parallelism, a stage of contiguous layers for each GPU in rank
 * order; the first stage has the embedding, the last the head.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/runtime/runtime.h"

/* get_pp_indices() of vLLM: what remains goes to the last stages but one. */
static mo_status split_default(const mo_chain *c, const bool *allowed,
                               mo_split *split, mo_error *err)
{
    return mo_runtime_split_evenly(c, allowed, true, split, err);
}

/* A model is its folder. */
static void put_folder(mo_out *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[4096];

    if (strcmp(slash ? slash + 1 : path, "config.json") != 0) {
        mo_runtime_put_word(out, path);
        return;
    }
    snprintf(folder, sizeof folder, "%.*s", slash ? (int) (slash - path) : 1,
             slash ? path : ".");
    mo_runtime_put_word(out, *folder ? folder : "/");
}

static void write_command(const mo_runtime_case *it, mo_out *out)
{
    const mo_chain *c = it->chain;
    const int *device = it->placement->device;
    int stages = 0, layers = 0;

    mo_out_text(out, "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=");
    for (int u = 1; u <= c->n_layers; u++)
        if (u == 1 || device[u] != device[u - 1])
            mo_out_printf(out, "%s%d", stages++ > 0 ? "," : "",
                          mo_runtime_gpu_number(c->cluster, device[u]));
    mo_out_text(out, " VLLM_PP_LAYER_PARTITION=");
    for (int u = 1; u <= c->n_layers; u++) {
        layers++;
        if (u == c->n_layers || device[u] != device[u + 1]) {
            mo_out_printf(out, "%d%s", layers, u < c->n_layers ? "," : "");
            layers = 0;
        }
    }
    mo_out_text(out, " vllm serve ");
    put_folder(out, it->model);
    mo_out_printf(out,
                  " --pipeline-parallel-size %d --max-model-len %" PRId64 "\n",
                  stages, it->context);
}

const mo_runtime mo_runtime_vllm = {
    .name = "vllm",
    .help = "command line of vllm serve",
    .format = "transformers",
    .rules = { .limits_context = true,
               .reserve_share = 0.1 }, /* --gpu-memory-utilization */
    .default_name = "even split",
    .split_default = split_default,
    .write_command = write_command,
};
