/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_backend.h - on what the devices of a cluster run here, and how.
 */
#ifndef MO_DRIVER_EXEC_BACKEND_CHOICE_H
#define MO_DRIVER_EXEC_BACKEND_CHOICE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "driver/log.h"
#include "cost/cluster.h"
#include "exec/backend/backend.h"
#include "exec/tensor/elem.h"
#include "exec/plan/ir/plan.h"

/* What the options say. */
typedef struct mo_exec_config {
    const char *backend;   /* cpu, cuda, or auto */
    const char *precision; /* f32, tf32, f16, bf16 */
    const char *cache;     /* a folder, "none", or NULL: the user's own */
    const char *emulate;   /* parts of one GPU: "64,32"; NULL: no parts */
    bool no_measure;
    bool eager;
    int64_t lanes;   /* of each GPU */
    int64_t threads; /* of each device; 0: as the cluster says */
} mo_exec_config;

enum { MO_EXEC_DEFAULT_STREAMS = 4 };

#define MO_EXEC_CONFIG_DEFAULTS                                                \
    {                                                                          \
        .backend = "auto", .precision = "f32",                                 \
        .lanes = MO_EXEC_DEFAULT_STREAMS                                       \
    }

/* A GPU takes its time to wake up: where one is wanted by name, this is begun
 * beside whatever is done until mo_exec_gpu_init_wait.  What fails is told by
 * mo_exec_backends_choose. */
typedef struct mo_exec_gpu_init {
    pthread_t thread;
    bool begun;
} mo_exec_gpu_init;

void mo_exec_gpu_init_start(const mo_exec_config *wants,
                            mo_exec_gpu_init *waking);
void mo_exec_gpu_init_wait(mo_exec_gpu_init *waking);

/* The rows of an option table. */
#define MO_EXEC_BACKEND_CHOICES "cpu|cuda|auto"

#define MO_EXEC_CONFIG_OPTIONS(wants)                                          \
    { 0,                                                                       \
      "backend",                                                               \
      "B",                                                                     \
      "backend (default auto: by the kind of the device)",                     \
      MO_OPTION_TEXT,                                                          \
      .to = &(wants)->backend,                                                 \
      .choices = MO_EXEC_BACKEND_CHOICES },                                    \
        { 0,                                                                   \
          "precision",                                                         \
          "P",                                                                 \
          "compute precision (default f32)",                                   \
          MO_OPTION_TEXT,                                                      \
          .to = &(wants)->precision,                                           \
          .choices = "f32|tf32|f16|bf16" },                                    \
        { 0,                                                                   \
          "cache",                                                             \
          "DIR|none",                                                          \
          "folder of the kernel and tuning cache",                             \
          MO_OPTION_TEXT,                                                      \
          .to = &(wants)->cache },                                             \
        { 0,                                                                   \
          "emulate",                                                           \
          "SMS,SMS",                                                           \
          "emulate devices by parts of one GPU, SMs of each",                  \
          MO_OPTION_TEXT,                                                      \
          .to = &(wants)->emulate },                                           \
        { 0,                                                                   \
          "no-measure",                                                        \
          NULL,                                                                \
          "no autotuning of kernels",                                          \
          MO_OPTION_FLAG,                                                      \
          .to = &(wants)->no_measure },                                        \
        { 0,                                                                   \
          "eager",                                                             \
          NULL,                                                                \
          "GPUs: launch call by call, no CUDA graph",                          \
          MO_OPTION_FLAG,                                                      \
          .to = &(wants)->eager },                                             \
    {                                                                          \
        0, "lanes", "N", "GPUs: streams for concurrent calls (default 4)",     \
            MO_OPTION_INT, .to = &(wants)->lanes, .min = 1,                    \
                           .max = MO_PLAN_MAX_STREAMS                          \
    }

/* By device: what it runs on, and the number of its GPU.  Where backend is auto
 * and there is no GPU to use, all run on the CPU, and no_gpu says why; where it
 * is cuda that is an error.  Numbers and no_gpu begin as zeros. */
mo_status mo_exec_backends_choose(const mo_cluster *cluster,
                                  const mo_exec_config *wants,
                                  const mo_backend **backends, int *gpus,
                                  mo_error *no_gpu, mo_error *err);

/* Says which devices are none of the processors they run on, why if no_gpu
 * knows, and which share a GPU. */
void mo_exec_backends_log(const mo_cluster *cluster,
                          const mo_backend *const *backends,
                          const mo_backend_unit_options *units,
                          const mo_error *no_gpu, const mo_driver_log *talk);

/* What floats are in memory, and in products. */
mo_elem mo_exec_storage_type(const mo_exec_config *wants);
mo_backend_precision mo_exec_compute_precision(const mo_exec_config *wants);

/* How far off outputs may be where nobody says. */
double mo_exec_default_tolerance(const mo_exec_config *wants,
                                 const mo_exec_plan *plan);

#endif
