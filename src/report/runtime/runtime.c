/* SPDX-License-Identifier: Apache-2.0 */
#include "report/runtime/runtime.h"

#include <string.h>

static const mo_runtime *const runtimes[] = {
    &mo_runtime_llama_cpp,          &mo_runtime_vllm,
    &mo_runtime_accelerate,         &mo_runtime_openvino,
    &mo_runtime_pytorch_pipelining, NULL
};

const mo_runtime *mo_runtime_at(size_t i)
{
    size_t n = sizeof runtimes / sizeof *runtimes;

    return i < n ? runtimes[i] : NULL;
}

const mo_runtime *mo_runtime_find(const char *name)
{
    for (size_t i = 0; runtimes[i]; i++)
        if (strcmp(runtimes[i]->name, name) == 0)
            return runtimes[i];
    return NULL;
}

void mo_runtime_write(const mo_runtime *runtime, const mo_runtime_case *it,
                      mo_out *out)
{
    mo_json_writer w = { .out = out };

    if (runtime->write_command)
        runtime->write_command(it, out);
    else
        runtime->write_json(it, NULL, &w);
}

static bool on_one_machine(const mo_device *a, const mo_device *b)
{
    if (!a->host || !b->host)
        return !a->host && !b->host;
    return strcmp(a->host, b->host) == 0;
}

const char *mo_runtime_backend(const mo_device *device)
{
    switch (device->generation) {
    case MO_GEN_CDNA:
    case MO_GEN_RDNA:
        return "ROCm";
    case MO_GEN_XE:
        return "SYCL";
    case MO_GEN_APPLE:
        return "MTL";
    default:
        return device->is_cpu ? "CPU" : "CUDA";
    }
}

int mo_runtime_gpu_number(const mo_cluster *cluster, int device)
{
    const mo_device *it = &cluster->devices[device];
    int number = 0;

    if (it->gpu >= 0)
        return it->gpu;
    for (int k = 0; k < device; k++)
        number += strcmp(mo_runtime_backend(&cluster->devices[k]),
                         mo_runtime_backend(it)) == 0 &&
                  on_one_machine(&cluster->devices[k], it);
    return number;
}

static mo_status check_pair(const mo_runtime *runtime,
                            const mo_cluster *cluster, int i, int k,
                            mo_error *err)
{
    const mo_device *a = &cluster->devices[i], *b = &cluster->devices[k];

    if (!on_one_machine(a, b))
        return runtime->rules.routes_by_host
                   ? MO_OK
                   : mo_fail(err, MO_E_USAGE,
                             "--for %s is for devices of one machine, but "
                             "'%.60s' and '%.60s' have different hosts; give a "
                             "cluster of one host",
                             runtime->name, a->id, b->id);
    /* Positions differ. */
    if (!a->is_cpu && !b->is_cpu && (a->gpu >= 0 || b->gpu >= 0) &&
        strcmp(mo_runtime_backend(a), mo_runtime_backend(b)) == 0 &&
        mo_runtime_gpu_number(cluster, i) == mo_runtime_gpu_number(cluster, k))
        return mo_fail_at(err, MO_E_INPUT, cluster->file, b->line,
                          "devices '%.60s' and '%.60s' are both GPU %d of a "
                          "machine; give each its number (gpu) and host",
                          a->id, b->id, mo_runtime_gpu_number(cluster, k));
    return MO_OK;
}

mo_status mo_runtime_check_devices(const mo_runtime *runtime,
                                   const mo_cluster *cluster, mo_error *err)
{
    bool uses_cpu = runtime->rules.uses_cpu || runtime->write_ops;
    mo_status status = MO_OK;

    for (int k = 0; k < cluster->n_devices; k++)
        for (int i = 0; i < k && status == MO_OK; i++)
            if (uses_cpu ||
                (!cluster->devices[i].is_cpu && !cluster->devices[k].is_cpu))
                status = check_pair(runtime, cluster, i, k, err);
    return status;
}

void mo_runtime_put_settings(const mo_runtime_settings *settings,
                             mo_json_writer *w)
{
    if (settings && settings->runtime)
        settings->runtime->write_ops(&settings->ops, "settings", w);
}

void mo_runtime_put_word(mo_out *out, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyz"
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-";

    if (*word && strspn(word, plain) == strlen(word)) {
        mo_out_text(out, word);
        return;
    }
    mo_out_text(out, "'");
    for (const char *c = word; *c; c++)
        if (*c == '\'')
            mo_out_text(out, "'\\''");
        else
            mo_out_printf(out, "%c", *c);
    mo_out_text(out, "'");
}

mo_status mo_runtime_split_evenly(const mo_chain *chain, const bool *allowed,
                                  bool is_vllm, mo_split *split, mo_error *err)
{
    int order[MO_CHAIN_MAX_DEVICES], counts[MO_CHAIN_MAX_DEVICES], n = 0, more;

    for (int k = 0; k < chain->n_devices; k++)
        if (allowed[k] && !chain->cluster->devices[k].is_cpu)
            order[n++] = k;
    for (int k = 0; k < chain->n_devices && n == 0 && chain->rules.uses_cpu;
         k++)
        if (allowed[k])
            order[n++] = k;
    if (n == 0)
        return mo_fail(err, MO_E_INFEASIBLE, "there is no GPU");
    more = chain->n_layers % n;
    for (int i = 0; i < n; i++)
        counts[i] = chain->n_layers / n + (!is_vllm && i < more);
    for (int i = 2; i < more + 2 && is_vllm; i++)
        counts[n - i]++;
    return mo_split_by_counts(chain, order, counts, n, split, err);
}
