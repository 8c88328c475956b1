/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/branch_and_price.h"

#include <stdlib.h>

#include "solvers/search/bound/colgen/master.h"
#include "solvers/search/bound/colgen/branching.h"
#include "solvers/search/bound/colgen/rounding.h"

/*
 * A state that prices do not refute is split into two, one assumption more in
 * each, until all are refuted, or one is left that nothing is to be assumed of,
 * or enough has been tried.
 */

enum {
    MIN_CELLS = 100,
    MAX_CELLS = 700,
    LOOK_WORK = 600000, /* so many cells may be filled in one look at prices */
    MAX_WORK = 8000000, /* beyond that in the fewest, it would take too long */
    MAX_DEVICES = 16,
    MAX_CLASSES = 128, /* each is a column of a dense program, and has rows */
    MAX_DEPTH = 64,
    MAX_STATES = 24, /* at effort 1 */
    MAX_EFFORT = 16,
    STEPS = 60,       /* to better prices of one state, ... */
    ROUNDS = 2,       /* ... and to other goods: to split soon is quicker */
    LAST_STEPS = 240, /* the same where there is nothing more to assume */
    LAST_ROUNDS = 16,
    LOOK_STEPS = 120, /* for one look at prices, without a split: what they */
    LOOK_ROUNDS = 8   /* suggest should be close to what can be */
};

#define MIDDLE 0.5

typedef struct search {
    const mo_cg_problem *c;
    mo_cg_master *master;
    mo_cg_effort effort;
    mo_cg_effort at_last; /* for states that nothing is to be assumed of */
    mo_cg_node *stack[MAX_DEPTH + MO_CG_MAX_CHILDREN];
    int n;          /* on the stack */
    int states;     /* that may still be looked at */
    int max_limits; /* assumptions on counts, of one state */
} search;

static bool may_go_on(const search *s)
{
    return s->states > 0 && s->n < MAX_DEPTH &&
           !mo_stop_reached(s->effort.stop);
}

/* What is looked at a little is split by arrivals; where these are settled, it
 * is looked at for longer, and then split by counts. */
static mo_status try_or_split(search *s, mo_cg_node *state, bool *refuted,
                              mo_cg_node **parts, int *n, mo_error *err)
{
    const mo_cg_column_pool *pool = mo_cg_master_columns(s->master);
    mo_status status =
        mo_cg_master_solve(s->master, state, &s->effort, refuted, err);

    if (status == MO_OK && !*refuted && may_go_on(s))
        status = mo_cg_branch_on_arrival(s->c, state, pool, parts, n, err);
    if (status != MO_OK || *refuted || *n > 0 || !may_go_on(s))
        return status;
    status = mo_cg_master_solve(s->master, state, &s->at_last, refuted, err);
    if (status == MO_OK && !*refuted && may_go_on(s) &&
        state->n_limits < s->max_limits)
        status = mo_cg_branch_on_cardinality(s->c, state, pool, parts, n, err);
    return status;
}

/* Takes the last state: refutes it, or puts its parts in its place.  *open is
 * set where neither could be done. */
static mo_status look(search *s, bool *open, mo_error *err)
{
    mo_cg_node *state = s->stack[--s->n];
    mo_cg_node *parts[MO_CG_MAX_CHILDREN];
    int n = 0;
    bool refuted = !mo_cg_node_propagate(s->c, state);
    mo_status status = MO_OK;

    s->states--;
    if (!refuted)
        status = try_or_split(s, state, &refuted, parts, &n, err);
    for (int i = 0; i < n; i++)
        s->stack[s->n++] = parts[i];
    *open = !refuted && n == 0;
    mo_cg_node_free(state);
    return status;
}

/* Until all is refuted, or something stays open, or that is enough for now. */
static mo_status run(search *s, int64_t steps, const mo_cg_options *options,
                     bool *done, bool *refuted, mo_error *err)
{
    int64_t before = mo_cg_master_iterations(s->master);
    bool open = false;
    mo_status status = MO_OK;

    while (s->n > 0 && !open && status == MO_OK &&
           mo_cg_master_iterations(s->master) - before <= steps)
        status = look(s, &open, err);
    *done = status != MO_OK || open || s->n == 0;
    *refuted = status == MO_OK && !open && s->n == 0;
    if (open && options->device)
        status = mo_cg_round_columns(s->c, mo_cg_master_columns(s->master),
                                     MIDDLE, options->device, options->start_ns,
                                     options->suggested, err);
    return status;
}

static int within_limits(int effort)
{
    return effort < 1 ? 1 : effort < MAX_EFFORT ? effort : MAX_EFFORT;
}

/* Ready to look at the case; with nothing on the stack where it is refuted
 * already. */
static mo_status open_search(search *s, const mo_cg_problem *c, int effort,
                             mo_error *err)
{
    mo_status status;

    *s = (search){ .c = c,
                   .effort = { STEPS, ROUNDS, NULL },
                   .at_last = { LAST_STEPS, LAST_ROUNDS, NULL },
                   .states = MAX_STATES << (effort - 1),
                   .max_limits = 2 + 2 * effort };
    status = mo_cg_node_new(c, &s->stack[0], err);
    if (status != MO_OK)
        return status;
    s->n = 1;
    if (mo_cg_node_propagate(c, s->stack[0]))
        return mo_cg_master_new(c, s->stack[0], &s->master, err);
    mo_cg_node_free(s->stack[--s->n]);
    return MO_OK;
}

static void close_search(search *s)
{
    while (s->n > 0)
        mo_cg_node_free(s->stack[--s->n]);
    mo_cg_master_free(s->master);
}

/* The more there is to look at, the coarser; 0: too much. */
static int cells_for(const mo_forkjoin *fork, const mo_cg_tree *tree)
{
    int64_t n_devices = fork->places->x->n_devices;
    int64_t work = tree->n * n_devices * n_devices; /* for each cell */
    int64_t cells = LOOK_WORK / work;

    if (work * MIN_CELLS > MAX_WORK)
        return 0;
    if (cells < MIN_CELLS)
        return MIN_CELLS;
    return cells < MAX_CELLS ? (int) cells : MAX_CELLS;
}

/* What a question needs.  *c is NULL where it is not worth asking. */
typedef struct asking {
    mo_cg_tree *tree;
    mo_cg_problem *c;
} asking;

static mo_status ask(const mo_forkjoin *fork, const mo_regime *regime, int a,
                     int b, int64_t time_ns, asking *q, mo_error *err)
{
    mo_status status;

    *q = (asking){ NULL, NULL };
    if (fork->n_classes == 0 || fork->n_classes > MAX_CLASSES ||
        fork->places->x->n_devices > MAX_DEVICES)
        return MO_OK;
    status = mo_cg_tree_new(fork, &q->tree, err);
    if (status == MO_OK && cells_for(fork, q->tree) > 0)
        status = mo_cg_problem_new(fork, q->tree, regime, a, b, time_ns,
                                   cells_for(fork, q->tree), &q->c, err);
    return status;
}

static void stop_asking(asking *q)
{
    mo_cg_problem_free(q->c);
    mo_cg_tree_free(q->tree);
}

struct mo_cg_search {
    asking asking;
    search search;
};

mo_status mo_cg_search_new(const mo_forkjoin *fork, const mo_regime *regime,
                           int a, int b, int64_t time_ns, int effort,
                           mo_cg_search **question, mo_error *err)
{
    mo_cg_search *q = calloc(1, sizeof *q);
    mo_status status;

    if (!q)
        return mo_fail_memory(err);
    status = ask(fork, regime, a, b, time_ns, &q->asking, err);
    if (status == MO_OK && q->asking.c)
        status =
            open_search(&q->search, q->asking.c, within_limits(effort), err);
    if (status == MO_OK)
        *question = q;
    else
        mo_cg_search_free(q);
    return status;
}

void mo_cg_search_free(mo_cg_search *q)
{
    if (!q)
        return;
    close_search(&q->search);
    stop_asking(&q->asking);
    free(q);
}

mo_status mo_cg_search_run(mo_cg_search *q, int64_t steps,
                           const mo_cg_options *options, bool *done,
                           bool *refuted, mo_error *err)
{
    search *s = &q->search;

    *done = true;
    *refuted = q->asking.c && s->n == 0;
    if (options->suggested)
        *options->suggested = false;
    if (s->n == 0)
        return MO_OK;
    s->effort.stop = s->at_last.stop = options->stop;
    return run(s, steps, options, done, refuted, err);
}

mo_status mo_cg_refute(const mo_forkjoin *fork, const mo_regime *regime, int a,
                       int b, int64_t time_ns, const mo_cg_options *options,
                       bool *refuted, mo_error *err)
{
    mo_cg_search *q = NULL;
    bool done;
    mo_status status =
        mo_cg_search_new(fork, regime, a, b, time_ns, options->effort, &q, err);

    *refuted = false;
    if (status == MO_OK)
        status = mo_cg_search_run(q, INT64_MAX, options, &done, refuted, err);
    mo_cg_search_free(q);
    return status;
}

/* The shared tensor comes to these devices and to no other. */
static void assume(const mo_cg_problem *c, const bool *receives,
                   mo_cg_node *state)
{
    for (int k = 0; k < c->n_devices; k++)
        if (state->fate[k] == MO_CG_ARRIVAL_UNDECIDED)
            state->fate[k] =
                receives[k] ? MO_CG_ARRIVAL_REQUIRED : MO_CG_ARRIVAL_FORBIDDEN;
}

static mo_status suggest(const mo_cg_problem *c, const bool *receives,
                         double point, const mo_stop *stop,
                         mo_decomp_solution_hint *hint, bool *suggested,
                         mo_error *err)
{
    mo_cg_effort effort = { LOOK_STEPS, LOOK_ROUNDS, stop };
    mo_cg_master *master = NULL;
    mo_cg_node *state = NULL;
    bool refuted = false;
    mo_status status = mo_cg_node_new(c, &state, err);

    if (status == MO_OK && receives)
        assume(c, receives, state);
    if (status == MO_OK && mo_cg_node_propagate(c, state)) {
        status = mo_cg_master_new(c, state, &master, err);
        if (status == MO_OK)
            status = mo_cg_master_solve(master, state, &effort, &refuted, err);
        if (status == MO_OK && !refuted)
            status = mo_cg_round_columns(c, mo_cg_master_columns(master), point,
                                         hint->device, hint->start_ns,
                                         suggested, err);
    }
    mo_cg_master_free(master);
    mo_cg_node_free(state);
    return status;
}

mo_status mo_cg_rounding_heuristic(const mo_forkjoin *fork,
                                   const mo_regime *regime, int a, int b,
                                   int64_t time_ns, const bool *receives,
                                   double point, const mo_stop *stop,
                                   mo_decomp_solution_hint *hint,
                                   bool *suggested, mo_error *err)
{
    asking q;
    mo_status status = ask(fork, regime, a, b, time_ns, &q, err);

    *suggested = false;
    if (status == MO_OK && q.c)
        status = suggest(q.c, receives, point, stop, hint, suggested, err);
    stop_asking(&q);
    return status;
}
