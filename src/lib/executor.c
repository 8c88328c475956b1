/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executor of the library: a phase of an engine (lib/engine.h). Executors
 * of one moirai_executor_open() share a cache. Its first engine has a phase for
 * each shape that was placed; another shape has an engine of its own.
 */
#include <config.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "driver/exec/shape_job.h"
#include "exec/plan/ir/plan_json.h"
#include "lib/engine.h"
#include "lib/handles.h"
#include "solvers/process/path_util.h"
#include "ingest/read.h"

typedef struct cache {
    atomic_int references;
    mo_lib_engine *first;
    pthread_mutex_t lock;   /* of all that follows */
    mo_lib_engine **others; /* of other shapes, the last used first */
    int n_others, n_plans;  /* n_plans: made so far */
} cache;

struct moirai_executor {
    cache *cache;          /* retained */
    mo_lib_engine *engine; /* retained; perhaps dropped from the cache */
    int phase;
};

static void release(cache *c)
{
    if (!c || !mo_lib_release(&c->references))
        return;
    for (int i = 0; i < c->n_others; i++)
        mo_lib_engine_release(c->others[i]);
    free(c->others);
    mo_lib_engine_release(c->first);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static mo_status make_executor(cache *c, mo_lib_engine *engine, int phase,
                               moirai_executor **executor, mo_error *err)
{
    moirai_executor *made = calloc(1, sizeof *made);

    if (!made)
        return mo_fail_memory(err);
    *made = (moirai_executor){ c, engine, phase };
    mo_lib_retain(&c->references);
    mo_lib_engine_retain(engine);
    *executor = made;
    return MO_OK;
}

moirai_status moirai_executor_open(const moirai_placement *placement,
                                   const moirai_options *options,
                                   moirai_executor **executor,
                                   moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    cache *c = calloc(1, sizeof *c);
    mo_status status;

    if (!c)
        return mo_lib_status(mo_fail_memory(e));
    atomic_init(&c->references, 1);
    pthread_mutex_init(&c->lock, NULL);
    status = mo_lib_engine_open(placement, &mo_lib_settings_of(options)->exec,
                                &c->first, e);
    if (status == MO_OK) {
        c->n_plans = mo_lib_engine_n_phases(c->first);
        status = make_executor(c, c->first, 0, executor, e);
    }
    release(c);
    return mo_lib_status(status);
}

void moirai_executor_free(moirai_executor *executor)
{
    if (!executor)
        return;
    mo_lib_engine_release(executor->engine);
    release(executor->cache);
    free(executor);
}

static const mo_plan_input *find_inputs(const mo_lib_engine *e, int phase)
{
    return mo_lib_engine_run(e)->job.plan->inputs +
           mo_lib_engine_first_input(e, phase);
}

static int count_inputs(const mo_lib_engine *e, int phase)
{
    return mo_lib_engine_first_input(e, phase + 1) -
           mo_lib_engine_first_input(e, phase);
}

/* Returns the phase whose inputs have these shapes, or -1. */
static int match_phase(const mo_lib_engine *e, const moirai_tensor *inputs,
                       int n)
{
    for (int p = 0; p < mo_lib_engine_n_phases(e); p++) {
        int at = 0;

        while (at < n && at < count_inputs(e, p)) {
            const mo_shape *own = &find_inputs(e, p)[at].desc.shape;

            if (own->rank != inputs[at].rank ||
                (own->rank > 0 &&
                 memcmp(own->dims, inputs[at].dims,
                        (size_t) own->rank * sizeof *own->dims) != 0))
                break;
            at++;
        }
        if (at == n && n == count_inputs(e, p))
            return p;
    }
    return -1;
}

/* Appends "NAME=1,128", with rank and dims of input, to shapes. */
static mo_status append_shape(const char *name, const moirai_tensor *input,
                              mo_path_list *shapes, mo_error *err)
{
    char dims[MO_SHAPE_TEXT_SIZE + 1];
    mo_shape shape = { .rank = input->rank };

    if (input->rank < 0 || input->rank > MO_MAX_RANK)
        return mo_fail(err, MO_E_INPUT,
                       "input '%.80s' of rank %d; give 0 to %d", name,
                       input->rank, MO_MAX_RANK);
    for (int d = 0; d < input->rank; d++)
        shape.dims[d] = input->dims[d];
    dims[mo_shape_write(&shape, dims)] = '\0';
    return mo_path_list_append(shapes, mo_path_format("%s=%s", name, dims),
                               err);
}

static mo_status read_graph(const moirai_graph *fine,
                            const mo_path_list *shapes,
                            const moirai_options *options, moirai_graph **graph,
                            mo_error *err)
{
    const mo_read_options read = {
        .values = fine->read.values,
        .hints = { .items = (const char **) (uintptr_t) shapes->paths,
                   .count = shapes->n },
    };
    mo_graph *made = NULL;
    mo_error why = { 0 };
    mo_status status = mo_read_graph(fine->path, &read, &made, NULL, &why);

    status = mo_exec_shape_check(made, shapes, &why, err);
    if (status == MO_OK)
        return mo_lib_graph_make(made, fine->path, options, graph, err);
    mo_graph_free(made);
    return status;
}

/* Reads the graph of a placement again, with inputs of these shapes, and places
 * it by the names of its ops; coarsened, and judged, as the placement. Fails
 * with MO_E_IO if the graph was not read from a file. */
static mo_status place_at_shapes(const moirai_placement *placement,
                                 const mo_path_list *shapes,
                                 moirai_placement **at, mo_error *err)
{
    const moirai_instance *from = placement->instance;
    const moirai_graph *placed = from->graph;
    const moirai_graph *fine = placed->fine ? placed->fine : placed;
    moirai_error *e = (moirai_error *) err;
    moirai_options *options = NULL;
    moirai_graph *graph = NULL;
    moirai_instance *x = NULL;
    char formats[MO_NUMERIC_TEXT];
    mo_status status = (mo_status) moirai_options_new(&options, e);

    if (status == MO_OK) {
        mo_prepare_options *p = &options->settings.prepare;

        mo_numeric_write(&fine->formats, formats);
        p->load.formats = formats;
        p->load.cost = from->cost;
        p->fusion = placed->fine ? placed->fusion : "none";
        p->congestion = mo_congestion_names[from->regime.congestion];
        p->tensors = mo_tensors_names[from->regime.tensors];
        p->memory = mo_memory_names[from->regime.memory];
        status = read_graph(fine, shapes, options, &graph, err);
    }
    if (status == MO_OK)
        status = (mo_status) moirai_instance_new(graph, from->cluster,
                                                 from->profile, options, &x, e);
    if (status == MO_OK) {
        const mo_review old = mo_lib_instance_review(placement->instance);
        const mo_review new = mo_lib_instance_review(x);
        int *device = calloc((size_t) x->instance->n + 1, sizeof *device);

        status = device
                     ? mo_exec_shape_devices(
                           &old.problem, placement->evaluation.schedule->device,
                           &new.problem, device, err)
                     : mo_fail_memory(err);
        if (status == MO_OK)
            status = (mo_status) moirai_placement_new(x, device, NULL, at,
                                                      (moirai_error *) err);
        free(device);
    }
    moirai_instance_free(x);
    moirai_graph_free(graph);
    moirai_options_free(options);
    return status;
}

/* Opens an engine for a shape that was not placed; the cache is locked. */
static mo_status open_other(cache *c, const moirai_tensor *inputs, int n,
                            mo_error *err)
{
    const mo_lib_run *run = mo_lib_engine_run(c->first);
    int64_t most = run->options.shapes_max;
    moirai_placement *placement = NULL;
    mo_lib_engine *made = NULL;
    mo_path_list shapes = { 0 };
    mo_status status = MO_OK;

    for (int i = 0; i < n && status == MO_OK; i++)
        status = append_shape(find_inputs(c->first, 0)[i].name, &inputs[i],
                              &shapes, err);
    if (status == MO_OK && most == 0)
        status = mo_exec_shape_fail(run->job.review.problem.fine, &shapes,
                                    false, err);
    if (status == MO_OK && !c->others) {
        c->others = calloc((size_t) most, sizeof(mo_lib_engine *));
        status = c->others ? MO_OK : mo_fail_memory(err);
    }
    /* Its memory is free for the new one. */
    if (status == MO_OK && c->n_others == most)
        mo_lib_engine_release(c->others[--c->n_others]);
    if (status == MO_OK)
        status = place_at_shapes(run->placement, &shapes, &placement, err);
    if (status == MO_OK)
        status = mo_lib_engine_open(placement, &run->options, &made, err);
    if (status == MO_OK) {
        c->others[c->n_others++] = made;
        c->n_plans++;
    } else
        mo_error_set_location(err, run->job.review.located.graph, 0);
    moirai_placement_free(placement);
    mo_path_list_clear(&shapes);
    return status;
}

/* Sets *other to the engine of a shape that was not placed; the cache is
 * locked. */
static mo_status find_other(cache *c, const moirai_tensor *inputs, int n,
                            mo_lib_engine **other, mo_error *err)
{
    mo_status status = MO_OK;
    int at = 0;

    while (at < c->n_others && match_phase(c->others[at], inputs, n) < 0)
        at++;
    if (at == c->n_others) {
        status = open_other(c, inputs, n, err);
        at = c->n_others - 1;
    }
    if (status != MO_OK)
        return status;
    *other = c->others[at];
    memmove(c->others + 1, c->others, (size_t) at * sizeof(mo_lib_engine *));
    c->others[0] = *other;
    return MO_OK;
}

moirai_status moirai_executor_at(moirai_executor *executor,
                                 const moirai_tensor *inputs,
                                 moirai_executor **shaped, moirai_error *err)
{
    cache *c = executor->cache;
    int n = count_inputs(c->first, 0);
    int phase = match_phase(c->first, inputs, n);
    mo_lib_engine *engine = c->first;
    mo_status status = MO_OK;

    pthread_mutex_lock(&c->lock);
    if (phase < 0)
        status = find_other(c, inputs, n, &engine, mo_lib_error(err));
    if (status == MO_OK)
        status = make_executor(c, engine, phase < 0 ? 0 : phase, shaped,
                               mo_lib_error(err));
    pthread_mutex_unlock(&c->lock);
    return mo_lib_status(status);
}

int moirai_executor_n_plans(moirai_executor *executor)
{
    int n;

    pthread_mutex_lock(&executor->cache->lock);
    n = executor->cache->n_plans;
    pthread_mutex_unlock(&executor->cache->lock);
    return n;
}

static void describe(const char *name, const mo_tensor_desc *desc,
                     moirai_tensor *tensor)
{
    _Static_assert(sizeof desc->shape.dims[0] == sizeof(int64_t), "dims");
    *tensor = (moirai_tensor){
        .name = name,
        .dtype = desc->elem == MO_ELEM_BOOL ? "bool" : mo_elem_name(desc->elem),
        .rank = desc->shape.rank,
        .dims = desc->shape.dims,
        .bytes = (size_t) mo_tensor_desc_bytes(desc),
    };
}

int moirai_executor_n_inputs(const moirai_executor *executor)
{
    return count_inputs(executor->engine, executor->phase);
}

int moirai_executor_n_outputs(const moirai_executor *executor)
{
    return mo_lib_engine_first_output(executor->engine, executor->phase + 1) -
           mo_lib_engine_first_output(executor->engine, executor->phase);
}

int moirai_executor_input(const moirai_executor *executor, int i,
                          moirai_tensor *tensor)
{
    const mo_plan_input *inputs =
        find_inputs(executor->engine, executor->phase);

    if (i < 0 || i >= moirai_executor_n_inputs(executor))
        return -1;
    describe(inputs[i].name, &inputs[i].desc, tensor);
    return 0;
}

int moirai_executor_output(const moirai_executor *executor, int i,
                           moirai_tensor *tensor)
{
    const mo_lib_engine *e = executor->engine;
    int at = mo_lib_engine_first_output(e, executor->phase) + i;

    if (i < 0 || i >= moirai_executor_n_outputs(executor))
        return -1;
    describe(mo_lib_engine_run(e)->job.plan->outputs[at].name,
             mo_lib_engine_output(e, at), tensor);
    return 0;
}

moirai_status moirai_executor_submit(moirai_executor *executor,
                                     const void *const *inputs,
                                     void *const *outputs, int64_t *ticket,
                                     moirai_error *err)
{
    mo_error *e = mo_lib_error(err);

    for (int i = 0; i < moirai_executor_n_inputs(executor); i++)
        if (!inputs[i])
            return mo_lib_status(mo_fail(
                e, MO_E_USAGE, "input '%.80s' has no bytes",
                find_inputs(executor->engine, executor->phase)[i].name));
    return mo_lib_status(mo_lib_engine_submit(executor->engine, executor->phase,
                                              inputs, outputs, ticket, e));
}

moirai_status moirai_executor_wait(moirai_executor *executor, int64_t ticket,
                                   moirai_error *err)
{
    return mo_lib_status(
        mo_lib_engine_wait(executor->engine, ticket, mo_lib_error(err)));
}

moirai_status moirai_executor_run(moirai_executor *executor,
                                  const void *const *inputs,
                                  void *const *outputs, moirai_error *err)
{
    int64_t ticket;
    moirai_status status =
        moirai_executor_submit(executor, inputs, outputs, &ticket, err);

    return status == MOIRAI_OK ? moirai_executor_wait(executor, ticket, err)
                               : status;
}

moirai_status moirai_executor_write_plan(const moirai_executor *executor,
                                         const char *path,
                                         moirai_write_fn *write, void *context,
                                         moirai_error *err)
{
    mo_out *out = NULL;
    mo_status status =
        mo_lib_open_output(path, write, context, &out, mo_lib_error(err));

    if (status == MO_OK)
        mo_plan_write_json(mo_lib_engine_run(executor->engine)->job.plan, out);
    return mo_lib_status(mo_lib_close_output(out, status, mo_lib_error(err)));
}
