/* SPDX-License-Identifier: Apache-2.0 */
/*
 * post.h - transfers between the devices of one process.
 *
 * A transfer is begun at its two ends by two threads and copied once both have
 * begun: by the second of them when it is small, else by whichever end waits
 * for it, else by the courier of the receiving device, a thread that sleeps
 * most of the time.  So it goes on whatever the devices compute meanwhile.
 *
 * The same transfer is begun again in every run, after both ends have awaited
 * it.  Transfers to and from other processes are begun and awaited here, too,
 * and done by whoever calls mo_transport_local_copy_complete.
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

/* here: by device, whether it is of this process.  server is rung when somebody
 * begins to wait for a transfer that is not local. */
mo_status mo_transport_local_copy_new(const mo_exec_plan *plan,
                                      const bool *here, mo_first_error *failure,
                                      mo_eventcount *server,
                                      mo_transport_local_copy **post,
                                      mo_error *err);
void mo_transport_local_copy_free(mo_transport_local_copy *post);

/* Are both ends in this process? */
bool mo_transport_local_copy_is_local(const mo_transport_local_copy *post,
                                      int transfer);

void mo_transport_local_copy_send(mo_transport_local_copy *post, int transfer,
                                  const void *data);
void mo_transport_local_copy_receive(mo_transport_local_copy *post,
                                     int transfer, void *data);

/* Returns when the transfer that this end has begun is done; or the failure. */
mo_status mo_transport_local_copy_await(mo_transport_local_copy *post,
                                        int transfer, mo_transport_end end,
                                        mo_error *err);

/* Of one that is not local: it is done.  Its data is where it was begun. */
void mo_transport_local_copy_complete(mo_transport_local_copy *post,
                                      int transfer);
const void *mo_transport_local_copy_source(const mo_transport_local_copy *post,
                                           int transfer);
void *mo_transport_local_copy_target(const mo_transport_local_copy *post,
                                     int transfer);

/* Is any device waiting right now? */
bool mo_transport_local_copy_has_waiters(mo_transport_local_copy *post);

/* After a failure: all who wait look again. */
void mo_transport_local_copy_notify_all(mo_transport_local_copy *post);

#endif
