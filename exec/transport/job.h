/*
 * ranks.h - one process among the ranks of a job: what every transport between
 * processes keeps and does, however values travel.
 */
#ifndef MO_EXEC_TRANSPORT_JOB_H
#define MO_EXEC_TRANSPORT_JOB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/plan/plan.h"
#include "exec/transport/process.h"
#include "exec/transport/rendezvous/mesh.h"
#include "exec/transport/transport.h"
#include "exec/transport/failure_detector.h"

/* Adds to what the watch has found, from its thread. */
typedef void mo_ranks_explainer(void *context, mo_error *why);

typedef struct mo_ranks {
    mo_inside inside;
    mo_watch *watch;
    pthread_t opener;
    double patience_s;
    int rank, n_ranks;
    mo_card *cards; /* by rank */

    mo_ranks_explainer *_Atomic explain; /* or NULL */
    void *explainer;

    const mo_plan *plan; /* from begin on */
    int *rank_of;        /* by device */
    int64_t clock_offset_ns;
} mo_ranks;

/* To be destroyed in any case. */
mo_status mo_ranks_init(mo_ranks *ranks, const mo_world_options *options,
                        mo_error *err);
void mo_ranks_destroy(mo_ranks *ranks);

/* Begins to watch; the others must be there within seconds, or missing says
 * who is not. */
mo_status mo_ranks_watch(mo_ranks *ranks, const mo_world_options *options,
                         double seconds,
                         void (*missing)(void *ranks, mo_error *why),
                         mo_error *err);

/* Connections to all others are there, which the watch owns from here on; cards
 * are, too. */
mo_status mo_ranks_connected(mo_ranks *ranks, const int *sockets,
                             mo_error *err);

/* From here on. */
void mo_ranks_explain(mo_ranks *ranks, mo_ranks_explainer *explain,
                      void *context);

/* As the transport's. */
void mo_ranks_fail(mo_ranks *ranks, const mo_error *why);

/* When opening has failed. */
void mo_ranks_give_up(mo_ranks *ranks, const mo_error *why);

/* Says good-bye and returns when all others have; false after a failure, of
 * which somebody else speaks. */
bool mo_ranks_part(mo_ranks *ranks);

/* Looks at the plan, keeps it, and opens the inside for it. */
mo_status mo_ranks_begin(mo_ranks *ranks, const mo_plan *plan,
                         const int *rank_of, int n_threads, mo_error *err);
void mo_ranks_forget_plan(mo_ranks *ranks);

/* other: the first rank whose plan is not that of rank 0. */
mo_status mo_ranks_blame(const mo_ranks *ranks, int other, mo_error *err);

/* A number there and back: whoever is first asks with any, and has the other's
 * clock (mo_stop_clock_ns) at the end. */
typedef mo_status mo_ranks_swap(mo_world *world, int peer, bool first,
                                int64_t *number, mo_error *err);

/* How far our clock is from that of rank 0; called by all. */
mo_status mo_ranks_compare_clocks(mo_ranks *ranks, mo_ranks_swap *swap,
                                  mo_world *world, mo_error *err);

#endif
