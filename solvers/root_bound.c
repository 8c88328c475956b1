/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/root_bound.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "models/frame/frame.h"
#include "models/model.h"
#include "models/relax/integer_lp.h"
#include "models/sink/scale.h"
#include "schedule/allowed_devices.h"
#include "solvers/plugins/library_solve.h"
#include "solvers/process/child.h"
#include "solvers/registry.h"

/* Horizons up to 13 days: sums of a few times are then below 2^53. */
#define MAX_UPPER_NS (INT64_C(1) << 50)

/* Rows that are not kept: those with a big M, and memory, which is scaled and
 * rounded in a model. */
static bool is_kept(const mo_sink_row_terms *row)
{
    static const char *const dropped[] = { "meet",  "order",  "same", "share",
                                           "queue", "memory", "space" };

    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        if (strcmp(row->family, dropped[i]) == 0)
            return false;
    return true;
}

static mo_status add_formulation(const mo_frame *frame, size_t max_terms,
                                 mo_integer_lp *lp, mo_error *err)
{
    const mo_identity none = { 0 };
    mo_sink *sink = NULL;
    mo_model model;
    mo_status status =
        mo_model_make(&mo_formulation_compact, frame, &none, &model, err);

    if (status != MO_OK)
        return status;
    status = mo_integer_lp_sink_new(lp, is_kept, max_terms, &sink, err);
    if (status == MO_OK)
        status = mo_model_write(&model, sink, err);
    mo_sink_free(sink);
    mo_model_clear(&model);
    return status;
}

/* Fills the row of device k; returns the number of its terms, 0 where all ops
 * together fit. */
static int fill_memory_row(const mo_instance *x, mo_memory memory,
                           const mo_integer_lp *lp, int k, int *columns,
                           int64_t *coefs)
{
    int64_t sum = 0;
    bool fits = true;
    int n = 0;

    for (size_t j = 0; j < lp->n_columns; j++) {
        const mo_integer_lp_column *column = &lp->columns[j];
        int64_t bytes;

        if (column->role != MO_VARIABLE_ROLE_PLACE || column->number[1] != k)
            continue;
        bytes = mo_regime_resident_bytes(x, memory, column->number[0]);
        if (bytes <= 0)
            continue;
        columns[n] = (int) j;
        coefs[n++] = bytes;
        fits = fits && mo_int64_add(sum, bytes, &sum);
    }
    return fits && sum <= x->capacity_bytes[k] ? 0 : n;
}

/* Columns y are most of it: one for each flow and pair of devices, in three
 * rows or more. */
static bool is_too_large(const mo_instance *x, size_t max_terms)
{
    size_t n_devices = (size_t) x->n_devices, n;

    return !mo_size_mul(n_devices * n_devices, (size_t) x->n_flows + 1, &n) ||
           !mo_size_mul(n, 3, &n) || n > max_terms;
}

mo_status mo_root_relaxation_make(const mo_instance *x, const mo_regime *regime,
                                  const mo_proven_bounds *proven,
                                  int64_t upper_ns, size_t max_terms,
                                  mo_integer_lp *lp, mo_error *err)
{
    mo_frame *frame = NULL;
    mo_status status;

    if (upper_ns > MAX_UPPER_NS)
        return mo_fail(err, MO_E_LIMIT,
                       "a schedule of %lld ns is too long for exact rows",
                       (long long) upper_ns);
    if (is_too_large(x, max_terms))
        return mo_fail(err, MO_E_LIMIT,
                       "the linear program has more than %zu coefficients",
                       max_terms);
    status = mo_frame_make_exact(x, regime, proven, upper_ns, &frame, err);
    if (status == MO_OK)
        status = add_formulation(frame, max_terms, lp, err);
    if (status == MO_OK && regime->memory != MO_MEMORY_NONE) {
        int *columns = malloc(((size_t) x->n + 1) * sizeof *columns);
        int64_t *coefs = malloc(((size_t) x->n + 1) * sizeof *coefs);

        status = columns && coefs ? MO_OK : mo_fail_memory(err);
        for (int k = 0; k < x->n_devices && status == MO_OK; k++) {
            int n = fill_memory_row(x, regime->memory, lp, k, columns, coefs);

            if (n > 0)
                status = mo_integer_lp_add_row(lp, n, columns, coefs, MO_LE,
                                               x->capacity_bytes[k], err);
        }
        free(columns);
        free(coefs);
    }
    if (status == MO_OK)
        status = mo_integer_lp_drop_unused(lp, err);
    mo_frame_free(frame);
    return status;
}

/* A solver that ignores its limit is killed so much later. */
static const double grace_s = 0.5;

/*
 * Solvers have absolute tolerances, so they get the program in other units:
 * times in units of unit_ns, rows without a time divided by a power of two near
 * their largest coefficient.  With x_j = c_j x'_j and row i divided by r_i the
 * dual value of the row is y_i = unit_ns / r_i y'_i.  Rounding here only
 * changes which y is tried.
 */
typedef struct scaled_lp {
    mo_linear_program lp;
    double *row_scale; /* r_i */
    double unit_ns;
} scaled_lp;

static bool is_time(mo_variable_role role)
{
    switch (role) {
    case MO_VARIABLE_ROLE_START:
    case MO_VARIABLE_ROLE_SEND:
    case MO_VARIABLE_ROLE_MAKESPAN:
        return true;
    default:
        return false;
    }
}

static double column_scale(const scaled_lp *s, const mo_integer_lp *from,
                           size_t j)
{
    return is_time(from->columns[j].role) ? s->unit_ns : 1;
}

static double choose_row_scale(const scaled_lp *s, const mo_integer_lp *from,
                               size_t i)
{
    double largest = 1;
    int exponent;

    for (size_t t = from->start[i]; t < from->start[i + 1]; t++) {
        if (is_time(from->columns[from->index[t]].role))
            return s->unit_ns;
        largest = fmax(largest, fabs((double) from->coef[t]));
    }
    frexp(largest, &exponent);
    return ldexp(1, exponent - 1);
}

static void fill_columns(scaled_lp *s, const mo_integer_lp *from)
{
    for (size_t j = 0; j < from->n_columns; j++) {
        const mo_integer_lp_column *column = &from->columns[j];
        double scale = column_scale(s, from, j);

        s->lp.lower[j] = column->lower == MO_INTEGER_LP_NO_LOWER
                             ? -INFINITY
                             : (double) column->lower / scale;
        s->lp.upper[j] = column->upper == MO_INTEGER_LP_NO_UPPER
                             ? INFINITY
                             : (double) column->upper / scale;
    }
    s->lp.cost[0] = 1;
}

static mo_status scale_lp(const mo_integer_lp *from, int64_t upper_ns,
                          scaled_lp *s, mo_error *err)
{
    mo_status status;
    int *start;
    mo_linear_program *lp;
    size_t n;
    size_t m;

    *s = (scaled_lp){ .lp = { .n_columns = (int) from->n_columns,
                              .n_rows = (int) from->n_rows,
                              .n_terms = (int) from->n_terms },
                      .unit_ns = (double) mo_scale_unit_ns(upper_ns) };
    lp = &s->lp;
    n = (size_t) lp->n_columns;
    m = (size_t) lp->n_rows;
    lp->cost = calloc(n + 1, sizeof *lp->cost);
    lp->lower = calloc(n + 1, sizeof *lp->lower);
    lp->upper = calloc(n + 1, sizeof *lp->upper);
    lp->row_lower = calloc(m + 1, sizeof *lp->row_lower);
    lp->row_upper = calloc(m + 1, sizeof *lp->row_upper);
    lp->start = calloc(n + 2, sizeof *lp->start);
    lp->index = calloc((size_t) lp->n_terms + 1, sizeof *lp->index);
    lp->coef = calloc((size_t) lp->n_terms + 1, sizeof *lp->coef);
    s->row_scale = calloc(m + 1, sizeof *s->row_scale);
    status = lp->cost && lp->lower && lp->upper && lp->row_lower &&
                     lp->row_upper && lp->start && lp->index && lp->coef &&
                     s->row_scale
                 ? MO_OK
                 : mo_fail_memory(err);
    if (status != MO_OK)
        return status;
    fill_columns(s, from);
    for (size_t i = 0; i < from->n_rows; i++) {
        double side;

        s->row_scale[i] = choose_row_scale(s, from, i);
        side = (double) from->rhs[i] / s->row_scale[i];
        s->lp.row_lower[i] = from->sense[i] == MO_LE ? -INFINITY : side;
        s->lp.row_upper[i] = from->sense[i] == MO_GE ? INFINITY : side;
    }
    /* By columns, from rows: counting sort. */
    start = s->lp.start;
    for (size_t t = 0; t < from->n_terms; t++)
        start[from->index[t] + 2]++;
    for (size_t j = 2; j <= from->n_columns; j++)
        start[j] += start[j - 1];
    for (size_t i = 0; i < from->n_rows; i++)
        for (size_t t = from->start[i]; t < from->start[i + 1]; t++) {
            int at = start[from->index[t] + 1]++;

            s->lp.index[at] = (int) i;
            s->lp.coef[at] = (double) from->coef[t] *
                             column_scale(s, from, (size_t) from->index[t]) /
                             s->row_scale[i];
        }
    return MO_OK;
}

/* values are shared with the child: the objective, then a dual value for each
 * row. */
typedef struct lp_child {
    const mo_solver *solver;
    const mo_solver_install *found;
    const mo_linear_program *lp;
    double time_s;
    double *values;
} lp_child;

static int run_lp_child(void *context)
{
    const lp_child *c = context;
    mo_linear_program_answer answer = { .duals = c->values + 1 };
    mo_error err = { 0 };
    mo_status status =
        c->solver->solve_lp(c->found, c->lp, c->time_s, &answer, &err);

    c->values[0] = answer.objective;
    return mo_library_exit_code(status, &err);
}

static void keep_error_line(void *listener, const char *line)
{
    mo_root_bound *bound = listener;

    if (strncmp(line, "error: ", 7) == 0)
        snprintf(bound->why, sizeof bound->why, "%s", line + 7);
}

static mo_status run_solver(lp_child *task, bool *solved, mo_root_bound *bound,
                            mo_error *err)
{
    const mo_child_job job = { .body = run_lp_child,
                               .context = task,
                               .hard_s = task->time_s > 0
                                             ? task->time_s + grace_s
                                             : 0,
                               .grace_s = grace_s,
                               .line = keep_error_line,
                               .listener = bound };
    mo_child_result result;
    mo_status status = mo_child_run(&job, &result, err);

    *solved =
        status == MO_OK && result.end == MO_CHILD_EXITED && result.code == 0;
    if (status == MO_OK && result.end == MO_CHILD_TIMEOUT)
        snprintf(bound->why, sizeof bound->why,
                 "%s had not solved the relaxation after %.1f s",
                 task->solver->title, task->time_s);
    else if (status == MO_OK && result.end == MO_CHILD_KILLED)
        snprintf(bound->why, sizeof bound->why, "%s was ended by signal %d",
                 task->solver->title, result.code);
    return status;
}

/* Tries the solvers in order; *solved: values are filled, and bound->solver is
 * set. */
static mo_status find_duals(const mo_root_bound_options *options,
                            const mo_linear_program *lp, double *values,
                            bool *solved, mo_root_bound *bound, mo_error *err)
{
    mo_status status = MO_OK;

    *solved = false;
    for (const mo_solver *const *s = mo_solver_table;
         *s && !*solved && status == MO_OK; s++) {
        bool named =
            options->solver && strcmp(options->solver, (*s)->name) == 0;
        mo_solver_install found = { 0 };
        lp_child task = { *s, &found, lp, options->time_s, values };

        if (!(*s)->solve_lp || (options->solver && !named))
            continue;
        status = (*s)->find(named ? options->path : NULL, &found, err);
        /* A variable that names no solver is an error where that is wanted. */
        if (status != MO_E_MEMORY && !named)
            status = MO_OK;
        if (status == MO_OK && found.library)
            status = run_solver(&task, solved, bound, err);
        if (*solved)
            bound->solver = (*s)->title;
        mo_solver_install_clear(&found);
    }
    return status;
}

/* From the values of the solver to the bound; anything may be in them. */
static mo_status judge_values(const mo_integer_lp *lp, const scaled_lp *s,
                              double *values, int64_t upper_ns,
                              mo_root_bound *bound, mo_error *err)
{
    mo_dual_bound dual;
    mo_status status;

    bound->objective_ns = values[0] * s->unit_ns;
    for (size_t i = 0; i < lp->n_rows; i++)
        values[i + 1] *= s->unit_ns / s->row_scale[i];
    status = mo_dual_bound_compute(lp, values + 1, lp->n_rows, &dual, err);
    if (status != MO_OK)
        return status;
    bound->found = dual.found && dual.value >= 0 && dual.value <= upper_ns;
    bound->bound_ns = bound->found ? dual.value : 0;
    if (!bound->found)
        snprintf(bound->why, sizeof bound->why,
                 dual.found && dual.value > upper_ns
                     ? "the relaxation contradicts the known schedule"
                     : "the dual values of %s give no bound",
                 bound->solver);
    return MO_OK;
}

static mo_status solve_relaxation(const mo_integer_lp *lp, int64_t upper_ns,
                                  const mo_root_bound_options *options,
                                  mo_root_bound *bound, mo_error *err)
{
    size_t size = (lp->n_rows + 1) * sizeof(double);
    double *values = mmap(NULL, size, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    scaled_lp scaled;
    bool solved = false;
    mo_status status;

    if (values == MAP_FAILED)
        return mo_fail_memory(err);
    status = scale_lp(lp, upper_ns, &scaled, err);
    if (status == MO_OK)
        status = find_duals(options, &scaled.lp, values, &solved, bound, err);
    if (status == MO_OK && solved)
        status = judge_values(lp, &scaled, values, upper_ns, bound, err);
    free(scaled.lp.cost);
    free(scaled.lp.lower);
    free(scaled.lp.upper);
    free(scaled.lp.row_lower);
    free(scaled.lp.row_upper);
    free(scaled.lp.start);
    free(scaled.lp.index);
    free(scaled.lp.coef);
    free(scaled.row_scale);
    munmap(values, size);
    return status;
}

/* The bound of one relaxation. */
static mo_status bound_regime(const mo_instance *x, const mo_regime *regime,
                              int64_t upper_ns,
                              const mo_root_bound_options *options,
                              mo_root_bound *bound, mo_error *err)
{
    size_t max_terms =
        options->max_terms > 0 ? options->max_terms : MO_ROOT_BOUND_MAX_TERMS;
    mo_integer_lp lp = { 0 };
    mo_error why = { 0 };
    mo_status status = mo_root_relaxation_make(
        x, regime, options->proven, upper_ns,
        max_terms < INT_MAX ? max_terms : INT_MAX, &lp, &why);

    *bound = (mo_root_bound){ .n_rows = lp.n_rows,
                              .n_columns = lp.n_columns,
                              .n_terms = lp.n_terms,
                              .why = "no solver with dual values was found" };
    if (status == MO_E_LIMIT) {
        snprintf(bound->why, sizeof bound->why, "%s", why.text);
        status = MO_OK;
    } else if (status != MO_OK) {
        *err = why;
    } else {
        status = solve_relaxation(&lp, upper_ns, options, bound, err);
    }
    mo_integer_lp_clear(&lp);
    return status;
}

/*
 * A tensor that is sent once for several readers arrives by rows with a big M.
 * Without congestion it arrives at each reader as a copy of its own would: a
 * schedule of the regime is one of that regime, too, which has stronger rows
 * for arrivals and none for traffic.  Both bounds hold.
 */
mo_status mo_root_bound_compute(const mo_instance *x, const mo_regime *regime,
                                int64_t upper_ns,
                                const mo_root_bound_options *options,
                                mo_root_bound *bound, mo_error *err)
{
    const mo_regime apart = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                              regime->memory };
    bool twice = regime->tensors == MO_TENSORS_ONCE &&
                 regime->congestion != MO_CONGESTION_NONE;
    mo_root_bound_options part = *options;
    mo_root_bound other;
    mo_status status;
    const mo_solver *solver =
        options->solver ? mo_solver_by_name(options->solver) : NULL;

    if (!options->solver || (solver && solver->solve_lp)) {
        status = MO_OK;
    } else {
        status =
            mo_fail(err, MO_E_USAGE,
                    "%s returns no dual values; take highs, scip or gurobi",
                    solver ? solver->title : options->solver);
    }
    if (twice)
        part.time_s /= 2;
    if (status == MO_OK)
        status = bound_regime(x, regime, upper_ns, &part, bound, err);
    if (status != MO_OK || !twice)
        return status;
    status = bound_regime(x, &apart, upper_ns, &part, &other, err);
    if (status == MO_OK && other.found &&
        (!bound->found || other.bound_ns > bound->bound_ns))
        *bound = other;
    return status;
}
