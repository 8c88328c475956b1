/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/price_branch.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "solvers/search/bound/colgen/price_branch_internal.h"

enum { NONE = -1 };

/* Returns the input of a node that is available last on a device (the critical
 * predecessor), NONE if it has none. */
static int latest_child(const mo_cg_problem *c, const mo_cg_node *s, int node,
                        int device)
{
    int best = NONE;
    int64_t latest = -1;

    for (int i = c->tree->nodes[node].first_child; i != NONE;
         i = c->tree->nodes[i].next) {
        int at = mo_cg_index(c, i, device);

        if (mo_cg_node_allows(s, at) && s->est[at] + c->p[at] > latest) {
            latest = s->est[at] + c->p[at];
            best = i;
        }
    }
    return best;
}

static mo_status allocate_tables(mo_cg_pricer *b, mo_error *err)
{
    const mo_cg_problem *c = b->c;
    size_t devices = (size_t) c->n_devices;
    size_t places = ((size_t) c->n_nodes + 1) * devices;
    size_t pairs = ((size_t) c->n_comm_rows + 1) * devices * devices;
    size_t place_rows, pair_rows;

    if (!mo_size_mul(places, b->length, &place_rows) ||
        !mo_size_mul(pairs, b->length, &pair_rows))
        return mo_fail_memory(err);
    b->offset = calloc(places, sizeof *b->offset);
    b->cells = calloc(places, sizeof *b->cells);
    b->cost_at = calloc(place_rows, sizeof *b->cost_at);
    b->cost_by = calloc(place_rows, sizeof *b->cost_by);
    b->input_cost = calloc(place_rows, sizeof *b->input_cost);
    b->transfer_cost = calloc(pair_rows, sizeof *b->transfer_cost);
    b->last_transfer = calloc(pairs, sizeof *b->last_transfer);
    b->is_sent = calloc((size_t) c->n_comm_rows + 1, sizeof *b->is_sent);
    b->u_input_cost = calloc(pair_rows, sizeof *b->u_input_cost);
    b->chosen = calloc((size_t) c->n_nodes + 1, sizeof *b->chosen);
    if (!b->offset || !b->cells || !b->cost_at || !b->cost_by ||
        !b->input_cost || !b->transfer_cost || !b->last_transfer ||
        !b->is_sent || !b->u_input_cost || !b->chosen)
        return mo_fail_memory(err);
    return MO_OK;
}

mo_status mo_cg_pricer_new(const mo_cg_problem *c, const mo_cg_node *s,
                           mo_cg_pricer **pricer, mo_error *err)
{
    mo_cg_pricer *b = calloc(1, sizeof *b);
    mo_status status;

    if (!b)
        return mo_fail_memory(err);
    b->c = c;
    b->length = (size_t) c->cells + 4;
    status = allocate_tables(b, err);
    if (status != MO_OK) {
        mo_cg_pricer_free(b);
        return status;
    }

    for (int i = c->n_nodes - 1; i >= 0; i--)
        for (int k = 0; k < c->n_devices; k++) {
            int at = mo_cg_index(c, i, k), child = latest_child(c, s, i, k);
            int64_t tick = mo_cg_node_allows(s, at) ? s->est[at] : 0;

            if (child != NONE)
                tick = b->offset[mo_cg_index(c, child, k)] +
                       c->p[mo_cg_index(c, child, k)];
            b->offset[at] = tick % c->cell;
        }
    for (int i = 0; i < c->n_nodes; i++)
        if (c->comm_row[i] != NONE)
            b->is_sent[c->comm_row[i]] = true;
    *pricer = b;
    return MO_OK;
}

void mo_cg_pricer_free(mo_cg_pricer *b)
{
    if (!b)
        return;
    free(b->offset);
    free(b->cells);
    free(b->cost_at);
    free(b->cost_by);
    free(b->input_cost);
    free(b->transfer_cost);
    free(b->last_transfer);
    free(b->is_sent);
    free(b->u_input_cost);
    free(b->chosen);
    free(b);
}

int64_t mo_cg_pricer_cell_offset(const mo_cg_pricer *b, int node, int device)
{
    return b->offset[mo_cg_index(b->c, node, device)];
}

static void price_transfer(mo_cg_pricer *b, int row, int from, int to)
{
    const mo_cg_problem *c = b->c;
    int at = comm_pair(b, row, from, to), pair = mo_cg_pair(c, from, to);
    int64_t length = mo_cg_transfer_ticks(c, row, from, to);
    double *transfer_cost = table_row(b, b->transfer_cost, at);

    b->last_transfer[at] = 0;
    if (length > c->horizon)
        return;
    b->last_transfer[at] =
        mo_cg_cheapest_starts_by_cell(c, &b->prices->pairs[pair], length, 0, 0,
                                      c->horizon - length, transfer_cost)
            .last;
    /* Closes the cells in which every start would overlap the compulsory part
     * of a required broadcast on a common resource. */
    int last = b->last_transfer[at];
    const mo_cg_node *s = b->state;

    for (int k = 0; k < c->n_devices && length > 0; k++) {
        int64_t begin, end = s->arrival_min[k];

        if (s->arrival[k] != MO_CG_ARRIVAL_REQUIRED ||
            !mo_cg_pairs_conflict(c, pair, mo_cg_pair(c, c->u_device, k)))
            continue;
        begin = s->arrival_max[k] - mo_cg_broadcast_ticks(c, k);
        for (int j = 1; j <= last && begin < end; j++)
            if (mo_cg_cell_start(c, 0, j) + length > begin &&
                mo_cg_cell_start(c, 0, j + 1) <= end)
                transfer_cost[j] = INFINITY;
    }
}

static void add_u_input_cost(mo_cg_pricer *b, int node, int device,
                             double *cost_at)
{
    const mo_cg_problem *c = b->c;
    int at = mo_cg_index(c, node, device);
    const double *input;
    int64_t length;
    int shift;

    if (c->u_input[node] != MO_CG_INPUT_TRANSFER || device == c->u_device)
        return;
    input = table_row(b, b->u_input_cost,
                      c->u_comm_row[node] * c->n_devices + device);
    length = mo_cg_transfer_ticks(c, c->u_comm_row[node], c->u_device, device);
    shift = transfer_shift(b, at, length);
    for (int j = b->cells[at].first; j <= b->cells[at].last; j++)
        cost_at[j] += j + shift < 0 ? INFINITY : input[j + shift];
}

/* Release rows: starts before the tick pay their part of the dual; only cells
 * that lie before it as a whole. */
static void add_release_duals(mo_cg_pricer *b, int node, int device,
                              double *cost_at)
{
    const mo_cg_problem *c = b->c;
    int at = mo_cg_index(c, node, device);

    for (int i = 0; i < b->prices->n_releases; i++) {
        const mo_cg_release_dual *release = &b->prices->releases[i];
        double part = release->price / mo_cg_multiplicity(c, node);
        int last = mo_cg_cell_of_tick(c, b->offset[at], release->row.tick) - 1;

        if (release->row.node != node || release->row.device != device)
            continue;
        if (last > b->cells[at].last)
            last = b->cells[at].last;
        for (int j = b->cells[at].first; j <= last; j++)
            cost_at[j] += part;
    }
}

static void compute_cost_at(mo_cg_pricer *b, int node, int device)
{
    const mo_cg_problem *c = b->c;
    int at = mo_cg_index(c, node, device);
    double *cost_at = table_row(b, b->cost_at, at),
           node_cost = b->prices->node_cost[at];

    b->cells[at] = mo_cg_cheapest_starts_by_cell(
        c, &b->prices->resources[device], c->p[at], b->offset[at],
        b->state->est[at], b->state->lst[at], cost_at);
    for (int j = b->cells[at].first; node_cost != 0 && j <= b->cells[at].last;
         j++)
        cost_at[j] += node_cost;
    if (c->u_input[node] == MO_CG_INPUT_BROADCAST)
        add_release_duals(b, node, device, cost_at);
    add_u_input_cost(b, node, device, cost_at);
    for (int i = c->tree->nodes[node].first_child; i != NONE;
         i = c->tree->nodes[i].next) {
        const double *input =
            table_row(b, b->input_cost, mo_cg_index(c, i, device));

        for (int j = b->cells[at].first; j <= b->cells[at].last; j++)
            cost_at[j] += c->tree->nodes[i].times * input[j];
    }
}

/* Stores in input_cost[j] the transfers that start in the last cell that
 * serves cell j. */
static void add_remote_input(mo_cg_pricer *b, int node, int from, int reader_at,
                             int to, double *input_cost)
{
    const mo_cg_problem *c = b->c;
    int at = mo_cg_index(c, node, from), row = c->comm_row[node];
    int shift = shift_before(b, 0, b->offset[at], c->p[at]);
    int serves =
        transfer_shift(b, reader_at, mo_cg_transfer_ticks(c, row, from, to));
    mo_cg_cell_range cells = transfer_cells(b, node, from, to, shift);
    const double *cost_by = table_row(b, b->cost_by, at);
    const double *transfer_cost = transfer_row(b, row, from, to);

    if (cells.last > b->cells[reader_at].last + serves)
        cells.last = b->cells[reader_at].last + serves;
    for (int h = cells.first; h <= cells.last; h++) {
        double price = cost_by[h + shift] + transfer_cost[h];

        if (price < input_cost[h - serves])
            input_cost[h - serves] = price;
    }
}

/* Computes input_cost on one of the reader's devices. */
static void compute_input_cost(mo_cg_pricer *b, int node, int device)
{
    const mo_cg_problem *c = b->c;
    int at = mo_cg_index(c, node, device), shift;
    int reader_at = mo_cg_index(c, c->tree->nodes[node].reader, device);
    double *input_cost = table_row(b, b->input_cost, at), least = INFINITY;
    const double *cost_by = table_row(b, b->cost_by, at);
    int last = b->cells[reader_at].last;

    for (int j = 0; j <= last; j++)
        input_cost[j] = INFINITY;
    for (int from = 0; from < c->n_devices; from++)
        if (from != device &&
            mo_cg_node_allows(b->state, mo_cg_index(c, node, from)))
            add_remote_input(b, node, from, reader_at, device, input_cost);
    for (int j = 0; j <= last; j++)
        input_cost[j] = least = input_cost[j] < least ? input_cost[j] : least;
    if (!mo_cg_node_allows(b->state, at))
        return;
    shift = shift_before(b, b->offset[reader_at], b->offset[at], c->p[at]);
    for (int j = shift < 0 ? -shift : 0; j <= last; j++)
        input_cost[j] = cost_by[j + shift] < input_cost[j] ? cost_by[j + shift]
                                                           : input_cost[j];
}

void mo_cg_price_branches(mo_cg_pricer *b, const mo_cg_dual_profile *prices,
                          const mo_cg_node *state)
{
    const mo_cg_problem *c = b->c;

    b->prices = prices;
    b->state = state;
    /* Ranges of start cells; those of readers are needed before their inputs
     * are priced. */
    for (int at = 0; at < c->n_nodes * c->n_devices; at++)
        if (mo_cg_node_allows(state, at))
            b->cells[at] = (mo_cg_cell_range){
                mo_cg_cell_of_tick(c, b->offset[at], state->est[at]),
                mo_cg_cell_of_tick(c, b->offset[at], state->lst[at])
            };
    for (int row = 0; row < c->n_comm_rows; row++)
        for (int from = 0; from < c->n_devices; from++)
            for (int to = 0; to < c->n_devices; to++)
                if (from != to && (b->is_sent[row] || from == c->u_device))
                    price_transfer(b, row, from, to);
    for (int i = 0; i < c->n_nodes; i++)
        for (int k = 0; k < c->n_devices; k++)
            if (c->u_input[i] == MO_CG_INPUT_TRANSFER && k != c->u_device) {
                /* Cost of a separate transfer of u's tensor to one reader. */
                int row = c->u_comm_row[i];
                int at = comm_pair(b, row, b->c->u_device, k);
                const double *transfer_cost =
                    table_row(b, b->transfer_cost, at);
                double *u_input_cost =
                    table_row(b, b->u_input_cost, row * b->c->n_devices + k);
                double least = INFINITY;

                u_input_cost[0] = INFINITY;
                for (size_t j = 1; j < b->length; j++) {
                    if ((int) j <= b->last_transfer[at] &&
                        transfer_cost[j] < least)
                        least = transfer_cost[j];
                    u_input_cost[j] = least;
                }
            }
    for (int i = c->n_nodes - 1; i >= 0; i--) {
        int reader = c->tree->nodes[i].reader;

        for (int k = 0; k < c->n_devices; k++)
            if (mo_cg_node_allows(state, mo_cg_index(c, i, k))) {
                compute_cost_at(b, i, k);
                int at = mo_cg_index(c, i, k);
                mo_cg_cell_range cells = b->cells[at];
                const double *cost_at = table_row(b, b->cost_at, at);
                double *cost_by = table_row(b, b->cost_by, at),
                       least = INFINITY;

                for (int j = 0; j < cells.first; j++)
                    cost_by[j] = INFINITY;
                for (int j = cells.first; j <= cells.last; j++) {
                    least = cost_at[j] < least ? cost_at[j] : least;
                    cost_by[j] = least;
                }
                for (int j = cells.last + 1; j < (int) b->length; j++)
                    cost_by[j] = least;
            }
        for (int k = 0; k < c->n_devices && reader != MO_FREE; k++)
            if (mo_cg_node_allows(state, mo_cg_index(c, reader, k)))
                compute_input_cost(b, i, k);
    }
}
