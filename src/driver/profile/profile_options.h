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
