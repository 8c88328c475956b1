/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/stop.h"
#include "exec/transport/failure_detector.h"
#include "exec/transport/local_copy.h"
#include "exec/transport/rendezvous/decode.h"

/* The rest of ten seconds is left to report the error. */
static const double default_timeout_s = 8, max_timeout_s = 1e6;
/* Where the job goes on without a rank, a wrong suspicion costs a device, and
 * each second of patience delays the requests in flight. */
static const double tolerant_timeout_s = 1;

enum { CLOCK_ROUNDS = 32, NAME_SIZE = 512 };

mo_status mo_transport_job_init(mo_transport_job *job,
                                const mo_transport_world_options *options,
                                mo_error *err)
{
    /* Raises the timeout on slow machines. */
    const char *patience = getenv("MOIRAI_PATIENCE");

    memset(job, 0, sizeof *job);
    job->opener = pthread_self();
    mo_transport_process_init(&job->process);
    job->tolerates_losses = options && options->tolerates_losses;
    job->peer_timeout_s =
        job->tolerates_losses ? tolerant_timeout_s : default_timeout_s;
    if (options && options->peer_timeout_s > 0)
        job->peer_timeout_s = options->peer_timeout_s;
    else if (patience && *patience &&
             (mo_number_read_double(patience, strlen(patience),
                                    &job->peer_timeout_s) != MO_NUMBER_OK ||
              !(job->peer_timeout_s > 0 &&
                job->peer_timeout_s <= max_timeout_s)))
        return mo_fail(err, MO_E_USAGE,
                       "MOIRAI_PATIENCE is '%.40s'; it must be seconds",
                       patience);
    job->join_timeout_s = job->peer_timeout_s;
    if (job->tolerates_losses && job->join_timeout_s < default_timeout_s)
        job->join_timeout_s = default_timeout_s;
    return MO_OK;
}

static void clear_plan(mo_transport_job *job)
{
    mo_shm_free(job->shm);
    job->shm = NULL;
    free(job->is_shared);
    job->is_shared = NULL;
    free(job->rank_of);
    job->rank_of = NULL;
    job->plan = NULL;
}

void mo_transport_job_destroy(mo_transport_job *job)
{
    mo_failure_detector_free(job->detector);
    mo_transport_process_destroy(&job->process);
    clear_plan(job);
    free(job->endpoints);
    free(job->origins);
}

static void on_failure(void *context, const mo_error *why)
{
    mo_transport_job *job = context;
    mo_transport_job_error_context_fn *add_context =
        atomic_load(&job->add_context);
    mo_error detailed = *why;
    long long never = 0;

    atomic_compare_exchange_strong(&job->failed_ns, &never, mo_stop_clock_ns());
    if (add_context)
        add_context(job->add_context_arg, &detailed);
    mo_transport_process_fail(&job->process, &detailed);
}

mo_status mo_transport_job_start_detector(
    mo_transport_job *job, const mo_transport_world_options *options,
    double seconds, void (*describe_missing)(void *job, mo_error *why),
    mo_error *err)
{
    const mo_failure_detector_options detector = {
        .timeout_s = job->peer_timeout_s,
        .failure = &job->process.failure,
        .on_failure = on_failure,
        .describe_missing = describe_missing,
        .context = job,
        .print_fatal = options ? options->print_fatal : NULL,
        .tolerates_losses = job->tolerates_losses,
    };

    return mo_failure_detector_new(&detector, seconds, &job->detector, err);
}

mo_status mo_transport_job_set_connections(mo_transport_job *job,
                                           mo_secure_channel *const *channels,
                                           mo_error *err)
{
    mo_status status = mo_failure_detector_set_peers(
        job->detector, job->n_ranks, job->rank, channels, err);

    if (status == MO_OK) {
        char name[MO_RDV_ENDPOINT_NAME_SIZE + 64];

        for (int r = 0; r < job->n_ranks; r++) {
            snprintf(name, sizeof name, "rank %d (host %s)",
                     mo_transport_job_origin(job, r), job->endpoints[r].host);
            mo_failure_detector_set_peer_name(job->detector, r, name);
        }
    }
    for (int r = 0; r < job->n_ranks && status != MO_OK; r++)
        if (r != job->rank)
            mo_secure_channel_free(channels[r]);
    return status;
}

void mo_transport_job_set_error_context(
    mo_transport_job *job, mo_transport_job_error_context_fn *add_context,
    void *context)
{
    job->add_context_arg = context;
    atomic_store(&job->add_context, add_context);
}

void mo_transport_job_fail_peer(mo_transport_job *job, int peer,
                                const mo_error *why)
{
    if (!job->tolerates_losses)
        mo_transport_job_fail(job, why);
    /* After a failure others send what is not expected here any more. */
    else if (!mo_first_error_is_set(&job->process.failure))
        mo_failure_detector_lose(job->detector, peer, why);
}

bool mo_transport_job_loss(mo_transport_job *job, mo_transport_loss *loss)
{
    mo_transport_loss found = { .detected_ns = atomic_load(&job->failed_ns) };

    if (!job->tolerates_losses || atomic_load(&job->errs) ||
        !mo_failure_detector_has_loss(job->detector))
        return false;
    mo_first_error_get(&job->process.failure, &found.why);
    for (int r = 0; r < job->n_ranks; r++) {
        const mo_failure_detector_peer peer =
            mo_failure_detector_peer_of(job->detector, r);

        if (peer.lost && (r == 0 || r == job->rank) && !peer.done)
            return false;
        if (peer.lost && peer.silent_ns > found.silent_ns)
            found.silent_ns = peer.silent_ns;
    }
    if (loss)
        *loss = found;
    return true;
}

void mo_transport_job_fail(mo_transport_job *job, const mo_error *why)
{
    if (mo_transport_process_fail(&job->process, why))
        atomic_store(&job->errs, true);
    mo_failure_detector_broadcast_error(job->detector);
    /* A loss ends no process by itself. */
    if (!atomic_load(&job->errs) && mo_failure_detector_has_loss(job->detector))
        return;
    if (pthread_equal(pthread_self(), job->opener))
        mo_failure_detector_caller_reports(job->detector);
}

void mo_transport_job_abort_open(mo_transport_job *job, const mo_error *why)
{
    const mo_error unknown = { 0 };

    if (job->detector)
        mo_transport_job_fail(job, why ? why : &unknown);
    atexit(mo_failure_detector_delay_exit);
}

bool mo_transport_job_finish(mo_transport_job *job)
{
    if (!atomic_load(&job->errs) &&
        mo_failure_detector_has_loss(job->detector)) {
        mo_failure_detector_leave(job->detector);
        return false;
    }
    if (mo_first_error_is_set(&job->process.failure)) {
        atexit(mo_failure_detector_delay_exit); /* the command may not have
                                                   printed the error yet */
        return false;
    }
    /* The caller cannot report an error of this function. */
    if (mo_failure_detector_finish(job->detector, NULL) != MO_OK) {
        if (mo_transport_job_loss(job, NULL))
            return false;
        mo_failure_detector_abort(job->detector);
    }
    return true;
}

/* Sets "rank 1 (host tau, device 'B', 'C')". Slots of one device share its
 * name. */
static void set_rank_name(mo_transport_job *job, int rank)
{
    char name[NAME_SIZE];
    const char *before = ", device '", *last = NULL;
    int n =
        snprintf(name, sizeof name, "rank %d (host %s",
                 mo_transport_job_origin(job, rank), job->endpoints[rank].host);

    for (int d = 0; d < job->plan->n_devices && n < NAME_SIZE - 128; d++)
        if (job->rank_of[d] == rank && job->plan->devices[d].id != last) {
            last = job->plan->devices[d].id;
            n += snprintf(name + n, sizeof name - (size_t) n, "%s%.64s'",
                          before, job->plan->devices[d].id);
            before = ", '";
        }
    snprintf(name + n, sizeof name - (size_t) n, ")");
    mo_failure_detector_set_peer_name(job->detector, rank, name);
}

mo_status mo_transport_job_begin(mo_transport_job *job,
                                 const mo_exec_plan *plan, const int *rank_of,
                                 int n_threads, mo_error *err)
{
    size_t n = (size_t) plan->n_devices;

    for (int d = 0; d < plan->n_devices; d++)
        if (rank_of[d] < 0 || rank_of[d] >= job->n_ranks)
            return mo_fail(err, MO_E_INPUT,
                           "device '%s' is of rank %d, but there are %d ranks; "
                           "start as many as the cluster has",
                           plan->devices[d].id, rank_of[d], job->n_ranks);
    clear_plan(job);
    job->rank_of = calloc(n + 1, sizeof *job->rank_of);
    if (!job->rank_of)
        return mo_fail_memory(err);
    memcpy(job->rank_of, rank_of, n * sizeof *rank_of);
    job->plan = plan;
    for (int r = 0; r < job->n_ranks; r++)
        set_rank_name(job, r);
    return mo_transport_process_begin(&job->process, plan, rank_of, job->rank,
                                      n_threads, err);
}

mo_status mo_transport_job_share_memory(mo_transport_job *job,
                                        mo_shm_allgather_fn *allgather,
                                        void *context, mo_error *err)
{
    const mo_shm_options options = { .plan = job->plan,
                                     .rank_of = job->rank_of,
                                     .endpoints = job->endpoints,
                                     .rank = job->rank,
                                     .n_ranks = job->n_ranks,
                                     .failure = &job->process.failure,
                                     .allgather = allgather,
                                     .context = context };
    mo_status status = mo_shm_new(&options, &job->shm, err);

    if (status != MO_OK)
        return status;
    job->is_shared =
        calloc((size_t) job->plan->n_transfers + 1, sizeof *job->is_shared);
    if (!job->is_shared)
        return mo_fail_memory(err);
    for (int t = 0; t < job->plan->n_transfers; t++)
        job->is_shared[t] = mo_shm_carries(job->shm, t);
    return MO_OK;
}

bool mo_transport_job_send(mo_transport_job *job, int transfer,
                           const void *data)
{
    mo_transport_local_copy *copier = job->process.copier;

    mo_transport_local_copy_send(copier, transfer, data);
    if (!job->is_shared[transfer])
        return mo_transport_local_copy_is_local(copier, transfer);
    mo_shm_send(job->shm, transfer, data);
    mo_transport_local_copy_complete(copier, transfer);
    return true;
}

bool mo_transport_job_receive(mo_transport_job *job, int transfer, void *data)
{
    mo_transport_local_copy *copier = job->process.copier;

    mo_transport_local_copy_receive(copier, transfer, data);
    return job->is_shared[transfer] ||
           mo_transport_local_copy_is_local(copier, transfer);
}

mo_status mo_transport_job_wait(mo_transport_job *job, int transfer,
                                bool sending, mo_error *err)
{
    mo_transport_local_copy *copier = job->process.copier;
    mo_status status;

    if (sending || !job->is_shared[transfer])
        return mo_transport_process_await(&job->process, transfer, sending,
                                          err);
    status =
        mo_shm_receive(job->shm, transfer,
                       mo_transport_local_copy_target(copier, transfer), err);
    if (status == MO_OK)
        mo_transport_local_copy_complete(copier, transfer);
    return status;
}

mo_status mo_transport_job_barrier(mo_transport_job *job, bool *released,
                                   mo_error *err)
{
    mo_vote_barrier *barrier = &job->process.barrier;
    mo_status status;
    bool verdict;

    *released = mo_shm_has_barrier(job->shm);
    if (!*released)
        return MO_OK;
    status = mo_shm_barrier(job->shm, mo_vote_barrier_local_vote(barrier),
                            &verdict, err);
    if (status == MO_OK)
        mo_vote_barrier_release(barrier, verdict);
    return status;
}

mo_status mo_transport_job_end(mo_transport_job *job, mo_error *err)
{
    mo_shm_free(job->shm);
    job->shm = NULL;
    return mo_transport_process_end(&job->process, err);
}

const char *mo_transport_job_path(const mo_transport_job *job, int transfer,
                                  const char *other)
{
    const mo_plan_transfer *t = &job->plan->transfers[transfer];

    if (job->rank_of[t->from] == job->rank_of[t->to])
        return mo_transport_local.name;
    return job->is_shared[transfer] ? "shm" : other;
}

mo_status mo_transport_job_plan_mismatch(const mo_transport_job *job, int other,
                                         mo_error *err)
{
    return mo_fail(err, MO_E_INPUT,
                   "rank %d (host %s) has made another plan than rank 0: give "
                   "all ranks the same files and options",
                   other, job->endpoints[other].host);
}

mo_status mo_transport_job_check_sent(const mo_transport_job *job, int from,
                                      mo_status status, mo_error *err)
{
    if (status == MO_OK || !err)
        return status;
    return mo_fail(err, status,
                   "rank %d (host %s) sends %s: use the same moirai "
                   "everywhere, and start all ranks with the same command",
                   from, job->endpoints[from].host, err->text);
}

/* Of many round trips the shortest bounds the error best: the remote clock was
 * read about in its middle. */
static mo_status measure_clock_offset(mo_transport_job *job,
                                      mo_transport_job_ping_fn *ping,
                                      void *context, mo_error *err)
{
    int64_t quickest = INT64_MAX;
    mo_status status = MO_OK;

    for (int i = 0; i < CLOCK_ROUNDS && status == MO_OK; i++) {
        int64_t before = mo_stop_clock_ns(), there = 0, after;

        status = ping(context, 0, true, &there, err);
        after = mo_stop_clock_ns();
        if (status == MO_OK)
            status = mo_transport_job_check_sent(
                job, 0, mo_rdv_decode_clock(there, &there, err), err);
        if (after - before >= quickest)
            continue;
        quickest = after - before;
        job->clock_offset_ns = there - before - quickest / 2;
    }
    return status;
}

mo_status mo_transport_job_sync_clocks(mo_transport_job *job,
                                       mo_transport_job_ping_fn *ping,
                                       void *context, mo_error *err)
{
    const mo_rdv_endpoint *endpoints = job->endpoints;
    mo_status status = MO_OK;

    job->clock_offset_ns = 0;
    if (job->rank != 0)
        return mo_rdv_endpoint_same_machine(&endpoints[0],
                                            &endpoints[job->rank])
                   ? MO_OK
                   : measure_clock_offset(job, ping, context, err);
    for (int r = 1; r < job->n_ranks && status == MO_OK; r++)
        if (!mo_rdv_endpoint_same_machine(&endpoints[0], &endpoints[r])) {
            for (int i = 0; i < CLOCK_ROUNDS && status == MO_OK; i++) {
                int64_t number = 0;

                status = ping(context, r, false, &number, err);
            }
        }
    return status;
}
