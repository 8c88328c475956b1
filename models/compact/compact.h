/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compact.h - shared state of the compact formulation: its columns, and helpers
 * that add sums over them to a row.
 */
#ifndef MO_MODELS_COMPACT_COMPACT_H
#define MO_MODELS_COMPACT_COMPACT_H

#include <stdbool.h>
#include <stdint.h>

#include "models/frame/frame.h"
#include "models/compact/transfer_items.h"
#include "models/frame/memory_rows.h"
#include "models/sink/sink.h"

/* Hash set of pairs of ops, in order of insertion; all zero is empty. */
typedef struct mo_op_pair {
    int i, j; /* i < j */
} mo_op_pair;

typedef struct mo_op_pair_set {
    mo_op_pair *pairs;
    size_t n, room;
    int *slots; /* open addressing: numbers of pairs; -1: empty */
    size_t n_slots;
} mo_op_pair_set;

/* Columns o_i_j and o_j_i of a disjunctive pair of ops, i < j; -1: there is
 * none, since there is no time for that order. */
typedef struct mo_compact_order_columns {
    int j;
    int forward, backward;
} mo_compact_order_columns;

/* A transfer in the MIP start; start_ns is also set for what is not sent: the
 * time from which it could have been. */
typedef struct mo_compact_start_item {
    bool sent;
    int a, b;
    int64_t start_ns, end_ns;
} mo_compact_start_item;

/* A segment between two ops of the chain with a proven bound, and the pairs of
 * devices that these may have. */
typedef struct mo_compact_segment {
    size_t pair; /* of the frame's proven bounds */
    int arc_start, n_arcs;
    int first; /* g of its first arc; -1: x of one op decides */
} mo_compact_segment;

typedef struct mo_compact {
    const mo_frame *frame;
    const mo_instance *x;
    mo_transfer_items *items;
    mo_memory_rows *memory;
    mo_compact_start_item *start; /* by item; NULL: no start */
    int *leader;                  /* by group: its first op */

    /* Columns.  The makespan is 0; order of ops, same device and order
     * of transfers come as their pairs do. */
    int *place;      /* x of i, k at i * K + k; -1: never there */
    int first_start; /* s of op 0 */
    int *send;     /* t by item; -1: never sent, or its time does not matter */
    int first_arc; /* y of arc 0 */
    mo_compact_order_columns *orders;
    int64_t *order_start; /* pairs of op i: [order_start[i], ...[i + 1]) */
    mo_op_pair_set same_device;
    int first_same_device; /* m of pair 0 */
    int first_send_order;
    int first_segment; /* g of segment 0 */
    mo_compact_segment *segments;
    int n_segments;
    mo_transfer_arc *segment_arcs;
    int end_segment; /* behind the last g */
    int incumbent;   /* k, the incumbent as a column; -1: none */

    /* Times in units: of i on k, and of an item on its arcs. */
    double *run;
    double *delay;
    int64_t *delay_start; /* by item */
} mo_compact;

/* A disjunctive pair of transfers, which may share a resource.  forward: there
 * is a column h_I_J, the first before the second; backward: h_J_I. */
typedef struct mo_compact_transfer_pair {
    int first, second; /* items */
    bool fixed; /* interchangeable: the first goes first, without columns */
    bool forward, backward;
} mo_compact_transfer_pair;

typedef void mo_compact_transfer_pair_fn(void *context,
                                         const mo_compact_transfer_pair *pair);

/* Visits every pair of transfers that has rows, always in the same order. */
void mo_compact_each_transfer_pair(const mo_compact *c,
                                   mo_compact_transfer_pair_fn *visit,
                                   void *context);

/* Finds the pairs of ops that need a column m, and counts the columns h. */
mo_status mo_compact_count_transfer_orders(mo_compact *c, int64_t *n_columns,
                                           mo_error *err);

/* start_values.c: the first allocates c->start, which c owns; the others return
 * the value of a column in the MIP start, 0 where there is none. */
mo_status mo_compact_start_make(mo_compact *c, mo_error *err);
double mo_compact_start_order(const mo_compact *c, int i, int j);
double mo_compact_start_same_device(const mo_compact *c, int i, int j);
double mo_compact_start_arc(const mo_compact *c, const mo_transfer_item *item,
                            mo_transfer_arc arc);
double mo_compact_start_transfer_order(const mo_compact *c, int first,
                                       int second);

/* proven_rows.c: finds the segments and numbers their columns from
 * first_segment on; declares these. */
mo_status mo_compact_proven_find(mo_compact *c, mo_error *err);
void mo_compact_proven_columns(const mo_compact *c, mo_sink *sink);

/* incumbent.c: the number of its columns, which begin at c->incumbent, and
 * their declaration, which does nothing without an incumbent. */
int64_t mo_compact_incumbent_count(const mo_compact *c);
void mo_compact_incumbent_columns(const mo_compact *c, mo_sink *sink);

/* Returns the lower bound of w. */
int64_t mo_compact_makespan_lower(const mo_compact *c);

/* All columns, those of the memory rows last, by the ids above. */
void mo_compact_columns(void *state, mo_sink *sink);

/* Families of rows, a file each. */
void mo_compact_assignment_rows(const mo_compact *c, mo_sink *sink);
void mo_compact_transfer_choice_rows(const mo_compact *c, mo_sink *sink);
void mo_compact_op_order_rows(const mo_compact *c, mo_sink *sink);
void mo_compact_transfer_order_rows(const mo_compact *c, mo_sink *sink);
void mo_compact_segment_load_rows(const mo_compact *c, mo_sink *sink);
void mo_compact_proven_rows(const mo_compact *c, mo_sink *sink);
void mo_compact_incumbent_rows(const mo_compact *c, mo_sink *sink);

/* Sums as terms of a row, all times sign. */
void mo_compact_add_duration_terms(const mo_compact *c, mo_sink *sink, int op,
                                   double sign);
void mo_compact_add_delay_terms(const mo_compact *c, mo_sink *sink, int item,
                                double sign);

/* Returns the pair of two ops, which c owns, or NULL where their order is not
 * decided. */
const mo_compact_order_columns *mo_compact_order(const mo_compact *c, int i,
                                                 int j);

static inline int mo_compact_place_column(const mo_compact *c, int op,
                                          int device)
{
    return c->place[(int64_t) op * c->x->n_devices + device];
}

static inline int mo_compact_start_column(const mo_compact *c, int op)
{
    return c->first_start + op;
}

static inline int mo_compact_arc_column(const mo_compact *c,
                                        const mo_transfer_item *item, int arc)
{
    return c->first_arc + item->arc_start + arc;
}

double mo_compact_time(const mo_compact *c, int64_t ns);

#endif
