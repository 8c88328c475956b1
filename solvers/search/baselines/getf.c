/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GETF: Y. Su, X. Ren, S. Vardi, A. Wierman: Communication-aware scheduling of
 * precedence-constrained tasks on related machines (2020).
 *
 * An LP relaxation (models/baselines/getf.c) assigns ops to devices by their
 * speed, with chains and loads and without communication. Devices are grouped
 * by speed (baseline.h); an op belongs to the group with the largest total
 * speed among those not slower than the one that holds half of its LP mass.
 * Then earliest task first (etf.h) with the devices of its group for each op.
 *
 * Decided here: in the publication machines slower than the fastest by a
 * factor m are left out; here they stay, in the slowest group. Speeds are of
 * all ops together, the program and the placement have the true times. GETF
 * ignores memory.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "schedule/heuristic/single_device.h"
#include "solvers/answer/column_name.h"
#include "solvers/search/baselines/baseline.h"
#include "solvers/search/baselines/baseline_milp.h"
#include "solvers/search/baselines/etf.h"

/* Tolerance of a solver's half, and of rounding in powers of gamma. */
#define TOLERANCE 1e-6

mo_status mo_baseline_getf_groups_make(const mo_instance *x,
                                       mo_baseline_getf_groups *groups,
                                       mo_error *err)
{
    double slowest_ns = 0;
    size_t m = (size_t) x->n_devices;
    /* INFINITY: a single group. */
    double gamma = x->n_devices > 2
                       ? log2(x->n_devices) / log2(log2(x->n_devices))
                       : INFINITY;

    *groups = (mo_baseline_getf_groups){
        .n = (isinf(gamma)
                  ? 1
                  : (int) ceil(log2(x->n_devices) / log2(gamma) - TOLERANCE))
    };
    groups->of_device = calloc(m + 1, sizeof *groups->of_device);
    groups->speed = calloc(m + 1, sizeof *groups->speed);
    groups->total = calloc((size_t) groups->n + 1, sizeof *groups->total);
    if (!groups->of_device || !groups->speed || !groups->total) {
        mo_baseline_getf_groups_clear(groups);
        return mo_fail_memory(err);
    }
    /* A device on which no op takes time is faster than all others. */
    for (int k = 0; k < x->n_devices; k++)
        slowest_ns = fmax(slowest_ns, (double) mo_single_device_ns(x, k));
    for (int k = 0; k < x->n_devices; k++) {
        double ns = (double) mo_single_device_ns(x, k);

        groups->speed[k] = ns > 0           ? slowest_ns / ns
                           : slowest_ns > 0 ? INFINITY
                                            : 1;
    }
    for (int k = 0; k < x->n_devices; k++) {
        double speed = groups->speed[k];
        double next = gamma;
        int group = 0;

        while (group < groups->n - 1 && speed >= next * (1 - TOLERANCE)) {
            group++;
            next *= gamma;
        }
        groups->of_device[k] = group;
        groups->total[groups->of_device[k]] += groups->speed[k];
    }
    return MO_OK;
}

void mo_baseline_getf_groups_clear(mo_baseline_getf_groups *groups)
{
    free(groups->of_device);
    free(groups->speed);
    free(groups->total);
    *groups = (mo_baseline_getf_groups){ 0 };
}

/* Returns the last group with half of the mass in it or behind it. */
static int last_with_half(const mo_baseline_getf_groups *groups,
                          const double *mass, int n_devices)
{
    int group = groups->n;
    double behind = 0;

    while (group > 0 && behind < 0.5 - TOLERANCE) {
        group--;
        for (int k = 0; k < n_devices; k++)
            if (groups->of_device[k] == group)
                behind += mass[k];
    }
    return group;
}

int mo_baseline_getf_group_of(const mo_baseline_getf_groups *groups,
                              const double *mass, int n_devices)
{
    int best = groups->n - 1;

    for (int g = best; g >= last_with_half(groups, mass, n_devices); g--)
        if (groups->total[g] > groups->total[best])
            best = g;
    return best;
}

static mo_status place_by_masses(const mo_method_task *task,
                                 const mo_solution *solution,
                                 mo_method_result *placed, mo_error *err)
{
    const mo_instance *x = task->x;
    mo_baseline_getf_groups groups = { 0 };
    double *mass = NULL;
    bool *allowed = NULL;
    size_t cells = 0;
    mo_status status = mo_baseline_getf_groups_make(x, &groups, err);

    if (mo_size_mul((size_t) x->n + 1, (size_t) x->n_devices, &cells)) {
        mass = calloc(cells, sizeof *mass);
        allowed = calloc(cells, sizeof *allowed);
    }
    if (status == MO_OK && (!mass || !allowed))
        status = mo_fail_memory(err);
    if (status == MO_OK) {
        const mo_baseline_etf_options options = { .allowed = allowed };

        /* Columns that are not in a solution are 0. */
        for (int i = 0; i < solution->n; i++) {
            const mo_solution_value *v = &solution->values[i];
            mo_column_name name;

            if (mo_column_name_parse(v->name, &name) &&
                name.role == MO_VARIABLE_ROLE_PLACE && name.number[0] < x->n &&
                name.number[1] < x->n_devices)
                mass[(int64_t) name.number[0] * x->n_devices + name.number[1]] =
                    v->value;
        }
        for (int i = 0; i < x->n; i++) {
            int64_t row = (int64_t) i * x->n_devices;
            int group =
                mo_baseline_getf_group_of(&groups, mass + row, x->n_devices);

            for (int k = 0; k < x->n_devices; k++)
                allowed[row + k] = groups.of_device[k] == group;
        }
        status = mo_baseline_etf_place(task, &options, placed, err);
    }
    free(allowed);
    free(mass);
    mo_baseline_getf_groups_clear(&groups);
    return status;
}

static mo_status place_getf(const mo_method_task *task,
                            mo_method_result *placed, mo_error *err)
{
    return mo_baseline_place_by_lp(task, &mo_formulation_getf, place_by_masses,
                                   placed, err);
}

const mo_method mo_method_getf = {
    .name = "getf",
    .help = "earliest start within a group of devices as fast as a linear "
            "program wants; needs a solver",
    .source = "Su, Ren, Vardi, Wierman 2020",
    .all = true,
    .place = place_getf,
};
