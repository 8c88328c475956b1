/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/answer/evaluation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "models/formulation.h"
#include "schedule/heuristic/heft.h"
#include "schedule/heuristic/single_device.h"
#include "schedule/period/loads.h"
#include "schedule/period/modulo_schedule.h"
#include "schedule/period/steady_state.h"
#include "solvers/answer/order_times.h"

/* Longest list of violations. */
enum { LISTED = 100 };

/* Without a unit, times are only used for their order. */
enum { ANY_UNIT_NS = 1000 };

/* Turns an error in the solution into the verdict. */
static mo_status set_first_error(mo_answer_evaluation *e, const char *rule,
                                 mo_status status, const mo_error *why,
                                 mo_error *err)
{
    if (status == MO_E_INPUT) {
        snprintf(e->first_error, sizeof e->first_error, "%s%.900s", rule,
                 why->text);
        return MO_OK;
    }
    if (status != MO_OK && err)
        *err = *why;
    return status;
}

static mo_status validate_schedule(const mo_instance *x,
                                   mo_answer_evaluation *e, mo_error *err)
{
    mo_status status = mo_validate(x, e->schedule, LISTED, &e->verdict, err);

    if (status == MO_OK)
        status = mo_single_device_best(x, &e->schedule->regime, &e->single,
                                       &e->single_ns, err);
    return status;
}

static void compare_claim(double tolerance, mo_answer_evaluation *e)
{
    double claim = (double) e->claim_ns;
    double makespan = (double) e->schedule->makespan_ns;

    if (e->claim_ns == MO_ANSWER_NO_CLAIM || e->rebuilt ||
        makespan <= claim + MO_ANSWER_CLAIM_TOLERANCE(tolerance) * makespan + 1)
        return;
    snprintf(e->first_error, sizeof e->first_error,
             "(1) the objective is claimed to be %.3f us, but the schedule "
             "takes %.3f us",
             claim / 1000, makespan / 1000);
}

static mo_status is_valid_as_claimed(const mo_instance *x, mo_schedule *s,
                                     bool *valid, mo_error *err)
{
    mo_verdict *verdict = NULL;
    mo_status status;

    /* Sets the ends that follow from the claimed starts. */
    s->makespan_ns = 0;
    for (int i = 0; i < s->n; i++)
        s->makespan_ns =
            mo_max_i64(s->makespan_ns,
                       s->start_ns[i] + mo_instance_p_ns(x, i, s->device[i]));
    for (int i = 0; i < s->n_transfers; i++) {
        mo_transfer *t = &s->transfers[i];

        t->end_ns = t->start_ns +
                    mo_schedule_item_ns(x, &s->regime, t->item, t->from, t->to);
    }
    status = mo_validate(x, s, 1, &verdict, err);
    *valid = status == MO_OK && verdict->n == 0;
    mo_verdict_free(verdict);
    return status;
}

/* Where memory is freed after use, an op may have to wait for it: such an op
 * keeps its claimed time. */
static mo_status recompute_times(const mo_instance *x, bool timed,
                                 mo_schedule *s, mo_error *err)
{
    bool valid = false;
    mo_status status = MO_OK;

    if (timed && s->regime.memory == MO_MEMORY_LIVE)
        status = is_valid_as_claimed(x, s, &valid, err);
    return status == MO_OK && !valid ? mo_schedule_left_shift(x, s, err)
                                     : status;
}

/* Returns the start of flow q's transfer in a schedule of any rules. */
static int64_t flow_start_ns(const mo_instance *x, const mo_schedule *s, int q)
{
    bool once = s->regime.tensors == MO_TENSORS_ONCE;

    return mo_schedule_transfer(s, once ? x->flows[q].tensor : q,
                                s->device[x->flows[q].to])
        ->start_ns;
}

/* Turns the schedule into one of other rules, with the same placement and
 * order. */
static mo_status adopt_regime(const mo_instance *x, const mo_regime *regime,
                              mo_schedule **schedule, mo_error *err)
{
    mo_schedule *from = *schedule, *s = NULL;
    mo_status status;
    bool once;

    if (from->regime.tensors == regime->tensors) {
        from->regime = *regime;
        return MO_OK;
    }
    status = mo_schedule_new(x, regime, from->device, &s, err);
    if (status != MO_OK)
        return status;
    memcpy(s->start_ns, from->start_ns, (size_t) s->n * sizeof *s->start_ns);
    /* Sets the starts of all transfers of s, whose tensors are sent by another
     * rule than those of from: a tensor that is sent once is sent as early as
     * the first of its flows. */
    once = s->regime.tensors == MO_TENSORS_ONCE;
    for (int i = 0; i < s->n_transfers; i++)
        s->transfers[i].start_ns = INT64_MAX;
    for (int q = 0; q < x->n_flows; q++) {
        const mo_flow *flow = &x->flows[q];
        int to = s->device[flow->to];
        mo_transfer *t;

        if (s->device[flow->from] == to)
            continue;
        t = mo_schedule_transfer(s, once ? flow->tensor : q, to);
        t->start_ns = mo_min_i64(t->start_ns, flow_start_ns(x, from, q));
    }
    mo_schedule_free(from);
    *schedule = s;
    return MO_OK;
}

static mo_status evaluate_bare(const mo_solution *solution,
                               const mo_instance *x, const mo_regime *regime,
                               double tolerance, mo_answer_evaluation *e,
                               mo_error *err);

mo_status mo_answer_evaluate_placement(const mo_instance *x,
                                       const mo_regime *regime,
                                       const int *device,
                                       mo_answer_evaluation *e, mo_error *err)
{
    mo_status status;

    *e = (mo_answer_evaluation){ .claim_ns = MO_ANSWER_NO_CLAIM,
                                 .period_ns = -1,
                                 .single = MO_FREE };
    status = mo_heft(x, regime, device, &e->schedule, err);
    if (status == MO_OK && !e->schedule) {
        /* Sequential schedule, for a placement that list scheduling refuses:
         * validation reports what is wrong with it. */
        mo_schedule *s = NULL;

        status = mo_schedule_new(x, regime, device, &s, err);
        for (int i = 0; i < x->n && status == MO_OK; i++)
            s->start_ns[i] = i;
        for (int t = 0; status == MO_OK && t < s->n_transfers; t++) {
            int item = s->transfers[t].item;

            s->transfers[t].start_ns = regime->tensors == MO_TENSORS_ONCE
                                           ? x->tensor_from[item]
                                           : x->flows[item].from;
        }
        if (status == MO_OK)
            status = mo_schedule_left_shift(x, s, err);
        if (status == MO_OK)
            e->schedule = s;
        else
            mo_schedule_free(s);
    }
    return status == MO_OK ? validate_schedule(x, e, err) : status;
}

mo_status mo_answer_evaluate_schedule(const mo_instance *x,
                                      mo_schedule *schedule,
                                      mo_answer_evaluation *e, mo_error *err)
{
    *e = (mo_answer_evaluation){ .schedule = schedule,
                                 .claim_ns = MO_ANSWER_NO_CLAIM,
                                 .period_ns = -1,
                                 .single = MO_FREE };
    return validate_schedule(x, e, err);
}

static mo_status evaluate_bare(const mo_solution *solution,
                               const mo_instance *x, const mo_regime *regime,
                               double tolerance, mo_answer_evaluation *e,
                               mo_error *err)
{
    int *device = calloc((size_t) x->n + 1, sizeof *device);
    mo_error why = { 0 };
    mo_status status;

    if (!device)
        return mo_fail_memory(err);
    status = mo_answer_placement(solution, x, tolerance, device, &why);
    if (status == MO_OK)
        status = mo_answer_evaluate_placement(x, regime, device, e, err);
    else
        status = set_first_error(e, "", status, &why, err);
    free(device);
    return status;
}

/* Loads by definition, and what the steady state of a pipeline keeps. */
static mo_status measure_pipeline(const mo_instance *x, const mo_regime *regime,
                                  int in_flight, mo_answer_evaluation *e,
                                  int64_t *load_ns, mo_error *err)
{
    const int *device = e->schedule->device;
    mo_period_loads loads = { 0 };
    mo_modulo_schedule *m = &e->pipeline;
    mo_status status = mo_period_loads_compute(x, regime, device, &loads, err);

    if (status == MO_OK)
        status = mo_modulo_schedule_make(x, regime, device, in_flight,
                                         e->schedule, m, err);
    if (status == MO_OK)
        status = mo_steady_state_simulate(x, m, MO_STEADY_STATE_REQUESTS,
                                          &e->steady_ns, err);
    if (status == MO_OK) {
        e->period_ns =
            in_flight > 0 || m->peak_bytes ? m->period_ns : loads.period_ns;
        *load_ns = loads.period_ns;
        for (int k = 0; m->peak_bytes && k < x->n_devices; k++)
            e->verdict->peak_bytes[k] = m->peak_bytes[k];
        if (!m->fits)
            snprintf(e->first_error, sizeof e->first_error,
                     "live memory exceeds a capacity, even with one request "
                     "at a time");
        e->latency_ns = m->request->makespan_ns;
        e->in_flight = m->in_flight;
        e->least_in_flight = m->least_in_flight;
        mo_period_resource_name(x, regime->congestion, loads.bottleneck,
                                e->bottleneck, sizeof e->bottleneck);
        e->lower.bound_ns = mo_period_least_ns(x);
        e->lower.which = "mean load";
        e->single_ns = mo_max_i64(e->single_ns, x->load.host_request_ns);
    }
    mo_period_loads_clear(&loads);
    return status;
}

/* A solution and what it is checked against. */
typedef struct checked {
    const mo_solution *solution;
    const mo_provenance *origin;
    const mo_instance *x;
    const mo_regime *regime;
    double tolerance;
} checked;

/* Evaluates the copies behind the first one.  The first error of one is that of
 * the whole. */
static mo_status evaluate_further(const checked *in, mo_answer_evaluation *e,
                                  mo_error *err)
{
    const mo_instance *x = in->x;
    const mo_regime *regime = in->regime;
    int *device = calloc((size_t) x->n + 1, sizeof *device);
    int n = mo_answer_n_copies(in->solution) - 1;
    mo_regime bare = *regime;
    int64_t load_ns;
    mo_status status;

    /* Live memory is that of the pipeline, not of one request. */
    if (bare.memory == MO_MEMORY_LIVE)
        bare.memory = MO_MEMORY_NONE;
    e->further = calloc((size_t) n + 1, sizeof *e->further);
    status = device && e->further ? MO_OK : mo_fail_memory(err);
    for (int c = 1; c <= n && status == MO_OK; c++) {
        mo_answer_evaluation *other = &e->further[c - 1];
        mo_error why = { 0 };

        status =
            mo_answer_copy(in->solution, x, in->tolerance, c, device, &why);
        if (status != MO_OK) {
            status = set_first_error(e, "", status, &why, err);
            break;
        }
        status = mo_answer_evaluate_placement(x, &bare, device, other, err);
        e->n_further = c;
        if (status == MO_OK)
            other->schedule->regime = *regime;
        if (status == MO_OK)
            status = measure_pipeline(x, regime, (int) in->origin->in_flight,
                                      other, &load_ns, err);
        if (status == MO_OK && mo_answer_evaluation_count(other) > 0 &&
            !e->first_error[0])
            snprintf(e->first_error, sizeof e->first_error, "copy %d: %.900s",
                     c + 1, mo_answer_evaluation_violation(other, 0));
    }
    free(device);
    return status;
}

static mo_status evaluate_copies(const checked *in, mo_answer_evaluation *e,
                                 int64_t *load_ns, mo_error *err)
{
    const mo_instance *x = in->x;
    const mo_regime *regime = in->regime;
    mo_status status;

    if (mo_answer_n_copies(in->solution) == 1)
        return MO_OK;
    if (mo_answer_n_copies(in->solution) > x->n_devices) {
        snprintf(e->first_error, sizeof e->first_error,
                 "there are more copies than devices");
        return MO_OK;
    }
    status = evaluate_further(in, e, err);
    for (int c = 0; c < e->n_further; c++)
        if (!e->further[c].schedule)
            return status;
    return status == MO_OK &&
                   e->n_further == mo_answer_n_copies(in->solution) - 1
               ? mo_answer_evaluation_combine(x, regime, e, load_ns, err)
               : status;
}

/* The claimed period is the value of w, or the objective of the file.  That of
 * a model with a limit in flight may be less than that of the pipeline, but not
 * than the largest load. */
static void compare_period(const mo_solution *solution, int64_t unit_ns,
                           int64_t load_ns, double tolerance,
                           mo_answer_evaluation *e)
{
    double w = solution->has_objective ? solution->objective : NAN;

    for (int i = 0; i < solution->n && isnan(w); i++)
        if (solution->values[i].name &&
            strcmp(solution->values[i].name, "w") == 0)
            w = solution->values[i].value;
    if (!(w >= 0 && w * (double) unit_ns < (double) MO_MAX_TOTAL_NS))
        return;
    e->claim_ns = (int64_t) llround(w * (double) unit_ns);
    if ((double) load_ns <=
        (double) e->claim_ns +
            MO_ANSWER_CLAIM_TOLERANCE(tolerance) * (double) load_ns + 1)
        return;
    snprintf(e->first_error, sizeof e->first_error,
             "(1) the period is claimed to be %.3f us, but the largest load is "
             "%.3f us",
             (double) e->claim_ns / 1000, (double) load_ns / 1000);
}

/* With a limit in flight, or live memory, start times are a schedule of one
 * request.  Its order replaces that of list scheduling where it is shorter, and
 * the times themselves where they keep within live memory, for which an op may
 * have to wait.  Elsewhere nothing is taken from them.  Times that are none, or
 * break precedence, are a violation, as of a model of the makespan. */
static mo_status take_request_order(const checked *in, mo_answer_evaluation *e,
                                    mo_error *err)
{
    const mo_instance *x = in->x;
    const mo_regime *regime = in->regime;
    bool live = regime->memory == MO_MEMORY_LIVE, fits = false;
    bool is_used = live || in->origin->in_flight > 0;
    const char *rule = "";
    mo_schedule *s = NULL;
    mo_error why = { 0 };
    mo_status status;

    if (!mo_answer_has_times(in->solution))
        return MO_OK;
    status = mo_answer_schedule(in->solution, x, &in->origin->regime,
                                in->origin->unit_ns > 0 ? in->origin->unit_ns
                                                        : ANY_UNIT_NS,
                                in->tolerance, &s, &why);
    if (status == MO_OK)
        status = adopt_regime(x, regime, &s, &why);
    if (status == MO_OK && live && in->origin->unit_ns > 0)
        status = is_valid_as_claimed(x, s, &fits, &why);
    if (status == MO_OK && !fits) {
        rule = "(1a) ";
        status = mo_schedule_left_shift(x, s, &why);
    }
    if (status == MO_OK && is_used)
        e->rebuilt = false;
    if (status == MO_OK && is_used &&
        (fits || s->makespan_ns < e->schedule->makespan_ns)) {
        mo_schedule_free(e->schedule);
        mo_verdict_free(e->verdict);
        e->schedule = s;
        e->verdict = NULL;
        /* Live memory is that of the pipeline, not of one request. */
        if (live)
            s->regime.memory = MO_MEMORY_NONE;
        return validate_schedule(x, e, err);
    }
    mo_schedule_free(s);
    if (status == MO_E_INPUT) {
        mo_schedule_free(e->schedule);
        mo_verdict_free(e->verdict);
        e->schedule = NULL;
        e->verdict = NULL;
    }
    return set_first_error(e, rule, status, &why, err);
}

static mo_status evaluate_period(const checked *in, mo_answer_evaluation *e,
                                 mo_error *err)
{
    const mo_instance *x = in->x;
    const mo_regime *regime = in->regime;
    bool live = regime->memory == MO_MEMORY_LIVE;
    /* Live memory is that of the pipeline, not of one request. */
    const mo_regime bare = { regime->congestion, regime->tensors,
                             live ? MO_MEMORY_NONE : regime->memory };
    mo_status status =
        evaluate_bare(in->solution, x, &bare, in->tolerance, e, err);
    int64_t load_ns = 0;

    if (status != MO_OK || !e->schedule)
        return status;
    e->rebuilt = true;
    status = take_request_order(in, e, err);
    if (status != MO_OK || !e->schedule)
        return status;
    if (live)
        status =
            mo_single_device_best(x, regime, &e->single, &e->single_ns, err);
    if (status != MO_OK)
        return status;
    e->schedule->regime = *regime;
    status = measure_pipeline(x, regime, (int) in->origin->in_flight, e,
                              &load_ns, err);
    if (status == MO_OK)
        status = evaluate_copies(in, e, &load_ns, err);
    if (status == MO_OK && in->origin->unit_ns > 0 && !e->first_error[0])
        compare_period(in->solution, in->origin->unit_ns, load_ns,
                       in->tolerance, e);
    return status;
}

mo_status mo_answer_evaluation_bound(const mo_instance *x,
                                     mo_answer_evaluation *e, mo_error *err)
{
    return e->schedule && e->period_ns < 0
               ? mo_bound_lower(x, &e->schedule->regime, &e->lower, err)
               : MO_OK;
}

int64_t mo_answer_evaluation_objective_ns(const mo_answer_evaluation *e)
{
    return e->period_ns >= 0 ? e->period_ns : e->schedule->makespan_ns;
}

mo_status mo_answer_evaluate_solution(const mo_solution *solution,
                                      const mo_provenance *origin,
                                      const mo_instance *x,
                                      const mo_regime *regime, double tolerance,
                                      mo_answer_evaluation *e, mo_error *err)
{
    int64_t unit_ns = origin->unit_ns > 0 ? origin->unit_ns : ANY_UNIT_NS;
    const mo_regime *numbered = origin->has_options ? &origin->regime : regime;
    mo_error why = { 0 };
    mo_status status;

    *e = (mo_answer_evaluation){ .claim_ns = MO_ANSWER_NO_CLAIM,
                                 .period_ns = -1,
                                 .single = MO_FREE };
    if (origin->has_options && mo_formulation_has_period(origin->formulation))
        return evaluate_period(
            &(checked){ solution, origin, x, regime, tolerance }, e, err);
    if (origin->has_options &&
        !mo_formulation_of(origin->formulation)->has_regime)
        return evaluate_bare(solution, x, regime, tolerance, e, err);
    status = mo_answer_schedule(solution, x, numbered, unit_ns, tolerance,
                                &e->schedule, &why);
    if (status != MO_OK)
        return set_first_error(e, "", status, &why, err);
    if (origin->unit_ns > 0)
        e->claim_ns = e->schedule->makespan_ns;
    if (mo_answer_has_times(solution)) {
        status = adopt_regime(x, regime, &e->schedule, &why);
        if (status == MO_OK)
            status = recompute_times(x, origin->unit_ns > 0, e->schedule, &why);
    } else {
        /* For a solution without start times: those of its orders or, if it has
         * none, of list scheduling. */
        int64_t claim_ns = e->claim_ns;
        bool has_order;

        status = mo_answer_order_times(solution, x, tolerance, e->schedule,
                                       &has_order, &why);
        if (status == MO_OK && has_order) {
            status = adopt_regime(x, regime, &e->schedule, &why);
            if (status == MO_OK)
                status = mo_schedule_left_shift(x, e->schedule, &why);
        } else if (status == MO_OK) {
            mo_schedule_free(e->schedule);
            e->schedule = NULL;
            status = evaluate_bare(solution, x, regime, tolerance, e, &why);
            e->claim_ns = claim_ns;
        }
        e->rebuilt = true;
    }
    if (status != MO_OK) {
        mo_schedule_free(e->schedule);
        e->schedule = NULL;
        return set_first_error(e, "(1a) ", status, &why, err);
    }
    if (!e->schedule)
        return MO_OK; /* the violation is in e->first_error */
    compare_claim(tolerance, e);
    return e->verdict ? MO_OK : validate_schedule(x, e, err);
}

mo_status mo_answer_evaluation_reject(const char *why, mo_answer_evaluation *e)
{
    *e = (mo_answer_evaluation){ .claim_ns = MO_ANSWER_NO_CLAIM,
                                 .period_ns = -1,
                                 .single = MO_FREE };
    snprintf(e->first_error, sizeof e->first_error, "%s", why);
    return MO_OK;
}

bool mo_answer_evaluation_valid(const mo_answer_evaluation *e)
{
    return e->schedule && mo_answer_evaluation_count(e) == 0;
}

int mo_answer_evaluation_count(const mo_answer_evaluation *e)
{
    return (e->first_error[0] != '\0') + (e->verdict ? e->verdict->n : 0);
}

const char *mo_answer_evaluation_violation(const mo_answer_evaluation *e, int i)
{
    if (e->first_error[0])
        return i == 0 ? e->first_error : e->verdict->violations[i - 1].text;
    return e->verdict->violations[i].text;
}

void mo_answer_evaluation_clear(mo_answer_evaluation *e)
{
    mo_verdict_free(e->verdict);
    mo_schedule_free(e->schedule);
    mo_modulo_schedule_clear(&e->pipeline);
    for (int c = 0; c < e->n_further; c++)
        mo_answer_evaluation_clear(&e->further[c]);
    free(e->further);
    *e = (mo_answer_evaluation){ 0 };
}
