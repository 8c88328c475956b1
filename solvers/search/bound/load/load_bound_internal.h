/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_bound_internal.h - modules of the load bound and their common types.
 *
 * Where the broadcast tensor of u reaches one device after the other, its
 * arrivals divide the time from the end of u, T0, to the start of v, J, into
 * stages:
 *
 *     T0 ---- T1 ---- T2 ---------------- J
 *     u ends  the tensor is on            v can start
 *             one device, on another
 *
 * A pattern (column) is a device and a stage, that of its start, for each op
 * of a branch. In every schedule the branches follow patterns, and each
 * resource (a device, a port) is busy with the sum of their loads. A row (cut)
 * is an inequality for one resource and two of these events:
 *
 *     Tj - Ti >= base + the time of all that uses it between the two
 *
 * and, between T0 and J, it counts only items with a minimal head and tail.
 * Integer multipliers z >= 0 of the rows, of which at no Ti more end than
 * begin and of which Z end at J, give
 *
 *     Z J >= sum of z base + for each branch, its pattern of least cost,
 *
 * for any multipliers (weak duality): an LP chooses them in floating point,
 * then they are rounded to integers and the right side is computed exactly.
 * Prices of memory are Z times a part of the cost of a pattern; then the bound
 * is that of J plus the prices.
 *
 * How many of the equal branches have an op on a device is an integer.  Where
 * the LP solution has a fraction there, two cases bound it by a limit each; a
 * limit is one more row, whose multiplier is a price of that op there.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_LOAD_LOAD_BOUND_INTERNAL_H
#define MO_SOLVERS_SEARCH_BOUND_LOAD_LOAD_BOUND_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/bound/forkjoin/fork_join.h"

enum {
    MO_LOAD_MAX_ARRIVALS = 8, /* devices in an order, at most */
    MO_LOAD_MAX_LIMITS = 32,  /* of a case, at most */
    MO_LOAD_FRACTIONS = 6     /* of a solution that are listed */
};

#define MO_LOAD_INFINITY (INT64_MAX / 4)

typedef struct mo_load_op {
    int reader; /* among all ops; MO_FREE: v or none */
    int row, u_row;
    bool reads_broadcast; /* u_row is that of the broadcast tensor */
    int count;            /* of such branches */
    double bytes;         /* resident, of all of them */
} mo_load_op;

/* The devices to which the broadcast tensor is sent, in order of arrival.
 * Open: a prefix, other devices may follow. */
typedef struct mo_load_arrival_order {
    int n;
    int device[MO_LOAD_MAX_ARRIVALS];
    bool open;
} mo_load_arrival_order;

/* Where an op and its reader are: op on device and, unless to is MO_FREE, its
 * reader on to. */
typedef struct mo_load_where {
    int op, device, to;
} mo_load_where;

/* At most count of the equal branches are there or, with elsewhere, are not
 * there. */
typedef struct mo_load_limit {
    mo_load_where where;
    bool elsewhere;
    int count;
} mo_load_limit;

/* Of equal branches, a number that is not an integer: above floor. */
typedef struct mo_load_fraction {
    mo_load_where where;
    int floor;
    double weighs;
} mo_load_fraction;

/* Those that weigh most, the largest first. */
typedef struct mo_load_fractions {
    int n;
    mo_load_fraction items[MO_LOAD_FRACTIONS];
} mo_load_fractions;

/* A use of a resource. */
typedef struct mo_load_item {
    int64_t head_ns,
        tail_ns; /* lower bounds on the time before and behind it */
    int64_t ns;
} mo_load_item;

/* The limits of a case. */
typedef struct mo_load_cases {
    bool is_used;                /* limits are used */
    int64_t unit_ns;             /* of the multiplier of a limit */
    const mo_load_limit *limits; /* of the present case, borrowed */
    int n_limits;
} mo_load_cases;

/* Arrivals of the broadcast tensor in the present order. */
typedef struct mo_load_arrivals {
    int *rank;              /* by device: its rank in the order, or -1 */
    int64_t *sent_ns;       /* by rank: duration of the transfer */
    int64_t *arrival_ns;    /* by device: earliest arrival */
    int64_t *least_end_ns;  /* by rank: least tail of an op that reads the
                               tensor there */
    int64_t *event_min_ns;  /* by event: earliest time */
    int64_t *event_tail_ns; /* by event: least time to the start of v */
} mo_load_arrivals;

/* A fork-join with u and v on given devices; of each class one branch. */
typedef struct mo_load_problem {
    const mo_instance *x;
    mo_congestion congestion;
    int u_device, v_device;
    int broadcast_row;
    int n, n_devices;
    mo_load_op *ops;   /* by class, inputs first */
    int n_groups;      /* classes; those with few ops form one group */
    int *group_start;  /* first op of each; n_groups + 1 entries */
    int64_t *p_ns;     /* by op and device; MO_LOAD_INFINITY: not allowed */
    int64_t *price_ns; /* by op and device: of the memory of one branch */
    bool is_priced;    /* prices are set */
    int64_t least_price_ns; /* of all branches, each op where it is least */
    int64_t max_weight;     /* limit of Z: no sum of costs overflows */
    int64_t limit_ns;       /* only schedules with J within this count */
    mo_load_cases cases;
    const mo_forkjoin *fork; /* of the rounded solution, or NULL */
    int *rounded;            /* by op of the instance: device, of the caller */

    /* For the present order of arrivals: */
    mo_load_arrival_order order;
    bool *excluded;      /* by op and device: misses the limit */
    bool has_exclusions; /* some are excluded by the limit */
    mo_load_arrivals arrivals;
    int64_t *head_ns; /* by op and device: from the end of u to its start;
                         MO_LOAD_INFINITY: excluded */
    int64_t *tail_ns; /* from its end to the start of v */
    int8_t *first_stage, *last_stage; /* by op and device: range of its stage */
    mo_load_item broadcast[MO_LOAD_MAX_ARRIVALS]; /* by rank: transfer of the
                                                     broadcast tensor */
    int64_t path_ns;                              /* longest branch alone */
} mo_load_problem;

/* Allocates the data of a case; the caller frees it with
 * mo_load_problem_clear().  The fork is not needed afterwards, its instance is
 * borrowed.  On failure nothing stays allocated. */
mo_status mo_load_problem_init(mo_load_problem *f, const mo_forkjoin_case *at,
                               mo_error *err);
void mo_load_problem_clear(mo_load_problem *f);

/* Sets the prices, which are 0 before; price_ns is by op of the instance and
 * device. */
void mo_load_problem_set_prices(mo_load_problem *f, const mo_forkjoin *fork,
                                const int64_t *price_ns);

/* Prepares for cases with limits; prices have been set. */
void mo_load_problem_set_cases(mo_load_problem *f);

/* Computes heads, tails and stages for an order of arrivals, the present limits
 * of the case and that of time; path_ns is MO_LOAD_INFINITY afterwards if the
 * order is infeasible. */
void mo_load_set_arrival_order(mo_load_problem *f,
                               const mo_load_arrival_order *order);

/* Returns the index of tables by op and device. */
static inline int mo_load_index(const mo_load_problem *f, int op, int device)
{
    return op * f->n_devices + device;
}

/* Returns whether op may run on a device in the present order. */
static inline bool mo_load_can_run(const mo_load_problem *f, int op, int device)
{
    return f->head_ns[mo_load_index(f, op, device)] < MO_LOAD_INFINITY;
}

/* Returns the transfer time of an op's output. */
int64_t mo_load_transfer_ns(const mo_load_problem *f, int op, int from, int to);

/* Return the use of a resource by an op, by the transfer of its output to its
 * reader, and by the transfer of its input from u; the input takes no time if
 * it is the broadcast tensor or already there. */
mo_load_item mo_load_item_compute(const mo_load_problem *f, int op, int device);
mo_load_item mo_load_item_transfer(const mo_load_problem *f, int op, int from,
                                   int to);
mo_load_item mo_load_item_input(const mo_load_problem *f, int op, int device);

/* Returns the number of resources: devices first, then those of
 * schedule/resource.h. */
int mo_load_n_resources(const mo_load_problem *f);

/* Inequality between the events from and until: 0 is T0, order.n + 1 is J. */
typedef struct mo_load_row {
    int resource; /* -1 - i: none, limit i of the case */
    int from, until;
    int64_t head_ns, tail_ns; /* minima of the counted items; 0 where from is
                                 not T0, or until not J */
    int64_t base_ns;
} mo_load_row;

/* Returns the event J. */
static inline int mo_load_last_event(const mo_load_problem *f)
{
    return f->order.n + 1;
}

typedef struct mo_load_rows {
    mo_load_row *rows;
    size_t n, room;
} mo_load_rows;

/* Replaces the rows by the initial ones. The caller frees rows->rows. */
mo_status mo_load_rows_init(const mo_load_problem *f, mo_load_rows *rows,
                            mo_error *err);

/* Appends a row and computes its base; returns MO_OK unless memory runs out. */
mo_status mo_load_rows_add(const mo_load_problem *f, mo_load_rows *rows,
                           mo_load_row row, mo_error *err);
/* Returns the base of a row, which its other members determine. */
int64_t mo_load_row_base_ns(const mo_load_problem *f, const mo_load_row *row);

/* Lists of rows by resource. */
typedef struct mo_load_row_index {
    int *first; /* by resource: a row, or -1 */
    int *next;  /* by row */
} mo_load_row_index;

/* Allocates an index for up to n_rows rows; the caller frees it. */
mo_status mo_load_row_index_new(const mo_load_problem *f, size_t n_rows,
                                mo_load_row_index *index, mo_error *err);
void mo_load_row_index_free(mo_load_row_index *index);
/* Lists the rows of nonzero weight, or all if weight is NULL. */
void mo_load_row_index_fill(const mo_load_problem *f, mo_load_row_index *index,
                            const mo_load_rows *rows, const int64_t *weight);

/* Column: devices and stages, by op of a group's branches. */
typedef struct mo_load_pattern {
    int group;
    int *device;
    int *stage; /* last event that its start is not before */
} mo_load_pattern;

/* Columns found so far, the oldest first; owns their arrays. */
typedef struct mo_load_pattern_pool {
    mo_load_pattern *patterns;
    size_t n, room;
} mo_load_pattern_pool;

/* Appends a copy, owned by the pool. */
mo_status mo_load_pattern_pool_add(const mo_load_problem *f,
                                   mo_load_pattern_pool *pool,
                                   const mo_load_pattern *pattern,
                                   mo_error *err);

/* Frees the oldest until at most `most` are left. */
void mo_load_pattern_pool_trim(mo_load_pattern_pool *pool, size_t most);

/* Returns whether a pattern is feasible in the present order. Its stages are
 * recomputed, as they depend on the order: each op gets its first feasible
 * stage. */
bool mo_load_pattern_is_feasible(const mo_load_problem *f,
                                 mo_load_pattern *pattern);

/* Returns the price of a pattern, for all branches of its group. */
int64_t mo_load_pattern_price_ns(const mo_load_problem *f,
                                 const mo_load_pattern *pattern);

/* A use of a resource by a pattern. */
typedef struct mo_load_use {
    int from, to;   /* devices of a transfer; from is -1 for an op that runs */
    int begin, end; /* it starts not before event `begin`, and its successor
                       starts before event end + 1 */
    mo_load_item item;
} mo_load_use;

typedef void mo_load_use_fn(void *context, const mo_load_use *used);

/* Calls visit for every use of resources by the branches of a group; times are
 * the sums over all branches. */
void mo_load_pattern_for_each_use(const mo_load_problem *f,
                                  const mo_load_pattern *pattern,
                                  mo_load_use_fn *visit, void *context);

/* Returns whether a row counts a use. */
static inline bool mo_load_row_covers(const mo_load_row *row,
                                      const mo_load_use *used)
{
    return used->begin >= row->from && used->end < row->until &&
           used->item.head_ns >= row->head_ns &&
           used->item.tail_ns >= row->tail_ns;
}

/* Adds the load of a pattern to each row; the index contains all rows. */
void mo_load_pattern_add_load(const mo_load_problem *f,
                              const mo_load_rows *rows,
                              const mo_load_row_index *index,
                              const mo_load_pattern *pattern, int64_t *load_ns);

/* Appends the limits of the case. */
mo_status mo_load_limits_add_rows(const mo_load_problem *f, mo_load_rows *rows,
                                  mo_error *err);

/* Adds what a pattern takes of each limit to its row. */
void mo_load_limits_add_load(const mo_load_problem *f, const mo_load_rows *rows,
                             const mo_load_pattern *pattern, int64_t *load_ns);

/* Stores in cost, by op, device and device of its reader (0: none), the
 * multipliers of the limits. */
void mo_load_limits_cost(const mo_load_problem *f, const mo_load_rows *rows,
                         const int64_t *weight, int64_t *cost);

/* Adds a limit to the *n ones, of which there is room for MO_LOAD_MAX_LIMITS;
 * returns false where that is not enough. */
bool mo_load_limits_add(mo_load_limit *limits, int *n, mo_load_limit limit);

/* Pricing problem: patterns of least cost under given weights of the rows. */
typedef struct mo_load_pricer mo_load_pricer;

/* Allocates the tables; f is borrowed.  The caller frees *pricer with
 * mo_load_pricer_free(), which accepts NULL. */
mo_status mo_load_pricer_new(const mo_load_problem *f, mo_load_pricer **pricer,
                             mo_error *err);
void mo_load_pricer_free(mo_load_pricer *pricer);

/* With a weight for each row, at most f->max_weight of which end at any event,
 * and whole of which end at J, stores the least cost of each group, for all its
 * branches, and the patterns of that cost, one after the other in the buffers
 * of *found. MO_LOAD_INFINITY: the group has no feasible pattern, and none is
 * stored. */
void mo_load_price_patterns(mo_load_pricer *pricer, const mo_load_rows *rows,
                            const mo_load_row_index *index,
                            const int64_t *weight, int64_t whole,
                            int64_t *price, mo_load_pattern *found);

/* Primal solution of the LP: weights of the patterns and times of the
 * events. */
typedef struct mo_load_lp_solution {
    const mo_load_pattern *patterns;
    const double *weight; /* by pattern */
    size_t n;
    const double *event_ns;
} mo_load_lp_solution;

/* Stores the bytes that the solution uses, by device: patterns by their
 * weights, which are 1 for each group; of a group without any, the part of
 * priced, a pattern of all groups, by op. */
void mo_load_solution_bytes(const mo_load_problem *f,
                            const mo_load_lp_solution *solution,
                            const mo_load_pattern *priced, double *used_bytes);

/* Lists the fractions of the solution that weigh most. */
mo_status mo_load_find_fractions(const mo_load_problem *f,
                                 const mo_load_lp_solution *solution,
                                 mo_load_fractions *found, mo_error *err);

/* Rounds the solution to whole branches, in f->rounded; returns whether every
 * group has patterns. */
bool mo_load_round_solution(const mo_load_problem *f,
                            mo_load_lp_solution solution);

/* Separation: adds rows that the solution violates by more than slack_ns, each
 * once, and stores their number in *added. */
mo_status mo_load_separate_rows(const mo_load_problem *f,
                                const mo_load_lp_solution *solution,
                                double slack_ns, mo_load_rows *rows, int *added,
                                mo_error *err);

/* Restricted master problem; its columns are kept from one order to the
 * next. */
typedef struct mo_load_master mo_load_master;

/* Allocates a master; f is borrowed and changed by mo_load_master_bound().  The
 * caller frees *master with mo_load_master_free(), which accepts NULL. */
mo_status mo_load_master_new(mo_load_problem *f, mo_load_master **master,
                             mo_error *err);
void mo_load_master_free(mo_load_master *master);

/* Stores a lower bound for an order in *bound_ns, MO_LOAD_INFINITY if the
 * order is infeasible; stops as soon as the bound reaches enough_ns. */
mo_status mo_load_master_bound(mo_load_master *master,
                               const mo_load_arrival_order *order,
                               int64_t enough_ns, int64_t *bound_ns,
                               mo_error *err);

/* Returns the resident bytes by device of the last solution; owned by the
 * master. */
const double *mo_load_master_used_bytes(const mo_load_master *master);

/* Returns whether the last solution was rounded. */
bool mo_load_master_is_rounded(const mo_load_master *master);

/* Returns the fractions of the last solution, none without cases; owned by the
 * master. */
const mo_load_fractions *mo_load_master_fractions(const mo_load_master *master);

#endif
