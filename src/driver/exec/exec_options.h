/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_options.h - options of moirai-exec, and their consistency.
 */
#ifndef MO_DRIVER_EXEC_EXEC_OPTIONS_H
#define MO_DRIVER_EXEC_EXEC_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/option.h"
#include "driver/exec/backend_choice.h"
#include "driver/exec/launch_options.h"
#include "driver/output_guard.h"
#include "driver/prepare.h"
#include "driver/log.h"

enum {
    MO_EXEC_OUTPUT_REPORT,
    MO_EXEC_OUTPUT_TRACE,
    MO_EXEC_OUTPUT_PLAN,
    MO_EXEC_OUTPUT_PAGE, /* of predicted and measured times */
    MO_EXEC_N_OUTPUTS
};

/* Warm-ups: at least so many runs, and so long. */
enum {
    MO_EXEC_NO_SEED = -1,
    MO_EXEC_WARMUP_RUNS = 5,
    MO_EXEC_WARMUP_NS = 200000000,
};

typedef struct mo_exec_options {
    mo_prepare_options prepare;
    const char *graph;
    mo_option_list inputs;
    int64_t seed;    /* of inputs */
    int64_t weights; /* seed of missing weights, or MO_EXEC_NO_SEED */
    const char *transport;
    mo_launch_options job; /* the other ranks */
    mo_exec_config wants;
    bool no_fuse, no_layout; /* unoptimized plans, for comparison */
    bool as_placed;          /* as in mo_plan_source */
    int64_t runs;
    int64_t requests, in_flight; /* 0: not given */
    const char *inputs_folder;   /* of requests, or NULL */
    int64_t copy;                /* of a replicated solution; 0: not given */
    const char *on_loss;         /* "replan"; NULL or "stop": of a rank */
    int64_t batch;               /* requests in a batch; 0: no batches */
    double wait_us;              /* for the next request of a batch */
    int64_t shapes_max;          /* plans of shapes that were not placed */
    int64_t generate;            /* tokens, or 0: not given */
    const char *prompt;          /* a file, or NULL: random */
    double temperature, top_p;   /* 0: the most probable token; 1: all */
    int64_t top_k;               /* 0: all */
    mo_option_list stop;         /* ids that end a sequence */
    const char *load_states, *save_states; /* folders, or NULL */
    bool dry_run;
    const char *output; /* a folder, or NULL */
    bool check;
    const char *reference; /* a folder, or NULL */
    double tolerance;      /* negative: the default of the precision */
    const char *bundle;    /* an archive to write instead of a run, or NULL */
    const char *bundle_weights; /* "pack" or "digest"; NULL: pack */
    bool json;
    mo_output_file outputs[MO_EXEC_N_OUTPUTS];
    mo_driver_log logger;
    int code; /* exit status if nothing failed */
} mo_exec_options;

/* Rows of an option table: the choice of tokens. */
/* clang-format off */
#define MO_EXEC_GENERATION_OPTIONS(o)                                            \
    { 0, "temperature", "T",                                                   \
      "draw tokens at this temperature (default: the most probable)",          \
      MO_OPTION_DOUBLE, .to = &(o)->temperature, .min = 0, .max = 1e3 },       \
    { 0, "top-k", "K", "draw one of the K most probable tokens",               \
      MO_OPTION_INT, .to = &(o)->top_k, .min = 1, .max = 1e9 },                \
    { 0, "top-p", "P",                                                         \
      "draw one of the tokens that have the probability P together",           \
      MO_OPTION_DOUBLE, .to = &(o)->top_p, .min = 0, .max = 1 },               \
    { 0, "stop", "ID", "end at this token; may be given several times",        \
      MO_OPTION_LIST, .to = &(o)->stop },                                      \
    { 0, "load-states", "DIR",                                                 \
      "continue what was generated with --save-states DIR", MO_OPTION_TEXT,    \
      .to = &(o)->load_states },                                               \
    { 0, "save-states", "DIR",                                                 \
      "keep the states and ids for --load-states; DIR is new or empty",        \
      MO_OPTION_TEXT, .to = &(o)->save_states }
/* clang-format on */

/* Returns whether a stream survives the loss of ranks. */
bool mo_exec_options_replans(const mo_exec_options *o);

/* Returns the guard of all outputs; it borrows them. */
mo_output_guard mo_exec_options_guard(const mo_exec_options *o);

/* Fails with MO_E_USAGE if options contradict each other, or an output would
 * replace the file path or another input that is named. */
mo_status mo_exec_options_check(const mo_exec_options *o, const char *path,
                                mo_error *err);

#endif
