#include <config.h>

#include "exec/thread/vote_barrier.h"

void mo_gate_init(mo_gate *gate, int n_threads)
{
    gate->n_threads = n_threads;
    atomic_init(&gate->arrived, 0);
    atomic_init(&gate->votes, 0);
    atomic_init(&gate->opened, 0);
    atomic_init(&gate->verdict, false);
    mo_bell_init(&gate->bell);
}

void mo_gate_destroy(mo_gate *gate)
{
    mo_bell_destroy(&gate->bell);
}

bool mo_gate_arrive(mo_gate *gate, bool vote, unsigned *round)
{
    *round = atomic_load(&gate->opened);
    if (vote)
        atomic_fetch_add(&gate->votes, 1);
    return atomic_fetch_add(&gate->arrived, 1) + 1 == gate->n_threads;
}

bool mo_gate_vote(mo_gate *gate)
{
    return atomic_load(&gate->votes) > 0;
}

/* Nobody can arrive for the next round before this one is opened: the counters
 * are ours until then. */
void mo_gate_open(mo_gate *gate, bool verdict)
{
    atomic_store(&gate->arrived, 0);
    atomic_store(&gate->votes, 0);
    atomic_store(&gate->verdict, verdict);
    atomic_fetch_add(&gate->opened, 1);
    mo_bell_ring(&gate->bell);
}

typedef struct passing {
    mo_gate *gate;
    mo_failure *failure;
    unsigned round;
} passing;

static bool may_go(void *context)
{
    passing *p = context;

    return atomic_load(&p->gate->opened) != p->round ||
           mo_failure_is(p->failure);
}

mo_status mo_gate_pass(mo_gate *gate, unsigned round, mo_failure *failure,
                       bool *verdict, mo_error *err)
{
    passing p = { gate, failure, round };

    mo_bell_wait(&gate->bell, may_go, &p);
    *verdict = atomic_load(&gate->verdict);
    return mo_failure_get(failure, err);
}
