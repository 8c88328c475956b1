/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "base/stop.h"
#include "exec/transport/nccl/p2p_internal.h"

static const double default_patience_s = 600;

_Static_assert(sizeof(bool) == 1, "they travel as bytes");

/* What a rank tells the others, before the secrets it has made. */
typedef struct notice {
    int32_t version; /* of its NCCL; 0: it has none */
    int32_t has_end; /* it must have one */
} notice;

/* ----------------------------------------------------------------- sharing */

/* One after the other, by rank; the caller's to free. */
static mo_status share(mo_nccl_p2p *nccl, const void *own, size_t bytes,
                       char **all, mo_error *err)
{
    const mo_nccl_p2p_options *o = &nccl->options;
    size_t size;

    *all = NULL;
    if (!mo_size_mul(bytes, (size_t) o->n_ranks, &size))
        return mo_fail_memory(err);
    *all = calloc(size + 1, 1);
    if (!*all)
        return mo_fail_memory(err);
    return o->share(o->context, own, *all, bytes, err);
}

/* Whoever has a device knows whether it is a GPU; behind them stands whether
 * one communicator for all is wanted: by one rank, then by all. */
static mo_status share_gpus(mo_nccl_p2p *nccl, bool *is_gpu, bool *safe,
                            mo_error *err)
{
    const mo_nccl_p2p_options *o = &nccl->options;
    size_t n = (size_t) o->plan->n_devices;
    char *all = NULL;
    mo_status status;

    is_gpu[n] = *safe;
    status = share(nccl, is_gpu, n + 1, &all, err);
    for (size_t d = 0; d < n && status == MO_OK; d++)
        is_gpu[d] = all[(size_t) o->rank_of[d] * (n + 1) + d] != 0;
    for (size_t r = 0; r < (size_t) o->n_ranks && status == MO_OK; r++)
        *safe |= all[r * (n + 1) + n] != 0;
    free(all);
    return status;
}

static mo_status find_lines(mo_nccl_p2p *nccl, bool safe, mo_error *err)
{
    const mo_nccl_p2p_options *o = &nccl->options;
    size_t n = (size_t) o->plan->n_devices;
    bool *is_gpu = calloc(n + 1, sizeof *is_gpu);
    mo_status status;

    if (!is_gpu)
        return mo_fail_memory(err);
    memcpy(is_gpu, o->is_gpu, n * sizeof *is_gpu);
    status = share_gpus(nccl, is_gpu, &safe, err);
    if (status == MO_OK)
        status = mo_nccl_comm_layout_compute(o->plan, o->rank_of, is_gpu,
                                             o->rank, safe, &nccl->lines, err);
    free(is_gpu);
    return status;
}

/* ----------------------------------------------------------------- secrets */

static mo_status load(mo_nccl_p2p *nccl, mo_error *err)
{
    mo_status status = mo_cuda_api_get(&nccl->driver, err);

    if (status == MO_OK)
        status = mo_nccl_api_get(&nccl->api, err);
    return status;
}

static mo_status make_secrets(mo_nccl_p2p *nccl, ncclUniqueId *ids,
                              mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < nccl->lines.n_ids && status == MO_OK; i++)
        if (nccl->lines.maker_of[i] == nccl->options.rank)
            status = mo_nccl_check(nccl->api, "ncclGetUniqueId",
                                   nccl->api->ncclGetUniqueId(&ids[i]), err);
    return status;
}

/* Who has no end of a line needs no NCCL; who has one but no NCCL says so,
 * unless it was told where there is one. */
static mo_status fill_notice(mo_nccl_p2p *nccl, notice *own, ncclUniqueId *ids,
                             mo_error *err)
{
    const char *named = getenv("MOIRAI_NCCL");
    mo_status status;

    if (nccl->lines.n_seats == 0)
        return MO_OK;
    own->has_end = 1;
    status = load(nccl, err);
    if (status != MO_OK) {
        nccl->api = NULL;
        return named && *named ? status : MO_OK;
    }
    own->version = nccl->api->version;
    return make_secrets(nccl, ids, err);
}

/* NCCL talks to its own kind only. */
static void compare_versions(mo_nccl_p2p *nccl, const char *all, size_t bytes)
{
    char here[MO_NCCL_VERSION_SIZE], there[MO_NCCL_VERSION_SIZE];
    notice first = { 0 }, other;
    int first_rank = -1;

    for (int r = 0; r < nccl->options.n_ranks && !*nccl->why_not; r++) {
        memcpy(&other, all + (size_t) r * bytes, sizeof other);
        if (!other.has_end)
            continue;
        if (first_rank < 0) {
            first = other;
            first_rank = r;
        }
        if (other.version == 0)
            snprintf(nccl->why_not, sizeof nccl->why_not,
                     "rank %d has no NCCL to use", r);
        else if (other.version != first.version)
            snprintf(nccl->why_not, sizeof nccl->why_not,
                     "rank %d has NCCL %s, but rank %d %s", r,
                     mo_nccl_version_format(other.version, there), first_rank,
                     mo_nccl_version_format(first.version, here));
    }
}

static void take_secrets(mo_nccl_p2p *nccl, const char *all, size_t bytes)
{
    for (int i = 0; i < nccl->lines.n_ids; i++) {
        size_t rank = (size_t) nccl->lines.maker_of[i];

        memcpy(&nccl->ids[i],
               all + rank * bytes + sizeof(notice) +
                   (size_t) i * sizeof *nccl->ids,
               sizeof *nccl->ids);
    }
}

static mo_status share_secrets(mo_nccl_p2p *nccl, mo_error *err)
{
    size_t bytes =
        sizeof(notice) + (size_t) nccl->lines.n_ids * sizeof(ncclUniqueId);
    char *own = calloc(bytes, 1), *all = NULL;
    notice said = { 0 };
    mo_error lacks = { 0 };
    mo_status status;

    nccl->ids = calloc((size_t) nccl->lines.n_ids + 1, sizeof *nccl->ids);
    if (!own || !nccl->ids) {
        free(own);
        return mo_fail_memory(err);
    }
    status = fill_notice(nccl, &said, nccl->ids, &lacks);
    if (status == MO_OK) {
        memcpy(own, &said, sizeof said);
        memcpy(own + sizeof said, nccl->ids, bytes - sizeof said);
        status = share(nccl, own, bytes, &all, err);
    } else if (err)
        *err = lacks;
    if (status == MO_OK && said.has_end && said.version == 0)
        snprintf(nccl->why_not, sizeof nccl->why_not, "%.250s", lacks.text);
    if (status == MO_OK) {
        compare_versions(nccl, all, bytes);
        take_secrets(nccl, all, bytes);
    }
    free(own);
    free(all);
    return status;
}

/* ----------------------------------------------------------------- a whole */

static bool is_set(const char *variable)
{
    const char *text = getenv(variable);

    return text && *text && strcmp(text, "0") != 0;
}

static mo_status read_patience(mo_nccl_p2p *nccl, mo_error *err)
{
    const char *text = getenv("MOIRAI_NCCL_PATIENCE");
    double seconds = default_patience_s;

    if (text && *text &&
        (mo_number_read_double(text, strlen(text), &seconds) != MO_NUMBER_OK ||
         !(seconds > 0) || seconds > 1e8))
        return mo_fail(err, MO_E_USAGE,
                       "MOIRAI_NCCL_PATIENCE is '%.40s'; it must be seconds",
                       text);
    nccl->patience_ns = (int64_t) (seconds * 1e9);
    return MO_OK;
}

static mo_status make_room(mo_nccl_p2p *nccl, mo_error *err)
{
    size_t n = (size_t) nccl->options.plan->n_transfers + 1;

    nccl->comms = calloc((size_t) nccl->lines.n_seats + 1, sizeof *nccl->comms);
    nccl->registered = calloc(n, sizeof *nccl->registered);
    nccl->was_tried = calloc(n, sizeof *nccl->was_tried);
    nccl->aborts = calloc(1, sizeof *nccl->aborts);
    return nccl->comms && nccl->registered && nccl->was_tried && nccl->aborts
               ? MO_OK
               : mo_fail_memory(err);
}

mo_status mo_nccl_p2p_new(const mo_nccl_p2p_options *options,
                          mo_nccl_p2p **nccl, mo_error *err)
{
    mo_nccl_p2p *n = calloc(1, sizeof *n);
    mo_status status;

    *nccl = NULL;
    if (!n)
        return mo_fail_memory(err);
    n->options = *options;
    n->n_transfers = options->plan ? options->plan->n_transfers : 0;
    n->registers = is_set("MOIRAI_NCCL_REGISTER");
    n->eager = is_set("MOIRAI_NCCL_EAGER");
    mo_nccl_carrier_init(n);
    mo_nccl_flight_recorder_init(&n->ring, options->plan, options->rank_of,
                                 options->rank);
    mo_nccl_p2p_start_run(n);
    status = read_patience(n, err);
    if (status == MO_OK)
        status = find_lines(n, is_set("MOIRAI_NCCL_SAFE"), err);
    if (status == MO_OK && n->lines.n > 0)
        status = share_secrets(n, err);
    if (status == MO_OK)
        status = make_room(n, err);
    if (status != MO_OK) {
        mo_nccl_p2p_free(n);
        return status;
    }
    *nccl = n;
    return MO_OK;
}

static void forget_memory(mo_nccl_p2p *nccl)
{
#if NCCL_VERSION_CODE >= 21900
    const mo_nccl_comm_layout *l = &nccl->lines;

    for (int t = 0; t < nccl->n_transfers; t++)
        if (nccl->registered[t]) {
            int own = l->lines[l->line_of[t]].own;

            if (nccl->comms[own].comm)
                nccl->api->ncclCommDeregister(nccl->comms[own].comm,
                                              nccl->registered[t]);
        }
#else
    (void) nccl;
#endif
}

void mo_nccl_p2p_free(mo_nccl_p2p *nccl)
{
    if (!nccl)
        return;
    if (nccl->aborts && nccl->api) {
        if (!nccl->given_up)
            forget_memory(nccl);
        mo_nccl_comms_destroy(nccl);
    } else
        free(nccl->aborts);
    mo_nccl_flight_recorder_destroy(&nccl->ring);
    mo_nccl_comm_layout_clear(&nccl->lines);
    free(nccl->ids);
    free(nccl->comms);
    free(nccl->registered);
    free(nccl->was_tried);
    free(nccl);
}

const mo_backend_carrier *mo_nccl_p2p_carrier(const mo_nccl_p2p *nccl,
                                              int transfer)
{
    return !*nccl->why_not && nccl->lines.line_of[transfer] >= 0
               ? &nccl->carrier
               : NULL;
}

int mo_nccl_p2p_n_transfers(const mo_nccl_p2p *nccl)
{
    int n = 0;

    for (int t = 0; t < nccl->options.plan->n_transfers; t++)
        n += mo_nccl_p2p_carrier(nccl, t) != NULL;
    return n;
}

const char *mo_nccl_p2p_unavailable_reason(const mo_nccl_p2p *nccl)
{
    return *nccl->why_not ? nccl->why_not : NULL;
}

void mo_nccl_p2p_start_run(mo_nccl_p2p *nccl)
{
    atomic_store(&nccl->run_began_ns, mo_stop_clock_ns());
}

void mo_nccl_p2p_add_error_context(mo_nccl_p2p *nccl, mo_error *err)
{
    mo_nccl_flight_recorder_append(&nccl->ring, err);
}
