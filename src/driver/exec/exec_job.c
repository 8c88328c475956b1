/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/exec_job.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/host.h"
#include "base/minmax.h"
#include "cost/cluster.h"
#include "driver/exec/input_tensors.h"
#include "driver/exec/output_npy.h"
#include "driver/exec/request_files.h"
#include "driver/weight_files.h"
#include "exec/discover/discover.h"
#include "exec/plan/build.h"
#include "exec/plan/verify/verify.h"
#include "exec/tensor/mmap_file.h"
#include "graph/graph.h"
#include "ingest/read.h"
#include "ingest/work/weight_attrs.h"
#include "schedule/bound/memory_bound.h"

void mo_exec_job_clear(mo_exec_job *job)
{
    mo_plan_free(job->plan);
    free(job->copies);
    for (int i = job->n_others; i-- > 0;)
        mo_weights_free(job->others[i]);
    free(job->others);
    mo_weights_free(job->constants);
    for (int p = 0; p < MO_LLM_N_PHASES; p++)
        mo_graph_free(job->phases[p]);
    free(job->folder);
    free(job->target);
    free(job->allowed);
    mo_path_list_clear(&job->hints);
    mo_review_clear(&job->review);
    mo_bundle_sources_clear(&job->sources);
    mo_bundle_close(job->bundle);
    *job = (mo_exec_job){ 0 };
}

/* The first CPU, else the first device. */
static int first_cpu(const mo_cluster *cluster)
{
    for (int k = 0; k < cluster->n_devices; k++)
        if (cluster->devices[k].is_cpu)
            return k;
    return 0;
}

/* The first GPU of this machine, by its driver. Without one it is that of the
 * built-in cluster: the error of its backend then has the reason. */
static mo_status discover_gpu(const char *precision, mo_cluster **cluster,
                              mo_error *err)
{
    const mo_discover_options how = { .precision =
                                          precision ? precision : "f32" };
    static const int first[] = { 0 };
    mo_discover_inventory *here = calloc(1, sizeof *here);
    mo_cluster_notes notes;
    char *where = NULL;
    mo_error none = { 0 };
    mo_status status;

    if (!here)
        return mo_fail_memory(err);
    status = mo_discover_local(first, 1, here, &none) == MO_OK
                 ? mo_discover_cluster(here, 1, &how, cluster, &notes, err)
                 : mo_cluster_choose("gpu", NULL, cluster, &where, err);
    free(where);
    free(here);
    return status;
}

/* Capacities are not checked here: the plan knows the exact memory. */
static mo_status load_graph(const mo_prepare_options *options,
                            const mo_exec_options *o, const char *path,
                            mo_exec_job *job, mo_error *err)
{
    const mo_review_files files = { .graph = path, .beside = path };
    mo_review *r = &job->review;
    mo_prepare_options p = *options;
    int *device, n;
    mo_status status;

    if (!p.load.cluster && strcmp(o->wants.backend, "cuda") == 0 &&
        !o->wants.emulate)
        p.load.discover = discover_gpu;
    else if (!p.load.cluster)
        p.load.cluster = strcmp(o->wants.backend, "cuda") == 0 ? "gpu" : "cpu";
    p.memory = "none";
    status = mo_review_instance(&p, &files, &o->logger, r, err);
    if (status != MO_OK)
        return status;
    n = r->problem.instance->n;
    device = calloc((size_t) n + 1, sizeof *device);
    if (!device)
        return mo_fail_memory(err);
    for (int i = 0; i < n; i++)
        device[i] = first_cpu(r->problem.cluster);
    status = mo_answer_evaluate_placement(r->problem.instance, &r->regime,
                                          device, &r->evaluation, err);
    free(device);
    return status;
}

/* Unpacks the file at *path if it is a bundle. */
static mo_status open_bundle(const mo_exec_options *o, const char **path,
                             mo_prepare_options *prepare, const char **graph,
                             mo_exec_job *job, mo_error *err)
{
    mo_status status = mo_bundle_open(*path, &job->bundle, err);

    if (status != MO_OK || !job->bundle)
        return status;
    if (o->bundle)
        return mo_fail_at(err, MO_E_USAGE, *path, 0,
                          "is a bundle already; leave --bundle out");
    mo_bundle_apply(job->bundle, prepare, graph, path);
    return mo_bundle_sources_find(job->bundle, &o->wants.weights_from,
                                  o->weights != MO_EXEC_NO_SEED, &job->sources,
                                  err);
}

/* A single request goes to the copy of a replicated solution that finishes it
 * first. */
static mo_status take_fastest_copy(const mo_exec_options *o,
                                   mo_answer_evaluation *all, mo_error *err)
{
    int best = 0, n = 1 + all->n_further;
    int64_t least_ns = INT64_MAX;

    for (int c = 0; c < n && all->own_period_ns > 0; c++) {
        const mo_answer_evaluation *copy = c == 0 ? all : &all->further[c - 1];

        if (copy->schedule && copy->schedule->makespan_ns < least_ns) {
            least_ns = copy->schedule->makespan_ns;
            best = c;
        }
    }
    if (n == 1)
        return MO_OK;
    if (!o->logger.quiet)
        fprintf(stderr,
                "%s: copy %d of %d runs; --requests is for all copies\n",
                o->logger.command, best + 1, n);
    return mo_answer_evaluation_take_copy(all, best + 1, err);
}

mo_status mo_exec_job_load(const mo_exec_options *o, const char *path,
                           mo_exec_job *job, mo_error *err)
{
    mo_prepare_options prepare = o->prepare;
    mo_review_source from = { .prepare = &prepare,
                              .graph = o->graph,
                              .tolerance = MO_ANSWER_TOLERANCE,
                              .logger = &o->logger,
                              .weights = o->weights == MO_EXEC_NO_SEED,
                              .without_bound = true,
                              .one_copy = o->copy > 0,
                              .copy = o->copy };
    mo_status status = open_bundle(o, &path, &prepare, &from.graph, job, err);

    prepare.load.run_precision = o->wants.precision;
    if (status == MO_OK) {
        /* Solvers write XML, too: the content decides. Other errors than a
         * failed read are reported when the file is read as a solution. */
        const mo_read_format *format = NULL;
        mo_input *input = NULL;

        if (strcmp(path, "-") != 0)
            status = mo_input_open(path, &input, err);
        if (status == MO_OK && input)
            status = mo_read_find_format(input, &format, err);
        mo_input_close(input);
        job->alone = format != NULL;
        if (status == MO_OK && job->alone && format->read_phases &&
            o->generate > 0 && prepare.read.values.count == 0)
            status = mo_exec_job_take_lengths(o, &prepare, job, err);
    }
    if (status == MO_OK && job->alone && from.graph)
        status = mo_fail(err, MO_E_USAGE,
                         "%s is a graph already; leave --graph out", path);
    if (status == MO_OK && job->alone &&
        (prepare.congestion || prepare.tensors || prepare.memory))
        status = mo_fail(err, MO_E_USAGE,
                         "%s is a graph, which is not judged by rules; leave "
                         "--congestion, --tensors and --memory out",
                         path);
    if (status == MO_OK && job->alone)
        status = mo_exec_inputs_hints(&o->inputs, &job->hints, err);
    if (status == MO_OK)
        prepare.read.hints =
            (mo_option_list){ .items =
                                  (const char **) (uintptr_t) job->hints.paths,
                              .count = job->hints.n };
    if (status == MO_OK)
        status = job->alone ? load_graph(&prepare, o, path, job, err)
                            : mo_review_file(&from, path, &job->review, err);
    if (status == MO_OK && !mo_exec_requests_wanted(o) && !o->bundle)
        status = take_fastest_copy(o, &job->review.evaluation, err);
    job->valid = mo_answer_evaluation_valid(&job->review.evaluation);
    if (status == MO_OK && job->valid) {
        char *copy = strdup(job->review.located.graph);

        job->folder = copy ? strdup(dirname(copy)) : NULL;
        free(copy);
        status = job->folder ? MO_OK : mo_fail_memory(err);
    }
    if (status != MO_OK)
        mo_bundle_show_error(job->bundle, err);
    return status;
}

mo_status mo_exec_job_check_output(const mo_exec_options *o,
                                   const mo_exec_job *job, mo_error *err)
{
    const mo_output_guard guard = mo_exec_options_guard(o);
    mo_status status = mo_output_guard_check_review(&guard, &job->review, err);

    for (size_t i = 0; i < job->sources.n && status == MO_OK; i++)
        status =
            mo_output_guard_check_input(&guard, job->sources.list[i].path, err);
    return status;
}

/* Context of the callback for unsupported ops. The first is held back until a
 * second comes: a single one is the error of the command. */
typedef struct listener {
    const char *command, *path;
    const mo_bundle *bundle; /* or NULL */
    int n;
    mo_error first;
} listener;

static void log_unsupported(const listener *to, const mo_error *cannot)
{
    char text[MO_ERROR_FILE_SIZE + MO_ERROR_TEXT_SIZE + 16];

    mo_progress_erase();
    fprintf(stderr, "%s: %s\n", to->command,
            mo_error_format(cannot, text, sizeof text));
}

static void on_unsupported_op(void *context, int line, const char *what)
{
    listener *to = context;
    mo_error cannot = { 0 };

    mo_fail_at(&cannot, MO_E_SUPPORT, to->path, line, "%s", what);
    mo_bundle_show_error(to->bundle, &cannot);
    if (to->n++ == 0) {
        to->first = cannot;
        return;
    }
    if (to->n == 2)
        log_unsupported(to, &to->first);
    log_unsupported(to, &cannot);
}

/* The plan of the solution of a job. units NULL: a plan for any CPU. */
static mo_plan_source source_of(const mo_exec_options *o,
                                const mo_exec_job *job,
                                const mo_exec_units *units)
{
    const mo_problem *problem = &job->review.problem;

    return (mo_plan_source){
        .fine = problem->fine,
        .placed = mo_problem_placed(problem),
        .map = problem->map,
        .instance = problem->instance,
        .schedule = job->review.evaluation.schedule,
        .constants = job->constants,
        .fuse = !o->no_fuse,
        .as_placed = o->as_placed,
        .layout = !o->no_layout,
        .can_jit = units && !o->no_fuse ? units->can_jit : NULL,
        .fuses_attention = units && !o->no_fuse ? units->can_jit : NULL,
        .concat_inplace = units && !o->no_fuse ? units->concat_inplace : NULL,
        .max_streams = units ? units->streams : NULL,
        .storage_elem = units ? mo_exec_storage_type(&o->wants) : MO_ELEM_F32,
    };
}

static mo_status build_plan(const mo_plan_source *source, mo_exec_plan **plan,
                            mo_error *err)
{
    mo_status status = mo_plan_build(source, plan, err);

    return status == MO_OK ? mo_verify_plan(*plan, err) : status;
}

/* Only a workload can generate, or run by shapes, and it can do nothing else.
 */
static mo_status check_phases(const mo_exec_options *o, const mo_exec_job *job,
                              mo_error *err)
{
    const mo_graph *g = job->review.problem.fine;

    if (g->phases && o->generate == 0 && !job->by_shape)
        return mo_fail(err, MO_E_SUPPORT,
                       "is a workload; run it with --generate, or run the "
                       "graph of a phase");
    if (!g->phases && o->generate > 0)
        return mo_fail(err, MO_E_SUPPORT,
                       "is no workload of a prompt and a token; write one with "
                       "moirai-export --max-length, or leave --generate out");
    return MO_OK;
}

/* Random weights are held in memory together with their packed copies; fails
 * before the first is generated if that is too much. */
static mo_status check_made_up(const mo_graph *g, bool random, int64_t limit,
                               mo_error *err)
{
    int64_t left = limit > 0 ? limit : mo_host_available_memory_bytes() / 2;
    int64_t need = 0;

    for (int i = 0; i < g->n_ops; i++) {
        bool made_up =
            random || mo_weight_attr_list_of(g->ops[i].attr_list).length > 0;
        int64_t bytes = g->ops[i].weight_bytes;

        if (made_up && bytes > left - need)
            return mo_fail(err, MO_E_MEMORY,
                           "has weights that would be made up and need more "
                           "memory than there is left; run a smaller network, "
                           "or raise --memory-limit");
        if (made_up && bytes > 0)
            need += bytes;
    }
    return MO_OK;
}

mo_status mo_exec_job_plan(const mo_exec_options *o, const mo_exec_units *units,
                           bool speaks, mo_exec_job *job, mo_error *err)
{
    const char *graph = job->review.located.graph;
    bool random = o->weights != MO_EXEC_NO_SEED;
    mo_weights_options options = {
        .folder = job->folder,
        .random = random,
        .seed = random ? (uint64_t) o->weights : 0,
        .sources = job->sources.list,
        .n_sources = job->sources.n,
        .allowed = o->wants.weights_from.items,
        .n_allowed = o->wants.weights_from.count,
        .packed = job->bundle != NULL,
        .memory_limit = o->wants.memory_mib << 20,
    };
    listener to = { .command = o->logger.command,
                    .path = graph,
                    .bundle = job->bundle };
    double begin = mo_driver_clock_s();
    mo_progress step;
    bool is_workload = job->review.problem.fine->phases != NULL;
    mo_status status = mo_exec_job_read_phases(o, job, err);

    if (status == MO_OK)
        status = check_phases(o, job, err);
    if (status == MO_OK && job->phases[0])
        status = mo_exec_job_allow_target(job, &options, err);
    if (status == MO_OK && !job->phases[0])
        status = check_made_up(job->review.problem.fine, random,
                               o->wants.memory_mib << 20, err);
    if (status != MO_OK)
        mo_error_set_location(err, graph, 0);
    mo_driver_log_step(&o->logger, &step, "reading weights");
    if (status == MO_OK && !is_workload)
        status = mo_weights_new(job->review.problem.fine, &options,
                                &job->constants, err);
    mo_progress_end(&step);
    mo_driver_log_step(&o->logger, &step, "planning");
    if (status == MO_OK) {
        mo_plan_source source = source_of(o, job, units);

        source.on_unsupported = speaks ? on_unsupported_op : NULL;
        source.context = &to;
        status = is_workload
                     ? mo_exec_job_plan_phases(&source, &options, job, err)
                 : job->review.evaluation.n_further > 0
                     ? mo_exec_job_plan_copies(&source, job, err)
                     : build_plan(&source, &job->plan, err);
    }
    if (status == MO_OK)
        status = mo_mmap_file_check_all(err);
    mo_progress_end(&step);
    if (status != MO_OK) {
        mo_error_set_location(err, graph, 0);
        mo_bundle_show_error(job->bundle, err);
    } else
        mo_driver_log_info(&o->logger,
                           "planned %d calls and %d transfers in %.2f s",
                           job->plan->n_calls, job->plan->n_transfers,
                           mo_driver_clock_s() - begin);
    return status;
}

/* Whether nothing excludes a placement with live memory: the weights of all ops
 * fit together, and the largest device has room for each op with any of its
 * inputs. */
static bool may_fit_live(const mo_review *r)
{
    const mo_instance *x = r->problem.instance;
    mo_regime regime = r->regime;
    int64_t most = 0;

    for (int k = 0; k < x->n_devices; k++)
        most = mo_max_i64(most, x->capacity_bytes[k]);
    for (int q = 0; q < x->n_flows; q++) {
        const mo_flow *flow = &x->flows[q];

        if (x->tensor_bytes[flow->tensor] > most - x->memory_bytes[flow->to])
            return false;
    }
    regime.memory = MO_MEMORY_LIVE;
    return mo_bound_memory(x, &regime, NULL) == MO_OK;
}

mo_status mo_exec_job_check_capacity(const mo_exec_job *job, mo_error *err)
{
    mo_error why = { 0 };
    mo_status status = mo_plan_check_capacity(job->plan, NULL, &why);
    bool hint = status != MO_OK && !job->alone &&
                job->review.regime.memory == MO_MEMORY_STATIC &&
                may_fit_live(&job->review);

    if (status == MO_OK)
        return MO_OK;
    return mo_fail(err, status, "%.800s%s", why.text,
                   hint ? "; it was placed by --memory static; moirai-place "
                          "--memory live counts values, too, and may find a "
                          "placement that fits"
                        : "");
}

int64_t mo_exec_job_memory_left(const mo_exec_options *o,
                                const mo_exec_job *job)
{
    int64_t limit = o->wants.memory_mib << 20;
    int64_t held = mo_weights_memory_bytes(job->constants);

    for (int i = 0; i < job->n_others; i++)
        held += mo_weights_memory_bytes(job->others[i]);
    return limit == 0 ? 0 : mo_max_i64(limit - held, 1);
}

uint64_t mo_exec_job_weights(const mo_exec_options *o, const mo_exec_job *job)
{
    uint64_t sum =
        (uint64_t) o->weights +
        (job->constants ? mo_weights_fingerprint(job->constants) : 0);

    for (int i = 0; i < job->n_others; i++)
        sum += mo_weights_fingerprint(job->others[i]);
    return sum;
}

mo_status mo_exec_job_digest(const mo_exec_options *o, const mo_exec_job *job,
                             uint64_t *digest, mo_error *err)
{
    mo_digest *all = mo_digest_new();
    uint64_t graph = 0;
    mo_status status =
        all ? mo_graph_digest(job->review.problem.fine, &graph, err)
            : mo_fail_memory(err);

    for (int i = 0; i < job->n_others && status == MO_OK; i++)
        mo_digest_int(all, (int64_t) mo_weights_fingerprint(job->others[i]));
    if (status == MO_OK) {
        mo_digest_int(all, (int64_t) graph);
        mo_digest_int(all, (int64_t) mo_weights_fingerprint(job->constants));
        mo_digest_int(all, o->weights);
        mo_digest_int(all, o->seed);
        mo_digest_int(all, mo_exec_options_replans(o));
        mo_digest_int(all, o->load_states != NULL);
        mo_digest_int(all, o->save_states != NULL);
        mo_digest_text(all, o->wants.precision);
        *digest = mo_digest_value(all);
    }
    mo_digest_free(all);
    return status;
}

mo_status mo_exec_job_replan(const mo_exec_options *o, const mo_exec_job *job,
                             const mo_exec_units *units, mo_exec_plan **plan,
                             mo_error *err)
{
    const mo_plan_source source = source_of(o, job, units);

    return build_plan(&source, plan, err);
}

mo_status mo_exec_job_plan_on(const mo_exec_options *o, const mo_exec_job *job,
                              const mo_instance *x, const mo_exec_units *units,
                              const int *device, mo_exec_plan **plan,
                              mo_error *err)
{
    mo_plan_source source = source_of(o, job, units);
    mo_schedule *schedule = NULL;
    mo_status status =
        mo_schedule_new(x, &job->review.regime, device, &schedule, err);

    if (status == MO_OK)
        status = mo_schedule_left_shift(x, schedule, err);
    source.instance = x;
    source.schedule = schedule;
    if (status == MO_OK)
        status = build_plan(&source, plan, err);
    mo_schedule_free(schedule);
    return status;
}

mo_status mo_exec_job_plan_single_device(const mo_exec_options *o,
                                         const mo_exec_job *job, int device,
                                         mo_exec_plan **plan, mo_error *err)
{
    const mo_instance *x = job->review.problem.instance;
    int *devices = calloc((size_t) x->n + 1, sizeof *devices);
    mo_status status;

    if (!devices)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n; i++)
        devices[i] = device;
    status = mo_exec_job_plan_on(o, job, x, NULL, devices, plan, err);
    free(devices);
    return status;
}
