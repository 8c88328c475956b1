/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two passes over the columns: the first decodes the placement and the starts
 * of ops, which imply the transfers; the second decodes the times of transfers,
 * and checks redundant columns.
 */
#include <config.h>

#include "solvers/answer/answer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "models/sink/variable.h"
#include "models/transfer_number.h"
#include "solvers/answer/column_name.h"

typedef struct answer_decoder {
    const mo_solution *solution;
    const mo_instance *x;
    const mo_regime *regime;
    double unit_ns, tolerance;

    bool *seen;        /* by op and device: x_i_k occurred */
    int *device;       /* by op, or MO_FREE */
    double *start;     /* by op, in units; NAN: no column */
    double *other;     /* of the other schedule, unused */
    double w;          /* NAN: no column */
    bool is_incumbent; /* column k is 1: b_ and q_ have the times, not s_ and t_
                        */

    /* From the second pass on. */
    mo_schedule *s;
    bool *claimed;    /* by transfer: it had a column */
    int64_t slack_ns; /* how far tolerances may violate an order */
} answer_decoder;

typedef mo_status column_handler(answer_decoder *a,
                                 const mo_solution_value *column,
                                 const mo_column_name *name, mo_error *err);

/* --------------------------------------------------------------------- ops */

static mo_status fail_index(const mo_solution_value *column, const char *what,
                            int number, int64_t n, mo_error *err)
{
    return mo_fail(err, MO_E_INPUT,
                   "column %.60s is about %s %d, but there are only %" PRId64
                   "; is it "
                   "the solution of another graph or cluster?",
                   column->name, what, number, n);
}

static mo_status fail_duplicate(const mo_solution_value *column, mo_error *err)
{
    return mo_fail(err, MO_E_INPUT, "column %.60s is there twice",
                   column->name);
}

static bool is_one(const answer_decoder *a, double value)
{
    return value >= 1 - a->tolerance && value <= 1 + a->tolerance;
}

static bool is_zero(const answer_decoder *a, double value)
{
    return value >= -a->tolerance && value <= a->tolerance;
}

static mo_status set_device(answer_decoder *a, const mo_solution_value *column,
                            int op, int device, mo_error *err)
{
    const mo_instance *x = a->x;

    if (!is_one(a, column->value))
        return mo_fail(err, MO_E_INPUT,
                       "(1c) op '%.200s' is on %.60s only in part: %s is %g",
                       x->op_names[op], x->device_ids[device], column->name,
                       column->value);
    if (a->device[op] != MO_FREE)
        return mo_fail(err, MO_E_INPUT,
                       "(1c) op '%.200s' is on two devices, %.60s and %.60s",
                       x->op_names[op], x->device_ids[a->device[op]],
                       x->device_ids[device]);
    a->device[op] = device;
    return MO_OK;
}

static mo_status decode_placement_column(answer_decoder *a,
                                         const mo_solution_value *column,
                                         const mo_column_name *name,
                                         mo_error *err)
{
    int op = name->number[0], device = name->number[1], k = a->x->n_devices;
    bool *seen;

    if (op >= a->x->n)
        return fail_index(column, "op", op, a->x->n, err);
    if (device >= k)
        return fail_index(column, "device", device, k, err);
    seen = &a->seen[(int64_t) op * k + device];
    if (*seen)
        return fail_duplicate(column, err);
    *seen = true;
    return is_zero(a, column->value) ? MO_OK
                                     : set_device(a, column, op, device, err);
}

/* Times are limited to MO_MAX_TOTAL_NS; a NAN fails, too. */
static bool is_time(const answer_decoder *a, double value)
{
    return fabs(value * a->unit_ns) <= (double) MO_MAX_TOTAL_NS;
}

/* Stores a column's value in *time, which is NAN until then. */
static mo_status store_time(const answer_decoder *a,
                            const mo_solution_value *column, double *time,
                            mo_error *err)
{
    if (!isnan(*time))
        return fail_duplicate(column, err);
    if (!is_time(a, column->value))
        return mo_fail(err, MO_E_INPUT, "column %.60s is %g, which is no time",
                       column->name, column->value);
    *time = column->value;
    return MO_OK;
}

/* Sets whether column k is 1: the incumbent is all of the solution, or no part
 * of it. */
static mo_status decode_incumbent_column(answer_decoder *a, mo_error *err)
{
    bool seen = false;

    for (int i = 0; i < a->solution->n; i++) {
        const mo_solution_value *column = &a->solution->values[i];

        if (column->name[0] != MO_VARIABLE_ROLE_INCUMBENT ||
            column->name[1] != '\0')
            continue;
        if (seen)
            return fail_duplicate(column, err);
        seen = true;
        a->is_incumbent = is_one(a, column->value);
        if (!a->is_incumbent && !is_zero(a, column->value))
            return mo_fail(err, MO_E_INPUT,
                           "column k is %g, not 0 or 1: the known schedule is "
                           "the solution, or no part of it",
                           column->value);
    }
    return MO_OK;
}

static mo_status decode_op_column(answer_decoder *a,
                                  const mo_solution_value *column,
                                  const mo_column_name *name, mo_error *err)
{
    int op = name->number[0];
    bool incumbent = name->role == MO_VARIABLE_ROLE_INCUMBENT_START;

    if (name->role == MO_VARIABLE_ROLE_PLACE && name->n == 2)
        return decode_placement_column(a, column, name, err);
    if (name->role == MO_VARIABLE_ROLE_MAKESPAN && name->n == 0)
        return store_time(a, column, &a->w, err);
    if ((!incumbent && name->role != MO_VARIABLE_ROLE_START) || name->n != 1)
        return MO_OK;
    if (op >= a->x->n)
        return fail_index(column, "op", op, a->x->n, err);
    return store_time(
        a, column, incumbent == a->is_incumbent ? &a->start[op] : &a->other[op],
        err);
}

static bool has_times(const answer_decoder *a)
{
    bool found = !isnan(a->w);

    for (int i = 0; i < a->x->n && !found; i++)
        found = !isnan(a->start[i]) || !isnan(a->other[i]);
    return found;
}

/* A file of the integer columns alone, as Gurobi's .mst, lacks x_i_k where the
 * model has it as the sum of v_i_k and k. Without the incumbent that is
 * v_i_k. */
static mo_status decode_free_place(answer_decoder *a,
                                   const mo_solution_value *column,
                                   const mo_column_name *name, mo_error *err)
{
    int op = name->number[0], device = name->number[1], k = a->x->n_devices;

    if (name->role != MO_VARIABLE_ROLE_FREE_PLACE || name->n != 2 ||
        (op < a->x->n && device < k && a->seen[(int64_t) op * k + device]))
        return MO_OK;
    return decode_placement_column(a, column, name, err);
}

/* Calls take for every column of the model. */
static mo_status each_column(answer_decoder *a, column_handler *take,
                             mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < a->solution->n && status == MO_OK; i++) {
        const mo_solution_value *column = &a->solution->values[i];
        mo_column_name name;

        if (mo_column_name_parse(column->name, &name))
            status = take(a, column, &name, err);
    }
    return status;
}

static mo_status check_all_placed(const answer_decoder *a, mo_error *err)
{
    int first = MO_FREE, n = 0;

    for (int i = a->x->n - 1; i >= 0; i--)
        if (a->device[i] == MO_FREE) {
            first = i;
            n++;
        }
    if (n == 0)
        return MO_OK;
    if (a->is_incumbent)
        return mo_fail(err, MO_E_INPUT,
                       "(1c) column k is 1, for the schedule known to the "
                       "model, but op '%.200s' is on no device; write all "
                       "columns, not the integer ones alone",
                       a->x->op_names[first]);
    if (n == a->x->n)
        return mo_fail(err, MO_E_INPUT,
                       "(1c) no op is on any device; is it a solution of a "
                       "model from moirai-emit?");
    if (n == 1)
        return mo_fail(err, MO_E_INPUT, "(1c) op '%.200s' is on no device",
                       a->x->op_names[first]);
    return mo_fail(err, MO_E_INPUT,
                   "(1c) op '%.200s' and %d more are on no device",
                   a->x->op_names[first], n - 1);
}

static mo_status alloc_decoder(answer_decoder *a, mo_error *err)
{
    size_t n = (size_t) a->x->n, k = (size_t) a->x->n_devices;

    if (a->solution->nameless)
        return mo_fail(err, MO_E_INPUT,
                       "its columns have no names; let GLPK write with -o, not "
                       "-w");
    a->seen = calloc(n * k + 1, sizeof *a->seen);
    a->device = calloc(n + 1, sizeof *a->device);
    a->start = calloc(n + 1, sizeof *a->start);
    a->other = calloc(n + 1, sizeof *a->other);
    if (!a->seen || !a->device || !a->start || !a->other)
        return mo_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        a->device[i] = MO_FREE;
        a->start[i] = a->other[i] = NAN;
    }
    a->w = NAN;
    return MO_OK;
}

static void clear_decoder(answer_decoder *a)
{
    free(a->claimed);
    free(a->other);
    free(a->start);
    free(a->device);
    free(a->seen);
}

/* The first pass; the caller clears the decoder whatever the result. */
static mo_status decode_ops(answer_decoder *a, mo_error *err)
{
    mo_status status = alloc_decoder(a, err);

    if (status == MO_OK)
        status = decode_incumbent_column(a, err);
    if (status == MO_OK)
        status = each_column(a, decode_op_column, err);
    if (status == MO_OK && !a->is_incumbent && !has_times(a))
        status = each_column(a, decode_free_place, err);
    if (status == MO_OK)
        status = check_all_placed(a, err);
    return status;
}

mo_status mo_answer_placement(const mo_solution *solution, const mo_instance *x,
                              double tolerance, int *device, mo_error *err)
{
    answer_decoder a = {
        .solution = solution, .x = x, .unit_ns = 1, .tolerance = tolerance
    };
    mo_status status = decode_ops(&a, err);

    for (int i = 0; i < x->n && status == MO_OK; i++)
        device[i] = a.device[i];
    clear_decoder(&a);
    return status;
}

/* --------------------------------------------------------------- transfers */

static int64_t to_ns(const answer_decoder *a, double value)
{
    return isnan(value) ? 0 : (int64_t) llround(value * a->unit_ns);
}

/* Both w and the objective in the file claim the makespan. */
static mo_status claim_makespan(const answer_decoder *a, mo_error *err)
{
    const mo_solution *from = a->solution;
    double objective = from->has_objective ? from->objective : a->w;
    double w = isnan(a->w) ? objective : a->w;

    a->s->makespan_ns = MO_ANSWER_NO_CLAIM;
    if (isnan(w))
        return MO_OK;
    if (fabs(w - objective) > 10 * a->tolerance * fmax(1, fabs(w)))
        return mo_fail(err, MO_E_INPUT,
                       "(1) the objective is %.9g, but column w is %.9g",
                       objective, w);
    if (!is_time(a, w) || w < -a->tolerance)
        return mo_fail(err, MO_E_INPUT, "(1) a makespan of %g is none", w);
    a->s->makespan_ns = to_ns(a, fmax(w, 0));
    return MO_OK;
}

static int producer(const answer_decoder *a, int item)
{
    return a->regime->tensors == MO_TENSORS_ONCE ? a->x->tensor_from[item]
                                                 : a->x->flows[item].from;
}

static mo_status claim_starts(answer_decoder *a, mo_error *err)
{
    mo_schedule *s = a->s;
    int64_t latest_ns = 0;

    a->claimed = calloc((size_t) s->n_transfers + 1, sizeof *a->claimed);
    if (!a->claimed)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n; i++) {
        s->start_ns[i] = to_ns(a, a->start[i]);
        if (latest_ns < s->start_ns[i])
            latest_ns = s->start_ns[i];
    }
    a->slack_ns = (int64_t) ceil(10 * a->tolerance * (double) latest_ns);
    for (int t = 0; t < s->n_transfers; t++) {
        int op = producer(a, s->transfers[t].item);

        s->transfers[t].start_ns =
            s->start_ns[op] + mo_instance_p_ns(a->x, op, s->device[op]);
    }
    return MO_OK;
}

static mo_status claim_transfer(answer_decoder *a,
                                const mo_solution_value *column,
                                mo_transfer *transfer, mo_error *err)
{
    double time = NAN;
    mo_status status;

    if (!transfer)
        return MO_OK; /* a column for a tensor that is not sent */
    if (a->claimed[transfer - a->s->transfers])
        return fail_duplicate(column, err);
    status = store_time(a, column, &time, err);
    a->claimed[transfer - a->s->transfers] = true;
    transfer->start_ns = to_ns(a, time);
    return status;
}

/* A tensor without a device has one reader elsewhere, on any device. */
static mo_status claim_tensor(answer_decoder *a,
                              const mo_solution_value *column, int tensor,
                              mo_error *err)
{
    const mo_instance *x = a->x;

    for (int q = x->tensor_start[tensor]; q < x->tensor_start[tensor + 1];
         q++) {
        mo_transfer *transfer =
            mo_schedule_transfer(a->s, tensor, a->s->device[x->flows[q].to]);

        if (transfer)
            return claim_transfer(a, column, transfer, err);
    }
    return MO_OK;
}

static mo_status find_ends(const answer_decoder *a,
                           const mo_solution_value *column, int number,
                           mo_transfer_ends *ends, mo_error *err)
{
    int64_t n = mo_transfer_number_limit(a->x, a->regime);

    if (number >= n)
        return fail_index(column, "transfer", number, n, err);
    *ends = mo_transfer_from_number(a->x, a->regime, number);
    return MO_OK;
}

/* Where transfers follow from flows though tensors are sent once, the time
 * does not matter. */
static mo_status decode_send_column(answer_decoder *a,
                                    const mo_solution_value *column,
                                    const mo_column_name *name, mo_error *err)
{
    bool tensors = mo_transfer_is_tensor(a->regime);
    mo_transfer_ends ends = { 0 };
    mo_status status = find_ends(a, column, name->number[0], &ends, err);
    int to;

    if (status != MO_OK || tensors != (a->regime->tensors == MO_TENSORS_ONCE))
        return status;
    if (tensors && ends.device == MO_FREE)
        return claim_tensor(a, column, ends.item, err);
    to = tensors ? ends.device : a->s->device[ends.to];
    return claim_transfer(a, column, mo_schedule_transfer(a->s, ends.item, to),
                          err);
}

static mo_status fail_channel(const answer_decoder *a,
                              const mo_solution_value *column, int op,
                              mo_error *err)
{
    return mo_fail(err, MO_E_INPUT,
                   "(1f) column %.60s has op '%.200s' on another device than "
                   "%.60s",
                   column->name, a->x->op_names[op],
                   a->x->device_ids[a->s->device[op]]);
}

/* A tensor with many readers may be sent to a device without any; one with a
 * single reader may not. */
static mo_status decode_channel_column(answer_decoder *a,
                                       const mo_solution_value *column,
                                       const mo_column_name *name,
                                       mo_error *err)
{
    mo_transfer_ends ends = { 0 };
    mo_status status = find_ends(a, column, name->number[0], &ends, err);

    if (status != MO_OK || !is_one(a, column->value))
        return status;
    if (a->s->device[ends.from] != name->number[1])
        return fail_channel(a, column, ends.from, err);
    if (ends.to != MO_FREE && ends.device == MO_FREE &&
        a->s->device[ends.to] != name->number[2])
        return fail_channel(a, column, ends.to, err);
    return MO_OK;
}

static mo_status check_order_column(const answer_decoder *a,
                                    const mo_solution_value *column,
                                    const mo_column_name *name, mo_error *err)
{
    int i = name->number[0], j = name->number[1], n = a->x->n;
    const mo_schedule *s = a->s;

    if (!is_one(a, column->value))
        return MO_OK;
    if (i >= n || j >= n)
        return fail_index(column, "op", i < n ? j : i, n, err);
    if (s->device[i] == s->device[j] &&
        s->start_ns[i] > s->start_ns[j] + a->slack_ns)
        return mo_fail(err, MO_E_INPUT,
                       "(1e) column %.60s has op '%.200s' before op '%.200s', "
                       "but the second starts first",
                       column->name, a->x->op_names[i], a->x->op_names[j]);
    return MO_OK;
}

static mo_status decode_other_column(answer_decoder *a,
                                     const mo_solution_value *column,
                                     const mo_column_name *name, mo_error *err)
{
    if ((int) name->role == (a->is_incumbent ? MO_VARIABLE_ROLE_INCUMBENT_SEND
                                             : MO_VARIABLE_ROLE_SEND) &&
        name->n == 1)
        return decode_send_column(a, column, name, err);
    if (a->is_incumbent) /* orders and channels are those of no op */
        return MO_OK;
    if (name->role == MO_VARIABLE_ROLE_CHANNEL && name->n == 3)
        return decode_channel_column(a, column, name, err);
    if (name->role == MO_VARIABLE_ROLE_ORDER && name->n == 2)
        return check_order_column(a, column, name, err);
    return MO_OK;
}

static void raise_to(const answer_decoder *a, int64_t *ns, int64_t least_ns)
{
    if (*ns < least_ns && least_ns - *ns <= a->slack_ns)
        *ns = least_ns;
}

/* An op of almost no duration may, within the solver's tolerance, start after
 * its readers. Such small violations are corrected: only the order counts. */
static void repair_order(const answer_decoder *a)
{
    const mo_instance *x = a->x;
    mo_schedule *s = a->s;
    bool once = a->regime->tensors == MO_TENSORS_ONCE;

    for (int i = 0; i < x->n; i++)
        for (int at = x->in_start[i]; at < x->in_start[i + 1]; at++) {
            int q = x->in_flows[at], from = x->flows[q].from;
            int64_t *before = &s->start_ns[from];

            if (s->device[from] != s->device[i]) {
                mo_transfer *t = mo_schedule_transfer(
                    s, once ? x->flows[q].tensor : q, s->device[i]);

                raise_to(a, &t->start_ns, *before);
                before = &t->start_ns;
            }
            raise_to(a, &s->start_ns[i], *before);
        }
}

mo_status mo_answer_schedule(const mo_solution *solution, const mo_instance *x,
                             const mo_regime *regime, int64_t unit_ns,
                             double tolerance, mo_schedule **claims,
                             mo_error *err)
{
    answer_decoder a = { .solution = solution,
                         .x = x,
                         .regime = regime,
                         .unit_ns = (double) unit_ns,
                         .tolerance = tolerance };
    mo_status status = decode_ops(&a, err);

    if (status == MO_OK)
        status = mo_schedule_new(x, regime, a.device, &a.s, err);
    if (status == MO_OK)
        status = claim_makespan(&a, err);
    if (status == MO_OK)
        status = claim_starts(&a, err);
    if (status == MO_OK)
        status = each_column(&a, decode_other_column, err);
    if (status == MO_OK)
        repair_order(&a);
    clear_decoder(&a);
    if (status != MO_OK) {
        mo_schedule_free(a.s);
        return status;
    }
    *claims = a.s;
    return MO_OK;
}
