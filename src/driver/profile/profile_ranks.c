/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/profile/profile_ranks.h"

#include <stdio.h>

/* Callback of a transport thread that ends the process while the command is
 * blocked. */
static void log_last_error(const mo_error *why)
{
    char text[MO_ERROR_FILE_SIZE + MO_ERROR_TEXT_SIZE + 16];

    fprintf(stderr, "moirai-profile: %s\n",
            mo_error_format(why, text, sizeof text));
}

/* Logs a rejected rank while the rendezvous goes on. */
static void log_note(const char *text)
{
    fprintf(stderr, "moirai-profile: %s\n", text);
}

mo_status mo_profiler_ranks_open(mo_profiler_options *o,
                                 mo_profiler_ranks *ranks, mo_error *err)
{
    mo_transport_world_options options = { .print_fatal = log_last_error,
                                           .note = log_note };
    mo_status status =
        mo_launch_options_read(&o->job, options.note, &options.launch, err);

    if (status == MO_OK)
        status = mo_transport_select_with(o->transport, &options.launch,
                                          &ranks->transport, err);
    if (status == MO_OK)
        status = ranks->transport->open(&options, &ranks->world, err);
    if (status == MO_OK) {
        ranks->rank = ranks->transport->rank(ranks->world);
        ranks->n_ranks = ranks->transport->n_ranks(ranks->world);
    }
    return status;
}

void mo_profiler_ranks_close(mo_profiler_ranks *ranks, mo_status status,
                             const mo_error *err)
{
    const mo_error unknown = { .status = status };

    if (!ranks->world)
        return;
    if (status != MO_OK)
        ranks->transport->fail(ranks->world, err ? err : &unknown);
    ranks->transport->close(ranks->world);
    ranks->world = NULL;
}

mo_status mo_profiler_ranks_check_same(const mo_profiler_ranks *ranks,
                                       uint64_t digest, mo_error *err)
{
    uint64_t first = digest;
    mo_status status =
        mo_profiler_ranks_broadcast(ranks, &first, sizeof first, err);

    if (status != MO_OK || first == digest)
        return status;
    return mo_fail(err, MO_E_INPUT,
                   "rank %d measures another graph or cluster than rank 0: "
                   "give all ranks the same files and options",
                   ranks->rank);
}

mo_status mo_profiler_ranks_collect(const mo_profiler_ranks *ranks, int from,
                                    void *data, size_t bytes, mo_error *err)
{
    if (from == 0 || (ranks->rank != from && ranks->rank != 0))
        return MO_OK;
    return ranks->transport->collect(ranks->world, from, data, bytes, err);
}

mo_status mo_profiler_ranks_broadcast(const mo_profiler_ranks *ranks,
                                      void *data, size_t bytes, mo_error *err)
{
    if (ranks->n_ranks == 1 || bytes == 0)
        return MO_OK;
    return ranks->transport->broadcast(ranks->world, data, bytes, err);
}

mo_status mo_profiler_ranks_broadcast_flags(const mo_profiler_ranks *ranks,
                                            bool *flags, size_t n,
                                            mo_error *err)
{
    unsigned char *bytes = (unsigned char *) flags;
    mo_status status = mo_profiler_ranks_broadcast(ranks, bytes, n, err);

    for (size_t i = 0; i < n && status == MO_OK; i++)
        if (bytes[i] > 1)
            status = mo_fail(err, MO_E_IO,
                             "rank 0 sends a flag of value %d: use the same "
                             "moirai everywhere",
                             bytes[i]);
    return status;
}
