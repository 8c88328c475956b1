/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/place/compare_methods.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "base/option.h"
#include "cost/instance/without_device.h"
#include "driver/place/device_ablation.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/memory_bound.h"
#include "schedule/heuristic/single_device.h"
#include "schedule/period/loads.h"
#include "schedule/period/modulo_schedule.h"
#include "solvers/process/interrupt.h"

static double seconds_each(const mo_place_options *o, const mo_instance *x)
{
    return o->ablation ? o->time_s / (x->n_devices + 1) : o->time_s;
}

static mo_status run_next(const mo_place_context *setting, const mo_instance *x,
                          const mo_method *method, mo_place_comparison *c,
                          mo_error *err)
{
    double seconds = seconds_each(setting->options, x);

    /* The time until here, such as for reading, counts for the first. */
    if (seconds > 0 && c->n == 0) {
        seconds -= mo_driver_clock_s() - setting->begin_s;
        seconds = seconds > MO_PLACE_LEAST_S ? seconds : MO_PLACE_LEAST_S;
    }
    return mo_place_run_method(setting, x, method, seconds, &c->entries[c->n++],
                               err);
}

/* Whether a signal came before any result: then everything on one device is
 * the fallback. */
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

static mo_status run_all(const mo_place_context *setting, const mo_instance *x,
                         const mo_method *const *methods, int n,
                         mo_place_comparison *c, mo_error *err)
{
    mo_status status;
    size_t room = (size_t) n + 1; /* one more may be added after a signal */

    c->entries = calloc(room, sizeof *c->entries);
    c->ranked = calloc(room, sizeof *c->ranked);
    c->rows = calloc(room, sizeof *c->rows);
    status = c->entries && c->ranked && c->rows ? MO_OK : mo_fail_memory(err);
    for (int i = 0; i < n && status == MO_OK; i++)
        status = run_next(setting, x, methods[i], c, err);
    if (status == MO_OK && needs_single(c))
        status = run_next(setting, x, &mo_method_single, c, err);
    if (status != MO_OK)
        return status;
    mo_place_rank_results(c->entries, c->n, c->ranked);
    for (int i = 0; i < c->n; i++)
        c->rows[i] = c->ranked[i]->row;
    return MO_OK;
}

static mo_status run_ablation(const mo_place_context *setting,
                              const mo_instance *x, mo_place_comparison *c,
                              mo_error *err)
{
    const mo_place_result *best = mo_place_comparison_best(c);
    mo_status status;

    if (!setting->options->ablation || !best)
        return MO_OK;
    status = mo_place_ablation_run(setting, x, best->method,
                                   seconds_each(setting->options, x), &c->study,
                                   err);
    c->report.losses = c->study.losses;
    return status;
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

/* A whole copy on every device that can hold one, on the fastest with a limit
 * of requests in flight: rates add up, to that of the host at most. */
static mo_status find_replicas(const mo_place_context *setting,
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
            mo_max_i64((int64_t) ceil(1 / rate), x->host_request_ns);
    free(single_ns);
    return status;
}

/* Sets the bound; where no placement exists there is none. */
static mo_status find_bound(const mo_place_context *setting,
                            const mo_instance *x, mo_place_comparison *c,
                            mo_error *err)
{
    mo_report_methods *r = &c->report;
    mo_status status = MO_OK;

    if (!mo_place_comparison_best(c))
        status = mo_bound_memory(x, &setting->regime, err);
    r->is_infeasible = status == MO_E_INFEASIBLE;
    if (r->is_infeasible)
        return MO_OK;
    if (status == MO_OK)
        status = mo_place_best_bound(setting, x, c->ranked, c->n, &r->bound_ns,
                                     &r->bound_by, err);
    return status;
}

mo_status mo_place_compare_methods(const mo_place_context *setting,
                                   const mo_instance *x,
                                   const mo_method *const *methods, int n,
                                   mo_place_comparison *c, mo_error *err)
{
    mo_report_methods *r = &c->report;
    mo_status status = run_all(setting, x, methods, n, c, err);

    if (status != MO_OK)
        return status;
    *r = (mo_report_methods){ .x = x, .n = c->n, .rows = c->rows };
    status = find_bound(setting, x, c, err);
    if (status == MO_OK && setting->objective == MO_OBJECTIVE_PERIOD)
        status = find_replicas(setting, x, r, err);
    if (status == MO_OK)
        status = mo_single_device_best(x, &setting->regime, &r->single,
                                       &r->single_ns, err);
    if (setting->objective == MO_OBJECTIVE_PERIOD)
        r->single_ns = mo_max_i64(r->single_ns, x->host_request_ns);
    return status == MO_OK ? run_ablation(setting, x, c, err) : status;
}

void mo_place_comparison_clear(mo_place_comparison *c)
{
    for (int i = 0; i < c->n; i++)
        mo_place_result_clear(&c->entries[i]);
    mo_place_ablation_clear(&c->study);
    free(c->entries);
    free(c->ranked);
    free(c->rows);
}

const mo_place_result *mo_place_comparison_best(const mo_place_comparison *c)
{
    return mo_report_methods_best(&c->report) ? c->ranked[0] : NULL;
}

static int code_of(const mo_place_comparison *c)
{
    if (mo_place_comparison_best(c))
        return MO_EXIT_DONE;
    for (int i = 0; i < c->n; i++)
        if (c->entries[i].status != MO_OK)
            return MO_EXIT_FAILED;
    return MO_EXIT_NO_SOLUTION;
}

mo_status mo_place_comparison_exit_status(const mo_place_comparison *c,
                                          int *code, mo_error *err)
{
    *code = code_of(c);
    for (int i = 0; i < c->n; i++) {
        const mo_place_result *e = &c->entries[i];

        if (e->status == MO_OK || e->row.why)
            continue;
        if (err)
            *err = e->err;
        return e->status;
    }
    return MO_OK;
}

static mo_status run_without(const mo_place_context *setting,
                             const mo_instance *x, int device,
                             const mo_method *method, double seconds,
                             mo_place_ablation *study, mo_error *err)
{
    mo_instance *rest = NULL;
    mo_place_result e = { 0 };
    mo_status status = mo_instance_without_device(x, device, &rest, err);

    mo_driver_log_info(setting->logger, "without %s", x->device_ids[device]);
    if (status == MO_OK)
        status = mo_place_run_method(setting, rest, method, seconds, &e, err);
    if (status == MO_OK && !e.row.why && e.row.fits)
        study->losses[device].makespan_ns = e.row.makespan_ns;
    else if (status == MO_OK)
        snprintf(study->why[device], sizeof study->why[device], "%s",
                 e.row.why ? e.row.why : "does not fit");
    mo_place_result_clear(&e);
    mo_instance_free(rest);
    return status;
}

static mo_status study_device(const mo_place_context *setting,
                              const mo_instance *x, int device,
                              const mo_method *method, double seconds,
                              mo_place_ablation *study, mo_error *err)
{
    int pinned = mo_instance_first_pinned_to(x, device);
    mo_status status = MO_OK;

    if (x->n_devices == 1)
        snprintf(study->why[device], sizeof study->why[device],
                 "there is no other");
    else if (pinned != MO_FREE)
        snprintf(study->why[device], sizeof study->why[device],
                 "op '%.100s' is pinned to it", x->op_names[pinned]);
    else
        status = run_without(setting, x, device, method, seconds, study, err);
    if (study->why[device][0])
        study->losses[device].why = study->why[device];
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

void mo_place_ablation_clear(mo_place_ablation *study)
{
    free(study->losses);
    free(study->why);
}
