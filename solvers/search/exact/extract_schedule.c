/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When all is decided, heads are start times.
 */
#include "solvers/search/exact/exact_internal.h"

#include <stdlib.h>

int mo_exact_chosen_mode(const mo_exact_search *s, int task)
{
    const mo_exact_task *t = &s->model.tasks[task];

    for (int i = 0; i < t->n; i++)
        if (s->core.truth[s->model.modes[t->first + i].literal] > 0)
            return t->first + i;
    return -1;
}

static void set_ops(const mo_exact_search *s, mo_schedule *of)
{
    for (int i = 0; i < of->n; i++) {
        int mode = mo_exact_chosen_mode(s, i);
        int64_t end_ns;

        of->start_ns[i] = s->core.value[MO_EXACT_HEAD(mode)];
        end_ns = of->start_ns[i] + s->model.modes[mode].length_ns;
        if (end_ns > of->makespan_ns)
            of->makespan_ns = end_ns;
    }
}

static void set_sends(const mo_exact_search *s, mo_schedule *of)
{
    const mo_exact_model *m = &s->model;

    for (int t = m->x->n; t < (int) m->n_tasks; t++) {
        int number = mo_exact_chosen_mode(s, t);
        const mo_exact_task_mode *mode = &m->modes[number];
        mo_transfer *sent;

        if (number < 0 || !mode->is_real)
            continue;
        sent = mo_schedule_transfer(of, m->tasks[t].item, mode->to);
        sent->start_ns = s->core.value[MO_EXACT_HEAD(number)];
        sent->end_ns = sent->start_ns + mode->length_ns;
    }
}

/* Where transfers are no tasks, they begin as soon as they can. */
static void send_at_once(const mo_exact_search *s, mo_schedule *of)
{
    const mo_instance *x = s->model.x;

    for (int i = 0; i < of->n_transfers; i++) {
        mo_transfer *sent = &of->transfers[i];
        int from = of->regime.tensors == MO_TENSORS_ONCE
                       ? x->tensor_from[sent->item]
                       : x->flows[sent->item].from;

        sent->start_ns =
            of->start_ns[from] + mo_instance_p_ns(x, from, of->device[from]);
        sent->end_ns =
            sent->start_ns + mo_schedule_item_ns(x, &of->regime, sent->item,
                                                 sent->from, sent->to);
    }
}

mo_status mo_exact_extract_schedule(const mo_exact_search *s,
                                    mo_schedule **schedule, mo_error *err)
{
    const mo_instance *x = s->model.x;
    int *device = malloc(((size_t) x->n + 1) * sizeof *device);
    mo_schedule *made = NULL;
    mo_status status;

    if (!device)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n; i++)
        device[i] = s->model.modes[mo_exact_chosen_mode(s, i)].from;
    status = mo_schedule_new(x, &s->model.regime, device, &made, err);
    free(device);
    if (status != MO_OK)
        return status;
    set_ops(s, made);
    if (s->model.has_sends)
        set_sends(s, made);
    else
        send_at_once(s, made);
    *schedule = made;
    return MO_OK;
}
