/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_instance.h - cluster, profile and cost model from the command line, and
 * the instance built from them. Shared by all commands that work on instances.
 */
#ifndef MO_DRIVER_LOAD_INSTANCE_H
#define MO_DRIVER_LOAD_INSTANCE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/option.h"
#include "driver/suggest.h"
#include "driver/log.h"
#include "cost/instance.h"
#include "graph/graph.h"
#include "ingest/read.h"

typedef struct mo_driver_load_options {
    const char *cluster; /* -c; NULL: the default of moirai-cluster(5) */
    /* Makes the cluster in place of that default, for a run in that precision;
     * the caller frees it. NULL: the default. */
    mo_status (*discover)(const char *precision, mo_cluster **cluster,
                          mo_error *err);
    const char *profile; /* -p; or NULL */
    const char *cost;    /* --cost; NULL: the built-in roofline */
    /* Numeric formats: those given; without either of them those of a solution
     * (mo_numeric_write); without a solution the precision of the run. All may
     * be NULL. */
    const char *precision, *weights, *formats, *run_precision;
    bool any_size; /* do not check that ops fit their devices */
    bool explain;  /* keep the origins of times */
} mo_driver_load_options;

/* Rows of an option table for these options. */
/* clang-format off */
#define MO_DRIVER_LOAD_OPTIONS(load)                                                  \
    { 'c', "cluster", "FILE|NAME", "the devices and their links",              \
      MO_OPTION_TEXT, .to = &(load)->cluster, .suggest = mo_suggest_cluster },                                \
    { 'p', "profile", "FILE", "measured times of ops and links",               \
      MO_OPTION_TEXT, .to = &(load)->profile },                                \
    { 0, "cost", "MODEL",                                                      \
      "cost model for ops without a measured time, with a FILE or DEVICE", \
      MO_OPTION_TEXT, .to = &(load)->cost, .suggest = mo_suggest_cost }
/* clang-format on */

/* Rows for a mo_read_options; run is "" or "run: ". */
/* clang-format off */
#define MO_DRIVER_READ_OPTIONS(read, run)                                      \
    { 0, "shape", "NAME=DIMS",                                                 \
      run "size of an input with dynamic dimensions, as in ids=1,128",         \
      MO_OPTION_LIST, .to = &(read)->shapes },                                 \
    { 0, "value", "NAME=NUMBER,...",                                           \
      run "constant in place of an input, as in rate=16000",                   \
      MO_OPTION_LIST, .to = &(read)->values },                                 \
    { 0, "state", "INPUT=OUTPUT",                                              \
      run "a value that stays on its device between runs; * for any text",     \
      MO_OPTION_LIST, .to = &(read)->values, .prefix = "state:" }
/* clang-format on */

/* Rows for the lengths of a language model: values with a name of their own. */
/* clang-format off */
#define MO_DRIVER_LENGTH_OPTIONS(read)                                         \
    { 0, "context", "TOKENS",                                                  \
      "of a language model: tokens that the cache has room for",               \
      MO_OPTION_LIST, .to = &(read)->values, .prefix = "context=" },           \
    { 0, "prompt", "TOKENS", "of a language model: length of the prompt",      \
      MO_OPTION_LIST, .to = &(read)->values, .prefix = "prompt=" },            \
    { 0, "generate", "TOKENS", "of a language model: length of the answer",    \
      MO_OPTION_LIST, .to = &(read)->values, .prefix = "generate=" },          \
    { 0, "cache-type", "TYPE",                                                 \
      "of a language model: type of the cache, as in q8_0 (default f16)",      \
      MO_OPTION_LIST, .to = &(read)->values, .prefix = "cache=" },             \
    { 0, "whole-layers", NULL,                                                 \
      "of a language model: ops of a layer share a device", MO_OPTION_FLAG,    \
      .to = &(read)->values, .prefix = "layers=whole" }
/* clang-format on */

/* Rows for the numeric formats, which moirai-exec has otherwise. */
/* clang-format off */
#define MO_DRIVER_FORMAT_OPTIONS(load)                                         \
    { 0, "precision", "P",                                                     \
      "precision of f32 tensors in predictions (default: the graph's types)",  \
      MO_OPTION_TEXT, .to = &(load)->precision,                                \
      .choices = MO_NUMERIC_PRECISIONS },                                      \
    { 0, "weights", "TYPE[:BITS]",                                             \
      "quantized weights of products, as in int4:4.5",                         \
      MO_OPTION_TEXT, .to = &(load)->weights }
/* clang-format on */

/* The devices of an instance: the cluster and what was measured on it. */
typedef struct mo_driver_devices {
    mo_cluster *cluster;
    mo_profile *profile; /* or NULL */
} mo_driver_devices;

/* Returns the file of --cost roofline:FILE, borrowed from load, or NULL. */
const char *mo_driver_load_cost_file(const mo_driver_load_options *load);

/* Fails with MO_E_USAGE if the options contradict each other or the graph's
 * path. Reads no file; to be called first. */
mo_status mo_driver_load_check(const mo_driver_load_options *load,
                               const char *path, mo_error *err);

/* Returns the numeric formats of the options. */
mo_status mo_driver_load_formats(const mo_driver_load_options *load,
                                 mo_numeric *formats, mo_error *err);

/* Reads a graph as mo_read_graph() does, and logs its size and duration. */
mo_status mo_driver_load_graph(const char *path, const mo_read_options *options,
                               const mo_driver_log *logger, mo_graph **graph,
                               const mo_read_format **format, mo_error *err);

/* Reads the cluster for the graph at path, and the profile if one is given. A
 * cluster chosen by default is named on stderr. *loaded must be zeros; the
 * caller clears it, also after a failure. */
mo_status mo_driver_load_devices(const mo_driver_load_options *load,
                                 const char *path, const mo_driver_log *logger,
                                 mo_driver_devices *devices, mo_error *err);
void mo_driver_devices_clear(mo_driver_devices *devices);

/* Builds the instance of g, which was read from path, with its sizes in the
 * numeric formats of the options (mo_numeric_apply). Every missing number is
 * reported in one line on stderr, regardless of the log level, where the error
 * cannot name it alone. The caller frees *instance. */
mo_status mo_driver_load_instance(const mo_driver_load_options *load,
                                  const char *path, const mo_graph *g,
                                  const mo_driver_devices *devices,
                                  const mo_driver_log *logger,
                                  mo_instance **instance, mo_error *err);

#endif
