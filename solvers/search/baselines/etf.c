/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/baselines/etf.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "solvers/search/baselines/baseline.h"
#include "solvers/search/baselines/etf_internal.h"

/* Ops of the unit that the device has refused line up again: it is theirs. */
static mo_status settle(mo_baseline_etf *s, int unit, int k, mo_error *err)
{
    mo_status status = MO_OK;

    s->unit_device[unit] = k;
    if (mo_baseline_etf_checks_memory(s))
        mo_baseline_etf_memory_reserve_unit(&s->room, unit, k);
    for (int at = s->units->start[unit];
         s->refused && at < s->units->start[unit + 1] && status == MO_OK;
         at++) {
        int op = s->units->ops[at];

        if (!s->refused[mo_baseline_etf_index(s, op, k)])
            continue;
        s->refused[mo_baseline_etf_index(s, op, k)] = false;
        status = mo_baseline_etf_enqueue(s, op, k, err);
    }
    return status;
}

/* Of the devices that op may go to, the one with the most room. */
static int roomiest(const mo_baseline_etf *s, int op)
{
    int best = -1;

    for (int k = 0; k < s->x->n_devices; k++)
        if (mo_baseline_etf_is_allowed(s, op, k) &&
            (best < 0 || s->room.free_bytes[k] > s->room.free_bytes[best]))
            best = k;
    return best;
}

/* What is left to one device is not asked whether it fits. */
static bool fits(mo_baseline_etf *s, const mo_baseline_etf_choice *p)
{
    if (!mo_baseline_etf_checks_memory(s))
        return true;
    mo_baseline_etf_memory_release_until(&s->room, s->device, p->start_ns);
    return mo_baseline_etf_unit_is_placed(s, p->op) ||
           mo_baseline_etf_memory_fits(&s->room, s->device, p->op, p->device);
}

static void refuse_on(mo_baseline_etf *s, int op, int k)
{
    s->refused[mo_baseline_etf_index(s, op, k)] = true;
    s->open[op]--;
}

/* The pair is out of the question, and where memory never comes back all others
 * like it, too.  When it was the op's last, it goes where there is most room,
 * though that is not enough. */
static mo_status refuse(mo_baseline_etf *s, const mo_baseline_etf_choice *p,
                        mo_error *err)
{
    refuse_on(s, p->op, p->device);
    for (int k = 0; !s->room.live && k < s->x->n_devices; k++)
        if (mo_baseline_etf_is_pending(s, p->op, k) &&
            !mo_baseline_etf_memory_fits(&s->room, s->device, p->op, k))
            refuse_on(s, p->op, k);
    if (s->open[p->op] > 0)
        return MO_OK;
    return settle(s, s->units->of_op[p->op], roomiest(s, p->op), err);
}

static mo_status push_readers(mo_baseline_etf *s, int op, mo_error *err)
{
    const mo_instance *x = s->x;
    mo_status status = MO_OK;

    for (int q = x->out_start[op]; q < x->out_start[op + 1] && status == MO_OK;
         q++)
        if (--s->waits[x->flows[q].to] == 0)
            status = mo_baseline_etf_make_ready(s, x->flows[q].to, err);
    return status;
}

static mo_status commit(mo_baseline_etf *s, const mo_baseline_etf_choice *p,
                        int rank, mo_error *err)
{
    mo_baseline_etf_device *d = &s->devices[p->device];
    mo_status status = MO_OK;

    if (!mo_baseline_etf_unit_is_placed(s, p->op))
        status = settle(s, s->units->of_op[p->op], p->device, err);
    s->device[p->op] = p->device;
    s->rank[p->op] = rank;
    s->end_ns[p->op] = p->start_ns + mo_instance_p_ns(s->x, p->op, p->device);
    d->free_ns = s->end_ns[p->op];
    d->last = p->op;
    if (status == MO_OK && mo_baseline_etf_checks_memory(s))
        status = mo_baseline_etf_memory_start_op(&s->room, s->device, p->op,
                                                 s->end_ns[p->op], err);
    return status == MO_OK ? push_readers(s, p->op, err) : status;
}

/* *all: it was not stopped. */
static mo_status place_all(mo_baseline_etf *s, mo_method_result *placed,
                           bool *all, mo_error *err)
{
    mo_status status = MO_OK;
    int n = 0;

    for (int i = 0; i < s->x->n && status == MO_OK; i++)
        if (s->waits[i] == 0)
            status = mo_baseline_etf_make_ready(s, i, err);
    for (int64_t steps = 0; n < s->x->n && status == MO_OK; steps++) {
        mo_baseline_etf_choice next;

        if (mo_baseline_should_stop(s->task, steps, n, placed))
            return MO_OK;
        status = mo_baseline_etf_select(s, &next, err);
        assert(status != MO_OK || next.op >= 0);
        if (status == MO_OK)
            status = fits(s, &next) ? commit(s, &next, n++, err)
                                    : refuse(s, &next, err);
    }
    *all = status == MO_OK;
    return status;
}

/* An array of count cells, none of which is zero bytes long. */
static void *reserve_cells(size_t count, size_t size)
{
    return calloc(count + 1, size);
}

static bool reserve(mo_baseline_etf *s)
{
    size_t n = (size_t) s->x->n, n_devices = (size_t) s->x->n_devices, cells;

    s->unit_device = reserve_cells(n, sizeof *s->unit_device);
    s->order = reserve_cells(n, sizeof *s->order);
    s->place = reserve_cells(n, sizeof *s->place);
    s->waits = reserve_cells(n, sizeof *s->waits);
    s->open = reserve_cells(n, sizeof *s->open);
    s->device = reserve_cells(n, sizeof *s->device);
    s->rank = reserve_cells(n, sizeof *s->rank);
    s->end_ns = reserve_cells(n, sizeof *s->end_ns);
    s->devices = reserve_cells(n_devices, sizeof *s->devices);
    if (mo_baseline_etf_checks_memory(s)) {
        if (!mo_size_mul(n, n_devices, &cells) || cells == SIZE_MAX)
            return false;
        s->refused = reserve_cells(cells, sizeof *s->refused);
    }
    return s->unit_device && s->order && s->place && s->waits && s->open &&
           s->device && s->rank && s->end_ns && s->devices &&
           (s->refused || !mo_baseline_etf_checks_memory(s));
}

static mo_status prepare(mo_baseline_etf *s, mo_error *err)
{
    const mo_instance *x = s->x;
    mo_status status =
        mo_placement_units_make(x, &s->task->regime, &s->units, err);

    if (status == MO_OK)
        status = mo_baseline_etf_memory_open(&s->room, x, &s->task->regime,
                                             s->units, err);
    if (status == MO_OK && !reserve(s))
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_baseline_topo_order(x, s->order, s->place, err);
    if (status != MO_OK)
        return status;
    for (int u = 0; u < s->units->n; u++)
        s->unit_device[u] = s->units->pin[u];
    for (int i = 0; i < x->n; i++) {
        s->waits[i] = x->in_start[i + 1] - x->in_start[i];
        s->device[i] = MO_FREE;
    }
    for (int k = 0; k < x->n_devices; k++)
        s->devices[k].last = s->devices[k].awaited = -1;
    return MO_OK;
}

static void clear_lineup(mo_baseline_etf_ready_queue *l)
{
    mo_baseline_pqueue_clear(&l->later);
    mo_baseline_pqueue_clear(&l->now);
}

static void clear(mo_baseline_etf *s)
{
    for (int k = 0; s->devices && k < s->x->n_devices; k++) {
        clear_lineup(&s->devices[k].ready);
        clear_lineup(&s->devices[k].urgent);
    }
    free(s->refused);
    free(s->devices);
    free(s->end_ns);
    free(s->rank);
    free(s->device);
    free(s->open);
    free(s->waits);
    free(s->place);
    free(s->order);
    free(s->unit_device);
    mo_baseline_etf_memory_close(&s->room);
    mo_placement_units_free(s->units);
}

mo_status mo_baseline_etf_place(const mo_method_task *task,
                                const mo_baseline_etf_options *options,
                                mo_method_result *placed, mo_error *err)
{
    mo_baseline_etf s = { .task = task, .x = task->x, .options = options };
    bool all = false;
    mo_status status = prepare(&s, err);

    if (status == MO_OK)
        status = place_all(&s, placed, &all, err);
    if (all)
        status = mo_baseline_simulate(task, s.device, s.rank, placed, err);
    clear(&s);
    return status;
}
