/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/price_branch.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"

/*
 * Dynamic programming from the leaves to the root, by node and device and by
 * the cell of the start:
 *
 * cost_at[j]     cost of the node and its subtree, for a start in cell j,
 * cost_by[j]     the same for a start in cell j or before,
 * input_cost[j]  cost of a node's output on a device of its reader, for a
 *                reader that starts in cell j: computed there, or elsewhere
 *                and transferred.
 *
 * cost_at[j]    = its own time from cell j on + sum of its input_cost[j]
 * input_cost[j] = min(cost_by on the same device, shifted,
 *                     min over other devices and starts of the transfer up
 *                     to then of the transfer's time + cost_by there, shifted)
 *
 * A start somewhere in a cell is charged the minimal cost within the cell, and
 * counts as in time for whatever it can be in time for from there: so no real
 * schedule costs less. The shift in cells is exact along the critical path on
 * one device: start grids have offsets such that a cell ends as that of the
 * successor begins. Transfers have grids without an offset, which all nodes
 * with equal transfer times share.
 */

enum { NONE = -1 };

struct mo_cg_pricer {
    const mo_cg_problem *c;
    const mo_cg_dual_profile *prices;
    const mo_cg_node *state;
    size_t length;             /* of a table row */
    int64_t *offset;           /* by node and device */
    mo_cg_cell_range *cells;   /* by node and device: range of cost_at */
    double *cost_at, *cost_by; /* by node and device, rows */
    double *input_cost;        /* by node and the reader's device, rows */
    double *transfer_cost;     /* by comm row and pair, rows */
    int *last_transfer;        /* by comm row and pair: its last cell */
    bool *is_sent;             /* by comm row: the output of some node has it */
    double *u_input_cost;      /* by comm row and device, rows: least cost of a
                                  transfer from u that starts by then */
    int *chosen; /* by node: cell of the start, during extraction */
};

static double *table_row(const mo_cg_pricer *b, double *rows, int at)
{
    return rows + (size_t) at * b->length;
}

static int comm_pair(const mo_cg_pricer *b, int row, int from, int to)
{
    return row * b->c->n_devices * b->c->n_devices + mo_cg_pair(b->c, from, to);
}

static double *transfer_row(const mo_cg_pricer *b, int row, int from, int to)
{
    return table_row(b, b->transfer_cost, comm_pair(b, row, from, to));
}

/* Shift from the cell of a reader's start to the last cell in which something
 * of this length can start before it. */
static int shift_before(const mo_cg_pricer *b, int64_t reader_offset,
                        int64_t offset, int64_t length)
{
    int64_t room = reader_offset - offset - length - 1;

    return (int) mo_cg_floor_div(room, b->c->cell) + 1;
}

/* The shift for a transfer of this length to a reader. */
static int transfer_shift(const mo_cg_pricer *b, int reader_at, int64_t length)
{
    return shift_before(b, b->offset[reader_at], 0, length);
}

/* Cells of useful starts of a node's transfer: not before the node can end
 * there, not after the last start within the horizon. */
static mo_cg_cell_range transfer_cells(const mo_cg_pricer *b, int node,
                                       int from, int to, int shift)
{
    int at = mo_cg_index(b->c, node, from);
    int first = b->cells[at].first - shift;
    int last = b->last_transfer[comm_pair(b, b->c->comm_row[node], from, to)];

    return (mo_cg_cell_range){ first > 1 ? first : 1, last };
}

static bool is_sent_to_sink(const mo_cg_problem *c, int root, int device)
{
    return c->comm_row[root] >= 0 && device != c->v_device;
}

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

static void choose_offsets(mo_cg_pricer *b, const mo_cg_node *s)
{
    const mo_cg_problem *c = b->c;

    for (int i = c->n_nodes - 1; i >= 0; i--)
        for (int k = 0; k < c->n_devices; k++) {
            int at = mo_cg_index(c, i, k), child = latest_child(c, s, i, k);
            int64_t tick = mo_cg_node_allows(s, at) ? s->est[at] : 0;

            if (child != NONE)
                tick = b->offset[mo_cg_index(c, child, k)] +
                       c->p[mo_cg_index(c, child, k)];
            b->offset[at] = tick % c->cell;
        }
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
    choose_offsets(b, s);
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

/* Closes the cells in which every start would overlap the compulsory part of a
 * required broadcast on a common resource. */
static void close_broadcast_cells(mo_cg_pricer *b, int pair, int64_t length,
                                  int last, double *row)
{
    const mo_cg_problem *c = b->c;
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
                row[j] = INFINITY;
    }
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
    close_broadcast_cells(b, pair, length, b->last_transfer[at], transfer_cost);
}

/* Cost of a separate transfer of u's tensor to one reader. */
static void price_from_u(mo_cg_pricer *b, int row, int to)
{
    int at = comm_pair(b, row, b->c->u_device, to);
    const double *transfer_cost = table_row(b, b->transfer_cost, at);
    double *u_input_cost =
        table_row(b, b->u_input_cost, row * b->c->n_devices + to);
    double least = INFINITY;

    u_input_cost[0] = INFINITY;
    for (size_t j = 1; j < b->length; j++) {
        if ((int) j <= b->last_transfer[at] && transfer_cost[j] < least)
            least = transfer_cost[j];
        u_input_cost[j] = least;
    }
}

static void price_transfers(mo_cg_pricer *b)
{
    const mo_cg_problem *c = b->c;

    for (int row = 0; row < c->n_comm_rows; row++)
        for (int from = 0; from < c->n_devices; from++)
            for (int to = 0; to < c->n_devices; to++)
                if (from != to && (b->is_sent[row] || from == c->u_device))
                    price_transfer(b, row, from, to);
    for (int i = 0; i < c->n_nodes; i++)
        for (int k = 0; k < c->n_devices; k++)
            if (c->u_input[i] == MO_CG_INPUT_TRANSFER && k != c->u_device)
                price_from_u(b, c->u_comm_row[i], k);
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

static void compute_cost_by(mo_cg_pricer *b, int at)
{
    mo_cg_cell_range cells = b->cells[at];
    const double *cost_at = table_row(b, b->cost_at, at);
    double *cost_by = table_row(b, b->cost_by, at), least = INFINITY;

    for (int j = 0; j < cells.first; j++)
        cost_by[j] = INFINITY;
    for (int j = cells.first; j <= cells.last; j++) {
        least = cost_at[j] < least ? cost_at[j] : least;
        cost_by[j] = least;
    }
    for (int j = cells.last + 1; j < (int) b->length; j++)
        cost_by[j] = least;
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
    price_transfers(b);
    for (int i = c->n_nodes - 1; i >= 0; i--) {
        int reader = c->tree->nodes[i].reader;

        for (int k = 0; k < c->n_devices; k++)
            if (mo_cg_node_allows(state, mo_cg_index(c, i, k))) {
                compute_cost_at(b, i, k);
                compute_cost_by(b, mo_cg_index(c, i, k));
            }
        for (int k = 0; k < c->n_devices && reader != MO_FREE; k++)
            if (mo_cg_node_allows(state, mo_cg_index(c, reader, k)))
                compute_input_cost(b, i, k);
    }
}

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

/*
 * Extraction, from the root to the leaves: finds the cells at which the tables
 * have their minima, and within each the cheapest tick.
 */

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
