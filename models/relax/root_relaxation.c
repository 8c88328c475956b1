/* SPDX-License-Identifier: Apache-2.0 */
#include "models/relax/root_relaxation.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "models/frame/frame.h"
#include "models/model.h"
#include "schedule/allowed_devices.h"

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
