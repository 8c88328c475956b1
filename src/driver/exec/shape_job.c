/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/shape_job.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/number.h"
#include "driver/exec/input_tensors.h"
#include "graph/op_attrs.h"
#include "graph/output_types.h"
#include "graph/phases.h"
#include "ingest/operator.h"
#include "schedule/phase_schedule.h"

static int count_phases(const mo_graph *g)
{
    return g->phases ? g->phases->n : 1;
}

static const mo_graph *find_phase(const mo_graph *g, int p)
{
    return g->phases ? g->phases->items[p].graph : g;
}

static bool is_input(const mo_op *op)
{
    return op->kind && strcmp(op->kind->name, "Parameter") == 0;
}

/* The number of an input in its network; ops without one come last. */
static int64_t find_index(const mo_op *op)
{
    int64_t index;

    return mo_attr_ints(op->attr_list, "index", &index, 1) == 1 ? index
                                                                : INT64_MAX;
}

/* Whether input op of g is that of number `at`, as in a plan. */
static bool has_number(const mo_graph *g, int op, int64_t at)
{
    int64_t before = 0;

    for (int i = 0; i < g->n_ops; i++)
        if (is_input(&g->ops[i])) {
            int64_t a = find_index(&g->ops[i]), b = find_index(&g->ops[op]);

            before += a < b || (a == b && i < op);
        }
    return before == at;
}

/* Whether the text is of input op, and *dims what follows its name. */
static bool is_of(const mo_graph *g, int op, const char *text,
                  const char **dims)
{
    const char *mark = strrchr(text, '=');
    size_t length = mark ? (size_t) (mark - text) : 0;
    int64_t number;

    *dims = mark ? mark + 1 : text;
    if (!mark)
        return has_number(g, op, 0);
    return (strlen(g->ops[op].name) == length &&
            memcmp(g->ops[op].name, text, length) == 0) ||
           (mo_number_read_int(text, length, &number) == MO_NUMBER_OK &&
            has_number(g, op, number));
}

/* Shapes of what is no input are for others to complain about. */
static bool has_shapes(const mo_graph *g, const mo_path_list *shapes)
{
    for (int i = 0; i < g->n_ops; i++)
        for (size_t k = 0; is_input(&g->ops[i]) && k < shapes->n; k++) {
            const char *dims;
            mo_shape given, own;

            if (is_of(g, i, shapes->paths[k], &dims) &&
                mo_op_shape(&g->ops[i], 0, &own) &&
                (mo_shape_read(dims, strlen(dims), &given) != MO_SHAPE_OK ||
                 !mo_shape_equal(&given, &own)))
                return false;
        }
    return true;
}

int mo_exec_shape_find(const mo_graph *g, const mo_path_list *shapes)
{
    for (int p = 0; p < count_phases(g); p++)
        if (has_shapes(find_phase(g, p), shapes))
            return p;
    return -1;
}

/* Writes the shapes with blanks between them. */
static void write_given(const mo_path_list *shapes, char *text, size_t size)
{
    size_t n = 0;

    text[0] = '\0';
    for (size_t k = 0; k < shapes->n && n < size; k++)
        n += (size_t) snprintf(text + n, size - n, "%s%s", k > 0 ? " " : "",
                               shapes->paths[k]);
}

/* Writes the shapes of the inputs of all phases, or their beginning. */
static void write_known(const mo_graph *g, char *text, size_t size)
{
    size_t n = 0;

    for (int p = 0; p < count_phases(g); p++) {
        const mo_graph *of = find_phase(g, p);
        const char *between = p > 0 ? "; " : "";

        for (int i = 0; i < of->n_ops && n < size; i++) {
            char dims[MO_SHAPE_TEXT_SIZE + 1];
            mo_shape own;

            if (!is_input(&of->ops[i]) || !mo_op_shape(&of->ops[i], 0, &own))
                continue;
            dims[mo_shape_write(&own, dims)] = '\0';
            n += (size_t) snprintf(text + n, size - n, "%s%.60s=%s", between,
                                   of->ops[i].name, dims);
            between = " ";
        }
    }
    if (n >= size)
        strcpy(text + size - 4, "...");
}

mo_status mo_exec_shape_fail(const mo_graph *g, const mo_path_list *shapes,
                             bool stream, mo_error *err)
{
    char given[256], known[512] = "";

    write_given(shapes, given, sizeof given);
    write_known(g, known, sizeof known);
    return mo_fail(err, MO_E_INPUT,
                   "was not placed for inputs of the shapes %s, but for: %s; "
                   "place it for them, too, with --shape%s",
                   given, known,
                   stream ? "" : ", or run it with --shapes-max 1");
}

mo_status mo_exec_shape_check(const mo_graph *g, const mo_path_list *shapes,
                              const mo_error *why, mo_error *err)
{
    char given[256], known[512] = "";

    if (g && mo_exec_shape_find(g, shapes) >= 0)
        return MO_OK;
    write_given(shapes, given, sizeof given);
    if (!g)
        return mo_fail_at(err, why->status, why->file, why->line,
                          "with inputs of the shapes %s: %.700s", given,
                          why->text);
    write_known(g, known, sizeof known);
    return mo_fail(err, MO_E_INPUT,
                   "does not take inputs of the shapes %s, since their "
                   "dimensions are fixed: %s",
                   given, known);
}

/* Returns the device of a fine op of a problem, or -1: it has none. */
static int find_device(const mo_problem *of, const int *device_of, int op)
{
    if (op < 0 || op >= of->fine->n_ops)
        return -1;
    if (of->map)
        op = of->map->coarse_of[op];
    return op >= 0 ? device_of[op] : -1;
}

mo_status mo_exec_shape_devices(const mo_problem *from, const int *device_of,
                                const mo_problem *to, int *device,
                                mo_error *err)
{
    const mo_graph *placed = mo_problem_placed(to);
    mo_arena *arena = mo_arena_new();
    mo_intern *names = arena ? mo_intern_new(arena) : NULL;
    mo_status status = names ? MO_OK : mo_fail_memory(err);
    int number;

    for (int i = 0; i < from->fine->n_ops && status == MO_OK; i++)
        status = mo_intern_put(names, from->fine->ops[i].name,
                               strlen(from->fine->ops[i].name), &number, err);
    for (int i = 0; i < placed->n_ops && status == MO_OK; i++)
        device[i] = -1;
    for (int i = 0; i < to->fine->n_ops && status == MO_OK; i++) {
        const char *name = to->fine->ops[i].name;
        int at = to->map ? to->map->coarse_of[i] : i;

        if (at >= 0 && device[at] < 0)
            device[at] = find_device(from, device_of,
                                     mo_intern_find(names, name, strlen(name)));
    }
    for (int i = 0; i < placed->n_ops && status == MO_OK; i++) {
        for (int e = placed->in_start[i];
             e < placed->in_start[i + 1] && device[i] < 0; e++)
            device[i] = device[placed->edges[placed->in_edges[e]].from];
        device[i] = device[i] < 0 ? 0 : device[i];
    }
    mo_intern_free(names);
    mo_arena_free(arena);
    return status;
}

static bool has_states(const mo_graph *g)
{
    for (int i = 0; i < g->n_ops; i++)
        if (g->ops[i].state)
            return true;
    return false;
}

bool mo_exec_job_has_shapes(const mo_exec_job *job)
{
    const mo_graph *fine = job->review.problem.fine;
    const mo_graph *first = find_phase(fine, 0);

    return fine->phases && first->n_files > 0 &&
           strcmp(first->files[0], job->review.located.graph) == 0;
}

/* The map of the phase's ops, in its own numbers. */
static mo_status make_map(const mo_problem *from, int p, mo_coarsen_map **map,
                          mo_error *err)
{
    const mo_phase *fine = &from->fine->phases->items[p];
    const mo_phases *coarse = from->coarse->phases;
    mo_status status = mo_coarsen_map_new(
        fine->graph->n_ops, coarse->items[p].graph->n_ops, map, err);

    for (int i = 0; i < fine->graph->n_ops && status == MO_OK; i++) {
        int to = from->map->coarse_of[fine->op_of[i]];

        (*map)->coarse_of[i] = to >= 0 ? coarse->source[to] : to;
    }
    if (status == MO_OK)
        mo_coarsen_map_gather(*map);
    return status;
}

static mo_graph *take_graph(mo_graph *g, int p)
{
    mo_graph *taken = g ? g->phases->items[p].graph : NULL;

    if (g)
        g->phases->items[p].graph = NULL;
    return taken;
}

/* Weights of a phase are in its folder. */
static mo_status take_folder(mo_exec_job *job, mo_error *err)
{
    const mo_graph *g = job->review.problem.fine;
    char *copy, *folder;

    if (job->bundle || g->n_files == 0)
        return MO_OK;
    copy = strdup(g->files[0]);
    folder = copy ? strdup(dirname(copy)) : NULL;
    free(copy);
    if (!folder)
        return mo_fail_memory(err);
    free(job->folder);
    job->folder = folder;
    return MO_OK;
}

/* Replaces the problem, which is the caller's to clear where this fails. */
static mo_status replace(mo_exec_job *job, mo_problem *problem,
                         mo_answer_evaluation *evaluation, mo_error *err)
{
    mo_review *r = &job->review;

    mo_problem_clear(&r->problem);
    mo_answer_evaluation_clear(&r->evaluation);
    free(r->phases);
    r->phases = NULL;
    r->n_phases = 0;
    r->problem = *problem;
    r->evaluation = *evaluation;
    return take_folder(job, err);
}

/* A shape that was placed: its graphs and instance are taken from the problem,
 * and the order of its schedule is that of the solution. */
static mo_status take_phase(mo_exec_job *job, int p, mo_error *err)
{
    mo_problem *from = &job->review.problem, made = { 0 };
    const mo_phases *placed = mo_problem_placed(from)->phases;
    mo_answer_evaluation evaluation = { 0 };
    mo_schedule *schedule = NULL;
    mo_status status = from->map ? make_map(from, p, &made.map, err) : MO_OK;

    if (status == MO_OK)
        status = mo_phase_schedule_make(placed, p, from->instance,
                                        job->review.evaluation.schedule,
                                        from->phases[p], &schedule, err);
    if (status == MO_OK)
        status = mo_answer_evaluate_schedule(from->phases[p], schedule,
                                             &evaluation, err);
    if (status != MO_OK) {
        mo_answer_evaluation_clear(&evaluation);
        mo_coarsen_map_free(made.map);
        return status;
    }
    made.fine = take_graph(from->fine, p);
    made.coarse = take_graph(from->coarse, p);
    made.instance = from->phases[p];
    made.cluster = from->cluster;
    made.profile = from->profile;
    made.made_of = from->made_of;
    from->phases[p] = NULL;
    from->cluster = NULL;
    from->profile = NULL;
    return replace(job, &made, &evaluation, err);
}

/* Reads the graph at the shapes of the inputs, and places it by the names of
 * its ops. */
static mo_status take_other(const mo_exec_options *o, mo_exec_job *job,
                            mo_error *err)
{
    const mo_review *r = &job->review;
    const mo_locate_query given = { .read = o->prepare.read };
    mo_provenance_texts texts;
    mo_prepare_options p = o->prepare;
    mo_problem made = { 0 };
    mo_answer_evaluation evaluation = { 0 };
    mo_error why = { 0 };
    int *device = NULL;
    mo_status status;

    p.load.cluster = r->located.cluster;
    p.load.profile = r->located.profile;
    p.load.cost = r->located.cost;
    if (r->origin.has_instance)
        p.load.formats = r->origin.formats;
    p.fusion = r->located.rules;
    p.read = mo_locate_read_options(&given, &r->origin, &texts);
    p.read.shapes = (mo_option_list){ .count = 0 };
    p.read.hints = (mo_option_list){
        .items = (const char **) (uintptr_t) job->hints.paths,
        .count = job->hints.n,
    };
    p.memory = mo_memory_names[r->regime.memory];
    status = mo_prepare_instance(&p, r->located.graph, &o->logger, &made, &why);
    made.made_of.read = (mo_read_options){ 0 };
    status = mo_exec_shape_check(status == MO_OK ? made.fine : NULL,
                                 &job->hints, &why, err);
    if (status == MO_OK) {
        device = calloc((size_t) made.instance->n + 1, sizeof *device);
        status = device ? mo_exec_shape_devices(&r->problem,
                                                r->evaluation.schedule->device,
                                                &made, device, err)
                        : mo_fail_memory(err);
    }
    if (status == MO_OK)
        status = mo_answer_evaluate_placement(made.instance, &r->regime, device,
                                              &evaluation, err);
    if (status == MO_OK && !mo_answer_evaluation_valid(&evaluation))
        status = mo_fail(err, MO_E_INPUT,
                         "at the shapes of the inputs the placement is not "
                         "valid: %.800s",
                         mo_answer_evaluation_violation(&evaluation, 0));
    free(device);
    if (status == MO_OK)
        return replace(job, &made, &evaluation, err);
    mo_answer_evaluation_clear(&evaluation);
    mo_problem_clear(&made);
    return status;
}

mo_status mo_exec_job_take_shape(const mo_exec_options *o, mo_exec_job *job,
                                 mo_error *err)
{
    const mo_graph *fine = job->review.problem.fine;
    const mo_graph *first = find_phase(fine, 0);
    mo_status status = MO_OK;
    int p;

    if (o->generate > 0 || has_states(first) ||
        (!fine->phases && (o->shapes_max == 0 || job->alone)))
        return MO_OK;
    if (job->hints.n == 0)
        status = mo_exec_inputs_hints(&o->inputs, &job->hints, err);
    p = mo_exec_shape_find(fine, &job->hints);
    if (status != MO_OK || (p >= 0 && !fine->phases))
        return status;
    if (p >= 0)
        return take_phase(job, p, err);
    if (o->shapes_max > 0)
        status = take_other(o, job, err);
    else
        status = mo_exec_shape_fail(fine, &job->hints, false, err);
    if (status != MO_OK)
        mo_error_set_location(err, job->review.located.graph, 0);
    return status;
}

mo_status mo_exec_job_keep_shapes(const mo_exec_options *o, mo_exec_job *job,
                                  mo_error *err)
{
    const mo_graph *fine = job->review.problem.fine;

    if (o->shapes_max > 0)
        return mo_fail(err, MO_E_USAGE,
                       "--shapes-max is for single runs, and --inputs and "
                       "--batch are for the shapes that were placed; leave it "
                       "out");
    job->by_shape = fine->phases && !has_states(find_phase(fine, 0));
    return MO_OK;
}
