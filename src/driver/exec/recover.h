/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recover.h - recovery of a stream of requests from the loss of ranks
 * (--on-loss replan).
 *
 * A stream is a sequence of epochs, each an ordinary job of the ranks that are
 * left. Between two of them the survivors join anew, rank 0 places the network
 * on their devices, and all plan that placement. Processes, files of weights
 * and computed constants stay.
 */
#ifndef MO_DRIVER_EXEC_RECOVER_H
#define MO_DRIVER_EXEC_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "driver/exec/device_units.h"
#include "driver/exec/exec_job.h"
#include "driver/exec/exec_options.h"
#include "exec/transport/transport.h"
#include "report/throughput.h"

typedef struct mo_exec_recovery {
    mo_exec_options *options;
    int64_t in_flight; /* as given; 0: by the placement */
    const mo_transport *transport;
    mo_transport_world_options world_options;
    mo_transport_world **world; /* replaced by recoveries */
    /* The one before it, whose connections close later: a rank that is stopped
     * still finds the message there that it is lost. NULL: none. */
    mo_transport_world *before;
    mo_exec_job *job;
    mo_exec_units *units;
    bool *is_lost;                      /* by device; NULL: none yet */
    bool is_over;                       /* rank 0 needs this rank no more */
    mo_report_throughput_recovery *all; /* with owned texts */
    int n;
} mo_exec_recovery;

/* Fail with MO_E_SUPPORT where the job cannot survive a loss: by its transport;
 * because it is a workload, or runs batches. */
mo_status mo_exec_recovery_check_transport(const mo_transport *transport,
                                           mo_error *err);
mo_status mo_exec_recovery_check(const mo_exec_recovery *r, mo_error *err);

/* Returns whether the run of requests has failed for a loss that this rank
 * survives. */
bool mo_exec_recovery_is_due(const mo_exec_recovery *r);

/* Collective of the ranks that are left, after such a failure: replaces the
 * world, the placement and plan of the job, and the ranks of units. Requests
 * from next on run again, of which so many were in flight. Survives further
 * losses meanwhile. *is_over as above: then nothing is replaced. The old plan
 * is freed. */
mo_status mo_exec_recover(mo_exec_recovery *r, int64_t next, int64_t in_flight,
                          mo_error *err);

/* Frees the members; the world is the caller's. */
void mo_exec_recovery_clear(mo_exec_recovery *r);

/* recover_place.c */

/* Places the network of the job on the devices that are not lost, beginning
 * with its placement; device: by op, the result. Fails with MO_E_INFEASIBLE and
 * the bytes that are missing. */
mo_status mo_exec_recover_place(const mo_exec_job *job, const bool *is_lost,
                                int *device, mo_error *err);

/* Decoder of a placement that rank 0 sends: fails unless each op has a device,
 * one that is not lost. */
mo_status mo_exec_decode_placement(const int32_t *sent, int n_ops,
                                   int n_devices, const bool *is_lost,
                                   int *device, mo_error *err);

#endif
