/* SPDX-License-Identifier: Apache-2.0 */
/*
 * price_branch_extract.c - the column of least reduced cost of a branch, from
 * the root to the leaves: finds the cells at which the tables have their
 * minima, and within each the cheapest tick.
 */
#include "solvers/search/bound/colgen/price_branch.h"

#include <limits.h>
#include <math.h>

#include "solvers/search/bound/colgen/price_branch_internal.h"

enum { NONE = -1 };

/* Finds the cheapest transfer of a node with its subtree that starts up to cell
 * `last`. Returns whether it costs less than *least, and then stores its cost
 * and the cell of its start. */
static bool find_cheaper_transfer(const mo_cg_pricer *b, int node, int from,
                                  int to, int last, double *least, int *cell)
{
    const mo_cg_problem *c = b->c;
    int at = mo_cg_index(c, node, from);
    int shift = shift_before(b, 0, b->offset[at], c->p[at]);
    mo_cg_cell_range cells = transfer_cells(b, node, from, to, shift);
    const double *cost_by = table_row(b, b->cost_by, at);
    const double *transfer_cost = transfer_row(b, c->comm_row[node], from, to);
    bool found = false;

    for (int h = cells.first; h <= cells.last && h <= last; h++)
        if (cost_by[h + shift] + transfer_cost[h] < *least) {
            *least = cost_by[h + shift] + transfer_cost[h];
            *cell = h;
            found = true;
        }
    return found;
}

/* Returns the least cost of a root with its transfer to v, and stores the cell
 * of the transfer's start. */
static double cheapest_sink_transfer(const mo_cg_pricer *b, int root,
                                     int device, int *cell)
{
    double least = INFINITY;

    find_cheaper_transfer(b, root, device, b->c->v_device, INT_MAX, &least,
                          cell);
    return least;
}

double mo_cg_pricer_min_cost(const mo_cg_pricer *b, int class, int device)
{
    const mo_cg_problem *c = b->c;
    int root = c->tree->root[class], at = mo_cg_index(c, root, device), cell;

    if (!mo_cg_node_allows(b->state, at))
        return INFINITY;
    return is_sent_to_sink(c, root, device)
               ? cheapest_sink_transfer(b, root, device, &cell)
               : table_row(b, b->cost_by, at)[b->cells[at].last];
}

/* Each node runs once and is sent twice, on all resources of a transfer. */
int mo_cg_pricer_max_jobs(const mo_cg_pricer *b)
{
    const mo_cg_problem *c = b->c;
    int most = 0, pairs = c->n_devices * c->n_devices;

    for (int pair = 0; pair < pairs; pair++)
        if (c->pair_start[pair + 1] - c->pair_start[pair] > most)
            most = c->pair_start[pair + 1] - c->pair_start[pair];
    return c->n_nodes * (1 + 2 * most);
}

static void add_transfer_jobs(mo_cg_pricer *b, mo_cg_column *column, int node,
                              int row, int from, int to, int cell)
{
    const mo_cg_problem *c = b->c;
    int pair = mo_cg_pair(c, from, to);
    int64_t length = mo_cg_transfer_ticks(c, row, from, to), start;
    int64_t first = mo_cg_cell_start(c, 0, cell);
    int64_t last = first + c->cell - 1;

    if (last > c->horizon - length)
        last = c->horizon - length;
    mo_cg_cheapest_start(c, &b->prices->pairs[pair], length, first, last,
                         &start);
    for (int i = c->pair_start[pair]; i < c->pair_start[pair + 1]; i++)
        column->jobs[column->n_jobs++] =
            (mo_cg_job){ c->pair_resource[i], c->tree->nodes[node].total, start,
                         length };
}

/* Stores the cheapest start of a node on a device up to a cell. */
static void choose_start(mo_cg_pricer *b, mo_cg_column *column, int node,
                         int device, int last)
{
    int at = mo_cg_index(b->c, node, device);
    const double *cost_at = table_row(b, b->cost_at, at);
    int best = b->cells[at].first;

    if (last > b->cells[at].last)
        last = b->cells[at].last;
    for (int j = best + 1; j <= last; j++)
        if (cost_at[j] < cost_at[best])
            best = j;
    b->chosen[node] = best;
    column->device[node - b->c->tree->root[b->c->tree->nodes[node].class]] =
        device;
}

static void add_node_job(mo_cg_pricer *b, mo_cg_column *column, int node,
                         int first)
{
    const mo_cg_problem *c = b->c;
    int device = column->device[node - first],
        at = mo_cg_index(c, node, device);
    int64_t from = mo_cg_cell_start(c, b->offset[at], b->chosen[node]);
    int64_t to = from + c->cell - 1, *start = &column->start[node - first];

    if (from < b->state->est[at])
        from = b->state->est[at];
    if (to > b->state->lst[at])
        to = b->state->lst[at];
    mo_cg_cheapest_start(c, &b->prices->resources[device], c->p[at], from, to,
                         start);
    column->jobs[column->n_jobs++] =
        (mo_cg_job){ device, c->tree->nodes[node].total, *start, c->p[at] };
}

/* Returns the least cost of a node's transfer to its reader from another
 * device, with source and cell of the start. */
static double best_transfer(mo_cg_pricer *b, int node, int reader_at,
                            int device, int *from, int *cell)
{
    const mo_cg_problem *c = b->c;
    int row = c->comm_row[node], j = b->chosen[c->tree->nodes[node].reader];
    double least = INFINITY;

    for (int k = 0; k < c->n_devices; k++) {
        int last = j + transfer_shift(b, reader_at,
                                      mo_cg_transfer_ticks(c, row, k, device));

        if (k != device &&
            mo_cg_node_allows(b->state, mo_cg_index(c, node, k)) &&
            find_cheaper_transfer(b, node, k, device, last, &least, cell))
            *from = k;
    }
    return least;
}

/* Decides on which device, and until which cell, a node computes the input of
 * its reader. */
static void choose_source(mo_cg_pricer *b, mo_cg_column *column, int node,
                          int device)
{
    const mo_cg_problem *c = b->c;
    int reader = c->tree->nodes[node].reader, from = device, cell = 0;
    int reader_at = mo_cg_index(c, reader, device);
    int at = mo_cg_index(c, node, device);
    int last = b->chosen[reader] +
               shift_before(b, b->offset[reader_at], b->offset[at], c->p[at]);
    double here = mo_cg_node_allows(b->state, at) && last >= 0
                      ? table_row(b, b->cost_by, at)[last]
                      : INFINITY;

    if (best_transfer(b, node, reader_at, device, &from, &cell) < here) {
        at = mo_cg_index(c, node, from);
        add_transfer_jobs(b, column, node, c->comm_row[node], from, device,
                          cell);
        choose_start(b, column, node, from,
                     cell + shift_before(b, 0, b->offset[at], c->p[at]));
    } else {
        choose_start(b, column, node, device, last);
    }
}

static void add_transfer_from_u(mo_cg_pricer *b, mo_cg_column *column, int node,
                                int device)
{
    const mo_cg_problem *c = b->c;
    int row = c->u_comm_row[node], at = mo_cg_index(c, node, device), best = 1;
    int pair = comm_pair(b, row, c->u_device, device);
    const double *transfer_cost = table_row(b, b->transfer_cost, pair);
    int last = b->chosen[node] +
               transfer_shift(
                   b, at, mo_cg_transfer_ticks(c, row, c->u_device, device));

    for (int h = 2; h <= last && h <= b->last_transfer[pair]; h++)
        if (transfer_cost[h] < transfer_cost[best])
            best = h;
    add_transfer_jobs(b, column, node, row, c->u_device, device, best);
}

void mo_cg_pricer_extract_column(mo_cg_pricer *b, int class, int device,
                                 mo_cg_column *column)
{
    const mo_cg_problem *c = b->c;
    const mo_cg_tree *tree = c->tree;
    int root = tree->root[class], at = mo_cg_index(c, root, device), cell = 0;
    int last = b->cells[at].last;

    column->n_jobs = 0;
    if (is_sent_to_sink(c, root, device)) {
        cheapest_sink_transfer(b, root, device, &cell);
        add_transfer_jobs(b, column, root, c->comm_row[root], device,
                          c->v_device, cell);
        last = cell + shift_before(b, 0, b->offset[at], c->p[at]);
    }
    choose_start(b, column, root, device, last);
    for (int i = root; i < tree->n && tree->nodes[i].class == class; i++) {
        int on = column->device[i - root];

        add_node_job(b, column, i, root);
        if (c->u_input[i] == MO_CG_INPUT_TRANSFER && on != c->u_device)
            add_transfer_from_u(b, column, i, on);
        for (int j = tree->nodes[i].first_child; j != NONE;
             j = tree->nodes[j].next)
            choose_source(b, column, j, on);
    }
}
