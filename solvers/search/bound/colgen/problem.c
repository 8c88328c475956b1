/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/problem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/resource.h"

/* So that a few horizons can be added without overflow. */
#define MAX_TICKS (INT64_MAX / 16)

enum { NONE = -1, MAX_RESOURCES = 100 };

static int64_t to_ticks(const mo_cg_problem *c, int64_t ns)
{
    return ns > c->cell ? c->horizon + 1 : ns * c->cells;
}

/* Returns the new number of a comm row, the next free one when it is new. */
static int number_comm_row(mo_cg_problem *c, int *number_of, int row)
{
    if (row < 0)
        return NONE;
    if (number_of[row] == 0)
        number_of[row] = ++c->n_comm_rows;
    return number_of[row] - 1;
}

/*
 * With tensors sent once, only of the broadcast tensor it is known that no
 * other op sends it to the same device, so that its transfers can be modelled.
 * Tensors with equal comm rows are treated as one: the first to arrive serves
 * all readers. This relaxes the problem, as does a mere delay for the other
 * tensors.
 */
static mo_cg_input classify_u_input(const mo_cg_problem *c, int u_row)
{
    if (u_row == NONE || c->u_device == MO_FREE)
        return MO_CG_INPUT_NONE;
    if (c->regime.congestion == MO_CONGESTION_NONE)
        return MO_CG_INPUT_DELAY;
    if (c->regime.tensors != MO_TENSORS_ONCE)
        return MO_CG_INPUT_TRANSFER;
    return u_row == c->fork->broadcast_row ? MO_CG_INPUT_BROADCAST
                                           : MO_CG_INPUT_DELAY;
}

static void fill_transfer_times(mo_cg_problem *c, int row, int number)
{
    const mo_instance *x = c->fork->places->x;
    int k = c->n_devices;

    for (int a = 0; a < k; a++)
        for (int b = 0; b < k; b++)
            c->transfer[((int64_t) number * k + a) * k + b] =
                a == b ? 0 : to_ticks(c, mo_instance_row_ns(x, row, a, b));
}

static void fill_nodes(mo_cg_problem *c)
{
    const mo_allowed_devices *places = c->fork->places;

    for (int i = 0; i < c->n_nodes; i++) {
        int op = c->tree->nodes[i].op;

        c->u_input[i] = classify_u_input(c, c->tree->nodes[i].u_row);
        for (int k = 0; k < c->n_devices; k++) {
            int at = mo_cg_index(c, i, k);

            c->p[at] = to_ticks(c, mo_instance_p_ns(places->x, op, k));
            c->allowed[at] = mo_allowed_devices_has(places, op, k);
        }
    }
}

static void number_comm_rows(mo_cg_problem *c, int *number_of)
{
    for (int i = 0; i < c->n_nodes; i++) {
        const mo_cg_tree_node *node = &c->tree->nodes[i];
        bool sent = node->reader != MO_FREE || c->v_device != MO_FREE;

        assert(node->reader == MO_FREE || node->row >= 0);
        c->comm_row[i] = sent ? number_comm_row(c, number_of, node->row) : NONE;
        c->u_comm_row[i] = c->u_input[i] == MO_CG_INPUT_NONE
                               ? NONE
                               : number_comm_row(c, number_of, node->u_row);
        if (c->u_input[i] == MO_CG_INPUT_BROADCAST)
            c->broadcast_row = c->u_comm_row[i];
    }
}

static mo_status make_comm_rows(mo_cg_problem *c, mo_error *err)
{
    size_t n = (size_t) c->fork->places->x->n_comm_rows;
    size_t pairs = (size_t) c->n_devices * (size_t) c->n_devices, size;
    int *number_of = calloc(n + 1, sizeof *number_of);

    if (!number_of)
        return mo_fail_memory(err);
    number_comm_rows(c, number_of);
    if (mo_size_mul(pairs, (size_t) c->n_comm_rows + 1, &size))
        c->transfer = calloc(size, sizeof *c->transfer);
    for (size_t row = 0; row < n && c->transfer; row++)
        if (number_of[row] > 0)
            fill_transfer_times(c, (int) row, number_of[row] - 1);
    free(number_of);
    return c->transfer ? MO_OK : mo_fail_memory(err);
}

static mo_status make_pair_resources(mo_cg_problem *c, mo_error *err)
{
    const mo_instance *x = c->fork->places->x;
    mo_congestion congestion = c->regime.congestion;
    int k = c->n_devices, two[2], n = 0;
    const int *ids;

    c->n_resources = k + mo_resource_count(x, congestion);
    for (int pair = 0; pair < k * k; pair++) {
        c->pair_start[pair] = n;
        if (pair / k != pair % k)
            n += mo_resource_list(x, congestion, pair / k, pair % k, two, &ids);
    }
    c->pair_start[(size_t) k * k] = n;
    c->pair_resource = calloc((size_t) n + 1, sizeof *c->pair_resource);
    if (!c->pair_resource)
        return mo_fail_memory(err);
    for (int pair = 0; pair < k * k; pair++) {
        mo_resource_list(x, congestion, pair / k, pair % k, two, &ids);
        for (int i = c->pair_start[pair]; i < c->pair_start[pair + 1]; i++)
            c->pair_resource[i] = k + ids[i - c->pair_start[pair]];
    }
    return MO_OK;
}

static mo_status fill_problem(mo_cg_problem *c, mo_error *err)
{
    size_t k = (size_t) c->n_devices, n = (size_t) c->n_nodes + 1, size;
    mo_status status;

    if (!mo_size_mul(n, k, &size))
        return mo_fail_memory(err);
    c->p = calloc(size, sizeof *c->p);
    c->allowed = calloc(size, sizeof *c->allowed);
    c->comm_row = calloc(n, sizeof *c->comm_row);
    c->u_comm_row = calloc(n, sizeof *c->u_comm_row);
    c->u_input = calloc(n, sizeof *c->u_input);
    c->pair_start = calloc(k * k + 1, sizeof *c->pair_start);
    if (!c->p || !c->allowed || !c->comm_row || !c->u_comm_row || !c->u_input ||
        !c->pair_start)
        return mo_fail_memory(err);
    fill_nodes(c);
    status = make_pair_resources(c, err);
    return status == MO_OK ? make_comm_rows(c, err) : status;
}

mo_status mo_cg_problem_new(const mo_forkjoin *fork, const mo_cg_tree *tree,
                            const mo_regime *regime, int a, int b,
                            int64_t time_ns, int cells, mo_cg_problem **made,
                            mo_error *err)
{
    mo_cg_problem *c;
    mo_status status;

    *made = NULL;
    if (time_ns < 1 || time_ns > MAX_TICKS / cells)
        return MO_OK;
    c = calloc(1, sizeof *c);
    if (!c)
        return mo_fail_memory(err);
    c->fork = fork;
    c->tree = tree;
    /* With very many channels or links each is rarely full; they are dropped,
     * which relaxes the problem. */
    c->regime = *regime;
    if (mo_resource_count(fork->places->x, regime->congestion) > MAX_RESOURCES)
        c->regime.congestion = MO_CONGESTION_NONE;
    c->u_device = a;
    c->v_device = b;
    c->n_devices = fork->places->x->n_devices;
    c->n_nodes = tree->n;
    c->cells = cells;
    c->cell = time_ns;
    c->horizon = time_ns * cells;
    c->broadcast_row = NONE;
    status = fill_problem(c, err);
    if (status == MO_OK)
        *made = c;
    else
        mo_cg_problem_free(c);
    return status;
}

void mo_cg_problem_free(mo_cg_problem *c)
{
    if (!c)
        return;
    free(c->pair_start);
    free(c->pair_resource);
    free(c->transfer);
    free(c->comm_row);
    free(c->u_comm_row);
    free(c->u_input);
    free(c->p);
    free(c->allowed);
    free(c->budget_part);
    free(c);
}

/* Lowers the budget parts of the node of an op to its prices. */
static void lower_budget_parts(mo_cg_problem *c, const mo_cg_budget *budget,
                               int node, int op)
{
    const int64_t *price_ns =
        budget->op_price_ns + (size_t) op * (size_t) c->n_devices;

    for (int k = 0; k < c->n_devices; k++) {
        double *part = &c->budget_part[mo_cg_index(c, node, k)];

        *part = fmin(*part, (double) price_ns[k] / budget->ns);
    }
}

static void set_op_prices(mo_cg_problem *c, const mo_cg_budget *budget)
{
    for (int i = 0; i < c->n_nodes * c->n_devices; i++)
        c->budget_part[i] = INFINITY;
    for (int i = 0; i < c->fork->n_classes; i++) {
        const mo_forkjoin_class *class = &c->fork->classes[i];

        for (int j = 0; j < class->count * class->n; j++)
            lower_budget_parts(
                c, budget, c->tree->node_of[c->tree->start[i] + j % class->n],
                class->members[j]);
    }
}

mo_status mo_cg_problem_set_budget(mo_cg_problem *c, const mo_cg_budget *budget,
                                   mo_error *err)
{
    c->budget_part = calloc((size_t) c->n_nodes + 1,
                            (size_t) c->n_devices * sizeof *c->budget_part);
    if (!c->budget_part)
        return mo_fail_memory(err);
    c->budget_ns = budget->ns;
    c->sum_ns = budget->sum_ns;
    c->last_sum_cell =
        (int) mo_min_i64(budget->from_ns * c->cells / c->cell, c->cells - 1);
    if (budget->op_price_ns) {
        set_op_prices(c, budget);
        return MO_OK;
    }
    for (int i = 0; i < c->n_nodes; i++)
        for (int k = 0; k < c->n_devices; k++)
            c->budget_part[mo_cg_index(c, i, k)] =
                budget->price_ns[k] *
                (double) mo_allowed_devices_resident_bytes(
                    c->fork->places, c->tree->nodes[i].op) /
                budget->ns;
    return MO_OK;
}

bool mo_cg_pairs_conflict(const mo_cg_problem *c, int pair, int other)
{
    for (int i = c->pair_start[pair]; i < c->pair_start[pair + 1]; i++)
        for (int j = c->pair_start[other]; j < c->pair_start[other + 1]; j++)
            if (c->pair_resource[i] == c->pair_resource[j])
                return true;
    return false;
}
