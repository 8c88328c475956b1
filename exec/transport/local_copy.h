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
 * and done by whoever calls mo_post_done.
 */
#ifndef MO_EXEC_TRANSPORT_LOCAL_COPY_H
#define MO_EXEC_TRANSPORT_LOCAL_COPY_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/plan.h"
#include "exec/thread/eventcount.h"
#include "exec/thread/first_error.h"

typedef struct mo_post mo_post;

typedef enum mo_end { MO_SENDER, MO_RECEIVER } mo_end;

/* here: by device, whether it is of this process.  server is rung when somebody
 * begins to wait for a transfer that is not local. */
mo_status mo_post_new(const mo_plan *plan, const bool *here,
                      mo_failure *failure, mo_bell *server, mo_post **post,
                      mo_error *err);
void mo_post_free(mo_post *post);

/* Are both ends in this process? */
bool mo_post_is_local(const mo_post *post, int transfer);

void mo_post_send(mo_post *post, int transfer, const void *data);
void mo_post_receive(mo_post *post, int transfer, void *data);

/* Returns when the transfer that this end has begun is done; or the failure. */
mo_status mo_post_await(mo_post *post, int transfer, mo_end end, mo_error *err);

/* Of one that is not local: it is done.  Its data is where it was begun. */
void mo_post_done(mo_post *post, int transfer);
const void *mo_post_source(const mo_post *post, int transfer);
void *mo_post_target(const mo_post *post, int transfer);

/* Is any device waiting right now? */
bool mo_post_is_awaited(mo_post *post);

/* After a failure: all who wait look again. */
void mo_post_wake(mo_post *post);

#endif
