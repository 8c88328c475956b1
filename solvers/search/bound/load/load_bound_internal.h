/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork_fast_parts.h - the parts of the fast bound, and what they share.
 *
 * Where u's shared tensor reaches one device after the other, its arrivals cut
 * the time from u's end, T0, to v's start, J, into stages:
 *
 *     T0 ---- T1 ---- T2 ---------------- J
 *     u ends  the tensor is on            v can start
 *             one device, on another
 *
 * A pattern is a device and a stage, the one in which it starts, for each op of
 * a branch.  However a fork is scheduled, its branches follow patterns, and
 * each resource (a device, a port) is busy with the sum of what they put there.
 * A row says of one resource and two of these moments:
 *
 *     Tj - Ti >= base + the time of all that uses it between the two
 *
 * and, of those between T0 and J, only what is not too near to either.  Whole
 * weights z >= 0 of the rows, of which at no Ti more end than begin and of
 * which Z end at J, give
 *
 *     Z J >= sum of z base + for each branch, its pattern of least price,
 *
 * whatever the weights: a linear program chooses them, in floating point, and
 * then they are rounded and the right side is computed without any error.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_LOAD_LOAD_BOUND_INTERNAL_H
#define MO_SOLVERS_SEARCH_BOUND_LOAD_LOAD_BOUND_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/bound/forkjoin/fork_join.h"

enum { MO_LOAD_MAX_ARRIVALS = 8 }; /* devices in an order, at most */

#define MO_LOAD_INFINITY (INT64_MAX / 4)

typedef struct mo_load_op {
    int reader; /* among all ops; MO_FREE: v or nobody */
    int row, u_row;
    bool reads_shared; /* u_row is of the shared tensor */
    int count;         /* of such branches */
} mo_load_op;

/* The devices that u's shared tensor is sent to, in the order in which they get
 * it.  Open: and then to others, nobody knows which. */
typedef struct mo_load_arrival_order {
    int n;
    int device[MO_LOAD_MAX_ARRIVALS];
    bool open;
} mo_load_arrival_order;

/* Something that takes time of a resource. */
typedef struct mo_load_item {
    int64_t head_ns, tail_ns; /* before it and behind it, at least */
    int64_t ns;
} mo_load_item;

/* A fork with u on a and v on b, and of each class one branch. */
typedef struct mo_load_problem {
    const mo_instance *x;
    mo_congestion congestion;
    int a, b;
    int shared_row;
    int n, n_devices;
    mo_load_op *ops;  /* by class, each behind those that it reads */
    int n_groups;     /* classes; those with few ops together are one */
    int *group_start; /* of its ops; n_groups + 1 */
    int64_t *p_ns;    /* by op and device; MO_LOAD_INFINITY: not there */
    int64_t weights;  /* Z at most: no sum of prices overflows */
    int64_t limit_ns; /* only schedules in which J is not more count */

    /* With the order that is being looked at: */
    mo_load_arrival_order order;
    bool *denied;          /* by op and device: too late for the limit */
    bool denies;           /* there are such */
    int *rank;             /* by device: its place in the order, or -1 */
    int64_t *sent_ns;      /* by rank: for how long the tensor is sent */
    int64_t *arrival_ns;   /* by device: when it is there, at the earliest */
    int64_t *head_ns;      /* by op and device: from u's end to its start;
                              MO_LOAD_INFINITY: not there */
    int64_t *tail_ns;      /* from its end to v's start */
    int64_t *least_end_ns; /* by rank: from the end of an op that reads the
                              tensor there to v's start */
    int64_t *after_ns;     /* by moment: when it is, at least */
    int64_t *left_ns;      /* by moment: at least, to v's start */
    signed char *first_stage, *last_stage; /* by op and device: in which it may
                                              start */
    mo_load_item
        shared[MO_LOAD_MAX_ARRIVALS]; /* by rank: the tensor's transfer */
    int64_t path_ns; /* what the longest branch takes all alone */
} mo_load_problem;

mo_status mo_load_problem_init(mo_load_problem *f, const mo_forkjoin *fork,
                               const mo_regime *regime, int a, int b,
                               mo_error *err);
void mo_load_problem_clear(mo_load_problem *f);
void mo_load_set_arrival_order(mo_load_problem *f,
                               const mo_load_arrival_order *order);

static inline int mo_load_op_device(const mo_load_problem *f, int op,
                                    int device)
{
    return op * f->n_devices + device;
}

static inline bool mo_load_can_run(const mo_load_problem *f, int op, int device)
{
    return f->head_ns[mo_load_op_device(f, op, device)] < MO_LOAD_INFINITY;
}

/* What sending an op's output takes. */
int64_t mo_load_transfer_ns(const mo_load_problem *f, int op, int from, int to);

/* An op that runs, its output on the way to its reader, and what it reads of u
 * on the way to it; a read of the shared tensor, or of what is there already,
 * takes no time. */
mo_load_item mo_load_item_compute(const mo_load_problem *f, int op, int device);
mo_load_item mo_load_item_transfer(const mo_load_problem *f, int op, int from,
                                   int to);
mo_load_item mo_load_item_input(const mo_load_problem *f, int op, int device);

/* Resources are numbered: devices first, then those of schedule/resource.h. */
int mo_load_n_resources(const mo_load_problem *f);

/* Of moments from and until: 0 is T0, order.n + 1 is J. */
typedef struct mo_load_row {
    int resource;
    int from, until;
    int64_t head_ns, tail_ns; /* of what is counted, at least; 0 where from is
                                 not T0 and until is not J */
    int64_t base_ns;
} mo_load_row;

static inline int mo_load_last_event(const mo_load_problem *f)
{
    return f->order.n + 1;
}

typedef struct mo_load_rows {
    mo_load_row *rows;
    size_t n, room;
} mo_load_rows;

/* The rows to begin with. */
mo_status mo_load_rows_init(const mo_load_problem *f, mo_load_rows *rows,
                            mo_error *err);

/* Another; its base is filled in. */
mo_status mo_load_rows_add(const mo_load_problem *f, mo_load_rows *rows,
                           mo_load_row row, mo_error *err);
int64_t mo_load_row_base_ns(const mo_load_problem *f, const mo_load_row *row);

/* Rows by resource, in lists. */
typedef struct mo_load_row_index {
    int *first; /* by resource: a row, or -1 */
    int *next;  /* by row */
} mo_load_row_index;

/* Room for that many rows. */
mo_status mo_load_row_index_new(const mo_load_problem *f, size_t n_rows,
                                mo_load_row_index *index, mo_error *err);
void mo_load_row_index_free(mo_load_row_index *index);
/* Lists those with a weight, or, where weight is NULL, all. */
void mo_load_row_index_fill(const mo_load_problem *f, mo_load_row_index *index,
                            const mo_load_rows *rows, const int64_t *weight);

/* By op of a group's branches. */
typedef struct mo_load_pattern {
    int group;
    int *device;
    int *stage; /* the last moment that its start is not before */
} mo_load_pattern;

/* Patterns that were found, the oldest first. */
typedef struct mo_load_pattern_pool {
    mo_load_pattern *patterns;
    size_t n, room;
} mo_load_pattern_pool;

/* Keeps a copy. */
mo_status mo_load_pattern_pool_add(const mo_load_problem *f,
                                   mo_load_pattern_pool *pool,
                                   const mo_load_pattern *pattern,
                                   mo_error *err);

/* Forgets the oldest, until at most that many are left. */
void mo_load_pattern_pool_trim(mo_load_pattern_pool *pool, size_t most);

/* Whether a pattern can be followed in the order that is being looked at.
 * Stages mean something else in each: ops are put into the first in which they
 * can be. */
bool mo_load_pattern_is_feasible(const mo_load_problem *f,
                                 mo_load_pattern *pattern);

/* Something that a pattern does. */
typedef struct mo_load_use {
    int from, to;   /* a transfer; an op that runs has no from, -1 */
    int begin, end; /* it begins not before this moment, and what waits for
                       its end starts before the one behind that */
    mo_load_item item;
} mo_load_use;

typedef void mo_load_use_fn(void *context, const mo_load_use *used);

/* Tells of all that the branches of a group do, together: times are those of
 * all branches. */
void mo_load_pattern_for_each_use(const mo_load_problem *f,
                                  const mo_load_pattern *pattern,
                                  mo_load_use_fn *told, void *context);

static inline bool mo_load_row_covers(const mo_load_row *row,
                                      const mo_load_use *used)
{
    return used->begin >= row->from && used->end < row->until &&
           used->item.head_ns >= row->head_ns &&
           used->item.tail_ns >= row->tail_ns;
}

/* Adds what they put into each row; the index has all rows. */
void mo_load_pattern_add_load(const mo_load_problem *f,
                              const mo_load_rows *rows,
                              const mo_load_row_index *index,
                              const mo_load_pattern *pattern, int64_t *load_ns);

/* Cheapest patterns for given weights. */
typedef struct mo_load_pricer mo_load_pricer;

mo_status mo_load_pricer_new(const mo_load_problem *f, mo_load_pricer **pricer,
                             mo_error *err);
void mo_load_pricer_free(mo_load_pricer *pricer);

/* With a weight for each row, at most f->weights of which end at any moment:
 * the least price of each group, all of its branches together, and the patterns
 * that have it, one behind the other.  MO_LOAD_INFINITY: there is none, and
 * none is found. */
void mo_load_price_patterns(mo_load_pricer *pricer, const mo_load_rows *rows,
                            const mo_load_row_index *index,
                            const int64_t *weight, int64_t *price,
                            mo_load_pattern *found);

/* A solution of the program: how often each pattern is followed, and when the
 * moments are. */
typedef struct mo_load_lp_solution {
    const mo_load_pattern *patterns;
    const double *share; /* by pattern */
    size_t n;
    const double *moment_ns;
} mo_load_lp_solution;

/* Adds rows that the mix breaks, by more than slack_ns; none twice.  *added
 * tells how many. */
mo_status mo_load_separate_rows(const mo_load_problem *f,
                                const mo_load_lp_solution *mix, double slack_ns,
                                mo_load_rows *rows, int *added, mo_error *err);

/* Bounds for one order after another, with what is learned on the way. */
typedef struct mo_load_master mo_load_master;

mo_status mo_load_master_new(mo_load_problem *f, mo_load_master **master,
                             mo_error *err);
void mo_load_master_free(mo_load_master *master);

/* A bound for the order, MO_LOAD_INFINITY where there is no such; one of
 * enough_ns need not become better. */
mo_status mo_load_master_bound(mo_load_master *master,
                               const mo_load_arrival_order *order,
                               int64_t enough_ns, int64_t *bound_ns,
                               mo_error *err);

#endif
