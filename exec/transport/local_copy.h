/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_copy.h - transfers between the devices of one process.
 *
 * A transfer is posted at its two ends by two threads and copied once both
 * have posted: by the second of them when it is small, else by an end that
 * waits for it, else by the worker thread of the receiving device. So it makes
 * progress whatever the devices compute meanwhile.
 *
 * The same transfer is posted again in every run, after both ends have awaited
 * it. Transfers to and from other processes are posted and awaited here, too;
 * the transport completes them with mo_transport_local_copy_complete().
 */
#ifndef MO_EXEC_TRANSPORT_LOCAL_COPY_H
#define MO_EXEC_TRANSPORT_LOCAL_COPY_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/thread/eventcount.h"
#include "exec/thread/first_error.h"

typedef struct mo_transport_local_copy mo_transport_local_copy;

typedef enum mo_transport_end {
    MO_TRANSPORT_SENDER,
    MO_TRANSPORT_RECEIVER
} mo_transport_end;

/* here: by device, whether it belongs to this process. server_event is notified
 * when a device starts to wait for a transfer that is not local. The plan,
 * failure and server_event outlive *copier; the caller frees it with
 * mo_transport_local_copy_free(). */
mo_status mo_transport_local_copy_new(const mo_exec_plan *plan,
                                      const bool *here, mo_first_error *failure,
                                      mo_eventcount *server_event,
                                      mo_transport_local_copy **copier,
                                      mo_error *err);
void mo_transport_local_copy_free(mo_transport_local_copy *copier);

/* Returns whether both ends are in this process. */
bool mo_transport_local_copy_is_local(const mo_transport_local_copy *copier,
                                      int transfer);

void mo_transport_local_copy_send(mo_transport_local_copy *copier, int transfer,
                                  const void *data);
void mo_transport_local_copy_receive(mo_transport_local_copy *copier,
                                     int transfer, void *data);

/* Returns MO_OK when the transfer that this end has posted is complete, or the
 * stored error. */
mo_status mo_transport_local_copy_await(mo_transport_local_copy *copier,
                                        int transfer, mo_transport_end end,
                                        mo_error *err);

/* For a transfer that is not local: marks it complete and wakes the waiters.
 * Its data is at source or target, borrowed from the thread that posted it. */
void mo_transport_local_copy_complete(mo_transport_local_copy *copier,
                                      int transfer);
const void *
mo_transport_local_copy_source(const mo_transport_local_copy *copier,
                               int transfer);
void *mo_transport_local_copy_target(const mo_transport_local_copy *copier,
                                     int transfer);

/* Returns whether the transfer that was posted last is complete at this end. */
bool mo_transport_local_copy_is_done(mo_transport_local_copy *copier,
                                     int transfer, mo_transport_end end);

/* Returns whether any device waits for a transfer right now. */
bool mo_transport_local_copy_has_waiters(mo_transport_local_copy *copier);

/* Wakes all waiting threads, after an error was stored. */
void mo_transport_local_copy_notify_all(mo_transport_local_copy *copier);

#endif
