/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llama.cpp: layers as a whole, those of a device next to each other in the
 * order of --device, those of the CPU first; the head is the last layer.  The
 * embedding is on the CPU, and experts can be there by -ot.  Devices of other
 * machines run ggml-rpc-server, and all transfers pass the main process.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/runtime/llama_rule.h"
#include "report/runtime/runtime.h"

enum { RPC_PORT = 50052 };

void mo_llama_rule(const float *shares, int n_devices, int n_layers,
                   int gpu_layers, int *device)
{
    float split[MO_CHAIN_MAX_DEVICES], sum = 0.0f;
    int start = n_layers + 1 - gpu_layers > 0 ? n_layers + 1 - gpu_layers : 0;
    int active = gpu_layers < n_layers + 1 ? gpu_layers : n_layers + 1;

    for (int k = 0; k < n_devices; k++) {
        sum += shares[k];
        split[k] = sum;
    }
    for (int k = 0; k < n_devices; k++)
        split[k] /= sum;
    for (int l = 0; l <= n_layers; l++) {
        int k = 0;

        device[l] = MO_LLAMA_CPU;
        if (n_devices == 0 || l < start || l - start >= active)
            continue;
        /* std::upper_bound */
        while (k < n_devices &&
               !((float) (l - start) / (float) active < split[k]))
            k++;
        device[l] = k;
    }
}

/* Machines that run ggml-rpc-server, and what they have. */
typedef struct rpc_servers {
    const mo_chain *c;
    int order[MO_CHAIN_MAX_DEVICES], n; /* devices by machine */
} rpc_servers;

static const char *machine(const mo_device *device)
{
    return device->host ? device->host : device->id;
}

/* The first device of each machine is followed by its others. */
static void list_servers(const mo_chain *c, rpc_servers *servers)
{
    bool listed[MO_CHAIN_MAX_DEVICES] = { false };

    servers->c = c;
    servers->n = 0;
    for (int k = 0; k < c->n_devices; k++)
        for (int j = k; j < c->n_devices && c->is_remote[k] && !listed[k]; j++)
            if (c->is_remote[j] && (j == k || !listed[j]) &&
                strcmp(machine(&c->cluster->devices[j]),
                       machine(&c->cluster->devices[k])) == 0) {
                servers->order[servers->n++] = j;
                listed[j] = j != k;
            }
}

static bool begins_machine(const rpc_servers *servers, int i)
{
    const mo_device *devices = servers->c->cluster->devices;

    return i == 0 || strcmp(machine(&devices[servers->order[i]]),
                            machine(&devices[servers->order[i - 1]])) != 0;
}

static void put_endpoint(mo_out *out, const mo_device *device)
{
    mo_runtime_put_word(out, machine(device));
    if (!strchr(machine(device), ':'))
        mo_out_printf(out, ":%d", RPC_PORT);
}

/* Name of a device on its own machine. */
static void put_local_name(mo_out *out, const mo_cluster *cluster, int device)
{
    const mo_device *it = &cluster->devices[device];

    mo_out_text(out, mo_runtime_backend(it));
    if (!it->is_cpu)
        mo_out_printf(out, "%d", mo_runtime_gpu_number(cluster, device));
}

static void put_name(mo_out *out, const rpc_servers *servers, int device)
{
    for (int i = 0; i < servers->n; i++)
        if (servers->order[i] == device) {
            mo_out_printf(out, "RPC%d", i);
            return;
        }
    put_local_name(out, servers->c->cluster, device);
}

/* Comments: what the other machines run. */
static void put_servers(mo_out *out, const rpc_servers *servers)
{
    const mo_cluster *cluster = servers->c->cluster;

    for (int i = 0; i < servers->n; i++) {
        const mo_device *it = &cluster->devices[servers->order[i]];
        const char *port = strchr(machine(it), ':');

        if (!begins_machine(servers, i)) {
            mo_out_text(out, ",");
        } else {
            mo_out_text(out, i > 0 ? "\n# on " : "# on ");
            mo_runtime_put_word(out, machine(it));
            mo_out_text(out, ": ggml-rpc-server -H 0.0.0.0 -p ");
            if (port)
                mo_runtime_put_word(out, port + 1);
            else
                mo_out_printf(out, "%d", RPC_PORT);
            mo_out_text(out, " -d ");
        }
        put_local_name(out, cluster, servers->order[i]);
    }
    if (servers->n > 0)
        mo_out_text(out, "\n");
}

/* Devices in the order of their layers, and how many they have. */
typedef struct device_list {
    int order[MO_CHAIN_MAX_DEVICES], counts[MO_CHAIN_MAX_DEVICES], n;
    int gpu_layers;
} device_list;

static void list_devices(const mo_runtime_case *it, device_list *list)
{
    const mo_chain *c = it->chain;

    list->n = list->gpu_layers = 0;
    for (int u = 1; u < c->n_units; u++) {
        int k = it->placement->device[u];

        if (k == c->host || k == MO_CHAIN_NONE)
            continue;
        if (list->n == 0 || list->order[list->n - 1] != k) {
            list->order[list->n] = k;
            list->counts[list->n++] = 0;
        }
        list->counts[list->n - 1]++;
        list->gpu_layers++;
    }
    if (list->n > 0) {
        list->counts[list->n - 1] += it->draft_layers;
        list->gpu_layers += it->draft_layers;
    }
}

/* The parts of a layer's experts that are in main memory. */
static void put_parts(const mo_runtime_case *it, int u, mo_out *out)
{
    int n = 0;

    mo_out_printf(out, "blk\\.%d\\.ffn_", u - 1);
    for (int i = 0; i < MO_CHAIN_PARTS; i++)
        if (!(it->placement->kept[u] >> i & 1))
            mo_out_printf(out, "%s%s", n++ == 0 ? "(" : "|",
                          mo_chain_part_names[i]);
    mo_out_text(out, ")_exps=CPU");
}

static void put_experts(const mo_runtime_case *it, mo_out *out)
{
    const mo_chain_placement *p = it->placement;
    int n = 0, whole = 0;

    for (int u = 1; u <= it->chain->n_layers; u++)
        if (p->experts_on_host[u] && p->kept[u]) {
            mo_out_text(out, n++ == 0 ? " -ot '" : ",");
            put_parts(it, u, out);
        }
    for (int u = 1; u <= it->chain->n_layers; u++)
        if (p->experts_on_host[u] && !p->kept[u]) {
            if (whole++ == 0)
                mo_out_printf(out, "%sblk\\.(", n++ == 0 ? " -ot '" : ",");
            else
                mo_out_text(out, "|");
            mo_out_printf(out, "%d", u - 1);
        }
    if (whole > 0)
        mo_out_text(out, ")\\.ffn_.*_exps=CPU");
    if (n > 0)
        mo_out_text(out, "'");
}

static void write_command(const mo_runtime_case *it, mo_out *out)
{
    rpc_servers servers;
    device_list list;

    list_servers(it->chain, &servers);
    list_devices(it, &list);
    put_servers(out, &servers);
    mo_out_text(out, "llama-server -m ");
    mo_runtime_put_word(out, it->model);
    mo_out_printf(out, " -c %" PRId64 " -ctk %s -ctv %s", it->context,
                  it->cache, it->cache);
    /* Values of a quantized cache need it. */
    if (strcmp(it->cache, "f16") != 0 && strcmp(it->cache, "bf16") != 0 &&
        strcmp(it->cache, "f32") != 0)
        mo_out_text(out, " -fa on");
    mo_out_text(out, " -fit off");
    for (int i = 0; i < servers.n; i++)
        if (begins_machine(&servers, i)) {
            mo_out_text(out, i == 0 ? " --rpc " : ",");
            put_endpoint(out, &it->chain->cluster->devices[servers.order[i]]);
        }
    mo_out_text(out, list.n == 0 ? " --device none" : " --device ");
    for (int i = 0; i < list.n; i++) {
        mo_out_text(out, i > 0 ? "," : "");
        put_name(out, &servers, list.order[i]);
    }
    mo_out_printf(out, " -ngl %d", list.gpu_layers);
    if (list.n > 0)
        mo_out_text(out, " -sm layer -ts ");
    for (int i = 0; i < list.n; i++)
        mo_out_printf(out, "%s%d", i > 0 ? "," : "", list.counts[i]);
    put_experts(it, out);
    mo_out_text(out, "\n");
}

/* Without settings layers are split by free memory, devices of other machines
 * first, and as many are on devices as fit. */
static mo_status split_default(const mo_chain *c, const bool *allowed,
                               mo_split *split, mo_error *err)
{
    int order[MO_CHAIN_MAX_DEVICES], n = 0;
    float shares[MO_CHAIN_MAX_DEVICES];
    int *device = calloc((size_t) c->n_units, sizeof *device);
    mo_split made = { .bound_ns = 0 };
    mo_status status = device ? mo_chain_placement_new(c, &made.placement, err)
                              : mo_fail_memory(err);

    for (int remote = 1; remote >= 0; remote--)
        for (int k = 0; k < c->n_devices; k++)
            if (allowed[k] && k != c->host && c->is_remote[k] == remote) {
                shares[n] = (float) c->capacity_bytes[k];
                order[n++] = k;
            }
    for (int ngl = c->n_layers + 1; ngl >= 0 && status == MO_OK; ngl--) {
        mo_llama_rule(shares, n, c->n_layers, ngl, device);
        made.placement.device[0] = c->host;
        for (int l = 0; l <= c->n_layers; l++)
            made.placement.device[l + 1] =
                device[l] == MO_LLAMA_CPU ? c->host : order[device[l]];
        mo_chain_evaluate(c, &made.placement, &made.figures);
        if (made.figures.fits ||
            (c->host == MO_CHAIN_NONE && ngl == c->n_layers + 1))
            break;
    }
    free(device);
    if (status == MO_OK)
        *split = made;
    return status;
}

const mo_runtime mo_runtime_llama_cpp = {
    .name = "llama.cpp",
    .help = "command line of llama-server",
    .format = "gguf",
    .rules = { .embeds_on_host = true,
               .uses_cpu = true,
               .routes_by_host = true,
               .moves_experts = true,
               .copies_from_tokens = 32,
               .batch_tokens = 512,
               .reserve_bytes = 1 << 30 /* as --fit */ },
    .default_name = "split by free memory",
    .split_default = split_default,
    .write_command = write_command,
};
