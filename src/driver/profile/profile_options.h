/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_options.h - options of moirai-profile, and its subcommands.
 */
#ifndef MO_DRIVER_PROFILE_PROFILE_OPTIONS_H
#define MO_DRIVER_PROFILE_PROFILE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/option.h"
#include "driver/exec/backend_choice.h"
#include "driver/exec/launch_options.h"
#include "driver/log.h"
#include "ingest/read.h"

typedef struct mo_profiler_options {
    const char *output;
    mo_driver_log logger;

    /* fit */
    const char *train, *test, *clean;
    unsigned passes;
    bool json;

    /* llama */
    const char *device; /* its name in place of those of the tests, or NULL */

    /* run */
    const char *cluster, *fusion;
    mo_read_options read;  /* freed by the command */
    mo_option_list inputs; /* the same */
    int64_t runs, weights;
    int64_t in_flight; /* 0: one run at a time */
    bool alone, as_placed;
    const char *transport; /* NULL: by the launcher */
    mo_launch_options job; /* the ranks; cleared by the command */
    mo_exec_config wants;
} mo_profiler_options;

/* Rows of an option table: those of run. */
/* clang-format off */
#define MO_PROFILER_RUN_OPTIONS(o)                                             \
    { 0, "fusion", "SET|FILE", "run: " MO_PREPARE_FUSION_HELP,                 \
      MO_OPTION_TEXT, .to = &(o)->fusion, .suggest = mo_suggest_fusion },      \
    MO_DRIVER_READ_OPTIONS(&(o)->read, "run: "),                               \
    { 'i', "input", "NAME=FILE",                                               \
      "run: an input by name or number; others are random", MO_OPTION_LIST,    \
      .to = &(o)->inputs },                                                    \
    { 0, "runs", "N", "run: measurements of each op (default 25)",             \
      MO_OPTION_INT, .to = &(o)->runs, .min = 1, .max = 1e6 },                 \
    { 0, "in-flight", "K",                                                     \
      "run: times that ops take of a device with K requests at once",          \
      MO_OPTION_INT, .to = &(o)->in_flight, .min = 0,                          \
      .max = MO_PIPELINE_MAX_SLOTS },                                          \
    { 0, "alone", NULL, "run: measure each device with the others idle",       \
      MO_OPTION_FLAG, .to = &(o)->alone },                                     \
    { 0, "backend", "B",                                                       \
      "run: backend (default auto: by the kind of the device)",                \
      MO_OPTION_TEXT, .to = &(o)->wants.backend,                               \
      .choices = MO_EXEC_BACKEND_CHOICES },                                    \
    { 0, "pin", "WHEN", "run: " MO_EXEC_PIN_HELP, MO_OPTION_TEXT,              \
      .to = &(o)->wants.pin, .choices = MO_EXEC_PIN_CHOICES },                 \
    { 0, "emulate", "SMS,SMS",                                                 \
      "run: emulate devices by parts of one GPU, SMs of each",                 \
      MO_OPTION_TEXT, .to = &(o)->wants.emulate },                             \
    { 0, "precision", "P", "run: compute precision (default f32)",             \
      MO_OPTION_TEXT, .to = &(o)->wants.precision,                             \
      .choices = "f32|tf32|f16|bf16" },                                        \
    { 0, "cache", "DIR|none", "run: folder of the kernel and tuning cache",    \
      MO_OPTION_TEXT, .to = &(o)->wants.cache },                               \
    { 0, "no-measure", NULL, "run: no autotuning of kernels",                  \
      MO_OPTION_FLAG, .to = &(o)->wants.no_measure },                          \
    { 0, "as-placed", NULL, "run: fuse only ops that are placed as one",       \
      MO_OPTION_FLAG, .to = &(o)->as_placed },                                 \
    { 0, "random-weights", "SEED",                                             \
      "run: random weights where there are none", MO_OPTION_INT,               \
      .to = &(o)->weights, .min = 0, .max = 9e15 },                            \
    MO_EXEC_WEIGHTS_OPTIONS(&(o)->wants, "run: "),                             \
    { 0, "transport", "T",                                                     \
      "run: transport of tensors (default: by the launcher)",                  \
      MO_OPTION_TEXT, .to = &(o)->transport, .choices = "local|tcp|nccl|mpi" }
/* clang-format on */

/* files: graphs with measured times, and profiles. */
mo_status mo_profiler_fit(mo_profiler_options *o, char **files, size_t n,
                          mo_error *err);

/* files: results of llama-bench, and a model or none. */
mo_status mo_profiler_llama(mo_profiler_options *o, char **files, size_t n,
                            mo_error *err);

/* Measures the ops of a graph, and the links between devices, by the ranks
 * that the launcher or the options describe. */
mo_status mo_profiler_measure(mo_profiler_options *o, const char *graph,
                              mo_error *err);

#endif
