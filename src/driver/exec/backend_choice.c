/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/backend_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum { LINE_SIZE = 512 };

/* Value of --precision and the types it selects. */
static const struct {
    const char *name;
    mo_elem reals;
    mo_backend_precision products;
    double tolerance;
} precisions[] = {
    { "f32", MO_ELEM_F32, MO_BACKEND_PRECISION_F32, 1e-4 },
    { "tf32", MO_ELEM_F32, MO_BACKEND_PRECISION_TF32, 1e-2 },
    { "f16", MO_ELEM_F16, MO_BACKEND_PRECISION_F32, 2e-2 },
    { "bf16", MO_ELEM_BF16, MO_BACKEND_PRECISION_F32, 2e-2 },
};

static size_t precision_of(const mo_exec_config *wants)
{
    size_t i = 0, last = sizeof precisions / sizeof *precisions - 1;

    while (i < last && strcmp(precisions[i].name, wants->precision) != 0)
        i++;
    return i;
}

mo_elem mo_exec_storage_type(const mo_exec_config *wants)
{
    return precisions[precision_of(wants)].reals;
}

mo_backend_precision mo_exec_compute_precision(const mo_exec_config *wants)
{
    return precisions[precision_of(wants)].products;
}

/* A network in half precision rounds to it on every backend. */
double mo_exec_default_tolerance(const mo_exec_config *wants,
                                 const mo_exec_plan *plan)
{
    double tolerance = precisions[precision_of(wants)].tolerance;

    for (int v = 0; v < plan->n_values; v++) {
        mo_elem elem = plan->values[v].desc.elem;

        if ((elem == MO_ELEM_F16 || elem == MO_ELEM_BF16) && tolerance < 2e-2)
            tolerance = 2e-2;
    }
    return tolerance;
}

static mo_status find_gpus(const mo_backend **backend, int *n, mo_error *err)
{
    const mo_backend *const *b = mo_backend_table;

    while (*b && !(*b)->separate_memory)
        b++;
    if (!*b)
        return mo_fail(err, MO_E_SUPPORT,
                       "this program was built without CUDA; run on the CPU, "
                       "or build it where cuda.h is");
    *backend = *b;
    return (*b)->count_devices(n, err);
}

static void *init_driver(void *nothing)
{
    const mo_backend *backend;
    int n;

    (void) find_gpus(&backend, &n, NULL);
    return nothing;
}

void mo_exec_gpu_raise_queues(void)
{
    (void) setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
}

void mo_exec_gpu_init_start(const mo_exec_config *wants,
                            mo_exec_gpu_init *waking)
{
    waking->begun =
        strcmp(wants->backend, "cuda") == 0 &&
        pthread_create(&waking->thread, NULL, init_driver, NULL) == 0;
}

void mo_exec_gpu_init_wait(mo_exec_gpu_init *waking)
{
    if (waking->begun)
        pthread_join(waking->thread, NULL);
    waking->begun = false;
}

static bool is_wanted(const mo_exec_config *wants, const mo_device *device)
{
    if (strcmp(wants->backend, "auto") == 0)
        return !device->is_cpu;
    return strcmp(wants->backend, "cuda") == 0;
}

mo_status mo_exec_backends_choose(const mo_cluster *cluster,
                                  const mo_exec_config *wants,
                                  const mo_backend **backends, int *gpus,
                                  mo_error *no_gpu, mo_error *err)
{
    const mo_backend *gpu = NULL, *host = mo_backend_by_name(wants->backend);
    int n_gpus = 0, order = 0, n_wanted = 0;
    mo_status status;

    if (!host || host->separate_memory)
        host = &mo_backend_cpu;
    for (int k = 0; k < cluster->n_devices; k++) {
        backends[k] = host;
        n_wanted += is_wanted(wants, &cluster->devices[k]);
    }
    if (n_wanted == 0)
        return MO_OK;
    status = find_gpus(&gpu, &n_gpus, no_gpu);
    if (status != MO_OK && strcmp(wants->backend, "cuda") == 0)
        return mo_fail(err, status, "--backend cuda: %s", no_gpu->text);
    for (int k = 0; k < cluster->n_devices && status == MO_OK; k++) {
        const mo_device *device = &cluster->devices[k];

        if (!is_wanted(wants, device))
            continue;
        backends[k] = gpu;
        gpus[k] = (device->gpu >= 0 ? device->gpu : order) % n_gpus;
        order++;
    }
    return MO_OK;
}

/* Selects the devices that a message lists. */
typedef bool picks(const mo_cluster *cluster, const mo_backend *const *backends,
                   const mo_backend_unit_options *units, int gpu, int device);

static bool is_stranger(const mo_cluster *cluster,
                        const mo_backend *const *backends,
                        const mo_backend_unit_options *units, int gpu,
                        int device)
{
    (void) units;
    (void) gpu;
    return !cluster->devices[device].is_cpu &&
           !backends[device]->separate_memory;
}

static bool is_on(const mo_cluster *cluster, const mo_backend *const *backends,
                  const mo_backend_unit_options *units, int gpu, int device)
{
    (void) cluster;
    return backends[device]->separate_memory && units[device].gpu == gpu;
}

/* Writes "a, b, c" with control characters escaped; returns the number of
 * devices. */
static int list_devices(const mo_cluster *cluster,
                        const mo_backend *const *backends,
                        const mo_backend_unit_options *units, int gpu,
                        picks *pick, char text[LINE_SIZE])
{
    char list[LINE_SIZE] = "";
    size_t n = 0;
    int count = 0;

    for (int k = 0; k < cluster->n_devices; k++) {
        if (!pick(cluster, backends, units, gpu, k))
            continue;
        if (n + 1 < sizeof list)
            n += (size_t) snprintf(list + n, sizeof list - n, "%s%s",
                                   count > 0 ? ", " : "",
                                   cluster->devices[k].id);
        count++;
    }
    mo_utf8_escape_controls(text, LINE_SIZE, list);
    return count;
}

/* Whether the device is the first on its GPU, so that each GPU is listed
 * once. */
static bool is_first(const mo_backend *const *backends,
                     const mo_backend_unit_options *units, int device)
{
    for (int k = 0; k < device; k++)
        if (backends[k]->separate_memory && units[k].gpu == units[device].gpu)
            return false;
    return backends[device]->separate_memory;
}

void mo_exec_backends_log(const mo_cluster *cluster,
                          const mo_backend *const *backends,
                          const mo_backend_unit_options *units,
                          const mo_error *no_gpu, const mo_driver_log *logger)
{
    char list[LINE_SIZE];
    int count;

    if (logger->quiet)
        return;
    count = list_devices(cluster, backends, units, 0, is_stranger, list);
    if (count > 0)
        fprintf(stderr,
                "%s: device%s %s %s run on CPU threads: times are "
                "the CPU's%s%s\n",
                logger->command, count > 1 ? "s" : "", list,
                count > 1 ? "are" : "is", no_gpu->text[0] ? "; " : "",
                no_gpu->text);
    for (int k = 0; k < cluster->n_devices; k++) {
        if (!is_first(backends, units, k) || units[k].n_parts > 0)
            continue;
        count =
            list_devices(cluster, backends, units, units[k].gpu, is_on, list);
        if (count > 1)
            fprintf(stderr,
                    "%s: devices %s share GPU %d: times are longer than with "
                    "one each\n",
                    logger->command, list, units[k].gpu);
    }
}
