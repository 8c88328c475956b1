/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/price_branch_internal.h"

#include <math.h>

/*
 * From the root to the leaves, the cells in which the tables have their minima
 * are looked up again, and within each the tick that was meant.
 */

enum { NONE = -1 };

/* Each node for itself and sent twice, all resources of a transfer. */
int mo_cg_branch_pricer_max_jobs(const mo_cg_branch_pricer *b)
{
    const mo_cg_problem *c = b->c;
    int most = 0, pairs = c->n_devices * c->n_devices;

    for (int pair = 0; pair < pairs; pair++)
        if (c->pair_start[pair + 1] - c->pair_start[pair] > most)
            most = c->pair_start[pair + 1] - c->pair_start[pair];
    return c->n_nodes * (1 + 2 * most);
}

static void add_transfer(mo_cg_branch_pricer *b, mo_cg_column *way, int node,
                         int row, int from, int to, int cell)
{
    const mo_cg_problem *c = b->c;
    int pair = mo_cg_device_pair(c, from, to);
    int64_t length = mo_cg_transfer_ticks(c, row, from, to), start;
    int64_t first = mo_cg_cell_start(c, 0, cell);
    int64_t last = first + c->cell - 1;

    if (last > c->horizon - length)
        last = c->horizon - length;
    mo_cg_cheapest_start(c, &b->prices->pairs[pair], length, first, last,
                         &start);
    for (int i = c->pair_start[pair]; i < c->pair_start[pair + 1]; i++)
        way->jobs[way->n_jobs++] =
            (mo_cg_job){ c->pair_resource[i], c->tree->nodes[node].total, start,
                         length };
}

/* The cheapest start up to a cell: of the node, on the device. */
static void choose(mo_cg_branch_pricer *b, mo_cg_column *way, int node,
                   int device, int last)
{
    int at = mo_cg_tree_node_device(b->c, node, device);
    const double *own = row_in(b, b->own, at);
    int best = b->cells[at].first;

    if (last > b->cells[at].last)
        last = b->cells[at].last;
    for (int j = best + 1; j <= last; j++)
        if (own[j] < own[best])
            best = j;
    b->chosen[node] = best;
    way->device[node - b->c->tree->root[b->c->tree->nodes[node].class]] =
        device;
}

static void run_node(mo_cg_branch_pricer *b, mo_cg_column *way, int node,
                     int first)
{
    const mo_cg_problem *c = b->c;
    int device = way->device[node - first],
        at = mo_cg_tree_node_device(c, node, device);
    int64_t from = mo_cg_cell_start(c, b->offset[at], b->chosen[node]);
    int64_t to = from + c->cell - 1, *start = &way->start[node - first];

    if (from < b->state->est[at])
        from = b->state->est[at];
    if (to > b->state->lst[at])
        to = b->state->lst[at];
    mo_cg_cheapest_start(c, &b->prices->resources[device], c->p[at], from, to,
                         start);
    way->jobs[way->n_jobs++] =
        (mo_cg_job){ device, c->tree->nodes[node].total, *start, c->p[at] };
}

/* The cheapest transfer of a node to a reader on another device: from where,
 * and the cell of its start; its price. */
static double best_transfer(mo_cg_branch_pricer *b, int node, int reader_at,
                            int device, int *from, int *cell)
{
    const mo_cg_problem *c = b->c;
    int row = c->row[node], j = b->chosen[c->tree->nodes[node].reader];
    double least = INFINITY;

    for (int k = 0; k < c->n_devices; k++) {
        int at = mo_cg_tree_node_device(c, node, k);
        int shift = earlier(b, 0, b->offset[at], c->p[at]), last;
        mo_cg_cell_range cells;

        if (k == device || !mo_cg_node_allows(b->state, at))
            continue;
        cells = sending_cells(b, node, k, device, shift);
        last = j + send_shift(b, reader_at,
                              mo_cg_transfer_ticks(c, row, k, device));
        for (int h = cells.first; h <= cells.last && h <= last; h++) {
            double price = row_in(b, b->by, at)[h + shift] +
                           row_in(b, b->sending, pair_at(b, row, k, device))[h];

            if (price < least) {
                least = price;
                *from = k;
                *cell = h;
            }
        }
    }
    return least;
}

/* Where and when what a node's reader reads was made. */
static void choose_source(mo_cg_branch_pricer *b, mo_cg_column *way, int node,
                          int device)
{
    const mo_cg_problem *c = b->c;
    int reader = c->tree->nodes[node].reader, from = device, cell = 0;
    int reader_at = mo_cg_tree_node_device(c, reader, device);
    int at = mo_cg_tree_node_device(c, node, device);
    int last = b->chosen[reader] +
               earlier(b, b->offset[reader_at], b->offset[at], c->p[at]);
    double here = mo_cg_node_allows(b->state, at) && last >= 0
                      ? row_in(b, b->by, at)[last]
                      : INFINITY;

    if (best_transfer(b, node, reader_at, device, &from, &cell) < here) {
        at = mo_cg_tree_node_device(c, node, from);
        add_transfer(b, way, node, c->row[node], from, device, cell);
        choose(b, way, node, from,
               cell + earlier(b, 0, b->offset[at], c->p[at]));
    } else {
        choose(b, way, node, device, last);
    }
}

static void add_transfer_from_u(mo_cg_branch_pricer *b, mo_cg_column *way,
                                int node, int device)
{
    const mo_cg_problem *c = b->c;
    int row = c->u_row[node], at = mo_cg_tree_node_device(c, node, device),
        best = 1;
    int pair = pair_at(b, row, c->a, device);
    const double *sending = row_in(b, b->sending, pair);
    int last = b->chosen[node] +
               send_shift(b, at, mo_cg_transfer_ticks(c, row, c->a, device));

    for (int h = 2; h <= last && h <= b->last_send[pair]; h++)
        if (sending[h] < sending[best])
            best = h;
    add_transfer(b, way, node, row, c->a, device, best);
}

void mo_cg_branch_pricer_extract_column(mo_cg_branch_pricer *b, int class,
                                        int device, mo_cg_column *way)
{
    const mo_cg_problem *c = b->c;
    const mo_cg_tree *tree = c->tree;
    int root = tree->root[class], at = mo_cg_tree_node_device(c, root, device),
        cell = 0;
    int last = b->cells[at].last;

    way->n_jobs = 0;
    if (is_sent_to_v(c, root, device)) {
        mo_cg_branch_pricer_sink_transfer(b, root, device, &cell);
        add_transfer(b, way, root, c->row[root], device, c->b, cell);
        last = cell + earlier(b, 0, b->offset[at], c->p[at]);
    }
    choose(b, way, root, device, last);
    for (int i = root; i < tree->n && tree->nodes[i].class == class; i++) {
        int on = way->device[i - root];

        run_node(b, way, i, root);
        if (c->from_u[i] == MO_CG_INPUT_TRANSFER && on != c->a)
            add_transfer_from_u(b, way, i, on);
        for (int j = tree->nodes[i].first_child; j != NONE;
             j = tree->nodes[j].next)
            choose_source(b, way, j, on);
    }
}
