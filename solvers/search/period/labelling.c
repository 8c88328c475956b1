/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/labelling.h"

#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "solvers/search/period/elimination_order.h"

struct mo_labelling {
    mo_elimination_order order;
    /* Scratch of a call: */
    int64_t *cost; /* by label */
    size_t *at;    /* by input of a message: position in its table */
    int *allowed;  /* by variable: its labels that are not excluded */
    int *n_allowed;
};

static mo_status allocate_tables(mo_labelling *m, mo_error *err)
{
    int most_inputs = 0;

    for (int g = 0; g < m->order.n_messages; g++) {
        mo_elimination_message *at = &m->order.messages[g];

        most_inputs = mo_max_int(most_inputs, at->n_in);
        at->table = calloc(at->size, sizeof *at->table);
        if (!at->table)
            return mo_fail_memory(err);
    }
    m->at = calloc((size_t) most_inputs + 1, sizeof *m->at);
    return m->at ? MO_OK : mo_fail_memory(err);
}

mo_status mo_labelling_new(int n_vars, int n_labels, int n_factors,
                           const mo_labelling_factor *factors, double max_work,
                           mo_labelling **labelling, mo_error *err)
{
    mo_labelling *m = calloc(1, sizeof *m);
    mo_status status;

    if (!m)
        return mo_fail_memory(err);
    status = mo_elimination_order_find(&m->order, n_vars, n_labels, n_factors,
                                       factors, max_work, err);
    m->cost = calloc((size_t) n_labels + 1, sizeof *m->cost);
    m->allowed =
        calloc((size_t) n_vars * (size_t) n_labels + 1, sizeof *m->allowed);
    m->n_allowed = calloc((size_t) n_vars + 1, sizeof *m->n_allowed);
    if (status == MO_OK && !(m->cost && m->allowed && m->n_allowed))
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = allocate_tables(m, err);
    if (status == MO_OK)
        *labelling = m;
    else
        mo_labelling_free(m);
    return status;
}

void mo_labelling_free(mo_labelling *m)
{
    if (!m)
        return;
    mo_elimination_order_clear(&m->order);
    free(m->cost);
    free(m->at);
    free(m->allowed);
    free(m->n_allowed);
    free(m);
}

bool mo_labelling_is_exact(const mo_labelling *m)
{
    return m->order.exact;
}

double mo_labelling_work(const mo_labelling *m)
{
    return m->order.work;
}

static const int64_t *table_of(const mo_labelling *m, int f)
{
    return f < m->order.n_given ? m->order.given[f].cost
                                : m->order.messages[f - m->order.n_given].table;
}

static void list_allowed(mo_labelling *m, const int64_t *unary)
{
    for (int v = 0; v < m->order.n_vars; v++) {
        size_t first = (size_t) v * (size_t) m->order.n_labels;
        int n = 0;

        for (int l = 0; l < m->order.n_labels; l++)
            if (unary[first + (size_t) l] < MO_LABELLING_EXCLUDED)
                m->allowed[first + (size_t) n++] = l;
        m->n_allowed[v] = n;
    }
}

static const int *allowed_labels(const mo_labelling *m, int var, int *n)
{
    *n = m->n_allowed[var];
    return m->allowed + (size_t) var * (size_t) m->order.n_labels;
}

/* The least cost over n labels of the variable of g, at those positions in its
 * inputs. */
static int64_t least_cost(const mo_labelling *m,
                          const mo_elimination_message *g, const int64_t *own,
                          const int *label, int n, const size_t *at,
                          int64_t *restrict cost)
{
    size_t width = (size_t) g->n_scope + 1;
    int64_t best;

    for (int l = 0; l < n; l++)
        cost[l] = g->has_unary ? own[label[l]] : 0;
    for (int i = 0; i < g->n_in; i++) {
        const int64_t *restrict table = table_of(m, g->in[i]) + at[i];
        size_t stride = g->strides[(size_t) i * width + width - 1];

        if (n == m->order.n_labels)
            for (size_t l = 0; l < (size_t) n; l++)
                cost[l] += table[l * stride];
        else
            for (int l = 0; l < n; l++)
                cost[l] += table[(size_t) label[l] * stride];
    }
    best = cost[0];
    for (int l = 1; l < n; l++)
        best = cost[l] < best ? cost[l] : best;
    return best;
}

/* The least over the labels of var, for each entry of labels that are not
 * excluded: an odometer over the scope, with the position in each input. */
static void fill_message(mo_labelling *m, mo_elimination_message *g,
                         const int64_t *unary)
{
    size_t K = (size_t) m->order.n_labels, width = (size_t) g->n_scope + 1;
    const int64_t *own = unary + (size_t) g->var * K;
    size_t entry = 0, place = 1, *at = m->at;
    int digit[MO_ELIMINATION_MAX_SCOPE + 1] = { 0 };
    int n, s;
    const int *label = allowed_labels(m, g->var, &n);

    memset(at, 0, (size_t) g->n_in * sizeof *at);
    for (s = g->n_scope - 1; s >= 0; s--, place *= K) {
        int n_of_s;
        size_t l = (size_t) allowed_labels(m, g->scope[s], &n_of_s)[0];

        entry += l * place;
        for (int i = 0; i < g->n_in; i++)
            at[i] += l * g->strides[(size_t) i * width + (size_t) s];
    }
    do {
        g->table[entry] = least_cost(m, g, own, label, n, at, m->cost);
        for (s = g->n_scope - 1, place = 1; s >= 0; s--, place *= K) {
            int n_of_s;
            const int *of_s = allowed_labels(m, g->scope[s], &n_of_s);
            bool carry = digit[s] + 1 == n_of_s;
            size_t before = (size_t) of_s[digit[s]];
            size_t after = (size_t) of_s[carry ? 0 : digit[s] + 1];

            /* Unsigned, so that a step back is modulo its range. */
            digit[s] = carry ? 0 : digit[s] + 1;
            entry += (after - before) * place;
            for (int i = 0; i < g->n_in; i++)
                at[i] += (after - before) *
                         g->strides[(size_t) i * width + (size_t) s];
            if (!carry)
                break;
        }
    } while (s >= 0);
}

/* Cost of label l of the variable of g, given those of its scope. */
static int64_t label_cost(const mo_labelling *m,
                          const mo_elimination_message *g, const int *label,
                          size_t l)
{
    size_t width = (size_t) g->n_scope + 1;
    int64_t sum = 0;

    for (int i = 0; i < g->n_in; i++) {
        const size_t *stride = &g->strides[(size_t) i * width];
        size_t at = l * stride[width - 1];

        for (int s = 0; s < g->n_scope; s++)
            at += stride[s] * (size_t) label[g->scope[s]];
        sum += table_of(m, g->in[i])[at];
    }
    return sum;
}

/* Labels of the variable whose messages are first .. last. */
static void decode_var(const mo_labelling *m, int first, int last,
                       const int64_t *unary, int *label)
{
    size_t K = (size_t) m->order.n_labels;
    int var = m->order.messages[first].var;
    int64_t best = INT64_MAX;

    for (size_t l = 0; l < K; l++) {
        int64_t sum = unary[(size_t) var * K + l];

        if (sum >= MO_LABELLING_EXCLUDED)
            continue;
        for (int g = first; g <= last; g++)
            sum += label_cost(m, &m->order.messages[g], label, l);
        if (sum < best) {
            best = sum;
            label[var] = (int) l;
        }
    }
}

int64_t mo_labelling_minimize(mo_labelling *m, const int64_t *unary, int *label)
{
    int64_t sum = 0;

    list_allowed(m, unary);
    for (int g = 0; g < m->order.n_messages; g++) {
        mo_elimination_message *message = &m->order.messages[g];

        fill_message(m, message, unary);
        if (message->n_scope == 0)
            sum += message->table[0];
    }
    for (int g = m->order.n_messages - 1; g >= 0;) {
        int last = g;

        while (g > 0 &&
               m->order.messages[g - 1].var == m->order.messages[last].var)
            g--;
        decode_var(m, g, last, unary, label);
        g--;
    }
    return sum;
}
