/* SPDX-License-Identifier: Apache-2.0 */
#include "models/frame/frame.h"

#include <stdlib.h>

#include "base/array.h"
#include "graph/cut.h"
#include "models/frame/frame_internal.h"
#include "models/frame/memory_rows.h"
#include "models/sink/scale.h"
#include "schedule/heuristic/single_device.h"
#include "schedule/heuristic/upper_bound.h"
#include "schedule/serial_makespan.h"

/* The best of the schedules on one device that models accept, or NULL; upper_ns
 * is its makespan, else the serial makespan.  Models that bound live memory
 * from above may reject schedules that fit (models/frame/memory_rows.h), the
 * one among them that the upper bound of the instance came from.  What they
 * accept may take longer; a horizon that is too short would leave a model
 * infeasible. */
static mo_status find_accepted_start(mo_frame *f, const mo_memory_rows *rows,
                                     mo_error *err)
{
    mo_schedule *best = NULL;

    mo_schedule_free(f->start);
    f->start = NULL;
    for (int k = 0; k < f->x->n_devices; k++) {
        mo_schedule *alone = NULL;
        mo_status status =
            mo_single_device_schedule(f->x, &f->regime, k, &alone, err);

        if (status != MO_OK) {
            mo_schedule_free(best);
            return status;
        }
        if (alone && mo_memory_rows_accept(rows, alone->device) &&
            (!best || alone->makespan_ns < best->makespan_ns)) {
            mo_schedule_free(best);
            best = alone;
        } else {
            mo_schedule_free(alone);
        }
    }
    f->start = best;
    if (!best)
        return mo_serial_makespan(f->x, &f->regime, &f->upper_ns, err);
    f->upper_ns = best->makespan_ns;
    return MO_OK;
}

/* Models bound live memory from above, so that they reject schedules that would
 * fit; the makespan of one of these does not bound theirs.  Drops a given start
 * that they would reject; replaces that of the heuristic. */
static mo_status check_live_start(mo_frame *f, bool given, mo_error *err)
{
    mo_memory_rows *rows;
    mo_status status;

    if (!f->start || f->regime.memory != MO_MEMORY_LIVE)
        return MO_OK;
    status = mo_memory_rows_new(f, &rows, err);
    if (status != MO_OK)
        return status;
    if (!mo_memory_rows_accept(rows, f->start->device)) {
        if (given) {
            mo_schedule_free(f->start);
            f->start = NULL;
        } else {
            status = find_accepted_start(f, rows, err);
        }
    }
    mo_memory_rows_free(rows);
    return status;
}

static mo_status find_upper(mo_frame *f, mo_error *err)
{
    mo_status status = check_live_start(f, true, err);

    if (status != MO_OK)
        return status;
    if (f->start) {
        f->upper_ns = f->start->makespan_ns;
        return MO_OK;
    }
    status = mo_bound_upper(f->x, &f->regime, &f->start, &f->upper_ns, err);
    return status == MO_OK ? check_live_start(f, false, err) : status;
}

static void free_rounded(mo_frame *f)
{
    if (!f->rounded)
        return;
    free(f->rounded->p_ns);
    free(f->rounded->comm.ns);
    free(f->rounded);
}

/* A rounded copy; NULL when memory cannot be allocated. */
static int64_t *round_array(const int64_t *ns, int64_t n, int64_t step_ns)
{
    int64_t *rounded = malloc(((size_t) n + 1) * sizeof *rounded);

    for (int64_t i = 0; i < n && rounded; i++)
        rounded[i] = mo_scale_rounded_ns(step_ns, ns[i]);
    return rounded;
}

/* All but the times is borrowed from x. */
static mo_instance *round_times(const mo_instance *x, int64_t step_ns)
{
    int64_t n_places = (int64_t) x->n * x->n_devices;
    int64_t n_sends = (int64_t) x->comm.n_rows * x->comm.n_kinds;
    mo_instance *rounded = malloc(sizeof *rounded);

    if (!rounded)
        return NULL;
    *rounded = *x;
    rounded->arena = NULL;
    rounded->p_ns = round_array(x->p_ns, n_places, step_ns);
    rounded->comm.ns = round_array(x->comm.ns, n_sends, step_ns);
    return rounded;
}

static mo_status round_times_of_frame(mo_frame *f, int64_t step_ns,
                                      int64_t *reached_ns, mo_error *err)
{
    mo_instance *rounded = round_times(f->given, step_ns);
    mo_status status = MO_OK;

    free_rounded(f);
    f->rounded = rounded;
    if (!rounded || !rounded->p_ns || !rounded->comm.ns)
        return mo_fail_memory(err);
    f->x = rounded;
    if (f->start) {
        status = mo_schedule_left_shift(f->x, f->start, err);
        *reached_ns = f->start->makespan_ns;
    }
    return status;
}

/*
 * The bounds were proven for the instance as given.  A model of a rounded one
 * has times that are up to half a step shorter: its schedules are shorter by
 * at most that for each op and transfer, of which none occurs twice on a path
 * through the subject of a proof.  Less that, and in whole steps, the bound
 * holds for them, too.
 */

static int64_t bound_after_rounding(const mo_frame *f, int64_t ns,
                                    int64_t n_items)
{
    int64_t left_ns = ns - n_items * ((f->step_ns + 1) / 2);

    if (f->step_ns == 1)
        return ns;
    return left_ns > 0 ? left_ns / f->step_ns * f->step_ns : 0;
}

/* Ops are in topological order: those between two of them have numbers between
 * theirs. */
static int64_t pair_after_rounding(const mo_frame *f,
                                   const mo_proven_bounds_pair *pair,
                                   int64_t ns)
{
    int first = pair->u == MO_FREE ? 0 : pair->u;
    int end = pair->v == MO_FREE ? f->x->n : pair->v;
    int n_flows = f->x->out_start[end] - f->x->out_start[first];

    return bound_after_rounding(f, ns, (int64_t) end - first + n_flows);
}

int64_t mo_frame_proven_pair_ns(const mo_frame *f, size_t number, int a, int b)
{
    const mo_proven_bounds_pair *pair = &f->proven->pairs[number];

    return pair_after_rounding(f, pair,
                               pair->least_ns[a * f->x->n_devices + b]);
}

int64_t mo_frame_proven_priced_ns(const mo_frame *f, size_t number, int a,
                                  int b)
{
    const mo_proven_bounds_pair *pair = &f->proven->pairs[number];

    return pair_after_rounding(f, pair,
                               pair->priced_ns[a * f->x->n_devices + b]);
}

int64_t mo_frame_proven_ns(const mo_frame *f)
{
    if (!f->proven)
        return 0;
    return bound_after_rounding(f, f->proven->lower_ns,
                                (int64_t) f->x->n + f->x->n_flows);
}

/* One more than needed: malloc(0) may be NULL. */
static mo_status allocate_arrays(mo_frame *f, mo_error *err)
{
    size_t n = (size_t) f->x->n, n_devices = (size_t) f->x->n_devices, domains;

    if (!mo_size_mul(n, n_devices, &domains) || domains == SIZE_MAX)
        return mo_fail_memory(err);
    f->allowed = calloc(domains + 1, sizeof *f->allowed);
    f->head_ns = calloc(domains + 1, sizeof *f->head_ns);
    f->tail_ns = calloc(domains + 1, sizeof *f->tail_ns);
    f->est_ns = calloc(n + 1, sizeof *f->est_ns);
    f->lct_ns = calloc(n + 1, sizeof *f->lct_ns);
    f->symmetric_to = calloc(n_devices + 1, sizeof *f->symmetric_to);
    if (!f->allowed || !f->head_ns || !f->tail_ns || !f->est_ns || !f->lct_ns ||
        !f->symmetric_to)
        return mo_fail_memory(err);
    return MO_OK;
}

/* slack is 0 for a model that stays as it is. */
static int64_t multiply_slack(int64_t ns, double slack)
{
    double longer = (double) ns * slack;

    if (slack == 0)
        return ns;
    return longer < (double) MO_MAX_TOTAL_NS ? (int64_t) longer
                                             : MO_MAX_TOTAL_NS;
}

static int64_t unit_of_horizon(const mo_frame *f)
{
    return f->fixed_unit_ns > 0 ? f->fixed_unit_ns
                                : mo_scale_unit_ns(f->horizon_ns);
}

/* The horizon, its unit, and an instance whose times can be written in it.
 * Rounding may carry the horizon into the next unit. */
static mo_status choose_horizon(mo_frame *f, mo_error *err)
{
    int64_t reached_ns = f->upper_ns;
    mo_status status = MO_OK;

    f->step_ns = 1;
    while (status == MO_OK) {
        f->upper_ns = multiply_slack(reached_ns, f->slack);
        /* The extra room may carry the horizon into the next unit, which needs
         * more. */
        f->horizon_ns = f->upper_ns;
        for (int pass = 0; pass < 2; pass++) {
            f->unit_ns = unit_of_horizon(f);
            /* What rounding may add to a schedule of that length: every op and
             * every transfer that waits for another is written to the millionth
             * of a unit.  One part in ten thousand at least, so that the
             * feasible region is not as thin as a solver's tolerance. */
            const int64_t million = 1000000;
            int64_t items = (int64_t) f->x->n + f->x->n_flows;
            int64_t rounding_ns = items * (f->unit_ns / million) +
                                  items * (f->unit_ns % million) / million;
            int64_t part_ns = f->upper_ns / 10000;

            f->horizon_ns =
                f->upper_ns +
                (1 + (rounding_ns > part_ns ? rounding_ns : part_ns));
        }
        f->unit_ns = unit_of_horizon(f);
        if (mo_scale_step_ns(f->unit_ns) <= f->step_ns)
            break;
        f->step_ns = mo_scale_step_ns(f->unit_ns);
        status = round_times_of_frame(f, f->step_ns, &reached_ns, err);
    }
    return status;
}

static mo_status fill_frame(mo_frame *f, bool has_upper, mo_error *err)
{
    mo_status status = allocate_arrays(f, err);
    mo_dag dag = mo_instance_dag(f->x);
    mo_allowed_devices domains;

    if (status == MO_OK)
        status = mo_dag_clean_cuts(&dag, &f->cuts, &f->n_cuts, err);
    if (status == MO_OK)
        status =
            mo_dag_reach_new(&dag, MO_DAG_REACH_DEFAULT_BYTES, &f->reach, err);
    if (status == MO_OK && !has_upper)
        status = find_upper(f, err);
    if (status != MO_OK)
        return status;
    /* What follows from the start and its makespan. */
    status = choose_horizon(f, err);
    if (status != MO_OK)
        return status;
    domains = mo_frame_allowed_devices(f);
    status = mo_allowed_devices_find(&domains, err);
    if (status == MO_OK)
        status = mo_frame_find_windows(f, err);
    if (status == MO_OK)
        status = mo_frame_find_symmetric_devices(f, err);
    if (status == MO_OK && f->slack > 0) {
        for (int k = 0; k < f->x->n_devices; k++)
            f->symmetric_to[k] = MO_FREE;
    }
    if (status == MO_OK && f->start)
        status = mo_frame_relabel_start(f, err);
    return status;
}

/* basis has the inputs, maybe a start; with has_upper its makespan is
 * known. */
static mo_status make_frame(const mo_frame *basis, bool has_upper,
                            mo_frame **frame, mo_error *err)
{
    mo_frame *f = malloc(sizeof *f);
    mo_status status;

    if (!f) {
        mo_schedule_free(basis->start);
        return mo_fail_memory(err);
    }
    *f = *basis;
    f->x = f->given;
    status = fill_frame(f, has_upper, err);
    if (status != MO_OK) {
        mo_frame_free(f);
        return status;
    }
    *frame = f;
    return MO_OK;
}

mo_status mo_frame_make(const mo_instance *x, const mo_regime *regime,
                        bool closure, mo_frame **frame, mo_error *err)
{
    return mo_frame_make_open(x, regime, closure, 0, frame, err);
}

mo_status mo_frame_make_open(const mo_instance *x, const mo_regime *regime,
                             bool closure, double slack, mo_frame **frame,
                             mo_error *err)
{
    const mo_frame basis = {
        .given = x, .regime = *regime, .closure = closure, .slack = slack
    };

    return make_frame(&basis, false, frame, err);
}

mo_status mo_frame_make_with_bounds(const mo_instance *x,
                                    const mo_regime *regime, double slack,
                                    const mo_proven_bounds *proven,
                                    mo_schedule *start, mo_frame **frame,
                                    mo_error *err)
{
    const mo_frame basis = { .given = x,
                             .regime = *regime,
                             .slack = slack,
                             .proven = proven,
                             .start = start };

    return make_frame(&basis, false, frame, err);
}

mo_status mo_frame_make_exact(const mo_instance *x, const mo_regime *regime,
                              const mo_proven_bounds *proven, int64_t upper_ns,
                              mo_frame **frame, mo_error *err)
{
    const mo_frame basis = { .given = x,
                             .regime = *regime,
                             .proven = proven,
                             .fixed_unit_ns = 1,
                             .upper_ns = upper_ns };

    return make_frame(&basis, true, frame, err);
}

mo_status mo_frame_make_from(const mo_frame *other, mo_schedule *start,
                             int64_t upper_ns, mo_frame **frame, mo_error *err)
{
    const mo_frame basis = { .given = other->given,
                             .regime = other->regime,
                             .closure = other->closure,
                             .slack = other->slack,
                             .fixed_unit_ns = other->fixed_unit_ns,
                             .start = start,
                             .upper_ns = upper_ns };

    return make_frame(&basis, true, frame, err);
}

mo_status mo_frame_set_unit(mo_frame *f, int64_t unit_ns, mo_error *err)
{
    char unit[32], step[32];

    if (mo_scale_step_ns(unit_ns) > f->step_ns) {
        mo_scale_unit_text(unit_ns, unit);
        mo_scale_unit_text(mo_scale_step_ns(unit_ns), step);
        return mo_fail(err, MO_E_USAGE,
                       "a unit of %s is too long: times are written to the "
                       "millionth of it, %s, and the times here are finer; "
                       "take a shorter one",
                       unit, step);
    }
    f->fixed_unit_ns = f->unit_ns = unit_ns;
    return MO_OK;
}

void mo_frame_free(mo_frame *frame)
{
    if (!frame)
        return;
    mo_schedule_free(frame->start);
    mo_dag_reach_free(frame->reach);
    free(frame->allowed);
    free(frame->head_ns);
    free(frame->tail_ns);
    free(frame->est_ns);
    free(frame->lct_ns);
    free(frame->cuts);
    free(frame->segment_ns);
    free(frame->symmetric_to);
    free_rounded(frame);
    free(frame);
}
