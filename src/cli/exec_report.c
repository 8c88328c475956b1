/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cli/exec_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "driver/exec/emulate.h"
#include "driver/exec/output_npy.h"
#include "exec/plan/ir/plan_json.h"
#include "exec/measure/run_analysis.h"
#include "driver/report/solution_page.h"
#include "report/execution.h"

enum { N_CLASSES = MO_CLASS_SHAPE + 1, NAME_ROOM = 256 };

/* A report under construction, and the arrays it borrows. */
typedef struct filling {
    const mo_cli_exec_result *from;
    mo_report_execution e;
    mo_report_execution_class classes[N_CLASSES + 1]; /* the last: no op */
    char (*types)[MO_TENSOR_DESC_TEXT_SIZE];          /* of outputs */
    char load[MO_MEASURE_LOAD_SIZE];
} filling;

static void fill_devices(filling *f)
{
    const mo_exec_plan *plan = f->from->job->plan;
    const mo_cluster *cluster = f->from->job->review.problem.cluster;
    const mo_run_result *r = f->from->result;

    for (int k = 0; k < plan->n_devices; k++)
        f->e.devices[k] = (mo_report_execution_device){
            .id = plan->devices[k].id,
            .backend = f->from->units->backends[k]->name,
            .model = f->from->units->backends[k]->separate_memory &&
                             !f->from->units->parts
                         ? cluster->devices[k].model
                         : NULL,
            .threads = f->from->units->backends[k]->separate_memory
                           ? 0
                           : f->from->units->options[k].threads,
            .cpus = f->from->units->cpus[k],
            .sms = f->from->units->parts ? f->from->units->parts[k] : 0,
            .weight_bytes = plan->devices[k].weight_bytes,
            .arena_bytes = plan->devices[k].arena_bytes,
            .capacity_bytes = plan->devices[k].capacity_bytes,
            .workspace_bytes = r ? r->workspace_bytes[k] : MO_UNKNOWN,
            .allocated_bytes = r ? r->allocated_bytes[k] : MO_UNKNOWN,
            .busy_ns = r ? r->busy_ns[k] : MO_UNKNOWN,
            .wait_ns = r ? r->wait_ns[k] : MO_UNKNOWN,
        };
    for (int i = 0; i < plan->n_items; i++)
        if (plan->items[i].op != MO_PLAN_NONE)
            f->e.devices[plan->items[i].device].items++;
    for (int t = 0; t < plan->n_transfers; t++)
        f->e.sent_bytes += plan->transfers[t].bytes;
    f->e.n_transfers = plan->n_transfers;
}

/* One row for each pair of devices and path, in the order of the plan. */
static mo_status fill_links(filling *f, mo_error *err)
{
    const mo_exec_plan *plan = f->from->job->plan;
    mo_report_execution_link *links;

    if (!f->from->paths)
        return MO_OK;
    links = calloc((size_t) plan->n_transfers + 1, sizeof *links);
    f->e.links = links;
    if (!links)
        return mo_fail_memory(err);
    for (int t = 0; t < plan->n_transfers; t++) {
        const mo_plan_transfer *transfer = &plan->transfers[t];
        const char *from = plan->devices[transfer->from].id;
        const char *to = plan->devices[transfer->to].id;
        const char *path = f->from->paths[t];
        int i = 0;

        while (i < f->e.n_links &&
               (links[i].from != from || links[i].to != to ||
                strcmp(links[i].path, path) != 0))
            i++;
        if (i == f->e.n_links)
            links[f->e.n_links++] =
                (mo_report_execution_link){ from, to, path, 0, 0 };
        links[i].n_transfers++;
        links[i].bytes += transfer->bytes;
    }
    return MO_OK;
}

static mo_report_execution_class *class_of(filling *f, int item)
{
    const mo_plan_item *it = &f->from->job->plan->items[item];

    return &f->classes[it->op == MO_PLAN_NONE ? N_CLASSES : it->class];
}

static void fill_classes(filling *f)
{
    const mo_exec_plan *plan = f->from->job->plan;

    for (int c = 0; c < N_CLASSES; c++)
        f->classes[c].name = mo_class_name((mo_class) c);
    f->classes[N_CLASSES].name = "replicated";
    for (int i = 0; i < plan->n_items; i++) {
        class_of(f, i)->items++;
        class_of(f, i)->predicted_ns += plan->items[i].predicted_ns;
    }
    for (int i = 0; i < plan->n_calls && f->from->result; i++)
        class_of(f, plan->calls[i].timed_as)->measured_ns +=
            f->from->result->call_ns[i];
    f->e.classes = f->classes;
    for (int c = 0; c <= N_CLASSES; c++)
        if (f->classes[c].items > 0)
            f->e.classes[f->e.n_classes++] = f->classes[c];
}

static void fill_outputs(filling *f, const mo_exec_output_npy *files)
{
    const mo_exec_plan *plan = f->from->job->plan;
    const mo_exec_comparison *c = f->from->comparisons;
    int n = f->from->n_comparisons;

    for (int i = 0; i < plan->n_outputs; i++) {
        const mo_tensor_desc desc = mo_plan_output_desc(plan, i);

        f->e.outputs[i] = (mo_report_execution_output){
            .name = plan->outputs[i].name,
            .type = mo_tensor_desc_format(&desc, f->types[i]),
            .file = files->n > 0 ? files->outputs[i].path : NULL,
            .error = NAN,
        };
        for (int j = 0; j < n; j++)
            f->e.outputs[i].error = fmax(f->e.outputs[i].error, c[j].errors[i]);
    }
    for (int j = 0; j < n; j++)
        if (!isnan(c[j].max_error))
            f->e.compared[f->e.n_compared++] =
                (mo_report_execution_comparison){ c[j].with, c[j].max_error };
}

bool mo_cli_exec_is_trusted(const mo_exec_job *job)
{
    const mo_problem *problem = &job->review.problem;

    const char *cluster = problem->cluster->file;

    return problem->profile ||
           (strcmp(cluster, "cpu") != 0 && strcmp(cluster, "gpu") != 0);
}

static mo_status fill_times(filling *f, mo_error *err)
{
    const mo_cli_exec_result *from = f->from;
    mo_measure_utilization ratios = { NAN, NAN, NAN, 0, 0 };
    int64_t *transfer_ns = NULL;
    mo_status status = mo_emulate_transfer_times(
        from->job->plan, &from->job->review.problem, &transfer_ns, err);

    for (int t = 0; t < from->job->plan->n_transfers && status == MO_OK; t++)
        f->e.predicted_transfer_ns += transfer_ns[t];
    free(transfer_ns);
    if (status != MO_OK)
        return status;

    f->e.predicted_ns = from->job->plan->predicted_ns;
    f->e.trusted = mo_cli_exec_is_trusted(from->job);
    f->e.measured = from->result != NULL;
    if (from->result) {
        f->e.measured_ns = from->result->median_ns;
        f->e.spread_ns = from->result->spread_ns;
        f->e.runs = from->result->n_runs;
        f->e.warm_ups = from->result->n_warm_ups;
        f->e.min_ns = from->result->min_ns;
        f->e.p95_ns = from->result->p95_ns;
        f->e.p99_ns = from->result->p99_ns;
        f->e.run_ns = from->result->makespan_ns;
        f->e.n_disturbed = from->result->n_disturbed;
        if (!mo_measure_load_quiet(&from->load))
            f->e.load = mo_measure_load_format(&from->load, f->load);
        status = mo_measure_utilization_of_run(from->job->plan, from->result,
                                               &ratios, err);
    }
    f->e.path_ratio = ratios.path;
    f->e.kernel_ratio = ratios.kernel;
    f->e.hidden_ratio = ratios.hidden;
    f->e.measured_transfer_ns = ratios.transfer_ns;
    f->e.exposed_transfer_ns = ratios.exposed_ns;
    return status;
}

static mo_status fill_report(const mo_exec_options *o,
                             const mo_exec_output_npy *files, filling *f,
                             mo_error *err)
{
    const mo_review *r = &f->from->job->review;
    mo_status status;
    const mo_exec_plan *plan = f->from->job->plan;

    f->e.n_devices = plan->n_devices;
    f->e.n_outputs = plan->n_outputs;
    f->e.devices = calloc((size_t) plan->n_devices + 1, sizeof *f->e.devices);
    f->e.outputs = calloc((size_t) plan->n_outputs + 1, sizeof *f->e.outputs);
    f->types = calloc((size_t) plan->n_outputs + 1, sizeof *f->types);
    status =
        f->e.devices && f->e.outputs && f->types ? MO_OK : mo_fail_memory(err);
    f->e.graph = mo_bundle_shown(f->from->job->bundle, r->located.graph);
    f->e.cluster =
        mo_bundle_shown(f->from->job->bundle, r->problem.cluster->file);
    if (!f->from->job->alone) {
        f->e.regime = &r->regime;
        f->e.rules = r->rules;
        f->e.rules.tolerance = 0; /* tolerance is that of the outputs */
    }
    f->e.ops = r->problem.fine->n_ops;
    f->e.edges = r->problem.fine->n_edges;
    f->e.coarse_ops = r->problem.instance->n;
    f->e.transport = f->from->transport;
    f->e.precision = o->wants.precision;
    f->e.random_bytes = (double) mo_weights_random_bytes(
        f->from->job->constants, &f->e.random_weights);
    f->e.n_ranks = f->from->n_ranks;
    f->e.emulated = f->from->units->parts != NULL;
    f->e.tolerance = o->tolerance;
    if (status == MO_OK)
        status = fill_times(f, err);
    if (status == MO_OK)
        status = fill_links(f, err);
    if (status != MO_OK)
        return status;
    fill_devices(f);
    fill_classes(f);
    fill_outputs(f, files);
    return MO_OK;
}

static mo_status write_page(const mo_exec_options *o,
                            const mo_cli_exec_result *outcome, mo_error *err)
{
    const mo_review *review = &outcome->job->review;
    const char *name = "the placement";
    mo_solution_page_options options = { .logger = &o->logger };
    mo_solution_page made = { 0 };
    mo_out *events = NULL;
    char *text = NULL;
    size_t size;
    mo_status status = MO_OK;

    if (outcome->job->alone)
        return mo_fail(err, MO_E_USAGE,
                       "--report-html is for a solution, with predicted times; "
                       "a graph alone has none");
    status = mo_out_memory(&events, err);
    if (status == MO_OK)
        status = mo_measure_write_chrome_trace(outcome->job->plan,
                                               outcome->result, events, err);
    if (status == MO_OK && !(text = mo_out_take(events, &size)))
        status = mo_fail_memory(err);
    options.events = text;
    if (status == MO_OK)
        status = mo_solution_page_defaults(review, &options, err);
    if (status == MO_OK)
        status = mo_solution_page_make(&options, review, &name, 1, &made, err);
    if (status == MO_OK)
        status =
            mo_page_html(&made.page, o->outputs[MO_EXEC_OUTPUT_PAGE].out, err);
    mo_solution_page_clear(&made);
    free(options.methods);
    free(text);
    mo_out_abandon(events);
    return status;
}

mo_status mo_cli_exec_report(mo_exec_options *o,
                             const mo_cli_exec_result *outcome, mo_error *err)
{
    mo_exec_output_npy files = { 0 };
    mo_output_file *trace = &o->outputs[MO_EXEC_OUTPUT_TRACE];
    mo_output_file *plan = &o->outputs[MO_EXEC_OUTPUT_PLAN];
    mo_output_file *page = &o->outputs[MO_EXEC_OUTPUT_PAGE];
    mo_status status = MO_OK;

    if (o->output && outcome->result)
        status =
            mo_exec_output_npy_open(o->output, outcome->result->outputs,
                                    outcome->result->n_outputs, &files, err);
    if (status == MO_OK) {
        filling f = { .from = outcome };

        status = fill_report(o, &files, &f, err);
        mo_out *out = o->outputs[MO_EXEC_OUTPUT_REPORT].out;

        if (status == MO_OK && o->json)
            mo_report_execution_json(&f.e, out);
        else if (status == MO_OK)
            mo_report_execution_text(&f.e, out);
        free(f.e.devices);
        free(f.e.outputs);
        free(f.e.links);
        free(f.types);
    }
    if (status == MO_OK && plan->out)
        mo_plan_write_json(outcome->job->plan, plan->out);
    if (status == MO_OK && trace->out && outcome->result)
        status = mo_measure_write_chrome_trace(
            outcome->job->plan, outcome->result, trace->out, err);
    if (status == MO_OK && page->out && outcome->result)
        status = write_page(o, outcome, err);
    if (!outcome->result) {
        mo_out_abandon(trace->out);
        mo_out_abandon(page->out);
        trace->out = page->out = NULL;
    }
    if (status == MO_OK)
        status = mo_exec_output_npy_commit(&files, err);
    if (status == MO_OK)
        status = mo_output_files_commit(o->outputs, MO_EXEC_N_OUTPUTS, err);
    mo_exec_output_npy_clear(&files);
    return status;
}

void mo_cli_exec_log_not_finite(const mo_exec_options *o,
                                const mo_exec_plan *plan,
                                const mo_run_result *result)
{
    char name[NAME_ROOM];

    for (int i = 0; i < result->n_outputs && !o->logger.quiet; i++) {
        const mo_tensor_dense *output = &result->outputs[i];
        int64_t total = mo_tensor_desc_elements(&output->desc);
        int64_t n = mo_tensor_count_not_finite(output);

        if (n > 0)
            fprintf(stderr,
                    "%s: output '%s' has %lld of %lld values that are not "
                    "finite\n",
                    o->logger.command,
                    mo_utf8_escape_controls(name, sizeof name,
                                            plan->outputs[i].name),
                    (long long) n, (long long) total);
    }
}

void mo_cli_exec_log_invalid(const mo_exec_options *o, const char *path,
                             const mo_exec_job *job)
{
    const mo_answer_evaluation *found = &job->review.evaluation;
    int n = mo_answer_evaluation_count(found);

    fprintf(stderr, "%s: %s: is not a valid solution: %s", o->logger.command,
            path,
            n > 0 ? mo_answer_evaluation_violation(found, 0)
                  : "for an unknown reason");
    if (n > 1)
        fprintf(stderr, " (and %d more; moirai-check lists them)", n - 1);
    fprintf(stderr, "\n");
}

const char *mo_cli_exec_transport_name(const mo_transport *transport,
                                       const mo_transport_world *world)
{
    return transport->describe ? transport->describe(world) : transport->name;
}
