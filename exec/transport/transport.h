/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h - transport interface: point-to-point transfers between the
 * devices of a plan, and a few collectives for control.
 *
 * A world holds the devices of a plan, some of them or all in this process. A
 * transfer is posted at both ends, in the order of the plan, and makes
 * progress once both have posted it, whatever the compute threads do; awaiting
 * one returns when its data has arrived (or, at the sender, may be
 * overwritten).
 *
 * When any rank fails, every rank gets the error: all blocking calls return an
 * error that names the failed rank and the cause, within seconds.
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

typedef struct mo_transport_world
    mo_transport_world; /* opaque: each transport casts it to its own type */

typedef struct mo_transport_world_options {
    double peer_timeout_s; /* longest silence of a peer; 0: 8 s */
    mo_rdv_launch_options
        launch; /* options of the command on the other ranks */
    /* Prints the error as the command does; NULL: plain, on stderr. Called
     * from a thread of the transport where the command itself does not report
     * it in time (it is inside a kernel, or MPI_Init): the process exits right
     * after it. */
    void (*print_fatal)(const mo_error *why);
    /* NULL, or receives messages of the rendezvous: which connection was
     * refused, and why. */
    void (*note)(const char *text);
    /* The loss of ranks other than 0 ends the plan that runs, and not the job:
     * mo_transport.reopen(). Ranks are lost after a second of silence, unless
     * peer_timeout_s or MOIRAI_PATIENCE is given. */
    bool tolerates_losses;
} mo_transport_world_options;

/* Why a plan has ended, where losses are tolerated. */
typedef struct mo_transport_loss {
    mo_error why;
    int64_t silent_ns;   /* how long the lost rank had sent nothing */
    int64_t detected_ns; /* of mo_stop_clock_ns() */
} mo_transport_loss;

typedef struct mo_transport {
    const char *name, *help;

    /* Creates the world; the transport finds out which processes there are.
     * May be called before there is a plan, so that rank 0 alone prints. The
     * caller frees *world with close. */
    mo_status (*open)(const mo_transport_world_options *options,
                      mo_transport_world **world, mo_error *err);
    /* Disconnects from all others and frees the world (NULL is allowed). Waits
     * until all others do the same; if one of them fails meanwhile, the error
     * is printed by print_fatal and the process exits with status 1. After a
     * failure it does not wait. */
    void (*close)(mo_transport_world *world);

    /* Rank 0, by the opening thread: returns MO_OK when all others have done
     * their part and wait in close, or the stored error. Results that it
     * publishes after that are not followed by a failure of another rank: tcp
     * does not report one any more. The others still end with the error if
     * this rank calls fail. NULL member: nothing to wait for. */
    mo_status (*settle)(mo_transport_world *world, mo_error *err);

    /* With tolerates_losses: returns whether the stored error is a loss that
     * this rank survives, and fills *loss, which may be NULL. NULL member: no
     * loss is tolerated. */
    bool (*loss)(mo_transport_world *world, mo_transport_loss *loss);

    /* Collective of the ranks that are left, after such a loss and by the
     * opening thread, when no plan runs: opens a world of them, in their order,
     * with rank 0. It is as after open; the caller closes both. *world is NULL
     * where rank 0 needs this rank no more. Survives the loss of further ranks
     * meanwhile. */
    mo_status (*reopen)(mo_transport_world *lost,
                        const mo_transport_world_options *options,
                        mo_transport_world **world, mo_error *err);

    /* Returns the number that a rank had before any was lost. NULL member:
     * its own. */
    int (*origin)(const mo_transport_world *world, int rank);

    /* Number of ranks, and the rank of this process; 1 and 0 for local. */
    int (*n_ranks)(const mo_transport_world *world);
    int (*rank)(const mo_transport_world *world);

    /* Backends of the devices of the plan that begins next; for devices of
     * other ranks they need not be right. NULL member: not needed. */
    mo_status (*set_backends)(mo_transport_world *world,
                              const mo_backend *const *backends, int n_devices,
                              mo_error *err);

    /* Prepares a plan: transfers may be posted from here on. Device d belongs
     * to rank rank_of[d]; n_threads of this process drive its devices and
     * arrive at the barrier (0: one for each device, or one where there is
     * none). Every rank has to pass the same plan, which digest checks. Only
     * the transfers and the device names of the plan are used; both outlive
     * the last transfer. May be called again, between plans. */
    mo_status (*begin)(mo_transport_world *world, const mo_exec_plan *plan,
                       const int *rank_of, int n_threads, uint64_t digest,
                       mo_error *err);

    /* Returns the carrier that does this transfer between separate memories,
     * in stream order: then send, receive and wait are not called for it.
     * NULL, or no such member: none does. From begin on. */
    const mo_backend_carrier *(*carrier)(mo_transport_world *world,
                                         int transfer);

    /* Post a transfer at the sender or receiver, and wait for it; data stays
     * owned by the caller and valid until the wait returns. From any thread
     * that runs a device of this rank. */
    mo_status (*send)(mo_transport_world *world, int transfer, const void *data,
                      mo_error *err);
    mo_status (*receive)(mo_transport_world *world, int transfer, void *data,
                         mo_error *err);
    mo_status (*wait)(mo_transport_world *world, int transfer, bool sending,
                      mo_error *err);

    /* Returns whether a posted transfer is complete at this end: wait would
     * return at once. NULL member: it is not known. */
    bool (*is_done)(mo_transport_world *world, int transfer, bool sending);

    /* Barrier over all devices of all ranks; each calls it once per run,
     * between runs only. *stop in: this device wants no further run; out: any
     * does. A rank without a device calls it once, too. */
    mo_status (*barrier)(mo_transport_world *world, bool *stop, mo_error *err);

    /* Returns what to add to the clock of this process (mo_stop_clock_ns) to
     * get that of rank 0; known from begin on. */
    int64_t (*clock_offset_ns)(const mo_transport_world *world);

    /* The opening thread makes progress for the n_threads that run its devices
     * until each of them has called leave. Returns the stored error, or
     * MO_OK. */
    mo_status (*serve)(mo_transport_world *world, int n_threads, mo_error *err);
    void (*leave)(mo_transport_world *world);

    /* Called by the opening thread, not during serve: sends the buffer of rank
     * from to rank 0 (data is read there, written here; sizes agree). */
    mo_status (*collect)(mo_transport_world *world, int from, void *data,
                         size_t bytes, mo_error *err);

    /* Broadcast: the buffer of rank 0 to all others. */
    mo_status (*broadcast)(mo_transport_world *world, void *data, size_t bytes,
                           mo_error *err);

    /* Reports that this rank fails, and why, to all ranks; from any thread.
     * The first error counts. A command calls it before it prints an error and
     * exits: from then on the transport prints nothing for this process. */
    void (*fail)(mo_transport_world *world, const mo_error *why);

    /* Returns the name of the path that values have taken since begin, for
     * reports; a static string. NULL member: the name of the transport. */
    const char *(*describe)(const mo_transport_world *world);

    /* Returns the name of the path of a transfer of the last plan that has
     * begun, between any two ranks: "local" within a process, "shm" by shared
     * memory, or the name of a transport; a static string. NULL member:
     * "local". */
    const char *(*path)(const mo_transport_world *world, int transfer);
} mo_transport;

extern const mo_transport mo_transport_local;
extern const mo_transport mo_transport_tcp;
#ifdef HAVE_MPI
extern const mo_transport mo_transport_mpi;
#endif
#ifdef HAVE_NCCL
extern const mo_transport mo_transport_nccl; /* tcp with a carrier */
#endif

/* Ends with NULL. */
extern const mo_transport *const mo_transport_table[];

/* Selects a transport: by name, or for NULL by the launch options and the
 * environment. A launcher such as mpirun or srun that has started several
 * processes: mpi, where it is built in; else several ranks: nccl, or where
 * that is not built in tcp; else local. */
mo_status mo_transport_select_with(const char *name,
                                   const mo_rdv_launch_options *launch,
                                   const mo_transport **transport,
                                   mo_error *err);

/* The same without launch options. */
mo_status mo_transport_select(const char *name, const mo_transport **transport,
                              mo_error *err);

#endif
