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

/* Rows of an option table: outputs of the network and timed runs; streams of
 * requests and of tokens; the choice of tokens; plans, which are run, packed or
 * only printed; files of results. */
/* clang-format off */
#define MO_EXEC_CHECK_OPTIONS(o)                                               \
    { 'o', "output", "DIR", "write the outputs as DIR/output0.npy, ...",       \
      MO_OPTION_TEXT, .to = &(o)->output },                                    \
    { 0, "check", NULL, "compare the outputs with a run on one device",        \
      MO_OPTION_FLAG, .to = &(o)->check },                                     \
    { 0, "reference", "DIR",                                                   \
      "compare the outputs with DIR/output0.npy, ...", MO_OPTION_TEXT,         \
      .to = &(o)->reference },                                                 \
    { 0, "tolerance", "T", "allowed error of outputs (default 1e-4 in f32)",   \
      MO_OPTION_DOUBLE, .to = &(o)->tolerance, .min = 0, .max = 1e9 },         \
    { 0, "runs", "N",                                                          \
      "timed runs (default 1); with N > 1 after a warm-up of 0.2 s",           \
      MO_OPTION_INT, .to = &(o)->runs, .min = 1, .max = 1e6 }

#define MO_EXEC_STREAM_OPTIONS(o)                                              \
    { 0, "requests", "N",                                                      \
      "run a stream of N requests, several at once, in place of runs",         \
      MO_OPTION_INT, .to = &(o)->requests, .min = 1, .max = 1e8 },             \
    { 0, "in-flight", "K",                                                     \
      "requests at once (default: what the period needs)", MO_OPTION_INT,      \
      .to = &(o)->in_flight, .min = 1, .max = MO_PIPELINE_MAX_SLOTS },         \
    { 0, "copy", "N", "run copy N of a replicated solution", MO_OPTION_INT,    \
      .to = &(o)->copy, .min = 1, .max = 1000 },                               \
    { 0, "inputs", "DIR",                                                      \
      "inputs of requests, DIR/0000/NAME.npy, ...; - is standard input",       \
      MO_OPTION_TEXT, .to = &(o)->inputs_folder },                             \
    { 0, "shapes-max", "N",                                                    \
      "run shapes that were not placed, with up to N plans (default 0)",       \
      MO_OPTION_INT, .to = &(o)->shapes_max, .min = 0, .max = 1e6 },           \
    { 0, "batch", "N",                                                         \
      "run up to N requests of one shape as a batch that was placed",          \
      MO_OPTION_INT, .to = &(o)->batch, .min = 2, .max = 1e6 },                \
    { 0, "on-loss", "WHEN",                                                    \
      "when a rank is lost: stop, or replan for the others (default stop)",    \
      MO_OPTION_TEXT, .to = &(o)->on_loss, .choices = "stop|replan" },         \
    { 0, "wait", "US",                                                         \
      "wait so long for the next request of a batch (default 0)",              \
      MO_OPTION_DOUBLE, .to = &(o)->wait_us, .min = 0, .max = 1e9 },           \
    { 0, "generate", "TOKENS",                                                 \
      "generate so many tokens by a workload of a prompt and a token",         \
      MO_OPTION_INT, .to = &(o)->generate, .min = 1, .max = 1e8 },             \
    { 0, "prompt", "FILE",                                                     \
      "ids of the prompt, a .npy (default: random ids)", MO_OPTION_TEXT,       \
      .to = &(o)->prompt }

#define MO_EXEC_GENERATION_OPTIONS(o)                                          \
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

#define MO_EXEC_PLAN_OPTIONS(o)                                                \
    { 0, "as-placed", NULL, "fuse only ops that were placed as one",           \
      MO_OPTION_FLAG, .to = &(o)->as_placed },                                 \
    { 0, "no-fuse", NULL, "disable fusion", MO_OPTION_FLAG,                    \
      .to = &(o)->no_fuse },                                                   \
    { 0, "no-layout", NULL,                                                    \
      "keep the layout of the network for all tensors", MO_OPTION_FLAG,        \
      .to = &(o)->no_layout },                                                 \
    { 0, "bundle", "FILE",                                                     \
      "pack all that is needed to run elsewhere into a tar file; run "         \
      "nothing",                                                               \
      MO_OPTION_TEXT, .to = &(o)->bundle },                                    \
    { 0, "bundle-weights", "W",                                                \
      "pack the weights, or only their digests (default pack)",                \
      MO_OPTION_TEXT, .to = &(o)->bundle_weights, .choices = "pack|digest" },  \
    { 0, "dry-run", NULL, "build, verify and print the plan; run nothing",     \
      MO_OPTION_FLAG, .to = &(o)->dry_run }

#define MO_EXEC_OUTPUT_OPTIONS(o)                                              \
    { 0, "plan", "FILE", "write the plan as JSON", MO_OPTION_TEXT,             \
      .to = &(o)->outputs[MO_EXEC_OUTPUT_PLAN].path },                         \
    { 0, "trace", "FILE", "write a timeline for Perfetto", MO_OPTION_TEXT,     \
      .to = &(o)->outputs[MO_EXEC_OUTPUT_TRACE].path },                        \
    { 0, "report-html", "FILE",                                                \
      "write a page of predicted and measured times", MO_OPTION_TEXT,          \
      .to = &(o)->outputs[MO_EXEC_OUTPUT_PAGE].path },                         \
    { 0, "report", "FILE",                                                     \
      "write the report to FILE instead of standard output", MO_OPTION_TEXT,   \
      .to = &(o)->outputs[MO_EXEC_OUTPUT_REPORT].path },                       \
    { 0, "json", NULL, "print the report as a JSON object", MO_OPTION_FLAG,    \
      .to = &(o)->json }
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
