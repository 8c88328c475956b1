/* SPDX-License-Identifier: Apache-2.0 */
/* moirai-profile - measures ops and links, and fits the cost model. */
#include <config.h>

#include "driver/profile/profile_options.h"

#include <string.h>

#include "driver/exec/backend_choice.h"
#include "driver/exec/emulate.h"
#include "driver/exec/pin_devices.h"
#include "driver/prepare.h"
#include "driver/suggest.h"
#include "exec/runtime/pipeline/pipeline.h"
#include "cli/exec_version.h"
#include "base/host.h"

static const char *subcommand(size_t i)
{
    static const char *const names[] = { "fit", "llama", "run", NULL };

    return names[i];
}

static mo_status run_profile(void *context, char **operands, size_t n_operands,
                             mo_error *err)
{
    mo_profiler_options *o = context;
    mo_status status;

    if (strcmp(operands[0], "fit") == 0)
        return mo_profiler_fit(o, operands + 1, n_operands - 1, err);
    if (strcmp(operands[0], "llama") == 0)
        return n_operands > 3
                   ? mo_fail(err, MO_E_USAGE,
                             "llama takes results and one model")
                   : mo_profiler_llama(o, operands + 1, n_operands - 1, err);
    if (strcmp(operands[0], "run") != 0)
        return mo_fail(err, MO_E_USAGE,
                       "no subcommand '%s'; there are fit, llama and run",
                       operands[0]);
    if (n_operands != 2)
        return mo_fail(err, MO_E_USAGE, "run takes one graph, not %zu",
                       n_operands - 1);
    status = mo_emulate_check(&o->wants, err);
    if (o->in_flight > 0)
        mo_exec_gpu_raise_queues();
    return status == MO_OK ? mo_profiler_measure(o, operands[1], err) : status;
}

int main(int argc, char **argv)
{
    mo_profiler_options o = { .clean = "all",
                              .fusion = "default",
                              .runs = 25,
                              .wants = MO_EXEC_CONFIG_DEFAULTS,
                              .job = MO_LAUNCH_OPTIONS_DEFAULTS,
                              .logger = { .command = "moirai-profile" } };
    const mo_option options[] = {
        { 0, "train", "DEV,DEV",
          "fit: fit the times of these device models only", MO_OPTION_TEXT,
          .to = &o.train },
        { 0, "test", "DEV,DEV", "fit: hold these device models out for testing",
          MO_OPTION_TEXT, .to = &o.test },
        { 0, "clean", "PASSES",
          "fit: clean graphs: all, none, or some of "
          "constants,sources,results,views,parallel",
          MO_OPTION_TEXT, .to = &o.clean },
        { 0, "json", NULL, "fit: print the report as a JSON object",
          MO_OPTION_FLAG, .to = &o.json },
        { 0, "device", "ID",
          "llama: the device, in place of the name in the file", MO_OPTION_TEXT,
          .to = &o.device },
        { 'c', "cluster", "FILE|NAME",
          "run, llama: the devices (run: default cpu)", MO_OPTION_TEXT,
          .to = &o.cluster, .suggest = mo_suggest_cluster },
        MO_PROFILER_RUN_OPTIONS(&o),
        MO_LAUNCH_OPTIONS(&o.job),
        { 'o', "output", "FILE",
          "write the fitted factors, or the profile, to FILE", MO_OPTION_TEXT,
          .to = &o.output },
        MO_DRIVER_LOG_OPTIONS(&o.logger),
        { 0 }
    };
    const mo_command command = {
        .name = "moirai-profile",
        .synopsis = "fit|llama|run [OPTION]... FILE...",
        .purpose = "Measure ops and links, and fit the roofline to times.",
        .details = "fit: FILE is a graph with measured times or a profile; - "
                   "reads standard input.  Without --train and --test, one op "
                   "in five is held back.  llama: FILE is the output of "
                   "llama-bench -o json, the second one its model.  run: FILE "
                   "is a graph; what the "
                   "profile has already is not measured again; with "
                   "several ranks each measures its own devices.",
        .options = options,
        .min_operands = 2,
        .max_operands = SIZE_MAX,
        .suggest = subcommand,
        .version = mo_cli_exec_version,
    };
    int code = mo_command_main(&command, argc, argv, run_profile, &o);

    mo_read_options_free(&o.read);
    mo_option_list_free(&o.inputs);
    mo_option_list_free(&o.wants.weights_from);
    mo_launch_options_clear(&o.job);
    mo_host_exit(code);
    return code;
}
