/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/place/compare_methods.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "base/option.h"
#include "cost/instance/sub_instance.h"
#include "driver/raise_bound.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/memory_bound.h"
#include "schedule/heuristic/single_device.h"
#include "schedule/period/loads.h"
#include "schedule/period/modulo_schedule.h"
#include "solvers/process/interrupt.h"
#include "solvers/search/replan/replan.h"
#include "solvers/search/replan/robust.h"

/* The time limit that is left when it has passed: 0 would be none. */
#define LEAST_S 1e-6

static int rank_merit(const mo_place_result *e)
{
    return e->row.why ? 2 : !e->row.fits;
}

static bool is_better(const mo_place_result *a, const mo_place_result *b)
{
    if (rank_merit(a) != rank_merit(b))
        return rank_merit(a) < rank_merit(b);
    if (!a->row.why && a->row.worst.worst_ns != b->row.worst.worst_ns)
        return a->row.worst.worst_ns < b->row.worst.worst_ns;
    return !a->row.why && a->row.makespan_ns < b->row.makespan_ns;
}

static double seconds_each(const mo_place_options *o, const mo_instance *x)
{
    return o->ablation ? o->time_s / (x->n_devices + 1) : o->time_s;
}

/* Whether a signal came before any result: then everything on one device is
 * the fallback, unless that was tried. */
static bool needs_single(const mo_place_comparison *c)
{
    if (mo_interrupt_last_signal() == 0)
        return false;
    for (int i = 0; i < c->n; i++) {
        const mo_place_result *e = &c->entries[i];

        if (e->method == &mo_method_single || (!e->row.why && e->row.fits))
            return false;
    }
    return true;
}

/* Sets *holds to whether a whole copy is within the memory of a device, which
 * runs it op after op. */
static mo_status holds_copy(const mo_place_context *setting,
                            const mo_instance *x, int k, bool *holds,
                            mo_error *err)
{
    int *device = calloc((size_t) x->n + 1, sizeof *device);
    int64_t *used_bytes = calloc((size_t) x->n_devices + 1, sizeof *used_bytes);
    mo_modulo_schedule m = { .fits = true };
    mo_status status = device && used_bytes ? MO_OK : mo_fail_memory(err);

    for (int i = 0; i < x->n && status == MO_OK; i++)
        device[i] = k;
    *holds = status == MO_OK && mo_period_fits_memory(x, setting->regime.memory,
                                                      device, used_bytes);
    if (*holds && setting->regime.memory == MO_MEMORY_LIVE)
        status = mo_modulo_schedule_make(x, &setting->regime, device, 1, NULL,
                                         &m, err);
    *holds = *holds && m.fits;
    mo_modulo_schedule_clear(&m);
    free(device);
    free(used_bytes);
    return status;
}

mo_status mo_place_find_replicas(const mo_place_context *setting,
                                 const mo_instance *x, mo_report_methods *r,
                                 mo_error *err)
{
    int64_t *single_ns = calloc((size_t) x->n_devices + 1, sizeof *single_ns);
    int most = setting->in_flight > 0 ? setting->in_flight : x->n_devices;
    int n = 0;
    double rate = 0;
    mo_status status = single_ns ? MO_OK : mo_fail_memory(err);

    for (int i = 0; i < x->n; i++)
        most = x->pin[i] == MO_FREE ? most : 0;
    for (int k = 0; k < x->n_devices && status == MO_OK && most > 0; k++) {
        bool holds = false;

        if (mo_single_device_ns(x, k) > 0)
            status = holds_copy(setting, x, k, &holds, err);
        if (holds)
            single_ns[n++] = mo_single_device_ns(x, k);
    }
    if (n > 0)
        qsort(single_ns, (size_t) n, sizeof *single_ns, mo_compare_i64);
    r->n_replicas = mo_min_int(n, most);
    for (int i = 0; i < r->n_replicas; i++)
        rate += 1 / (double) single_ns[i];
    if (r->n_replicas > 0)
        r->replicas_ns =
            mo_max_i64((int64_t) ceil(1 / rate), x->load.host_request_ns);
    free(single_ns);
    return status;
}

/* Re-planning alone is to be fast: it has the bounds of paths and loads only.
 */
static void limit_bound(const mo_place_comparison *c, mo_stop *stop)
{
    if (c->n == 1 && c->entries[0].method == &mo_method_replan)
        mo_stop_request(stop);
}

const mo_proof *mo_place_comparison_proof(const mo_place_comparison *c)
{
    const mo_place_result *placed = mo_place_comparison_best(c);
    int64_t known_ns = placed ? placed->row.makespan_ns : INT64_MAX;
    const mo_proof *best = NULL;

    for (int i = 0; i < c->n; i++) {
        const mo_proof *proof = c->entries[i].placed.proof;

        if (proof && proof->bound_ns <= known_ns &&
            (!best || proof->bound_ns > best->bound_ns))
            best = proof;
    }
    return best;
}

/*
 * Sets the bound of the comparison: that which every command reports of the
 * best placement, as far as the time of all methods allows where there is no
 * certificate.  A bound of a method above a known makespan is reported and
 * ignored.  Where no placement exists there is none.
 */
static mo_status choose_bound(const mo_place_context *setting,
                              const mo_instance *x,
                              const mo_place_comparison *c,
                              mo_report_methods *r, mo_error *err)
{
    const mo_proof_scope scope = { x, setting->regime, setting->objective,
                                   setting->in_flight };
    const mo_report_proof proven =
        mo_certificate_trust(mo_place_comparison_proof(c));
    const mo_place_result *best = mo_place_comparison_best(c);
    int64_t known_ns = best ? best->row.makespan_ns : INT64_MAX;
    double limit_s = setting->options->time_s * c->n;
    mo_stop stop;
    mo_lower_bound lower;
    mo_status status = MO_OK;

    if (!best)
        status = mo_bound_memory(x, &setting->regime, err);
    r->is_infeasible = status == MO_E_INFEASIBLE;
    if (status != MO_OK)
        return r->is_infeasible ? MO_OK : status;
    for (int i = 0; i < c->n; i++) {
        int64_t ns = c->ranked[i]->row.lower_ns;

        if (ns > known_ns)
            mo_driver_log_warning(
                setting->logger,
                "%s says that %.3f us is the least, but %.3f us is known; its "
                "bound is not taken",
                c->ranked[i]->method->name, (double) ns / 1000,
                (double) known_ns / 1000);
        else
            r->search_ns = mo_max_i64(r->search_ns, ns);
    }
    if (limit_s > 0)
        limit_s =
            fmax(limit_s - (mo_driver_clock_s() - setting->begin_s), LEAST_S);
    mo_place_stop_init(setting, limit_s, &stop);
    limit_bound(c, &stop);
    status = mo_reported_bound_find(&scope, known_ns, &proven, &stop,
                                    setting->logger, &lower, err);
    if (status == MO_OK && lower.bound_ns > 0) {
        r->bound_ns = lower.bound_ns;
        r->bound_by = lower.which;
    }
    return status;
}

/* Other methods begin with the result of re-planning. */
static void begin_with(const mo_place_result *result, mo_place_context *setting,
                       mo_method_start *start)
{
    if (!setting->start || !result->placed.fits || !result->placed.schedule)
        return;
    *start = *setting->start;
    start->schedule = result->placed.schedule;
    start->device = start->schedule->device;
    setting->start = start;
}

static mo_status check_replicas(const mo_place_context *setting, int wanted,
                                mo_error *err)
{
    if (wanted == 1)
        return MO_OK;
    if (setting->objective != MO_OBJECTIVE_PERIOD)
        return mo_fail(err, MO_E_USAGE,
                       "--replicas is for a stream of requests; add "
                       "--objective period");
    return MO_OK;
}

/* The result of the search on all devices need not be computed again. */
static mo_status find_copies(const mo_place_context *setting,
                             const mo_instance *x, int wanted,
                             mo_place_comparison *c, mo_error *err)
{
    mo_report_methods *r = &c->report;
    const mo_place_result *known = NULL;
    mo_status status;

    for (int i = 0; i < c->n; i++)
        if (c->entries[i].method == &mo_method_moirai && !c->entries[i].row.why)
            known = &c->entries[i];
    status =
        mo_place_search_replicas(setting, x, wanted, known, &c->copies, err);
    r->n_copies = c->copies.n;
    r->copies = c->copies.copies;
    r->copies_ns = c->copies.period_ns;
    r->copies_bound_ns =
        mo_min_i64(mo_replicas_least_ns(x), c->copies.bound_ns);
    r->copies_search_ns = c->copies.bound_ns;
    r->copies_wanted = wanted;
    return status;
}

bool mo_place_comparison_is_replicated(const mo_place_comparison *c)
{
    const mo_report_methods *r = &c->report;
    const mo_report_method_row *best = mo_report_methods_best(r);

    return r->n_copies > 1 &&
           (r->copies_wanted > 1 || !best || r->copies_ns < best->makespan_ns);
}

static mo_status find_worst(const mo_place_context *setting,
                            const mo_instance *x, mo_place_result *e,
                            mo_error *err)
{
    if (setting->options->stress <= 0 || e->row.why)
        return MO_OK;
    return mo_stress_find(x, setting->objective, e->placed.schedule,
                          setting->options->stress, &e->row.worst, err);
}

/* The search for the least worst case begins with the best one so far. */
static mo_status run_robust(const mo_place_context *given, const mo_instance *x,
                            double seconds, mo_place_comparison *c,
                            mo_error *err)
{
    mo_place_context setting = *given;
    mo_method_start start = { .device = NULL };
    const mo_place_result *best = NULL;
    mo_place_result *e = &c->entries[c->n];
    mo_status status;

    for (int i = 0; i < c->n; i++)
        if (!best || is_better(&c->entries[i], best))
            best = &c->entries[i];
    if (setting.options->stress <= 0 || !best || rank_merit(best) > 0)
        return MO_OK;
    start.schedule = best->placed.schedule;
    start.device = start.schedule->device;
    setting.start = &start;
    c->n++;
    status =
        mo_place_run_method(&setting, x, &mo_method_robust, seconds, e, err);
    return status == MO_OK ? find_worst(&setting, x, e, err) : status;
}

static mo_status check_stress(const mo_place_context *setting, mo_error *err)
{
    if (setting->options->stress > 0 &&
        setting->objective == MO_OBJECTIVE_PERIOD &&
        (setting->in_flight > 0 || setting->regime.memory == MO_MEMORY_LIVE))
        return mo_fail(err, MO_E_USAGE,
                       "--stress has no period with --in-flight or --memory "
                       "live; leave one out");
    return MO_OK;
}

mo_status mo_place_compare_methods(const mo_place_context *given,
                                   const mo_instance *x,
                                   const mo_method *const *methods, int n,
                                   mo_place_comparison *c, mo_error *err)
{
    size_t room = (size_t) n + 2; /* one more may be added after a signal, and
                                     one for the worst case */
    mo_place_context own = *given;
    const mo_place_context *setting = &own;
    int wanted = 1;
    mo_method_start start;
    mo_report_methods *r = &c->report;
    const mo_place_result *best;
    mo_progress step;
    mo_status status;

    c->entries = calloc(room, sizeof *c->entries);
    c->ranked = calloc(room, sizeof *c->ranked);
    c->rows = calloc(room, sizeof *c->rows);
    status = c->entries && c->ranked && c->rows ? check_stress(setting, err)
                                                : mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_place_count_replicas(setting->options, &wanted, err);
    if (status == MO_OK)
        status = check_replicas(setting, wanted, err);
    for (int i = 0; status == MO_OK && (i < n || needs_single(c)); i++) {
        double seconds = seconds_each(setting->options, x);

        /* The time until here, such as for reading, counts for the first. */
        if (seconds > 0 && i == 0)
            seconds = fmax(seconds - (mo_driver_clock_s() - setting->begin_s),
                           LEAST_S);
        status = mo_place_run_method(setting, x,
                                     i < n ? methods[i] : &mo_method_single,
                                     seconds, &c->entries[c->n++], err);
        if (status == MO_OK)
            status = find_worst(setting, x, &c->entries[c->n - 1], err);
        if (i == 0 && status == MO_OK)
            begin_with(&c->entries[0], &own, &start);
    }
    if (status == MO_OK)
        status = run_robust(setting, x, setting->options->time_s, c, err);
    if (status != MO_OK)
        return status;
    /* Ranks: the shortest that fits first, then those that exceed memory, then
     * methods without a result. ranked has n entries. */
    for (int i = 0; i < c->n; i++) {
        int at = i;

        for (; at > 0 && is_better(&c->entries[i], c->ranked[at - 1]); at--)
            c->ranked[at] = c->ranked[at - 1];
        c->ranked[at] = &c->entries[i];
    }
    for (int i = 0; i < c->n; i++)
        c->rows[i] = c->ranked[i]->row;
    *r = (mo_report_methods){
        .x = x, .n = c->n, .rows = c->rows, .stress = setting->options->stress
    };
    mo_driver_log_step(setting->logger, &step, "bounding");
    status = choose_bound(setting, x, c, r, err);
    mo_progress_end(&step);
    if (status == MO_OK && setting->objective == MO_OBJECTIVE_PERIOD)
        status = mo_place_find_replicas(setting, x, r, err);
    if (status == MO_OK && wanted != 1)
        status = find_copies(setting, x, wanted, c, err);
    if (status == MO_OK)
        status = mo_single_device_best(x, &setting->regime, &r->single,
                                       &r->single_ns, err);
    if (setting->objective == MO_OBJECTIVE_PERIOD)
        r->single_ns = mo_max_i64(r->single_ns, x->load.host_request_ns);
    best = mo_place_comparison_best(c);
    if (status == MO_OK && setting->options->ablation && best) {
        status = mo_place_ablation_run(setting, x, best->method,
                                       seconds_each(setting->options, x),
                                       &c->study, err);
        r->losses = c->study.losses;
    }
    return status;
}

void mo_place_comparison_clear(mo_place_comparison *c)
{
    for (int i = 0; i < c->n; i++)
        mo_place_result_clear(&c->entries[i]);
    mo_replicas_result_clear(&c->copies);
    free(c->study.losses);
    free(c->study.why);
    free(c->entries);
    free(c->ranked);
    free(c->rows);
}

const mo_place_result *mo_place_comparison_best(const mo_place_comparison *c)
{
    return mo_report_methods_best(&c->report) ? c->ranked[0] : NULL;
}

mo_status mo_place_comparison_exit_status(const mo_place_comparison *c,
                                          int *code, mo_error *err)
{
    *code = mo_place_comparison_best(c) ? MO_EXIT_DONE : MO_EXIT_NO_SOLUTION;
    for (int i = 0; i < c->n; i++) {
        const mo_place_result *e = &c->entries[i];

        if (e->status == MO_OK)
            continue;
        if (*code == MO_EXIT_NO_SOLUTION)
            *code = MO_EXIT_FAILED;
        if (e->row.why)
            continue;
        if (err)
            *err = e->err;
        return e->status;
    }
    return MO_OK;
}

static mo_status study_device(const mo_place_context *setting,
                              const mo_instance *x, int device,
                              const mo_method *method, double seconds,
                              mo_place_ablation *study, mo_error *err)
{
    const int pinned = mo_instance_first_pinned_to(x, device);
    mo_report_device_loss *loss = &study->losses[device];
    char *why = study->why[device];
    size_t size = sizeof study->why[device];
    mo_instance *rest = NULL;
    mo_place_result e = { 0 };
    mo_status status = MO_OK;

    if (x->n_devices == 1) {
        snprintf(why, size, "there is no other");
    } else if (pinned != MO_FREE) {
        snprintf(why, size, "op '%.100s' is pinned to it", x->op_names[pinned]);
    } else {
        status = mo_instance_without_device(x, device, &rest, err);
        mo_driver_log_info(setting->logger, "without %s",
                           x->device_ids[device]);
        if (status == MO_OK)
            status =
                mo_place_run_method(setting, rest, method, seconds, &e, err);
        if (status == MO_OK && !e.row.why && e.row.fits)
            loss->makespan_ns = e.row.makespan_ns;
        else if (status == MO_OK)
            snprintf(why, size, "%s", e.row.why ? e.row.why : "does not fit");
        mo_place_result_clear(&e);
        mo_instance_free(rest);
    }
    if (why[0])
        loss->why = why;
    return status;
}

mo_status mo_place_ablation_run(const mo_place_context *setting,
                                const mo_instance *x, const mo_method *method,
                                double seconds, mo_place_ablation *study,
                                mo_error *err)
{
    size_t n = (size_t) x->n_devices + 1;
    mo_status status = MO_OK;

    study->losses = calloc(n, sizeof *study->losses);
    study->why = calloc(n, sizeof *study->why);
    if (!study->losses || !study->why)
        return mo_fail_memory(err);
    for (int k = 0; k < x->n_devices && status == MO_OK; k++)
        status = study_device(setting, x, k, method, seconds, study, err);
    return status;
}
