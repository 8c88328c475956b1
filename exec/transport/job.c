/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/stop.h"

/* The rest of ten seconds is left for telling. */
static const double default_patience_s = 8, most_patience_s = 1e6;

enum { CLOCK_ROUNDS = 32, NAME_SIZE = 512 };

/* Machines that take their time get more of it from whoever runs them. */
static mo_status read_patience(double *seconds, mo_error *err)
{
    const char *text = getenv("MOIRAI_PATIENCE");

    if (!text || !*text ||
        (mo_number_read_double(text, strlen(text), seconds) == MO_NUMBER_OK &&
         *seconds > 0 && *seconds <= most_patience_s))
        return MO_OK;
    return mo_fail(err, MO_E_USAGE,
                   "MOIRAI_PATIENCE is '%.40s'; it must be seconds", text);
}

mo_status mo_transport_job_init(mo_transport_job *ranks,
                                const mo_transport_world_options *options,
                                mo_error *err)
{
    memset(ranks, 0, sizeof *ranks);
    ranks->opener = pthread_self();
    mo_transport_process_init(&ranks->inside);
    ranks->patience_s = default_patience_s;
    if (options && options->patience_s > 0)
        ranks->patience_s = options->patience_s;
    else
        return read_patience(&ranks->patience_s, err);
    return MO_OK;
}

void mo_transport_job_destroy(mo_transport_job *ranks)
{
    mo_failure_detector_free(ranks->watch);
    mo_transport_process_destroy(&ranks->inside);
    mo_transport_job_clear_plan(ranks);
    free(ranks->cards);
}

/* ---------------------------------------------------------------- the watch */

static void found(void *context, const mo_error *why)
{
    mo_transport_job *ranks = context;
    mo_transport_job_error_context_fn *explain = atomic_load(&ranks->explain);
    mo_error told = *why;

    if (explain)
        explain(ranks->explainer, &told);
    mo_transport_process_fail(&ranks->inside, &told);
}

mo_status mo_transport_job_start_detector(
    mo_transport_job *ranks, const mo_transport_world_options *options,
    double seconds, void (*missing)(void *ranks, mo_error *why), mo_error *err)
{
    const mo_failure_detector_options watch = {
        .patience_s = ranks->patience_s,
        .failure = &ranks->inside.failure,
        .found = found,
        .missing = missing,
        .context = ranks,
        .last_words = options ? options->last_words : NULL,
    };

    return mo_failure_detector_new(&watch, seconds, &ranks->watch, err);
}

static void name_hosts(mo_transport_job *ranks)
{
    char name[MO_RDV_ENDPOINT_NAME_SIZE + 64];

    for (int r = 0; r < ranks->n_ranks; r++) {
        snprintf(name, sizeof name, "rank %d (host %s)", r,
                 ranks->cards[r].host);
        mo_failure_detector_set_peer_name(ranks->watch, r, name);
    }
}

mo_status mo_transport_job_set_connections(mo_transport_job *ranks,
                                           const int *sockets, mo_error *err)
{
    mo_status status = mo_failure_detector_set_peers(
        ranks->watch, ranks->n_ranks, ranks->rank, sockets, err);

    if (status == MO_OK)
        name_hosts(ranks);
    for (int r = 0; r < ranks->n_ranks && status != MO_OK; r++)
        if (r != ranks->rank)
            close(sockets[r]);
    return status;
}

void mo_transport_job_set_error_context(
    mo_transport_job *ranks, mo_transport_job_error_context_fn *explain,
    void *context)
{
    ranks->explainer = context;
    atomic_store(&ranks->explain, explain);
}

void mo_transport_job_fail(mo_transport_job *ranks, const mo_error *why)
{
    mo_transport_process_fail(&ranks->inside, why);
    mo_failure_detector_broadcast_error(ranks->watch);
    if (pthread_equal(pthread_self(), ranks->opener))
        mo_failure_detector_caller_reports(ranks->watch);
}

void mo_transport_job_abort_open(mo_transport_job *ranks, const mo_error *why)
{
    const mo_error unknown = { 0 };

    if (ranks->watch)
        mo_transport_job_fail(ranks, why ? why : &unknown);
    atexit(mo_failure_detector_delay_exit);
}

bool mo_transport_job_finish(mo_transport_job *ranks)
{
    if (mo_first_error_is_set(&ranks->inside.failure)) {
        atexit(mo_failure_detector_delay_exit); /* the command may not have
                                                   spoken yet */
        return false;
    }
    /* Nobody would hear of an error that is returned from here. */
    if (mo_failure_detector_finish(ranks->watch, NULL) != MO_OK)
        mo_failure_detector_abort(ranks->watch);
    return true;
}

/* ----------------------------------------------------------------- the plan */

static mo_status check_ranks(const mo_transport_job *ranks,
                             const mo_exec_plan *plan, const int *rank_of,
                             mo_error *err)
{
    for (int d = 0; d < plan->n_devices; d++)
        if (rank_of[d] < 0 || rank_of[d] >= ranks->n_ranks)
            return mo_fail(err, MO_E_INPUT,
                           "device '%s' is of rank %d, but there are %d ranks; "
                           "start as many as the cluster has",
                           plan->devices[d].id, rank_of[d], ranks->n_ranks);
    return MO_OK;
}

/* "rank 1 (host tau, device 'B', 'C')" */
static void name_rank(mo_transport_job *ranks, int rank)
{
    char name[NAME_SIZE];
    const char *before = ", device '";
    int n = snprintf(name, sizeof name, "rank %d (host %s", rank,
                     ranks->cards[rank].host);

    for (int d = 0; d < ranks->plan->n_devices && n < NAME_SIZE - 128; d++)
        if (ranks->rank_of[d] == rank) {
            n += snprintf(name + n, sizeof name - (size_t) n, "%s%.64s'",
                          before, ranks->plan->devices[d].id);
            before = ", '";
        }
    snprintf(name + n, sizeof name - (size_t) n, ")");
    mo_failure_detector_set_peer_name(ranks->watch, rank, name);
}

void mo_transport_job_clear_plan(mo_transport_job *ranks)
{
    free(ranks->rank_of);
    ranks->rank_of = NULL;
    ranks->plan = NULL;
}

mo_status mo_transport_job_begin(mo_transport_job *ranks,
                                 const mo_exec_plan *plan, const int *rank_of,
                                 int n_threads, mo_error *err)
{
    size_t n = (size_t) plan->n_devices;
    mo_status status = check_ranks(ranks, plan, rank_of, err);

    if (status != MO_OK)
        return status;
    mo_transport_job_clear_plan(ranks);
    ranks->rank_of = calloc(n + 1, sizeof *ranks->rank_of);
    if (!ranks->rank_of)
        return mo_fail_memory(err);
    memcpy(ranks->rank_of, rank_of, n * sizeof *rank_of);
    ranks->plan = plan;
    for (int r = 0; r < ranks->n_ranks; r++)
        name_rank(ranks, r);
    return mo_transport_process_begin(&ranks->inside, plan, rank_of,
                                      ranks->rank, n_threads, err);
}

mo_status mo_transport_job_plan_mismatch(const mo_transport_job *ranks,
                                         int other, mo_error *err)
{
    return mo_fail(err, MO_E_INPUT,
                   "rank %d (host %s) has made another plan than rank 0: give "
                   "all ranks the same files and options",
                   other, ranks->cards[other].host);
}

/* ------------------------------------------------------------------- clocks */

/* The quickest of many questions is the one whose answer was given in the
 * middle of it. */
static mo_status ask_the_time(mo_transport_job *ranks,
                              mo_transport_job_ping_fn *swap,
                              mo_transport_world *world, mo_error *err)
{
    int64_t quickest = INT64_MAX;
    mo_status status = MO_OK;

    for (int i = 0; i < CLOCK_ROUNDS && status == MO_OK; i++) {
        int64_t before = mo_stop_clock_ns(), there = 0, after;

        status = swap(world, 0, true, &there, err);
        after = mo_stop_clock_ns();
        if (after - before >= quickest)
            continue;
        quickest = after - before;
        ranks->clock_offset_ns = there - before - quickest / 2;
    }
    return status;
}

static mo_status tell_the_time(mo_transport_job_ping_fn *swap,
                               mo_transport_world *world, int peer,
                               mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < CLOCK_ROUNDS && status == MO_OK; i++) {
        int64_t number = 0;

        status = swap(world, peer, false, &number, err);
    }
    return status;
}

mo_status mo_transport_job_sync_clocks(mo_transport_job *ranks,
                                       mo_transport_job_ping_fn *swap,
                                       mo_transport_world *world, mo_error *err)
{
    const mo_rdv_endpoint *cards = ranks->cards;
    mo_status status = MO_OK;

    ranks->clock_offset_ns = 0;
    if (ranks->rank != 0)
        return mo_rdv_endpoint_same_machine(&cards[0], &cards[ranks->rank])
                   ? MO_OK
                   : ask_the_time(ranks, swap, world, err);
    for (int r = 1; r < ranks->n_ranks && status == MO_OK; r++)
        if (!mo_rdv_endpoint_same_machine(&cards[0], &cards[r]))
            status = tell_the_time(swap, world, r, err);
    return status;
}
