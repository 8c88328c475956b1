#include <string.h>

#include "base/stop.h"
#include "exec/lay.h"
#include "exec/run_device.h"

/* ------------------------------------------------------------------- inputs */

/* Other values may have taken an input's place in the last run: each run gets
 * them anew. */
static void load(const mo_run_device *d, const mo_dense *input, int v)
{
    const mo_plan_value *value = &d->plan->values[v];
    int64_t bytes = mo_desc_bytes(&value->desc);

    if (!d->where[v] || bytes == 0)
        return;
    if (value->channels_last)
        mo_lay_last(&value->desc, input->data, d->where[v]);
    else
        memcpy(d->where[v], input->data, (size_t) bytes);
}

static void load_inputs(const mo_run_device *d)
{
    const mo_plan *plan = d->plan;

    for (int i = 0; i < plan->n_inputs; i++)
        for (int k = 0; k < plan->inputs[i].n_values; k++) {
            int v = plan->inputs[i].values[k];

            if (plan->values[v].device == d->device)
                load(d, &d->options->inputs[i], v);
        }
}

/* -------------------------------------------------------------------- steps */

/* A kernel knows numbers only.  Plans made by hand may have no items. */
static void name_op(const mo_run_device *d, int call, mo_error *err)
{
    int number = d->plan->calls[call].timed_as;
    const mo_plan_item *item;
    mo_error why;

    if (!err || number >= d->plan->n_items)
        return;
    item = &d->plan->items[number];
    why = *err;
    mo_fail(err, why.status, "op '%.160s' (%.80s): %s", item->name, item->type,
            why.text);
}

static mo_status compute(const mo_run_device *d, const mo_run_action *a,
                         mo_error *err)
{
    mo_status status =
        d->backend->run(d->unit, a->kernel, a->in, a->out, d->workspace, err);

    if (status != MO_OK)
        name_op(d, a->what, err);
    return status;
}

static mo_status act(const mo_run_device *d, const mo_run_action *a,
                     mo_error *err)
{
    const mo_transport *transport = d->options->transport;
    mo_world *world = d->options->world;

    switch (a->kind) {
    case MO_STEP_COMPUTE:
        return compute(d, a, err);
    case MO_STEP_SEND:
        return transport->send(world, a->what, a->data, err);
    case MO_STEP_RECEIVE:
        return transport->receive(world, a->what, a->data, err);
    case MO_STEP_AWAIT:
        break;
    }
    return transport->await(world, a->what, a->sending, err);
}

static mo_status run_once(const mo_run_device *d, int64_t *stamps,
                          mo_error *err)
{
    mo_status status = MO_OK;

    stamps[0] = mo_stop_clock_ns();
    for (int i = 0; i < d->n_actions && status == MO_OK; i++) {
        stamps[mo_run_moment_begun(i)] = mo_stop_clock_ns();
        status = act(d, &d->actions[i], err);
        stamps[mo_run_moment_ended(i)] = mo_stop_clock_ns();
    }
    return status;
}

mo_status mo_run_device_work(mo_run_device *device, mo_error *err)
{
    mo_run_device *d = device;
    const mo_run_options *o = d->options;
    mo_status status = MO_OK;

    for (int r = -o->warm_ups; r < o->runs && status == MO_OK; r++) {
        bool stop = mo_stop_now(o->stop);

        load_inputs(d);
        status = o->transport->barrier(o->world, &stop, err);
        if (status != MO_OK || stop)
            break;
        status = run_once(
            d, r < 0 ? d->warm_up_stamps : mo_run_device_stamps(d, r), err);
        if (r >= 0)
            d->n_runs = r + 1;
    }
    return status;
}
