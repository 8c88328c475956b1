/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/answer/answer.h"

#include <math.h>
#include <stdlib.h>

#include "models/sink/variable.h"
#include "models/transfer_number.h"
#include "solvers/answer/answer_decoder.h"

mo_status mo_answer_placement(const mo_solution *solution, const mo_instance *x,
                              double tolerance, int *device, mo_error *err)
{
    mo_answer_decoder a = {
        .solution = solution, .x = x, .unit_ns = 1, .tolerance = tolerance
    };
    mo_status status = mo_answer_decode_ops(&a, err);

    for (int i = 0; i < x->n && status == MO_OK; i++)
        device[i] = a.device[i];
    mo_answer_decoder_clear(&a);
    return status;
}

static int64_t to_ns(const mo_answer_decoder *a, double value)
{
    return isnan(value) ? 0 : (int64_t) llround(value * a->unit_ns);
}

/* Both w and the objective in the file claim the makespan. */
static mo_status claim_makespan(const mo_answer_decoder *a, mo_error *err)
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
    if (!mo_answer_is_time(a, w) || w < -a->tolerance)
        return mo_fail(err, MO_E_INPUT, "(1) a makespan of %g is none", w);
    a->s->makespan_ns = to_ns(a, fmax(w, 0));
    return MO_OK;
}

static mo_status claim_starts(mo_answer_decoder *a, mo_error *err)
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
        int item = s->transfers[t].item;

        int op = a->regime->tensors == MO_TENSORS_ONCE ? a->x->tensor_from[item]
                                                       : a->x->flows[item].from;

        s->transfers[t].start_ns =
            s->start_ns[op] + mo_instance_p_ns(a->x, op, s->device[op]);
    }
    return MO_OK;
}

static mo_status claim_transfer(mo_answer_decoder *a,
                                const mo_solution_value *column,
                                mo_transfer *transfer, mo_error *err)
{
    double time = NAN;
    mo_status status;

    if (!transfer)
        return MO_OK; /* a column for a tensor that is not sent */
    if (a->claimed[transfer - a->s->transfers])
        return mo_answer_fail_duplicate(column, err);
    status = mo_answer_store_time(a, column, &time, err);
    a->claimed[transfer - a->s->transfers] = true;
    transfer->start_ns = to_ns(a, time);
    return status;
}

static mo_status find_ends(const mo_answer_decoder *a,
                           const mo_solution_value *column, int number,
                           mo_transfer_ends *ends, mo_error *err)
{
    int64_t n = mo_transfer_number_limit(a->x, a->regime);

    if (number >= n)
        return mo_answer_fail_index(column, "transfer", number, n, err);
    *ends = mo_transfer_from_number(a->x, a->regime, number);
    return MO_OK;
}

/* Where transfers follow from flows though tensors are sent once, the time
 * does not matter. */
static mo_status decode_send_column(mo_answer_decoder *a,
                                    const mo_solution_value *column,
                                    const mo_column_name *name, mo_error *err)
{
    bool tensors = mo_transfer_is_tensor(a->regime);
    mo_transfer_ends ends = { 0 };
    mo_status status = find_ends(a, column, name->number[0], &ends, err);
    int to;

    if (status != MO_OK || tensors != (a->regime->tensors == MO_TENSORS_ONCE))
        return status;
    if (tensors && ends.device == MO_FREE) {
        /* A tensor without a device has one reader elsewhere, on any device. */
        const mo_instance *x = a->x;

        for (int q = x->tensor_start[ends.item];
             q < x->tensor_start[ends.item + 1]; q++) {
            mo_transfer *transfer = mo_schedule_transfer(
                a->s, ends.item, a->s->device[x->flows[q].to]);

            if (transfer)
                return claim_transfer(a, column, transfer, err);
        }
        return MO_OK;
    }
    to = tensors ? ends.device : a->s->device[ends.to];
    return claim_transfer(a, column, mo_schedule_transfer(a->s, ends.item, to),
                          err);
}

static mo_status fail_channel(const mo_answer_decoder *a,
                              const mo_solution_value *column, int op,
                              mo_error *err)
{
    return mo_fail(err, MO_E_INPUT,
                   "(1f) column %.60s has op '%.200s' on another device than "
                   "%.60s",
                   column->name, a->x->op_names[op],
                   a->x->device_ids[a->s->device[op]]);
}

static mo_status decode_other_column(mo_answer_decoder *a,
                                     const mo_solution_value *column,
                                     const mo_column_name *name, mo_error *err)
{
    if ((int) name->role == (a->is_incumbent ? MO_VARIABLE_ROLE_INCUMBENT_SEND
                                             : MO_VARIABLE_ROLE_SEND) &&
        name->n == 1)
        return decode_send_column(a, column, name, err);
    if (a->is_incumbent) /* orders and channels are those of no op */
        return MO_OK;
    if (name->role == MO_VARIABLE_ROLE_CHANNEL && name->n == 3) {
        /* A tensor with many readers may be sent to a device without any; one
         * with a single reader may not. */
        mo_transfer_ends ends = { 0 };
        mo_status status = find_ends(a, column, name->number[0], &ends, err);

        if (status != MO_OK || !mo_answer_is_one(a, column->value))
            return status;
        if (a->s->device[ends.from] != name->number[1])
            return fail_channel(a, column, ends.from, err);
        if (ends.to != MO_FREE && ends.device == MO_FREE &&
            a->s->device[ends.to] != name->number[2])
            return fail_channel(a, column, ends.to, err);
        return MO_OK;
    }
    if (name->role == MO_VARIABLE_ROLE_ORDER && name->n == 2) {
        int i = name->number[0], j = name->number[1], n = a->x->n;
        const mo_schedule *s = a->s;

        if (!mo_answer_is_one(a, column->value))
            return MO_OK;
        if (i >= n || j >= n)
            return mo_answer_fail_index(column, "op", i < n ? j : i, n, err);
        if (s->device[i] == s->device[j] &&
            s->start_ns[i] > s->start_ns[j] + a->slack_ns)
            return mo_fail(
                err, MO_E_INPUT,
                "(1e) column %.60s has op '%.200s' before op '%.200s', "
                "but the second starts first",
                column->name, a->x->op_names[i], a->x->op_names[j]);
        return MO_OK;
    }
    return MO_OK;
}

static void raise_to(const mo_answer_decoder *a, int64_t *ns, int64_t least_ns)
{
    if (*ns < least_ns && least_ns - *ns <= a->slack_ns)
        *ns = least_ns;
}

/* An op of almost no duration may, within the solver's tolerance, start after
 * its readers. Such small violations are corrected: only the order counts. */
static void repair_order(const mo_answer_decoder *a)
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
    mo_answer_decoder a = { .solution = solution,
                            .x = x,
                            .regime = regime,
                            .unit_ns = (double) unit_ns,
                            .tolerance = tolerance };
    mo_status status = mo_answer_decode_ops(&a, err);

    if (status == MO_OK)
        status = mo_schedule_new(x, regime, a.device, &a.s, err);
    if (status == MO_OK)
        status = claim_makespan(&a, err);
    if (status == MO_OK)
        status = claim_starts(&a, err);
    if (status == MO_OK)
        status = mo_answer_each_column(&a, decode_other_column, err);
    if (status == MO_OK)
        repair_order(&a);
    mo_answer_decoder_clear(&a);
    if (status != MO_OK) {
        mo_schedule_free(a.s);
        return status;
    }
    *claims = a.s;
    return MO_OK;
}
