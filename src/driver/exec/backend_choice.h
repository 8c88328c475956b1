/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend_choice.h - assignment of the devices of a cluster to backends and
 * GPUs of this machine.
 */
#ifndef MO_DRIVER_EXEC_BACKEND_CHOICE_H
#define MO_DRIVER_EXEC_BACKEND_CHOICE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/option.h"
#include "driver/log.h"
#include "cost/cluster.h"
#include "exec/backend/backend.h"
#include "exec/tensor/elem.h"
#include "exec/plan/ir/plan.h"

/* Options of the command line. */
typedef struct mo_exec_config {
    const char *backend;   /* cpu, cuda, or auto */
    const char *precision; /* f32, tf32, f16, bf16; of moirai-exec NULL until
                              the solution is read: the one it has */
    const char *cache; /* a folder, "none", or NULL: the user's cache folder */
    const char
        *emulate; /* SMs of the parts of one GPU: "64,32"; NULL: whole GPUs */
    const char *pin; /* auto, on, off */
    bool no_measure;
    bool eager;
    int64_t streams;             /* streams of each GPU */
    int64_t threads;             /* of each device; 0: the cluster's */
    mo_option_list weights_from; /* further folders that may hold weights */
    int64_t memory_mib;          /* of host memory; 0: what is available */
} mo_exec_config;

enum { MO_EXEC_DEFAULT_STREAMS = 4 };

#define MO_EXEC_CONFIG_DEFAULTS                                                \
    {                                                                          \
        .backend = "auto", .precision = "f32", .pin = "auto",                  \
        .streams = MO_EXEC_DEFAULT_STREAMS                                     \
    }

/* Sets CUDA_DEVICE_MAX_CONNECTIONS, the hardware queues of a GPU, to 32, the
 * most, unless it is set: streams share them, and one that waits for an event
 * blocks the others of its queue. Only for several requests in flight, as each
 * context takes more memory with them; before the driver is initialized, by one
 * thread. Without memory for it the driver has its default of 8. */
void mo_exec_gpu_raise_queues(void);

/* Initialization of the CUDA driver in a thread of its own, in parallel with
 * reading the graph, if --backend cuda is given. Errors are reported by
 * mo_exec_backends_choose. */
typedef struct mo_exec_gpu_init {
    pthread_t thread;
    bool begun;
} mo_exec_gpu_init;

void mo_exec_gpu_init_start(const mo_exec_config *wants,
                            mo_exec_gpu_init *waking);
void mo_exec_gpu_init_wait(mo_exec_gpu_init *waking);

/* Rows of an option table for these options: of commands that read weights,
 * with a text before the help, and all others. */
#define MO_EXEC_WEIGHTS_OPTIONS(wants, prefix)                                 \
    { 0,                                                                       \
      "weights-from",                                                          \
      "DIR",                                                                   \
      prefix "a further folder that may hold weights, besides the graph's",    \
      MO_OPTION_LIST,                                                          \
      .to = &(wants)->weights_from },                                          \
    {                                                                          \
        0, "memory-limit", "MIB",                                              \
            prefix "host memory for constants, inputs and values",             \
            MO_OPTION_INT, .to = &(wants)->memory_mib, .min = 0,               \
                           .max = 1 << 30                                      \
    }

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
          "compute precision (default: the solution's, or f32)",               \
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
        0, "streams", "N", "GPUs: streams for concurrent calls (default 4)",   \
            MO_OPTION_INT, .to = &(wants)->streams, .min = 1,                  \
                           .max = MO_PLAN_MAX_STREAMS, .former = "lanes"       \
    }

/* Sets for each device its backend and the number of its GPU. With backend
 * "auto" and no usable GPU, all devices run on the CPU, and *no_gpu holds the
 * reason; with "cuda" that is an error. gpus and *no_gpu begin as zeros. */
mo_status mo_exec_backends_choose(const mo_cluster *cluster,
                                  const mo_exec_config *wants,
                                  const mo_backend **backends, int *gpus,
                                  mo_error *no_gpu, mo_error *err);

/* Logs the devices that run on processors without being CPUs, with the reason
 * in no_gpu if there is one, and the devices that share a GPU. */
void mo_exec_backends_log(const mo_cluster *cluster,
                          const mo_backend *const *backends,
                          const mo_backend_unit_options *units,
                          const mo_error *no_gpu, const mo_driver_log *logger);

/* Returns the type of floats in memory, or in matrix products. */
mo_elem mo_exec_storage_type(const mo_exec_config *wants);
mo_backend_precision mo_exec_compute_precision(const mo_exec_config *wants);

/* Returns the default tolerance of outputs for the precision. */
double mo_exec_default_tolerance(const mo_exec_config *wants,
                                 const mo_exec_plan *plan);

#endif
