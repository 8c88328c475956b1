#include "solvers/search/fork_timed.h"

#include <stdlib.h>

#include "solvers/search/timed_master.h"
#include "solvers/search/timed_split.h"
#include "solvers/search/timed_suggest.h"

/*
 * A state that prices do not refute is split into two, one assumption more in
 * each, until all are refuted, or one is left that nothing is to be assumed of,
 * or enough has been tried.
 */

enum {
    CELLS = 450,
    MAX_DEPTH = 64,
    MAX_NODES = 80, /* states, at effort 1 */
    STEPS = 60,     /* at effort 1, to better prices of one state */
    ROUNDS = 4,
    MAX_DEVICES = 16, /* beyond these it would take too long */
    MAX_WORK = 4000000
};

typedef struct search {
    const mo_timed_case *c;
    mo_timed_master *master;
    mo_timed_effort effort;
    mo_timed_state *stack[MAX_DEPTH + MO_TIMED_MAX_PARTS];
    int n;     /* on the stack */
    int nodes; /* that may still be looked at */
} search;

/* Takes the last state: refutes it, or puts its parts in its place.  *open is
 * set where neither could be done. */
static mo_status look(search *s, bool *open, mo_error *err)
{
    mo_timed_state *state = s->stack[--s->n];
    mo_timed_state *parts[MO_TIMED_MAX_PARTS];
    int n = 0;
    bool refuted = !mo_timed_state_narrow(s->c, state);
    mo_status status = MO_OK;

    if (!refuted)
        status =
            mo_timed_master_try(s->master, state, &s->effort, &refuted, err);
    s->nodes--;
    if (status == MO_OK && !refuted && s->nodes > 0 && s->n < MAX_DEPTH &&
        !mo_stop_now(s->effort.stop))
        status = mo_timed_split(s->c, state, mo_timed_master_pool(s->master),
                                parts, &n, err);
    for (int i = 0; i < n; i++)
        s->stack[s->n++] = parts[i];
    *open = !refuted && n == 0;
    mo_timed_state_free(state);
    return status;
}

static mo_status run(search *s, const mo_timed_options *options, bool *refuted,
                     mo_error *err)
{
    bool open = false;
    mo_status status = MO_OK;

    while (s->n > 0 && !open && status == MO_OK)
        status = look(s, &open, err);
    *refuted = status == MO_OK && !open;
    if (open && options->device)
        status = mo_timed_suggest(s->c, mo_timed_master_pool(s->master),
                                  options->device, options->start_ns,
                                  options->suggested, err);
    return status;
}

static mo_status refute(const mo_timed_case *c, const mo_timed_options *options,
                        bool *refuted, mo_error *err)
{
    int effort = options->effort > 1 ? options->effort : 1;
    search s = { .c = c,
                 .effort = { STEPS * effort, ROUNDS * effort, options->stop },
                 .nodes = MAX_NODES * effort };
    mo_status status = mo_timed_state_new(c, &s.stack[0], err);

    if (status != MO_OK)
        return status;
    s.n = 1;
    *refuted = !mo_timed_state_narrow(c, s.stack[0]);
    if (!*refuted) {
        status = mo_timed_master_new(c, s.stack[0], &s.master, err);
        if (status == MO_OK)
            status = run(&s, options, refuted, err);
    }
    while (s.n > 0)
        mo_timed_state_free(s.stack[--s.n]);
    mo_timed_master_free(s.master);
    return status;
}

mo_status mo_fork_timed(const mo_fork *fork, const mo_regime *regime, int a,
                        int b, int64_t time_ns, const mo_timed_options *options,
                        bool *refuted, mo_error *err)
{
    mo_timed_tree *tree = NULL;
    mo_timed_case *c = NULL;
    mo_status status;

    *refuted = false;
    if (options->suggested)
        *options->suggested = false;
    if (fork->n_classes == 0 || fork->places->x->n_devices > MAX_DEVICES)
        return MO_OK;
    status = mo_timed_tree_make(fork, &tree, err);
    if (status == MO_OK)
        status = mo_timed_case_make(fork, tree, regime, a, b, time_ns, CELLS,
                                    &c, err);
    if (status == MO_OK && c)
        status = refute(c, options, refuted, err);
    mo_timed_case_free(c);
    mo_timed_tree_free(tree);
    return status;
}
