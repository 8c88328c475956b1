/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/place/place_runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/minmax.h"
#include "base/number.h"
#include "base/utf8.h"
#include "cost/cluster/cluster_builder.h"
#include "driver/load_instance.h"
#include "driver/output_guard.h"
#include "graph/phases.h"
#include "ingest/llm/summary.h"
#include "report/runtime/handover.h"

enum {
    N_PHASES = 2,
    DEFAULT_PROMPT = 512,
    DEFAULT_GENERATE = 128,
    DEFAULT_CONTEXT = 4096,
    VALUE_SIZE = 64,
    MAX_ROWS = 2 * MO_CHAIN_MAX_DEVICES + 64
};

/* PCI Express 4.0 x16, for a device that is added to one without links. */
static const mo_link usual_link = { .gbps = 252, .latency_ns = 10000 };

/* A model and the lengths of its phases. */
typedef struct job {
    const mo_place_runtime_options *o;
    const mo_runtime *runtime;
    const mo_prepare_options *prepare;
    const char *path;
    const mo_driver_log *logger;
    int64_t prompt, generate, context;
    bool has_context; /* it is given */
    char cache[VALUE_SIZE];
    int draft_layers;
    mo_graph *workload;
    mo_graph *graphs[N_PHASES]; /* of it: of the prompt, and of a token */
    mo_driver_devices devices;
    mo_handover_row rows[MAX_ROWS];
    char *reasons[MAX_ROWS]; /* texts of rows */
    int n_rows;
} job;

const char *mo_place_runtime_suggest(size_t i)
{
    const mo_runtime *runtime = mo_runtime_at(i);

    return runtime ? runtime->name : NULL;
}

mo_status mo_place_runtime_check(const mo_place_runtime_options *o,
                                 const mo_runtime **runtime, mo_error *err)
{
    *runtime = o->name ? mo_runtime_find(o->name) : NULL;
    if (o->name && !*runtime)
        return mo_fail(err, MO_E_USAGE,
                       "--for '%.60s' is unknown; there are llama.cpp, vllm, "
                       "accelerate, openvino and pytorch-pipelining",
                       o->name);
    if (!o->name && (o->added.count > 0 || o->drops))
        return mo_fail(err, MO_E_USAGE,
                       "--add-device and --drop-device need --for RUNTIME");
    if (*runtime && (*runtime)->write_ops && (o->added.count > 0 || o->drops))
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

/* lengths */

static mo_status read_length(const char *item, const char *text, int64_t *value,
                             mo_error *err)
{
    if (mo_number_read_int(text, strlen(text), value) == MO_NUMBER_OK &&
        *value >= 1 && *value <= 1 << 30)
        return MO_OK;
    return mo_fail(err, MO_E_USAGE, "--value %.60s: is no number of tokens",
                   item);
}

/* Reads one of the values; others are those of the reader. */
static mo_status read_value(job *j, const char *item, mo_error *err)
{
    if (strncmp(item, "prompt=", 7) == 0)
        return read_length(item, item + 7, &j->prompt, err);
    if (strncmp(item, "generate=", 9) == 0)
        return read_length(item, item + 9, &j->generate, err);
    if (strncmp(item, "context=", 8) == 0)
        return read_length(item, item + 8, &j->context, err);
    if (strncmp(item, "cache=", 6) == 0)
        snprintf(j->cache, sizeof j->cache, "%s", item + 6);
    else if (strncmp(item, "layers=", 7) != 0)
        return mo_fail(err, MO_E_USAGE,
                       "--value %.60s: with --for there are prompt, generate, "
                       "context and cache",
                       item);
    return MO_OK;
}

/* Commas separate values. */
static mo_status read_values(job *j, const char *items, mo_error *err)
{
    mo_status status = MO_OK;

    while (status == MO_OK && *items) {
        char item[VALUE_SIZE];
        size_t length = strcspn(items, ",");

        snprintf(item, sizeof item, "%.*s",
                 (int) mo_min_size(length, sizeof item), items);
        status = read_value(j, item, err);
        items += length + (items[length] == ',');
    }
    return status;
}

static mo_status read_lengths(job *j, mo_error *err)
{
    const mo_option_list *values = &j->prepare->read.values;
    mo_status status = MO_OK;

    j->prompt = DEFAULT_PROMPT;
    j->generate = DEFAULT_GENERATE;
    snprintf(j->cache, sizeof j->cache, "f16");
    for (size_t i = 0; i < values->count && status == MO_OK; i++)
        status = read_values(j, values->items[i], err);
    j->has_context = j->context > 0;
    if (status == MO_OK && j->context == 0)
        j->context = mo_max_i64(DEFAULT_CONTEXT, j->prompt + j->generate);
    if (status == MO_OK && j->context < j->prompt + j->generate)
        status = mo_fail(err, MO_E_USAGE,
                         "a prompt of %" PRId64 " tokens and %" PRId64
                         " more do not fit a context of %" PRId64
                         "; give --context TOKENS",
                         j->prompt, j->generate, j->context);
    return status;
}

/* Reads the workload, the ops of a layer in one group. */
static mo_status read_workload(job *j, mo_error *err)
{
    char lengths[4][VALUE_SIZE + 16];
    const char *items[] = { "layers=whole", lengths[0], lengths[1], lengths[2],
                            lengths[3] };
    mo_read_options read = { .shapes = j->prepare->read.shapes,
                             .values = { .items = items, .count = 5 } };
    mo_numeric formats;
    mo_status status;

    snprintf(lengths[0], sizeof lengths[0], "cache=%s", j->cache);
    snprintf(lengths[1], sizeof lengths[1], "context=%" PRId64, j->context);
    snprintf(lengths[2], sizeof lengths[2], "prompt=%" PRId64, j->prompt);
    snprintf(lengths[3], sizeof lengths[3], "generate=%" PRId64, j->generate);
    status = mo_driver_load_graph(j->path, &read, j->logger, &j->workload, NULL,
                                  err);
    if (status == MO_OK)
        status = mo_driver_load_formats(&j->prepare->load, &formats, err);
    for (int i = 0; i < N_PHASES && status == MO_OK; i++) {
        j->graphs[i] = j->workload->phases->items[i].graph;
        mo_numeric_apply(&formats, j->graphs[i]);
    }
    return status;
}

/* Limits the default; a longer request is refused. */
static mo_status limit_context(job *j, int64_t most, mo_error *err)
{
    int64_t tokens = j->has_context ? j->context : j->prompt + j->generate;

    if (tokens > most)
        return mo_fail(err, MO_E_USAGE,
                       "a context of %" PRId64 " is more than the %" PRId64
                       " tokens of the model, which %s refuses; give --context "
                       "%" PRId64 " or less",
                       tokens, most, j->runtime->name, most);
    j->context = mo_min_i64(j->context, most);
    return MO_OK;
}

/* The file must be one that the runtime runs. */
static mo_status check_format(job *j, mo_error *err)
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
static mo_status check_file(const job *j, mo_error *err)
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

static mo_status load(job *j, mo_error *err)
{
    mo_status status = read_lengths(j, err);

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

/* Makes the chain on a cluster; the caller frees it. */
static mo_status make_chain(const job *j, mo_cluster *cluster, mo_chain **chain,
                            mo_error *err)
{
    mo_driver_load_options options = j->prepare->load;
    mo_driver_devices devices = { cluster, j->devices.profile };
    mo_instance *x[N_PHASES] = { NULL, NULL };
    mo_chain_source sources[N_PHASES] = {
        { "prompt", 1, j->prompt, j->graphs[0], NULL },
        { "token", (double) j->generate, 1, j->graphs[1], NULL }
    };
    mo_status status = MO_OK;

    options.any_size = true;
    for (int i = 0; i < N_PHASES && status == MO_OK; i++) {
        status = mo_driver_load_instance(&options, j->path, j->graphs[i],
                                         &devices, j->logger, &x[i], err);
        sources[i].x = x[i];
    }
    if (status == MO_OK)
        status = mo_chain_make(sources, N_PHASES, cluster, j->devices.profile,
                               &j->runtime->rules, chain, err);
    for (int i = 0; i < N_PHASES; i++)
        mo_instance_free(x[i]);
    return status;
}

/* rows */

/* Adds a row for a split that was found, or for the reason why there is none;
 * any other failure is one of the command. */
static mo_status add_row(job *j, const char *label, mo_status status,
                         const mo_split *split, mo_error *err)
{
    mo_handover_row *row = &j->rows[j->n_rows];

    if (status != MO_OK && status != MO_E_INFEASIBLE)
        return status;
    mo_utf8_escape_controls(row->label, sizeof row->label, label);
    if (status == MO_E_INFEASIBLE) {
        j->reasons[j->n_rows] = strdup(err->text);
        row->why = j->reasons[j->n_rows];
        if (!row->why)
            return mo_fail_memory(err);
    } else if (!split->figures.fits) {
        row->why = "does not fit into memory";
    } else {
        mo_handover_row_set(row, &split->figures);
    }
    j->n_rows++;
    return MO_OK;
}

static mo_status add_split(job *j, const mo_chain *chain, const bool *allowed,
                           const char *label, mo_error *err)
{
    mo_split split = { .bound_ns = 0 };
    mo_status status = mo_split_find(chain, allowed, &split, err);

    status = add_row(j, label, status, &split, err);
    mo_split_clear(&split);
    return status;
}

static mo_status add_default(job *j, const mo_chain *chain, mo_error *err)
{
    bool all[MO_CHAIN_MAX_DEVICES];
    char label[MO_HANDOVER_LABEL];
    mo_split split = { .bound_ns = 0 };
    mo_status status;

    for (int k = 0; k < chain->n_devices; k++)
        all[k] = true;
    snprintf(label, sizeof label, "%s: %s", j->runtime->name,
             j->runtime->default_name);
    status = j->runtime->split_default(chain, all, &split, err);
    status = add_row(j, label, status, &split, err);
    mo_split_clear(&split);
    return status;
}

static bool may_use(const job *j, const mo_chain *chain, int device)
{
    return j->runtime->rules.uses_cpu ||
           !chain->cluster->devices[device].is_cpu;
}

static bool has_experts_on_host(const mo_chain *chain, const mo_split *split)
{
    for (int u = 0; u < chain->n_units; u++)
        if (split->placement.experts_on_host[u])
            return true;
    return false;
}

/* Adds the row of a device alone; experts in main memory need the CPU, too. */
static mo_status add_alone(job *j, const mo_chain *chain, const bool *allowed,
                           int device, mo_error *err)
{
    const mo_device *devices = chain->cluster->devices;
    char label[MO_HANDOVER_LABEL];
    mo_split split = { .bound_ns = 0 };
    mo_status status = mo_split_find(chain, allowed, &split, err);

    if (status == MO_OK && device != chain->host &&
        has_experts_on_host(chain, &split))
        snprintf(label, sizeof label, "%.40s with experts on %.30s",
                 devices[device].id, devices[chain->host].id);
    else
        snprintf(label, sizeof label, "%.60s alone", devices[device].id);
    status = add_row(j, label, status, &split, err);
    mo_split_clear(&split);
    return status;
}

/* Each device alone, or all but one. */
static mo_status add_subsets(job *j, const mo_chain *chain, bool alone,
                             mo_error *err)
{
    bool allowed[MO_CHAIN_MAX_DEVICES];
    char label[MO_HANDOVER_LABEL];
    mo_status status = MO_OK;

    for (int k = 0; k < chain->n_devices && status == MO_OK; k++) {
        for (int i = 0; i < chain->n_devices; i++)
            allowed[i] = (i == k) == alone;
        if (!may_use(j, chain, k))
            continue;
        snprintf(label, sizeof label, "without %.60s",
                 chain->cluster->devices[k].id);
        status = alone ? add_alone(j, chain, allowed, k, err)
                       : add_split(j, chain, allowed, label, err);
    }
    return status;
}

/* one more device */

static const char *unused_id(const mo_cluster *cluster, const char *model,
                             char *id, size_t size)
{
    int n = 1;

    snprintf(id, size, "%s", model);
    while (mo_cluster_find(cluster, id) >= 0)
        snprintf(id, size, "%s-%d", model, ++n);
    return id;
}

/* Splits "MODEL:GIB"; the device's texts are those of a model. */
static mo_status parse_device(const char *text, mo_device *device,
                              mo_error *err)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t) (colon - text) : strlen(text);
    char name[VALUE_SIZE];
    double gib = 0;

    *device = (mo_device){ MO_DEVICE_NO_FIGURES };
    snprintf(name, sizeof name, "%.*s", (int) mo_min_size(length, VALUE_SIZE),
             text);
    device->known = length < VALUE_SIZE ? mo_device_find(name) : NULL;
    if (!device->known)
        return mo_fail(err, MO_E_USAGE,
                       "--add-device %.80s: there is no model '%.60s'; "
                       "moirai-cluster(5) lists them",
                       text, name);
    if (colon && (mo_number_read_double(colon + 1, strlen(colon + 1), &gib) !=
                      MO_NUMBER_OK ||
                  !(gib > 0 && gib < 1e9)))
        return mo_fail(err, MO_E_USAGE,
                       "--add-device %.80s: '%.40s' is no number of GiB", text,
                       colon + 1);
    device->model = device->known->name;
    mo_device_complete(device);
    if (colon)
        device->memory_bytes = (int64_t) (gib * 1073741824);
    return MO_OK;
}

/* The device that a new one is connected like: the first GPU, else the first
 * device. */
static int find_twin(const mo_cluster *cluster)
{
    for (int k = 0; k < cluster->n_devices; k++)
        if (!cluster->devices[k].is_cpu)
            return k;
    return 0;
}

/* Adds the links of the new device number n: those of its twin, and one between
 * them like those of the twin to another GPU, else to any device. */
static mo_status add_links(mo_cluster_builder *builder,
                           const mo_cluster *cluster, const int *number,
                           mo_error *err)
{
    int twin = find_twin(cluster), n = cluster->n_devices;
    mo_link between = usual_link;
    bool has_gpu = false;
    mo_status status = MO_OK;

    for (int i = 0; i < cluster->n_links && status == MO_OK; i++) {
        mo_link link = cluster->links[i];
        int from = link.from, to = link.to;

        link.from = number[from];
        link.to = number[to];
        status = mo_cluster_builder_link(builder, &link, err);
        if (from == twin && !has_gpu) {
            between.gbps = link.gbps;
            between.latency_ns = link.latency_ns;
            has_gpu = !cluster->devices[to].is_cpu;
        }
        if (status != MO_OK || (from != twin && to != twin))
            continue;
        if (from == twin)
            link.from = number[n];
        else
            link.to = number[n];
        status = mo_cluster_builder_link(builder, &link, err);
    }
    for (int i = 0; i < 2 && status == MO_OK; i++) {
        between.from = number[i == 0 ? n : twin];
        between.to = number[i == 0 ? twin : n];
        status = mo_cluster_builder_link(builder, &between, err);
    }
    return status;
}

/* Makes the cluster with one more device. */
static mo_status extend_cluster(const mo_cluster *cluster, const char *text,
                                mo_cluster **extended, mo_error *err)
{
    mo_cluster_builder *builder = NULL;
    mo_device added;
    char id[VALUE_SIZE + 16];
    int n = cluster->n_devices;
    int *number = calloc((size_t) n + 1, sizeof *number);
    mo_status status =
        number ? parse_device(text, &added, err) : mo_fail_memory(err);

    if (status == MO_OK)
        status = mo_cluster_builder_new(&builder, err);
    for (int k = 0; k <= n && status == MO_OK; k++) {
        mo_device device = k < n ? cluster->devices[k] : added;
        const char *name =
            k < n ? device.id : unused_id(cluster, added.model, id, sizeof id);

        device.id = mo_arena_text(mo_cluster_builder_arena(builder), name,
                                  strlen(name));
        status = device.id ? mo_cluster_builder_id(builder, name, strlen(name),
                                                   &number[k], err)
                           : mo_fail_memory(err);
        if (status == MO_OK)
            status = mo_cluster_builder_device(builder, &device, err);
    }
    if (status == MO_OK)
        status = add_links(builder, cluster, number, err);
    if (status == MO_OK)
        status =
            mo_cluster_builder_finish(builder, cluster->file, extended, err);
    mo_cluster_builder_free(builder);
    free(number);
    return status;
}

static mo_status add_device(job *j, const char *text, mo_error *err)
{
    bool all[MO_CHAIN_MAX_DEVICES];
    char label[MO_HANDOVER_LABEL];
    mo_cluster *cluster = NULL;
    mo_chain *chain = NULL;
    mo_status status = extend_cluster(j->devices.cluster, text, &cluster, err);

    for (int k = 0; k < MO_CHAIN_MAX_DEVICES; k++)
        all[k] = true;
    snprintf(label, sizeof label, "with one more %.60s", text);
    if (status == MO_OK)
        status = make_chain(j, cluster, &chain, err);
    if (status == MO_OK)
        status = add_split(j, chain, all, label, err);
    mo_chain_free(chain);
    mo_cluster_free(cluster);
    return status;
}

static mo_status add_rows(job *j, const mo_chain *chain, mo_error *err)
{
    mo_status status = MO_OK;

    if (j->o->added.count > 64)
        return mo_fail(err, MO_E_LIMIT, "more than 64 times --add-device");
    if (j->runtime->split_default)
        status = add_default(j, chain, err);
    if (status == MO_OK && chain->n_devices > 1)
        status = add_subsets(j, chain, true, err);
    if (status == MO_OK && j->o->drops && chain->n_devices > 1)
        status = add_subsets(j, chain, false, err);
    for (size_t i = 0; i < j->o->added.count && status == MO_OK; i++)
        status = add_device(j, j->o->added.items[i], err);
    return status;
}

static mo_status print(const job *j, const mo_handover *report, bool json,
                       mo_output_file *output, mo_error *err)
{
    bool to_stdout = output->path && strcmp(output->path, "-") == 0;
    mo_out *out;
    mo_status status = MO_OK;

    if (output->path) {
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
    if (output->path && !to_stdout && !json)
        mo_out_printf(out, "settings written to %s\n", output->path);
    return mo_out_commit(out, err);
}

/* Whether the times of all layers are by rates of the profile. */
static bool is_calibrated(const job *j, const mo_chain *chain,
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

static mo_status place(job *j, bool json, mo_output_file *output, mo_error *err)
{
    bool all[MO_CHAIN_MAX_DEVICES];
    mo_chain *chain = NULL;
    mo_split split = { .bound_ns = 0 };
    mo_status status = make_chain(j, j->devices.cluster, &chain, err);

    for (int k = 0; k < MO_CHAIN_MAX_DEVICES; k++)
        all[k] = true;
    if (status == MO_OK)
        status = mo_split_find(chain, all, &split, err);
    if (status == MO_OK)
        status = add_rows(j, chain, err);
    if (status == MO_OK) {
        mo_handover report = {
            .runtime = j->runtime,
            .it = { .chain = chain,
                    .placement = &split.placement,
                    .model = j->path,
                    .context = j->context,
                    .cache = j->cache,
                    .draft_layers = j->draft_layers },
            .split = &split,
            .prompt = j->prompt,
            .generate = j->generate,
            .rows = j->rows,
            .n_rows = j->n_rows,
            .is_calibrated = is_calibrated(j, chain, &split),
        };

        status = print(j, &report, json, output, err);
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
    job *j = calloc(1, sizeof *j);
    mo_status status;

    if (!j)
        return mo_fail_memory(err);
    *j = (job){ .o = o,
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

/* Ops that are not placed, and constants, are on the device of a reader. */
static void find_devices(const mo_problem *problem, const int *device,
                         int *by_op)
{
    const mo_graph *g = problem->fine;

    for (int i = g->n_ops - 1; i >= 0; i--) {
        int coarse = problem->map ? problem->map->coarse_of[i] : i;

        if (coarse >= 0)
            by_op[i] = device[coarse];
        else if (mo_graph_out_degree(g, i) > 0)
            by_op[i] = by_op[g->edges[g->out_start[i]].to];
    }
    for (int constants = 0; constants <= 1; constants++)
        for (int f = g->n_feeds - 1; f >= 0; f--)
            if ((g->feeds[f].to >= g->n_ops) == constants)
                by_op[g->feeds[f].from] = by_op[g->feeds[f].to];
}

mo_status mo_place_runtime_write_ops(const mo_runtime *runtime,
                                     const mo_problem *problem,
                                     const int *device, mo_out *out,
                                     mo_error *err)
{
    const mo_graph *g = problem->fine;
    int *by_op =
        calloc((size_t) g->n_ops + (size_t) g->n_constants + 1, sizeof *by_op);
    mo_json_writer w = { .out = out };

    if (!by_op)
        return mo_fail_memory(err);
    find_devices(problem, device, by_op);
    runtime->write_ops(&(mo_runtime_ops){ .cluster = problem->cluster,
                                          .graph = g,
                                          .device = by_op },
                       &w);
    free(by_op);
    return MO_OK;
}
