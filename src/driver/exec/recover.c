/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/recover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/stop.h"
#include "driver/exec/request_files.h"

enum { NAMES_SIZE = 256 };

mo_status mo_exec_recovery_check_transport(const mo_transport *transport,
                                           mo_error *err)
{
    if (transport->loss || transport == &mo_transport_local)
        return MO_OK;
    return mo_fail(err, MO_E_SUPPORT,
                   "--on-loss replan is for ranks that are connected by TCP, "
                   "and %s ends all of them when one is lost; give "
                   "--transport tcp",
                   transport->name);
}

mo_status mo_exec_recovery_check(const mo_exec_recovery *r, mo_error *err)
{
    const mo_exec_options *o = r->options;

    if (o->batch > 0)
        return mo_fail(err, MO_E_SUPPORT,
                       "--on-loss replan runs each request by itself; leave "
                       "--batch out");
    if (r->job->review.problem.fine->phases)
        return mo_fail(err, MO_E_SUPPORT,
                       "--on-loss replan is for one shape, and the solution "
                       "has several; place one of them");
    return MO_OK;
}

bool mo_exec_recovery_is_due(const mo_exec_recovery *r)
{
    return r && r->transport->loss && r->transport->loss(*r->world, NULL);
}

void mo_exec_recovery_clear(mo_exec_recovery *r)
{
    for (int i = 0; i < r->n; i++) {
        free(r->all[i].why);
        free(r->all[i].devices);
    }
    if (r->before)
        r->transport->close(r->before);
    free(r->all);
    free(r->is_lost);
    *r = (mo_exec_recovery){ .n = 0 };
}

static mo_status add_recovery(mo_exec_recovery *r,
                              const mo_transport_loss *loss, int64_t next,
                              int64_t in_flight, mo_error *err)
{
    mo_report_throughput_recovery *all =
        realloc(r->all, ((size_t) r->n + 1) * sizeof *all);
    char text[MO_ERROR_FILE_SIZE + MO_ERROR_TEXT_SIZE + 16];

    if (!all)
        return mo_fail_memory(err);
    r->all = all;
    all[r->n] = (mo_report_throughput_recovery){
        .why = strdup(mo_error_format(&loss->why, text, sizeof text)),
        .devices = strdup(""),
        .request = next,
        .n_again = in_flight,
        .silent_ns = loss->silent_ns,
        .detected_ns = loss->detected_ns,
    };
    r->n++;
    return all[r->n - 1].why && all[r->n - 1].devices ? MO_OK
                                                      : mo_fail_memory(err);
}

/* Gives the devices of each rank to its new number. Those of a lost rank get no
 * ops; as CPUs of rank 0 they need nothing. */
static mo_status renumber(mo_exec_recovery *r, const mo_transport_world *from,
                          const mo_transport_world *to, mo_error *err)
{
    const mo_cluster *cluster = r->job->review.problem.cluster;
    mo_exec_units *units = r->units;
    mo_report_throughput_recovery *now = &r->all[r->n - 1];
    char names[NAMES_SIZE] = "";
    size_t length = 0;

    for (int k = 0; k < units->n; k++) {
        int origin = r->transport->origin(from, units->rank_of[k]), rank = 0;

        while (rank < r->transport->n_ranks(to) &&
               r->transport->origin(to, rank) != origin)
            rank++;
        if (rank == r->transport->n_ranks(to)) {
            rank = 0;
            r->is_lost[k] = true;
            mo_exec_units_disable(units, k, &r->options->wants);
            if (length < sizeof names - 100)
                length += (size_t) snprintf(
                    names + length, sizeof names - length, "%s%.80s",
                    length > 0 ? " " : "", cluster->devices[k].id);
        }
        units->rank_of[k] = rank;
    }
    free(now->devices);
    now->devices = strdup(names);
    now->n_ranks = r->transport->n_ranks(to);
    return now->devices ? MO_OK : mo_fail_memory(err);
}

/* Joins the ranks that are left. */
static mo_status join(mo_exec_recovery *r, mo_error *err)
{
    mo_transport_world *lost = *r->world, *world = NULL;
    mo_status status =
        r->transport->reopen(lost, &r->world_options, &world, err);

    r->is_over = status == MO_OK && !world;
    if (status != MO_OK || r->is_over)
        return status;
    if (r->before)
        r->transport->close(r->before);
    r->before = lost;
    *r->world = world;
    r->all[r->n - 1].joined_ns = mo_stop_clock_ns();
    return renumber(r, lost, world, err);
}

/* Rank 0 places the network; all take its placement. */
static mo_status place(mo_exec_recovery *r, mo_error *err)
{
    mo_review *review = &r->job->review;
    const mo_instance *x = review->problem.instance;
    mo_report_throughput_recovery *now = &r->all[r->n - 1];
    const int *old = review->evaluation.schedule->device;
    int rank = r->transport->rank(*r->world);
    size_t n = (size_t) x->n;
    int *device = calloc(n + 1, sizeof *device);
    int32_t *sent = calloc(n + 1, sizeof *sent);
    mo_answer_evaluation evaluation = { 0 };
    mo_status status = device && sent ? MO_OK : mo_fail_memory(err);

    if (status == MO_OK && rank == 0)
        status = mo_exec_recover_place(r->job, r->is_lost, device, err);
    for (size_t i = 0; i < n && status == MO_OK; i++)
        sent[i] = device[i];
    if (status == MO_OK)
        status =
            r->transport->broadcast(*r->world, sent, n * sizeof *sent, err);
    if (status == MO_OK)
        status = mo_exec_decode_placement(sent, x->n, x->n_devices, r->is_lost,
                                          device, err);
    for (size_t i = 0; i < n && status == MO_OK; i++) {
        now->n_moved += device[i] != old[i];
        now->moved_bytes += device[i] != old[i] ? x->weight_bytes[i] : 0;
    }
    if (status == MO_OK)
        status = mo_answer_evaluate_placement(x, &review->regime, device,
                                              &evaluation, err);
    if (status == MO_OK && !mo_answer_evaluation_valid(&evaluation))
        status = mo_fail(err, MO_E_INFEASIBLE,
                         "the placement on the devices that are left is "
                         "invalid: %.300s",
                         mo_answer_evaluation_violation(&evaluation, 0));
    if (status == MO_OK) {
        /* Fewer devices need no more requests in flight, and how many fewer
         * takes long to find out. */
        evaluation.in_flight = (int) mo_max_i64(
            mo_max_i64(review->evaluation.in_flight, r->options->in_flight - 1),
            1);
        mo_answer_evaluation_clear(&review->evaluation);
        review->evaluation = evaluation;
    } else
        mo_answer_evaluation_clear(&evaluation);
    now->placed_ns = mo_stop_clock_ns();
    free(device);
    free(sent);
    return status;
}

static mo_status plan(mo_exec_recovery *r, mo_error *err)
{
    mo_exec_options *o = r->options;
    mo_exec_plan *made = NULL;
    mo_status status = mo_exec_job_replan(o, r->job, r->units, &made, err);

    if (status != MO_OK)
        return status;
    mo_plan_free(r->job->plan);
    r->job->plan = made;
    status = mo_exec_job_check_capacity(r->job, err);
    o->in_flight = r->in_flight;
    if (status == MO_OK)
        status = mo_exec_requests_choose_in_flight(
            o, r->units, r->job, r->transport, *r->world, err);
    return status == MO_OK
               ? mo_exec_requests_check_memory(
                     r->job, r->units, r->transport->rank(*r->world),
                     (int) o->in_flight, mo_exec_job_memory_left(o, r->job),
                     err)
               : status;
}

static void log_recovery(const mo_exec_recovery *r)
{
    const mo_report_throughput_recovery *now = &r->all[r->n - 1];

    if (r->options->logger.quiet)
        return;
    mo_progress_erase();
    fprintf(stderr,
            "%s: %s; %d rank%s left, and requests from %lld on run again\n",
            r->options->logger.command, now->why, now->n_ranks,
            now->n_ranks > 1 ? "s are" : " is", (long long) now->request);
}

mo_status mo_exec_recover(mo_exec_recovery *r, int64_t next, int64_t in_flight,
                          mo_error *err)
{
    size_t n_devices = (size_t) r->units->n;
    mo_transport_loss loss;
    mo_error why = { 0 };
    mo_status status = MO_OK;

    if (!r->is_lost)
        r->is_lost = calloc(n_devices + 1, sizeof *r->is_lost);
    if (!r->is_lost)
        return mo_fail_memory(err);
    while (r->transport->loss(*r->world, &loss)) {
        why = (mo_error){ 0 };
        status = add_recovery(r, &loss, next, in_flight, &why);
        if (status == MO_OK)
            status = join(r, &why);
        if (status != MO_OK || r->is_over)
            break;
        log_recovery(r);
        status = place(r, &why);
        if (status == MO_OK)
            status = plan(r, &why);
        if (status == MO_OK)
            break;
    }
    if (status != MO_OK && err)
        *err = why;
    return status;
}
