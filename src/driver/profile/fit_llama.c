/* SPDX-License-Identifier: Apache-2.0 */
/* moirai-profile llama: fits rates of devices to results of llama-bench. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/minmax.h"
#include "base/reader.h"
#include "base/utf8.h"
#include "cost/calibrate/llama_bench.h"
#include "cost/cluster.h"
#include "cost/device.h"
#include "cost/profile/profile_builder.h"
#include "driver/output_guard.h"
#include "driver/profile/profile_options.h"
#include "ingest/read.h"
#include "report/runtime/chain.h"

enum { MANY_LAYERS = 99, VALUE_SIZE = 40 };

typedef struct fitting {
    const mo_profiler_options *o;
    const mo_output_guard *guard;
    const char *file, *graph; /* graph NULL: those of the tests */
    mo_llama_row *rows;
    int n_rows;
    mo_llama_run *runs; /* those of rows that are used */
    int n_runs;
    mo_profile_rate *rates;
    int n_rates;
} fitting;

static const char *device_of(const fitting *f, const mo_llama_row *row)
{
    return f->o->device ? f->o->device : row->device;
}

/* Rates have no effect unless the device exists: in the cluster, if that is
 * given, or as a device model. */
static mo_status check_device(const mo_profiler_options *o, mo_error *err)
{
    mo_cluster *cluster = NULL;
    char *where = NULL;
    mo_status status = MO_OK;

    if (o->cluster && !o->device)
        return mo_fail(err, MO_E_USAGE,
                       "--cluster has the device that --device names; give "
                       "both");
    if (o->cluster)
        status = mo_cluster_choose(o->cluster, NULL, &cluster, &where, err);
    else if (o->device && !mo_device_find(o->device))
        mo_driver_log_warning(&o->logger,
                              "'%.80s' is no known device model: its rates "
                              "are for a device of a cluster with this id; "
                              "--cluster checks that there is one",
                              o->device);
    if (status == MO_OK && cluster && mo_cluster_find(cluster, o->device) < 0)
        status =
            mo_fail(err, MO_E_USAGE,
                    "--device: the cluster has no device '%.80s'", o->device);
    mo_cluster_free(cluster);
    free(where);
    return status;
}

static mo_status read_ops(const fitting *f, const char *path, mo_llama_run *run,
                          int *n_layers, mo_error *err)
{
    const mo_llama_row *row = run->row;
    char cache[VALUE_SIZE], lengths[2][VALUE_SIZE];
    const char *items[4] = { "layers=whole", cache, lengths[0], lengths[1] };
    mo_read_options read = { .values = { .items = items,
                                         .count = row->prompt > 0 ? 4 : 3 } };
    int64_t context =
        row->prompt > 0 ? row->prompt : row->depth + (row->generate + 1) / 2;
    mo_graph *graph = NULL;
    mo_status status;

    snprintf(cache, VALUE_SIZE, "cache=%s", row->cache[0] ? row->cache : "f16");
    snprintf(lengths[0], VALUE_SIZE, "context=%" PRId64,
             mo_max_i64(context, 1));
    snprintf(lengths[1], VALUE_SIZE, "prompt=%" PRId64, row->prompt);
    status =
        mo_driver_load_graph(path, &read, &f->o->logger, &graph, NULL, err);
    if (status == MO_OK)
        status = mo_output_guard_check_found(f->guard, graph, NULL, path, err);
    if (status == MO_OK) {
        int *unit = calloc((size_t) graph->n_ops + 1, sizeof *unit);

        /* All ops but the embedding are on the device. */
        status = unit ? mo_chain_units_of(graph, unit, n_layers, err)
                      : mo_fail_memory(err);
        run->flops = calloc((size_t) graph->n_ops + 1, sizeof *run->flops);
        run->bytes = calloc((size_t) graph->n_ops + 1, sizeof *run->bytes);
        if (status == MO_OK && (!run->flops || !run->bytes))
            status = mo_fail_memory(err);
        for (int i = 0; i < graph->n_ops && status == MO_OK; i++) {
            if (unit[i] == 0)
                continue;
            run->flops[run->n_ops] = fmax(graph->ops[i].flops, 0);
            run->bytes[run->n_ops++] = fmax(graph->ops[i].bytes, 0);
        }
        run->has_ops = true;
        free(unit);
    }
    if (status != MO_OK)
        mo_error_set_location(err, path, 0);
    mo_graph_free(graph);
    return status;
}

/* Without the model all weights are one op. */
static mo_status guess_ops(const fitting *f, mo_llama_run *run, mo_error *err)
{
    const mo_llama_row *row = run->row;
    bool is_prompt = row->prompt > 0;

    run->flops = calloc(1, sizeof *run->flops);
    run->bytes = calloc(1, sizeof *run->bytes);
    if (!run->flops || !run->bytes)
        return mo_fail_memory(err);
    run->n_ops = 1;
    run->flops[0] =
        2 * row->parameters * (double) (is_prompt ? row->prompt : 1);
    run->bytes[0] = row->model_bytes;
    mo_driver_log_warning(&f->o->logger,
                          "%.200s is not here: the sizes in the test are used, "
                          "which include the embedding; name the file behind "
                          "%.200s",
                          row->model[0] ? row->model : "the model", f->file);
    return MO_OK;
}

/* A run that determines the rates of one device. */
static bool is_of_use(const fitting *f, const mo_llama_row *row, int n_layers)
{
    bool is_whole =
        row->gpu_layers <= 0 ||
        row->gpu_layers > (n_layers > 0 ? n_layers : MANY_LAYERS - 1);

    return device_of(f, row)[0] && is_whole &&
           (row->prompt == 0) != (row->generate == 0) &&
           (row->prompt == 0 || row->depth == 0);
}

static mo_status add_run(fitting *f, const mo_llama_row *row, mo_error *err)
{
    mo_llama_run *run = &f->runs[f->n_runs];
    const char *path = f->graph ? f->graph : row->model;
    int n_layers = 0;
    mo_status status;

    run->row = row;
    run->model = path;
    f->n_runs++; /* its arrays are freed */
    status = f->graph || (path[0] && access(path, R_OK) == 0)
                 ? read_ops(f, path, run, &n_layers, err)
                 : guess_ops(f, run, err);
    if (status == MO_OK && !is_of_use(f, row, n_layers)) {
        mo_driver_log_warning(&f->o->logger,
                              "%s: a test on several devices, of prompt and "
                              "tokens together, or of a prompt behind another "
                              "is ignored",
                              f->file);
        free(run->flops);
        free(run->bytes);
        *run = (mo_llama_run){ .n_ops = 0 };
        f->n_runs--;
    }
    return status;
}

static int compare_runs(const void *a, const void *b)
{
    const mo_llama_run *x = a, *y = b;
    int order = strcmp(x->row->device, y->row->device);

    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

/* Runs of one device are contiguous. */
static mo_status fit_devices(fitting *f, mo_error *err)
{
    mo_status status = MO_OK;

    if (f->n_runs == 0)
        return mo_fail_at(err, MO_E_INPUT, f->file, 0,
                          "has no test on one device; run llama-bench for each "
                          "device by itself");
    if (!f->o->device)
        qsort(f->runs, (size_t) f->n_runs, sizeof *f->runs, compare_runs);
    for (int first = 0, end; first < f->n_runs && status == MO_OK;
         first = end) {
        mo_profile_rate *rate = &f->rates[f->n_rates];

        for (end = first + 1; end < f->n_runs; end++)
            if (strcmp(device_of(f, f->runs[end].row),
                       device_of(f, f->runs[first].row)) != 0)
                break;
        rate->device = device_of(f, f->runs[first].row);
        status = mo_llama_bench_fit(&f->runs[first], end - first, rate, err);
        if (status == MO_OK)
            f->n_rates++;
        else
            mo_error_set_location(err, f->file, 0);
    }
    return status;
}

/* Reads the profile that is there, of rates alone; *old is NULL if there is
 * none. */
static mo_status read_old(const char *file, mo_profile **old, mo_error *err)
{
    mo_status status;

    *old = NULL;
    if (strcmp(file, "-") == 0 || access(file, F_OK) != 0)
        return MO_OK;
    status = mo_profile_read(file, old, err);
    if (status == MO_OK && (*old)->n_ops + (*old)->n_links > 0)
        status = mo_fail_at(err, MO_E_INPUT, file, 0,
                            "is a profile of measured ops or links; name "
                            "another file for rates");
    return status;
}

static mo_status write_profile(const fitting *f, mo_error *err)
{
    mo_profile_builder *builder;
    mo_profile *profile = NULL, *old = NULL;
    mo_out *out;
    mo_status status = mo_profile_builder_new(&builder, err);

    if (status == MO_OK)
        status = read_old(f->o->output, &old, err);
    if (status == MO_OK) {
        for (int i = 0; i < f->n_rates && status == MO_OK; i++)
            status = mo_profile_builder_rate(builder, &f->rates[i], err);
        /* Rates of other devices are kept. */
        for (int k = 0; old && k < old->n_rates && status == MO_OK; k++) {
            bool is_new = false;

            for (int i = 0; i < f->n_rates && !is_new; i++)
                is_new = strcmp(f->rates[i].device, old->rates[k].device) == 0;
            if (!is_new)
                status = mo_profile_builder_rate(builder, &old->rates[k], err);
        }
    }
    if (status == MO_OK)
        status =
            mo_profile_builder_finish(builder, f->o->output, &profile, err);
    if (status == MO_OK)
        status = mo_out_open(f->o->output, &out, err);
    if (status == MO_OK) {
        mo_profile_write(profile, out);
        status = mo_out_commit(out, err);
    }
    mo_profile_free(profile);
    mo_profile_builder_free(builder);
    mo_profile_free(old);
    return status;
}

static const mo_profile_rate *rate_of(const fitting *f, const mo_llama_run *run)
{
    for (int i = 0; i < f->n_rates; i++)
        if (strcmp(f->rates[i].device, device_of(f, run->row)) == 0)
            return &f->rates[i];
    return NULL;
}

static mo_status write_report(const fitting *f, mo_error *err)
{
    char name[MO_LLAMA_NAME];
    mo_out *out;
    mo_status status = mo_out_open("-", &out, err);

    if (status != MO_OK)
        return status;
    mo_out_printf(out, "%-34s %10s %10s %10s\n", "device", "GB/s", "GFLOP/s",
                  "us an op");
    for (int i = 0; i < f->n_rates; i++)
        mo_out_printf(
            out, "%-34s %10.4g %10.4g %10.3g\n",
            mo_utf8_escape_controls(name, sizeof name, f->rates[i].device),
            f->rates[i].bandwidth_gbs, f->rates[i].gflops,
            f->rates[i].overhead_us);
    mo_out_printf(out, "\n%-34s %10s %10s %10s\n", "test", "tokens/s",
                  "predicted", "error");
    for (int i = 0; i < f->n_runs; i++) {
        const mo_llama_run *run = &f->runs[i];
        double ns = mo_llama_bench_predict_ns(run, rate_of(f, run));
        double tokens = run->row->prompt > 0 ? (double) run->row->prompt : 1;
        char test[MO_LLAMA_NAME];

        snprintf(name, sizeof name, "%s%" PRId64 " on %.60s",
                 run->row->prompt > 0 ? "pp" : "tg",
                 run->row->prompt > 0 ? run->row->prompt : run->row->generate,
                 device_of(f, run->row));
        mo_out_printf(out, "%-34s %10.4g %10.4g %+8.1f %%\n",
                      mo_utf8_escape_controls(test, sizeof test, name),
                      1e9 * tokens / run->row->ns, 1e9 * tokens / ns,
                      100 * (run->row->ns / ns - 1));
    }
    return mo_out_commit(out, err);
}

mo_status mo_profiler_llama(mo_profiler_options *o, char **files, size_t n,
                            mo_error *err)
{
    mo_output_file output = { .option = "--output", .path = o->output };
    const mo_output_guard guard = { .outputs = &output, .n = 1 };
    fitting f = { .o = o,
                  .guard = &guard,
                  .file = files[0],
                  .graph = n > 1 ? files[1] : NULL };
    char *text = NULL;
    size_t size;
    mo_status status =
        o->json ? mo_fail(err, MO_E_USAGE, "--json is for moirai-profile fit")
                : mo_output_guard_check_input(&guard, f.file, err);

    if (status == MO_OK)
        status = mo_output_guard_check_input(&guard, f.graph, err);
    if (status == MO_OK)
        status = mo_output_guard_check_input(&guard, o->cluster, err);
    if (status == MO_OK)
        status = check_device(o, err);
    if (status == MO_OK)
        status = mo_reader_all(f.file, &text, &size, err);
    if (status == MO_OK)
        status =
            mo_llama_bench_read(f.file, text, size, &f.rows, &f.n_rows, err);
    if (status == MO_OK) {
        f.runs = calloc((size_t) f.n_rows + 1, sizeof *f.runs);
        f.rates = calloc((size_t) f.n_rows + 1, sizeof *f.rates);
        if (!f.runs || !f.rates)
            status = mo_fail_memory(err);
    }
    for (int i = 0; i < f.n_rows && status == MO_OK; i++)
        status = add_run(&f, &f.rows[i], err);
    if (status == MO_OK)
        status = fit_devices(&f, err);
    if (status == MO_OK && o->output)
        status = write_profile(&f, err);
    if (status == MO_OK && (!o->output || strcmp(o->output, "-") != 0))
        status = write_report(&f, err);
    for (int i = 0; i < f.n_runs; i++) {
        free(f.runs[i].flops);
        free(f.runs[i].bytes);
    }
    free(f.runs);
    free(f.rates);
    free(f.rows);
    free(text);
    return status;
}
