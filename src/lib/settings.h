/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - options of the library: those of the commands, set by name.
 */
#ifndef MO_LIB_SETTINGS_H
#define MO_LIB_SETTINGS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/option.h"
#include "base/stop.h"
#include "driver/exec/exec_options.h"
#include "driver/log.h"
#include "driver/place/place_options.h"
#include "driver/portfolio.h"
#include "driver/prepare.h"
#include "moirai.h"

/* Values; all texts are in the arena of the options. */
typedef struct mo_lib_settings {
    mo_prepare_options prepare;
    mo_prepare_options review; /* of a solution: what it does not say itself */
    mo_place_options place;
    mo_portfolio_options portfolio;
    mo_exec_options exec;
    const char *format, *graph, *trace; /* or NULL */
    const char *gpus, *cpus;            /* of discovery; or NULL */
    mo_option_list report_methods;
    bool no_ablation;
    int64_t columns;
} mo_lib_settings;

struct moirai_options {
    mo_lib_settings settings;
    mo_arena *arena;
    moirai_progress_fn *on_progress;
    void *progress_context;
    moirai_message_fn *on_message;
    void *message_context;
    mo_stop stop; /* requested: cancelled */
};

/* Returns the settings of options; NULL: the defaults. */
const mo_lib_settings *mo_lib_settings_of(const moirai_options *options);

/* Callback of a log: passes text on to the callback of options, the context,
 * which may be NULL. */
void mo_lib_print_message(void *options, const char *text);

/* Returns a log that is quiet but for warnings, which go to the callback of
 * options, if there is one. options may be NULL. */
mo_driver_log mo_lib_log(const moirai_options *options);

#endif
