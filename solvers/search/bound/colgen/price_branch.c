/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/price_branch_internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"

/*
 * From the leaves to the root, by node and device and by the cell in which it
 * starts:
 *
 *     own[j]   price of the node that starts in cell j, and of all behind it,
 *     by[j]    the same for a start in cell j or before,
 *     fed[j]   of what one node makes, on a device of its reader, for a reader
 *              that starts in cell j: made there, or made elsewhere and sent.
 *
 *     own[j] = its own time from cell j on + sum of what it reads, fed[j]
 *     fed[j] = min(by on the same device, so much earlier,
 *                  min over other devices and starts of the transfer up to then
 *                  of the transfer's time + by there, so much earlier)
 *
 * Whatever starts somewhere in a cell is taken to start where that is cheapest
 * in it, and to be in time for whatever it can be in time for from there: so
 * nothing real costs less.  How many cells "so much earlier" is, is exact along
 * the main way on one device: rows of cells are shifted against each other by
 * offsets such that a cell ends as the next one's begins.  Transfers have rows
 * without an offset, which all nodes with equal rows of times share.
 */

enum { NONE = -1 };

/* Of what a node reads, that which it has latest on a device; NONE: nothing. */
static int main_child(const mo_cg_problem *c, const mo_cg_node *s, int node,
                      int device)
{
    int best = NONE;
    int64_t latest = -1;

    for (int i = c->tree->nodes[node].first_child; i != NONE;
         i = c->tree->nodes[i].next) {
        int at = mo_cg_tree_node_device(c, i, device);

        if (mo_cg_node_allows(s, at) && s->est[at] + c->p[at] > latest) {
            latest = s->est[at] + c->p[at];
            best = i;
        }
    }
    return best;
}

static void choose_offsets(mo_cg_branch_pricer *b, const mo_cg_node *s)
{
    const mo_cg_problem *c = b->c;

    for (int i = c->n_nodes - 1; i >= 0; i--)
        for (int k = 0; k < c->n_devices; k++) {
            int at = mo_cg_tree_node_device(c, i, k),
                child = main_child(c, s, i, k);
            int64_t tick = mo_cg_node_allows(s, at) ? s->est[at] : 0;

            if (child != NONE)
                tick = b->offset[mo_cg_tree_node_device(c, child, k)] +
                       c->p[mo_cg_tree_node_device(c, child, k)];
            b->offset[at] = tick % c->cell;
        }
}

static mo_status allocate(mo_cg_branch_pricer *b, mo_error *err)
{
    const mo_cg_problem *c = b->c;
    size_t devices = (size_t) c->n_devices;
    size_t places = ((size_t) c->n_nodes + 1) * devices;
    size_t pairs = ((size_t) c->n_rows + 1) * devices * devices;
    size_t place_rows, pair_rows;

    if (!mo_size_mul(places, b->length, &place_rows) ||
        !mo_size_mul(pairs, b->length, &pair_rows))
        return mo_fail_memory(err);
    b->offset = calloc(places, sizeof *b->offset);
    b->cells = calloc(places, sizeof *b->cells);
    b->own = calloc(place_rows, sizeof *b->own);
    b->by = calloc(place_rows, sizeof *b->by);
    b->fed = calloc(place_rows, sizeof *b->fed);
    b->sending = calloc(pair_rows, sizeof *b->sending);
    b->last_send = calloc(pairs, sizeof *b->last_send);
    b->is_sent = calloc((size_t) c->n_rows + 1, sizeof *b->is_sent);
    b->from_u = calloc(pair_rows, sizeof *b->from_u);
    b->chosen = calloc((size_t) c->n_nodes + 1, sizeof *b->chosen);
    if (!b->offset || !b->cells || !b->own || !b->by || !b->fed ||
        !b->sending || !b->last_send || !b->is_sent || !b->from_u || !b->chosen)
        return mo_fail_memory(err);
    return MO_OK;
}

mo_status mo_cg_branch_pricer_new(const mo_cg_problem *c, const mo_cg_node *s,
                                  mo_cg_branch_pricer **branch, mo_error *err)
{
    mo_cg_branch_pricer *b = calloc(1, sizeof *b);
    mo_status status;

    if (!b)
        return mo_fail_memory(err);
    b->c = c;
    b->length = (size_t) c->cells + 4;
    status = allocate(b, err);
    if (status != MO_OK) {
        mo_cg_branch_pricer_free(b);
        return status;
    }
    choose_offsets(b, s);
    for (int i = 0; i < c->n_nodes; i++)
        if (c->row[i] != NONE)
            b->is_sent[c->row[i]] = true;
    *branch = b;
    return MO_OK;
}

void mo_cg_branch_pricer_free(mo_cg_branch_pricer *b)
{
    if (!b)
        return;
    free(b->offset);
    free(b->cells);
    free(b->own);
    free(b->by);
    free(b->fed);
    free(b->sending);
    free(b->last_send);
    free(b->is_sent);
    free(b->from_u);
    free(b->chosen);
    free(b);
}

int64_t mo_cg_branch_pricer_cell_offset(const mo_cg_branch_pricer *b, int node,
                                        int device)
{
    return b->offset[mo_cg_tree_node_device(b->c, node, device)];
}

/* While the shared tensor must be under way, nothing else uses its ports:
 * cells from which every start would run into that are closed. */
static void close_cells(mo_cg_branch_pricer *b, int pair, int64_t length,
                        int last, double *row)
{
    const mo_cg_problem *c = b->c;
    const mo_cg_node *s = b->state;

    for (int k = 0; k < c->n_devices && length > 0; k++) {
        int64_t begin, end = s->lo[k];

        if (s->fate[k] != MO_CG_ARRIVAL_REQUIRED ||
            !mo_cg_pairs_conflict(c, pair, mo_cg_device_pair(c, c->a, k)))
            continue;
        begin = s->hi[k] - mo_cg_broadcast_ticks(c, k);
        for (int j = 1; j <= last && begin < end; j++)
            if (mo_cg_cell_start(c, 0, j) + length > begin &&
                mo_cg_cell_start(c, 0, j + 1) <= end)
                row[j] = INFINITY;
    }
}

static void price_sending(mo_cg_branch_pricer *b, int row, int from, int to)
{
    const mo_cg_problem *c = b->c;
    int at = pair_at(b, row, from, to), pair = mo_cg_device_pair(c, from, to);
    int64_t length = mo_cg_transfer_ticks(c, row, from, to);
    double *sending = row_in(b, b->sending, at);

    b->last_send[at] = 0;
    if (length > c->horizon)
        return;
    b->last_send[at] =
        mo_cg_cheapest_starts_by_cell(c, &b->prices->pairs[pair], length, 0, 0,
                                      c->horizon - length, sending)
            .last;
    close_cells(b, pair, length, b->last_send[at], sending);
}

/* A copy of u's tensor for one reader, sent when that is cheapest. */
static void price_from_u(mo_cg_branch_pricer *b, int row, int to)
{
    int at = pair_at(b, row, b->c->a, to);
    const double *sending = row_in(b, b->sending, at);
    double *from_u = row_in(b, b->from_u, row * b->c->n_devices + to);
    double least = INFINITY;

    from_u[0] = INFINITY;
    for (size_t j = 1; j < b->length; j++) {
        if ((int) j <= b->last_send[at] && sending[j] < least)
            least = sending[j];
        from_u[j] = least;
    }
}

static void price_transfers(mo_cg_branch_pricer *b)
{
    const mo_cg_problem *c = b->c;

    for (int row = 0; row < c->n_rows; row++)
        for (int from = 0; from < c->n_devices; from++)
            for (int to = 0; to < c->n_devices; to++)
                if (from != to && (b->is_sent[row] || from == c->a))
                    price_sending(b, row, from, to);
    for (int i = 0; i < c->n_nodes; i++)
        for (int k = 0; k < c->n_devices; k++)
            if (c->from_u[i] == MO_CG_INPUT_TRANSFER && k != c->a)
                price_from_u(b, c->u_row[i], k);
}

static void add_row(double *to, const double *from, int times,
                    mo_cg_cell_range cells)
{
    for (int j = cells.first; j <= cells.last; j++)
        to[j] += times * from[j];
}

static void add_from_u(mo_cg_branch_pricer *b, int node, int device,
                       double *own)
{
    const mo_cg_problem *c = b->c;
    int at = mo_cg_tree_node_device(c, node, device);
    int64_t length;
    int shift;

    if (c->from_u[node] != MO_CG_INPUT_TRANSFER || device == c->a)
        return;
    length = mo_cg_transfer_ticks(c, c->u_row[node], c->a, device);
    shift = send_shift(b, at, length);
    for (int j = b->cells[at].first; j <= b->cells[at].last; j++)
        own[j] +=
            j + shift < 0
                ? INFINITY
                : row_in(b, b->from_u,
                         c->u_row[node] * c->n_devices + device)[j + shift];
}

/* Those that start before a gate pay for it, each a part: cells that lie before
 * it as a whole. */
static void add_gates(mo_cg_branch_pricer *b, int node, int device, double *own)
{
    const mo_cg_problem *c = b->c;
    int at = mo_cg_tree_node_device(c, node, device);

    for (int i = 0; i < b->prices->n_gates; i++) {
        const mo_cg_release_dual *gate = &b->prices->gates[i];
        double part = gate->price / mo_cg_multiplicity(c, node);
        int last = mo_cg_cell_of_tick(c, b->offset[at], gate->good.tick) - 1;

        if (gate->good.node != node || gate->good.device != device)
            continue;
        if (last > b->cells[at].last)
            last = b->cells[at].last;
        for (int j = b->cells[at].first; j <= last; j++)
            own[j] += part;
    }
}

static void find_own(mo_cg_branch_pricer *b, int node, int device)
{
    const mo_cg_problem *c = b->c;
    int at = mo_cg_tree_node_device(c, node, device);
    double *own = row_in(b, b->own, at), extra = b->prices->extra[at];

    b->cells[at] = mo_cg_cheapest_starts_by_cell(
        c, &b->prices->resources[device], c->p[at], b->offset[at],
        b->state->est[at], b->state->lst[at], own);
    for (int j = b->cells[at].first; extra != 0 && j <= b->cells[at].last; j++)
        own[j] += extra;
    if (c->from_u[node] == MO_CG_INPUT_BROADCAST)
        add_gates(b, node, device, own);
    add_from_u(b, node, device, own);
    for (int i = c->tree->nodes[node].first_child; i != NONE;
         i = c->tree->nodes[i].next)
        add_row(own, row_in(b, b->fed, mo_cg_tree_node_device(c, i, device)),
                c->tree->nodes[i].times, b->cells[at]);
}

static void find_by(mo_cg_branch_pricer *b, int at)
{
    mo_cg_cell_range cells = b->cells[at];
    const double *own = row_in(b, b->own, at);
    double *by = row_in(b, b->by, at), least = INFINITY;

    for (int j = 0; j < cells.first; j++)
        by[j] = INFINITY;
    for (int j = cells.first; j <= cells.last; j++) {
        least = own[j] < least ? own[j] : least;
        by[j] = least;
    }
    for (int j = cells.last + 1; j < (int) b->length; j++)
        by[j] = least;
}

/* fed[j] for transfers that start in the last cell that serves cell j. */
static void feed_from(mo_cg_branch_pricer *b, int node, int from, int reader_at,
                      int to, double *fed)
{
    const mo_cg_problem *c = b->c;
    int at = mo_cg_tree_node_device(c, node, from), row = c->row[node];
    int shift = earlier(b, 0, b->offset[at], c->p[at]);
    int serves =
        send_shift(b, reader_at, mo_cg_transfer_ticks(c, row, from, to));
    mo_cg_cell_range cells = sending_cells(b, node, from, to, shift);
    const double *by = row_in(b, b->by, at);
    const double *sending = row_in(b, b->sending, pair_at(b, row, from, to));

    if (cells.last > b->cells[reader_at].last + serves)
        cells.last = b->cells[reader_at].last + serves;
    for (int h = cells.first; h <= cells.last; h++) {
        double price = by[h + shift] + sending[h];

        if (price < fed[h - serves])
            fed[h - serves] = price;
    }
}

/* fed on one of the reader's devices. */
static void feed(mo_cg_branch_pricer *b, int node, int device)
{
    const mo_cg_problem *c = b->c;
    int at = mo_cg_tree_node_device(c, node, device), shift;
    int reader_at =
        mo_cg_tree_node_device(c, c->tree->nodes[node].reader, device);
    double *fed = row_in(b, b->fed, at), least = INFINITY;
    const double *by = row_in(b, b->by, at);
    int last = b->cells[reader_at].last;

    for (int j = 0; j <= last; j++)
        fed[j] = INFINITY;
    for (int from = 0; from < c->n_devices; from++)
        if (from != device &&
            mo_cg_node_allows(b->state, mo_cg_tree_node_device(c, node, from)))
            feed_from(b, node, from, reader_at, device, fed);
    for (int j = 0; j <= last; j++)
        fed[j] = least = fed[j] < least ? fed[j] : least;
    if (!mo_cg_node_allows(b->state, at))
        return;
    shift = earlier(b, b->offset[reader_at], b->offset[at], c->p[at]);
    for (int j = shift < 0 ? -shift : 0; j <= last; j++)
        fed[j] = by[j + shift] < fed[j] ? by[j + shift] : fed[j];
}

/* The reader's cells, which its inputs are asked for. */
static void find_cells(mo_cg_branch_pricer *b)
{
    const mo_cg_problem *c = b->c;

    for (int at = 0; at < c->n_nodes * c->n_devices; at++)
        if (mo_cg_node_allows(b->state, at))
            b->cells[at] = (mo_cg_cell_range){
                mo_cg_cell_of_tick(c, b->offset[at], b->state->est[at]),
                mo_cg_cell_of_tick(c, b->offset[at], b->state->lst[at])
            };
}

void mo_cg_price_branches(mo_cg_branch_pricer *b,
                          const mo_cg_dual_profile *prices,
                          const mo_cg_node *state)
{
    const mo_cg_problem *c = b->c;

    b->prices = prices;
    b->state = state;
    find_cells(b);
    price_transfers(b);
    for (int i = c->n_nodes - 1; i >= 0; i--) {
        int reader = c->tree->nodes[i].reader;

        for (int k = 0; k < c->n_devices; k++)
            if (mo_cg_node_allows(state, mo_cg_tree_node_device(c, i, k))) {
                find_own(b, i, k);
                find_by(b, mo_cg_tree_node_device(c, i, k));
            }
        for (int k = 0; k < c->n_devices && reader != MO_FREE; k++)
            if (mo_cg_node_allows(state, mo_cg_tree_node_device(c, reader, k)))
                feed(b, i, k);
    }
}

double mo_cg_branch_pricer_sink_transfer(const mo_cg_branch_pricer *b, int root,
                                         int device, int *cell)
{
    const mo_cg_problem *c = b->c;
    int at = mo_cg_tree_node_device(c, root, device);
    int shift = earlier(b, 0, b->offset[at], c->p[at]);
    mo_cg_cell_range cells = sending_cells(b, root, device, c->b, shift);
    const double *by = row_in(b, b->by, at);
    const double *sending =
        row_in(b, b->sending, pair_at(b, c->row[root], device, c->b));
    double least = INFINITY;

    for (int h = cells.first; h <= cells.last; h++)
        if (by[h + shift] + sending[h] < least) {
            least = by[h + shift] + sending[h];
            *cell = h;
        }
    return least;
}

double mo_cg_branch_pricer_min_cost(const mo_cg_branch_pricer *b, int class,
                                    int device)
{
    const mo_cg_problem *c = b->c;
    int root = c->tree->root[class],
        at = mo_cg_tree_node_device(c, root, device), cell;

    if (!mo_cg_node_allows(b->state, at))
        return INFINITY;
    return is_sent_to_v(c, root, device)
               ? mo_cg_branch_pricer_sink_transfer(b, root, device, &cell)
               : row_in(b, b->by, at)[b->cells[at].last];
}
