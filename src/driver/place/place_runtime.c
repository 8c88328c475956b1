/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/place/place_runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/minmax.h"
#include "driver/output_guard.h"
#include "driver/place/runtime_job.h"
#include "graph/phases.h"
#include "ingest/llm/summary.h"

enum { VALUE_SIZE = 64 };

const char *mo_place_runtime_suggest(size_t i)
{
    const mo_runtime *runtime = mo_runtime_at(i);

    return runtime ? runtime->name : NULL;
}

mo_status mo_place_runtime_check(const mo_place_runtime_options *o,
                                 bool may_drop, const mo_runtime **runtime,
                                 mo_error *err)
{
    *runtime = o->name ? mo_runtime_find(o->name) : NULL;
    if (o->name && !*runtime)
        return mo_fail(err, MO_E_USAGE,
                       "--for '%.60s' is unknown; there are llama.cpp, vllm, "
                       "accelerate, openvino and pytorch-pipelining",
                       o->name);
    if (!o->name && (o->added.count > 0 || (o->dropped.count > 0 && !may_drop)))
        return mo_fail(err, MO_E_USAGE, "%s need%s --for RUNTIME",
                       may_drop ? "--add-device"
                                : "--add-device and --drop-device",
                       may_drop ? "s" : "");
    if (*runtime && (*runtime)->write_ops &&
        (o->added.count > 0 || o->dropped.count > 0))
        return mo_fail(err, MO_E_USAGE,
                       "--add-device and --drop-device are for runtimes that "
                       "place layers, not for %s",
                       o->name);
    return MO_OK;
}

mo_status mo_place_runtime_refuse(const mo_runtime *runtime, bool given,
                                  const char *option, mo_error *err)
{
    return given ? mo_fail(err, MO_E_USAGE,
                           "--for %s has no use for %s; leave it out",
                           runtime->name, option)
                 : MO_OK;
}

mo_status mo_place_runtime_check_schedule(const mo_runtime *runtime,
                                          const mo_prepare_options *prepare,
                                          mo_error *err)
{
    static const mo_prepare_options usual = MO_PREPARE_DEFAULTS;
    const struct {
        bool given;
        const char *option;
    } rules[] = {
        { mo_prepare_objective(prepare) == MO_OBJECTIVE_PERIOD,
          "--objective period" },
        { prepare->in_flight > 0, "--in-flight" },
        { strcmp(prepare->fusion, usual.fusion) != 0, "--fusion" },
        { strcmp(prepare->congestion, usual.congestion) != 0, "--congestion" },
        { strcmp(prepare->memory, usual.memory) != 0, "--memory" },
        { prepare->tensors != NULL, "--tensors" },
    };
    mo_status status = MO_OK;

    for (size_t i = 0; i < sizeof rules / sizeof *rules && status == MO_OK; i++)
        status = mo_place_runtime_refuse(runtime, rules[i].given,
                                         rules[i].option, err);
    return status;
}

/* Reads the workload, the ops of a layer in one group. */
static mo_status read_workload(mo_runtime_job *j, mo_error *err)
{
    char lengths[4][VALUE_SIZE + 16];
    const char *items[] = { "layers=whole", lengths[0], lengths[1], lengths[2],
                            lengths[3] };
    mo_read_options read = { .shapes = j->prepare->read.shapes,
                             .values = { .items = items, .count = 5 } };
    mo_numeric formats;
    mo_status status;

    snprintf(lengths[0], sizeof lengths[0], "cache=%s", j->lengths.cache);
    snprintf(lengths[1], sizeof lengths[1], "context=%" PRId64,
             j->lengths.context);
    snprintf(lengths[2], sizeof lengths[2], "prompt=%" PRId64,
             j->lengths.prompt);
    snprintf(lengths[3], sizeof lengths[3], "generate=%" PRId64,
             j->lengths.generate);
    status = mo_driver_load_graph(j->path, &read, j->logger, &j->workload, NULL,
                                  err);
    if (status == MO_OK)
        status = mo_driver_load_formats(&j->prepare->load, &formats, err);
    for (int i = 0; i < MO_RUNTIME_PHASES && status == MO_OK; i++) {
        j->graphs[i] = j->workload->phases->items[i].graph;
        mo_numeric_apply(&formats, j->graphs[i]);
    }
    return status;
}

/* Limits the default; a longer request is refused. */
static mo_status limit_context(mo_runtime_job *j, int64_t most, mo_error *err)
{
    int64_t tokens = j->lengths.has_context
                         ? j->lengths.context
                         : j->lengths.prompt + j->lengths.generate;

    if (tokens > most)
        return mo_fail(err, MO_E_USAGE,
                       "a context of %" PRId64 " is more than the %" PRId64
                       " tokens of the model, which %s refuses; give --context "
                       "%" PRId64 " or less",
                       tokens, most, j->runtime->name, most);
    j->lengths.context = mo_min_i64(j->lengths.context, most);
    return MO_OK;
}

/* The file must be one that the runtime runs. */
static mo_status check_format(mo_runtime_job *j, mo_error *err)
{
    mo_input *input;
    const mo_read_format *format = NULL;
    mo_llm_summary summary;
    bool found;
    mo_status status = mo_input_open(j->path, &input, err);

    if (status != MO_OK)
        return status;
    status = mo_read_find_format(input, &format, err);
    mo_input_close(input);
    if (status == MO_OK &&
        (!format || strcmp(format->name, j->runtime->format) != 0))
        return mo_fail_at(err, MO_E_INPUT, j->path, 0, "--for %s takes %s",
                          j->runtime->name,
                          strcmp(j->runtime->format, "gguf") == 0
                              ? "a GGUF file"
                              : "a folder of transformers");
    if (status == MO_OK)
        status = mo_read_summarize(j->path, NULL, &found, &summary, err);
    if (status == MO_OK && found)
        j->draft_layers = summary.draft_layers;
    if (status == MO_OK && found && j->runtime->rules.limits_context &&
        summary.trained_context > 0)
        status = limit_context(j, summary.trained_context, err);
    return status;
}

/* The model is read more than once, and the settings name it. */
static mo_status check_file(const mo_runtime_job *j, mo_error *err)
{
    struct stat about;

    if (strcmp(j->path, "-") != 0 &&
        (stat(j->path, &about) != 0 || S_ISREG(about.st_mode) ||
         S_ISDIR(about.st_mode)))
        return MO_OK;
    return mo_fail(err, MO_E_USAGE,
                   "--for %s needs the name of a file, not standard input or "
                   "a pipe",
                   j->runtime->name);
}

static mo_status load(mo_runtime_job *j, mo_error *err)
{
    mo_status status =
        mo_place_lengths_read(&j->prepare->read.values, &j->lengths, err);

    if (status == MO_OK)
        status = check_file(j, err);
    if (status == MO_OK)
        status = check_format(j, err);
    if (status == MO_OK)
        status = read_workload(j, err);
    if (status == MO_OK)
        status = mo_driver_load_devices(&j->prepare->load, j->path, j->logger,
                                        &j->devices, err);
    if (status == MO_OK)
        status = mo_runtime_check_devices(j->runtime, j->devices.cluster, err);
    return status;
}

static mo_status print(const mo_runtime_job *j, const mo_handover *report,
                       bool json, mo_output_file *output, mo_error *err)
{
    bool to_stdout = output->path && strcmp(output->path, "-") == 0;
    mo_out *out;
    mo_status status = MO_OK;

    if (output->path && !report->why) {
        status = mo_output_files_open(output, 1, err);
        if (status == MO_OK) {
            mo_runtime_write(j->runtime, &report->it, output->out);
            status = mo_output_files_commit(output, 1, err);
        }
    }
    if (status == MO_OK)
        status = mo_out_open(to_stdout ? "/dev/stderr" : "-", &out, err);
    if (status != MO_OK)
        return status;
    if (json)
        mo_handover_json(report, out);
    else
        mo_handover_text(report, out);
    if (output->path && !to_stdout && !json && !report->why)
        mo_out_printf(out, "settings written to %s\n", output->path);
    return mo_out_commit(out, err);
}

/* Whether the times of all layers are by rates of the profile. */
static bool is_calibrated(const mo_runtime_job *j, const mo_chain *chain,
                          const mo_split *split)
{
    const mo_profile *profile = j->devices.profile;
    bool all = profile != NULL;

    for (int u = 1; u < chain->n_units && all; u++)
        all = mo_profile_find_rate(
                  profile,
                  &chain->cluster->devices[split->placement.device[u]]) != NULL;
    return all;
}

/* Where nothing fits, the rows tell whether another device helps. */
static mo_status place(mo_runtime_job *j, bool json, mo_output_file *output,
                       mo_error *err)
{
    bool all[MO_CHAIN_MAX_DEVICES];
    mo_chain *chain = NULL;
    mo_split split = { .bound_ns = 0 };
    mo_error why = { 0 };
    bool fits;
    mo_status status = mo_runtime_job_chain(j, j->devices.cluster, &chain, err);

    for (int k = 0; k < MO_CHAIN_MAX_DEVICES; k++)
        all[k] = true;
    if (status == MO_OK)
        status = mo_split_find(chain, all, &split, err);
    fits = status == MO_OK;
    if (chain && status == MO_E_INFEASIBLE)
        why = *err;
    if (fits || (chain && status == MO_E_INFEASIBLE))
        status = mo_runtime_job_add_rows(j, chain, fits ? &split : NULL, err);
    if (status == MO_OK) {
        mo_handover report = {
            .runtime = j->runtime,
            .it = { .chain = chain,
                    .placement = &split.placement,
                    .model = j->path,
                    .context = j->lengths.context,
                    .cache = j->lengths.cache,
                    .draft_layers = j->draft_layers },
            .split = &split,
            .why = fits ? NULL : why.text,
            .prompt = j->lengths.prompt,
            .generate = j->lengths.generate,
            .rows = j->rows,
            .n_rows = j->n_rows,
            .is_calibrated = fits && is_calibrated(j, chain, &split),
        };

        status = print(j, &report, json, output, err);
        if (status == MO_OK && !fits) {
            *err = why;
            status = MO_E_INFEASIBLE;
        }
    }
    mo_split_clear(&split);
    mo_chain_free(chain);
    return status;
}

mo_status mo_place_runtime_run(const mo_place_runtime_options *o,
                               const mo_runtime *runtime,
                               const mo_prepare_options *prepare,
                               const char *path, bool json,
                               mo_output_file *output,
                               const mo_driver_log *logger, mo_error *err)
{
    mo_runtime_job *j = calloc(1, sizeof *j);
    mo_status status;

    if (!j)
        return mo_fail_memory(err);
    *j = (mo_runtime_job){ .o = o,
                           .runtime = runtime,
                           .prepare = prepare,
                           .path = path,
                           .logger = logger };
    status = load(j, err);
    if (status == MO_OK)
        status = mo_output_guard_check_found(
            &(mo_output_guard){ .outputs = output, .n = 1 }, j->workload,
            j->devices.cluster, path, err);
    if (status == MO_OK)
        status = place(j, json, output, err);
    for (int i = 0; i < j->n_rows; i++)
        free(j->reasons[i]);
    mo_driver_devices_clear(&j->devices);
    mo_graph_free(j->workload);
    free(j);
    return status;
}
