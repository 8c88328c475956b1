/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/labelling.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/heap.h"

enum { MAX_SCOPE = 24 };

/* A message: the minimum over var of the sum of its inputs, a table over
 * scope.  Numbers of factors: those given, then messages. */
typedef struct message {
    int var;
    bool has_unary; /* the unary costs of var are added here */
    int n_scope, n_in;
    int *scope;      /* variables eliminated later */
    int *in;         /* numbers of factors */
    size_t *strides; /* by input: n_scope + 1, that of var last */
    int64_t *table;
    size_t size;
} message;

struct mo_labelling {
    int n_vars, n_labels, n_given;
    const mo_labelling_factor *given;
    message *messages; /* in the order of elimination */
    int n_messages;
    size_t room;
    bool exact;
    double work;   /* table entries of a call */
    int64_t *cost; /* by label: scratch of a call */
    int *allowed;  /* by variable: its labels that are not excluded */
    int *n_allowed;
};

/* Symbolic elimination. */
typedef struct eliminator {
    mo_labelling *m;
    int **of_var; /* by variable: its factors that are not yet eliminated */
    size_t *n_of_var, *room_of_var;
    int *degree;   /* by variable; -1: eliminated */
    mo_heap queue; /* variables by degree, some more than once */
    int *mark;     /* by variable: scratch */
    int stamp;
    size_t max_table;
    double work;
} eliminator;

static int factor_scope(const mo_labelling *m, int f, const int **vars)
{
    if (f < m->n_given) {
        *vars = m->given[f].vars;
        return m->given[f].n;
    }
    *vars = m->messages[f - m->n_given].scope;
    return m->messages[f - m->n_given].n_scope;
}

static mo_status attach_factor(eliminator *e, int f, mo_error *err)
{
    const int *vars;
    int n = factor_scope(e->m, f, &vars);
    mo_status status = MO_OK;

    for (int i = 0; i < n && status == MO_OK; i++) {
        int v = vars[i];

        status = mo_array_reserve((void **) &e->of_var[v], &e->room_of_var[v],
                                  e->n_of_var[v] + 1, sizeof **e->of_var, err);
        if (status == MO_OK)
            e->of_var[v][e->n_of_var[v]++] = f;
    }
    return status;
}

/* The number of neighbours of a variable. */
static int count_neighbours(eliminator *e, int v)
{
    int n = 0;

    e->mark[v] = ++e->stamp;
    for (size_t i = 0; i < e->n_of_var[v]; i++) {
        const int *vars;
        int count = factor_scope(e->m, e->of_var[v][i], &vars);

        for (int j = 0; j < count; j++)
            if (e->mark[vars[j]] != e->stamp) {
                e->mark[vars[j]] = e->stamp;
                n++;
            }
    }
    return n;
}

/* Sets the degree of a variable and enters it into the queue. */
static mo_status queue_var(eliminator *e, int v, mo_error *err)
{
    e->degree[v] = count_neighbours(e, v);
    return mo_heap_push(&e->queue, e->degree[v], v, err);
}

/* The variable of least degree; entries of an older degree are dropped. */
static int pop_least_degree(eliminator *e)
{
    mo_heap_item item = mo_heap_pop(&e->queue);

    while (e->degree[item.id] != item.key)
        item = mo_heap_pop(&e->queue);
    return item.id;
}

/* Table entries of a scope, at most max + 1. */
static size_t table_size(int n_labels, int n, size_t max)
{
    size_t size = 1;

    for (int i = 0; i < n && size <= max; i++)
        size *= (size_t) n_labels;
    return size;
}

/* Adds the variables of factor f other than var to the scope; returns false,
 * with the scope unchanged, where that would make the table too large. */
static bool merge_scope(const eliminator *e, int f, int var, int *scope,
                        int *n_scope)
{
    const int *vars;
    int count = factor_scope(e->m, f, &vars), n = *n_scope;

    for (int i = 0; i < count; i++) {
        bool known = vars[i] == var;

        for (int j = 0; j < n && !known; j++)
            known = scope[j] == vars[i];
        if (!known && n == MAX_SCOPE)
            return false;
        if (!known)
            scope[n++] = vars[i];
    }
    if (n > *n_scope &&
        table_size(e->m->n_labels, n + 1, e->max_table) > e->max_table &&
        *n_scope > 0)
        return false;
    *n_scope = n;
    return true;
}

static void fill_strides(const mo_labelling *m, message *g)
{
    size_t K = (size_t) m->n_labels;

    for (int i = 0; i < g->n_in; i++) {
        const int *vars;
        int n = factor_scope(m, g->in[i], &vars);
        size_t stride = 1;

        for (int j = n - 1; j >= 0; j--, stride *= K) {
            int at = g->n_scope;

            for (int s = 0; s < g->n_scope; s++)
                if (g->scope[s] == vars[j])
                    at = s;
            g->strides[(size_t) i * (size_t) (g->n_scope + 1) + (size_t) at] =
                stride;
        }
    }
}

/* A message of some factors of var, which are taken from its list. */
static mo_status add_message(eliminator *e, int var, bool has_unary,
                             mo_error *err)
{
    mo_labelling *m = e->m;
    int scope[MAX_SCOPE], n_scope = 0;
    size_t n_left = 0, n_all = e->n_of_var[var];
    message *g;
    mo_status status =
        MO_ARRAY_GROW(m->messages, (size_t) m->n_messages, m->room, err);

    if (status != MO_OK)
        return status;
    g = &m->messages[m->n_messages];
    *g = (message){ .var = var, .has_unary = has_unary };
    g->in = calloc(n_all + 1, sizeof *g->in);
    if (!g->in)
        return mo_fail_memory(err);
    m->n_messages++;
    for (size_t i = 0; i < n_all; i++) {
        int f = e->of_var[var][i];

        if (merge_scope(e, f, var, scope, &n_scope))
            g->in[g->n_in++] = f;
        else
            e->of_var[var][n_left++] = f;
    }
    e->n_of_var[var] = n_left;
    g->n_scope = n_scope;
    g->size = table_size(m->n_labels, n_scope, SIZE_MAX / 4096);
    g->scope = calloc((size_t) n_scope + 1, sizeof *g->scope);
    g->strides = calloc((size_t) (g->n_in + 1) * (size_t) (n_scope + 1),
                        sizeof *g->strides);
    e->work += (double) g->size * m->n_labels * (g->n_in + 1);
    if (!g->scope || !g->strides)
        return mo_fail_memory(err);
    memcpy(g->scope, scope, (size_t) n_scope * sizeof *scope);
    fill_strides(m, g);
    return MO_OK;
}

/* Removes the eliminated inputs of message g from the lists of its scope. */
static void detach_inputs(eliminator *e, const message *g)
{
    for (int s = 0; s < g->n_scope; s++) {
        int v = g->scope[s];
        size_t n = 0;

        for (size_t i = 0; i < e->n_of_var[v]; i++) {
            bool gone = false;

            for (int j = 0; j < g->n_in && !gone; j++)
                gone = g->in[j] == e->of_var[v][i];
            if (!gone)
                e->of_var[v][n++] = e->of_var[v][i];
        }
        e->n_of_var[v] = n;
    }
}

static mo_status eliminate_var(eliminator *e, int var, mo_error *err)
{
    mo_labelling *m = e->m;
    int first = m->n_messages;
    mo_status status = MO_OK;

    e->degree[var] = -1;
    do {
        status = add_message(e, var, m->n_messages == first, err);
        if (status == MO_OK)
            detach_inputs(e, &m->messages[m->n_messages - 1]);
    } while (status == MO_OK && e->n_of_var[var] > 0);
    m->exact = m->exact && m->n_messages == first + 1;
    for (int g = first; g < m->n_messages && status == MO_OK; g++)
        status = attach_factor(e, m->n_given + g, err);
    for (int g = first; g < m->n_messages && status == MO_OK; g++)
        for (int s = 0; s < m->messages[g].n_scope; s++) {
            status = queue_var(e, m->messages[g].scope[s], err);
            if (status != MO_OK)
                return status;
        }
    return status;
}

static void clear_messages(mo_labelling *m)
{
    for (int g = 0; g < m->n_messages; g++) {
        free(m->messages[g].scope);
        free(m->messages[g].in);
        free(m->messages[g].strides);
        free(m->messages[g].table);
    }
    m->n_messages = 0;
}

static void free_eliminator(eliminator *e)
{
    for (int v = 0; v < e->m->n_vars && e->of_var; v++)
        free(e->of_var[v]);
    free(e->of_var);
    free(e->n_of_var);
    free(e->room_of_var);
    free(e->degree);
    free(e->mark);
    mo_heap_clear(&e->queue);
}

/* Eliminates all variables with tables of at most max_table entries; sets
 * *work. */
static mo_status eliminate_all(mo_labelling *m, size_t max_table,
                               double max_work, double *work, mo_error *err)
{
    size_t n = (size_t) m->n_vars + 1;
    eliminator e = { .m = m, .max_table = max_table };
    mo_status status = MO_OK;

    clear_messages(m);
    m->exact = true;
    e.of_var = calloc(n, sizeof *e.of_var);
    e.n_of_var = calloc(n, sizeof *e.n_of_var);
    e.room_of_var = calloc(n, sizeof *e.room_of_var);
    e.degree = calloc(n, sizeof *e.degree);
    e.mark = calloc(n, sizeof *e.mark);
    if (!e.of_var || !e.n_of_var || !e.room_of_var || !e.degree || !e.mark)
        status = mo_fail_memory(err);
    for (int f = 0; f < m->n_given && status == MO_OK; f++)
        status = attach_factor(&e, f, err);
    for (int v = 0; v < m->n_vars && status == MO_OK; v++)
        status = queue_var(&e, v, err);
    for (int i = 0; i < m->n_vars && status == MO_OK && e.work <= max_work; i++)
        status = eliminate_var(&e, pop_least_degree(&e), err);
    *work = e.work;
    free_eliminator(&e);
    return status;
}

static mo_status allocate_tables(mo_labelling *m, mo_error *err)
{
    for (int g = 0; g < m->n_messages; g++) {
        message *at = &m->messages[g];

        at->table = calloc(at->size, sizeof *at->table);
        if (!at->table)
            return mo_fail_memory(err);
    }
    return MO_OK;
}

mo_status mo_labelling_new(int n_vars, int n_labels, int n_factors,
                           const mo_labelling_factor *factors, double max_work,
                           mo_labelling **labelling, mo_error *err)
{
    mo_labelling *m = calloc(1, sizeof *m);
    size_t least = table_size(n_labels, 2, SIZE_MAX / 4096);
    mo_status status = MO_OK;
    double work = max_work + 1;

    if (!m)
        return mo_fail_memory(err);
    m->n_vars = n_vars;
    m->n_labels = n_labels;
    m->n_given = n_factors;
    m->given = factors;
    /* The widest tables that the work allows. */
    for (size_t max_table = (size_t) 1 << 20;
         status == MO_OK && work > max_work; max_table /= 4) {
        bool last = max_table / 4 < least;

        status = eliminate_all(m, last ? least : max_table,
                               last ? 1e300 : max_work, &work, err);
        if (last)
            break;
    }
    m->work = work;
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
    clear_messages(m);
    free(m->messages);
    free(m->cost);
    free(m->allowed);
    free(m->n_allowed);
    free(m);
}

bool mo_labelling_is_exact(const mo_labelling *m)
{
    return m->exact;
}

double mo_labelling_work(const mo_labelling *m)
{
    return m->work;
}

static const int64_t *table_of(const mo_labelling *m, int f)
{
    return f < m->n_given ? m->given[f].cost
                          : m->messages[f - m->n_given].table;
}

enum { MAX_INPUTS = 64 };

static void list_allowed(mo_labelling *m, const int64_t *unary)
{
    for (int v = 0; v < m->n_vars; v++) {
        size_t first = (size_t) v * (size_t) m->n_labels;
        int n = 0;

        for (int l = 0; l < m->n_labels; l++)
            if (unary[first + (size_t) l] < MO_LABELLING_EXCLUDED)
                m->allowed[first + (size_t) n++] = l;
        m->n_allowed[v] = n;
    }
}

static const int *allowed_labels(const mo_labelling *m, int var, int *n)
{
    *n = m->n_allowed[var];
    return m->allowed + (size_t) var * (size_t) m->n_labels;
}

/* The least cost over n labels of the variable of g, at those positions in its
 * inputs. */
static int64_t least_cost(const mo_labelling *m, const message *g,
                          const int64_t *own, const int *label, int n,
                          const size_t *at, int64_t *restrict cost)
{
    size_t width = (size_t) g->n_scope + 1;
    int64_t best;

    for (int l = 0; l < n; l++)
        cost[l] = g->has_unary ? own[label[l]] : 0;
    for (int i = 0; i < g->n_in; i++) {
        const int64_t *restrict table = table_of(m, g->in[i]) + at[i];
        size_t stride = g->strides[(size_t) i * width + width - 1];

        if (n == m->n_labels)
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
static void fill_message(const mo_labelling *m, message *g,
                         const int64_t *unary, size_t *at, int *digit,
                         int64_t *cost)
{
    size_t K = (size_t) m->n_labels, width = (size_t) g->n_scope + 1;
    const int64_t *own = unary + (size_t) g->var * K;
    size_t entry = 0, place = 1;
    int n, s;
    const int *label = allowed_labels(m, g->var, &n);

    memset(at, 0, (size_t) g->n_in * sizeof *at);
    memset(digit, 0, width * sizeof *digit);
    for (s = g->n_scope - 1; s >= 0; s--, place *= K) {
        int n_of_s;
        size_t l = (size_t) allowed_labels(m, g->scope[s], &n_of_s)[0];

        entry += l * place;
        for (int i = 0; i < g->n_in; i++)
            at[i] += l * g->strides[(size_t) i * width + (size_t) s];
    }
    do {
        g->table[entry] = least_cost(m, g, own, label, n, at, cost);
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
static int64_t label_cost(const mo_labelling *m, const message *g,
                          const int *label, size_t l)
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
    size_t K = (size_t) m->n_labels;
    int var = m->messages[first].var;
    int64_t best = INT64_MAX;

    for (size_t l = 0; l < K; l++) {
        int64_t sum = unary[(size_t) var * K + l];

        if (sum >= MO_LABELLING_EXCLUDED)
            continue;
        for (int g = first; g <= last; g++)
            sum += label_cost(m, &m->messages[g], label, l);
        if (sum < best) {
            best = sum;
            label[var] = (int) l;
        }
    }
}

int64_t mo_labelling_minimize(mo_labelling *m, const int64_t *unary, int *label)
{
    size_t fixed_at[MAX_INPUTS], *at = fixed_at;
    int digit[MAX_SCOPE + 1];
    int64_t sum = 0;

    list_allowed(m, unary);
    for (int g = 0; g < m->n_messages; g++) {
        message *made = &m->messages[g];

        if (made->n_in > MAX_INPUTS)
            at = calloc((size_t) made->n_in, sizeof *at);
        if (!at)
            return INT64_MIN; /* no bound without memory */
        fill_message(m, made, unary, at, digit, m->cost);
        if (at != fixed_at)
            free(at);
        at = fixed_at;
        if (made->n_scope == 0)
            sum += made->table[0];
    }
    for (int g = m->n_messages - 1; g >= 0;) {
        int last = g;

        while (g > 0 && m->messages[g - 1].var == m->messages[last].var)
            g--;
        decode_var(m, g, last, unary, label);
        g--;
    }
    return sum;
}
