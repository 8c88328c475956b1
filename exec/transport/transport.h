/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h - how values get from device to device.
 *
 * A world holds the devices of a plan, some of them or all in this process.
 * Transfers are begun at both ends, in the order of the plan, and go on by
 * themselves once both have begun, whatever the compute threads do; awaiting
 * one returns when its data is there (or may be overwritten, at the sender).
 *
 * When anything fails anywhere, everybody is told: all waiting calls return an
 * error that says who failed and why, within seconds.
 */
#ifndef MO_EXEC_TRANSPORT_TRANSPORT_H
#define MO_EXEC_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/backend.h"
#include "exec/plan/ir/plan.h"
#include "exec/transport/rendezvous/launcher.h"

typedef struct mo_transport_world mo_transport_world; /* each transport's own */

typedef struct mo_transport_world_options {
    double patience_s; /* how long a silent peer is waited for; 0: 8 s */
    mo_rdv_launch_options
        launch; /* what the command was told of the other ranks */
    /* Prints the error as the command does; NULL: plain, on stderr.  Called
     * from a thread of the transport where the command itself cannot speak in
     * time (it is in the middle of a kernel, or of MPI_Init): the process ends
     * right behind it. */
    void (*last_words)(const mo_error *why);
    /* NULL, or told what goes on while ranks meet: who was refused, and why. */
    void (*note)(const char *text);
} mo_transport_world_options;

typedef struct mo_transport {
    const char *name, *help;

    /* Which processes there are is known to the transport.  May be called
     * before there is a plan, so that rank 0 alone talks. */
    mo_status (*open)(const mo_transport_world_options *options,
                      mo_transport_world **world, mo_error *err);
    /* Says good-bye and waits until all others do.  Should one of them fail
     * meanwhile, its name goes into the last words and the process ends with
     * status 1.  After a failure nobody is waited for. */
    void (*close)(mo_transport_world *world);

    /* Ranks, and which is ours; 1 and 0 for local. */
    int (*n_ranks)(const mo_transport_world *world);
    int (*rank)(const mo_transport_world *world);

    /* What the devices of the plan that begins next run with; of those of other
     * ranks it need not be right.  No such member: it does not matter. */
    mo_status (*announce)(mo_transport_world *world,
                          const mo_backend *const *backends, int n_devices,
                          mo_error *err);

    /* From here on transfers may begin.  Device d belongs to rank rank_of[d];
     * n_threads of this process drive its devices and come to the barrier (0:
     * one for each device, or one where there is none).  Every rank must bring
     * the same plan: digest tells.  Of the plan only its transfers and the
     * names of its devices are looked at; both must outlive the last transfer.
     * May be called again, between plans. */
    mo_status (*begin)(mo_transport_world *world, const mo_exec_plan *plan,
                       const int *rank_of, int n_threads, uint64_t digest,
                       mo_error *err);

    /* Who carries this transfer of the plan between memories apart, in the
     * units' own order: then send, receive and await are not called for it.
     * NULL, or no such member: nobody does.  From begin on. */
    const mo_backend_carrier *(*carrier)(mo_transport_world *world,
                                         int transfer);

    /* From any thread that runs a device of this rank. */
    mo_status (*send)(mo_transport_world *world, int transfer, const void *data,
                      mo_error *err);
    mo_status (*receive)(mo_transport_world *world, int transfer, void *data,
                         mo_error *err);
    mo_status (*await)(mo_transport_world *world, int transfer, bool sending,
                       mo_error *err);

    /* All devices of all ranks; called by each of them once per run, between
     * runs only.  *stop: whether this one wants no further run; and, at the
     * end, whether any does.  A rank without a device calls it once, too. */
    mo_status (*barrier)(mo_transport_world *world, bool *stop, mo_error *err);

    /* What to add to this process's clock (mo_stop_clock_ns) to have that of
     * rank 0; known from begin on. */
    int64_t (*clock_offset_ns)(const mo_transport_world *world);

    /* The thread that opened the world works for the n_threads that run its
     * devices until each of them has called leave.  Returns the failure, if
     * there was one. */
    mo_status (*serve)(mo_transport_world *world, int n_threads, mo_error *err);
    void (*leave)(mo_transport_world *world);

    /* The thread that opened the world, while it does not serve: the bytes of
     * rank from, to rank 0 (data is read there, written here; sizes agree). */
    mo_status (*collect)(mo_transport_world *world, int from, void *data,
                         size_t bytes, mo_error *err);

    /* The same the other way: the bytes of rank 0, to all others. */
    mo_status (*spread)(mo_transport_world *world, void *data, size_t bytes,
                        mo_error *err);

    /* Tells everybody that this rank cannot go on, and why; from any thread.
     * What failed first counts.  A command calls it before it prints an error
     * and leaves, whoever's it was: from then on nobody else speaks for this
     * process. */
    void (*fail)(mo_transport_world *world, const mo_error *why);

    /* How values have travelled since begin, for reports.  No such member: as
     * the name says. */
    const char *(*say)(const mo_transport_world *world);
} mo_transport;

extern const mo_transport mo_transport_local;
extern const mo_transport mo_transport_tcp;
#ifdef HAVE_MPI
extern const mo_transport mo_transport_mpi;
#endif
#ifdef HAVE_NCCL
extern const mo_transport mo_transport_nccl; /* tcp, and a carrier of its own */
#endif

/* Ends with NULL. */
extern const mo_transport *const mo_transport_table[];

/* The one to use: by name, or NULL for what we were told and what the
 * environment says.  A launcher such as mpirun or srun that has started several
 * processes: mpi, where it is built in; else several ranks: nccl, or where that
 * is not built in tcp. */
mo_status mo_transport_select_with(const char *name,
                                   const mo_rdv_launch_options *told,
                                   const mo_transport **transport,
                                   mo_error *err);

/* For whoever was told nothing. */
mo_status mo_transport_select(const char *name, const mo_transport **transport,
                              mo_error *err);

#endif
