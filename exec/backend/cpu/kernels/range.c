/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Range (arithmetic sequence). Integers are exact; reals are computed from the
 * start, not from the previous element, so that errors do not accumulate.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "exec/backend/check_call.h"
#include "exec/backend/cpu/unit/cpu_unit.h"

typedef struct range_kernel {
    mo_cpu_kernel base;
    mo_tensor_desc out;
    const mo_call *call;
    mo_tensor_desc start, step;
} range_kernel;

typedef struct range_run {
    mo_tensor_dense out;
    double start, step;
    int64_t first, by;
} range_run;

static void fill_range(void *context, int64_t begin, int64_t end, int worker)
{
    range_run *run = context;

    (void) worker;
    if (mo_elem_is_float(run->out.desc.elem))
        for (int64_t i = begin; i < end; i++)
            mo_tensor_set_double(&run->out, i,
                                 run->start + (double) i * run->step);
    else
        for (int64_t i = begin; i < end; i++)
            mo_tensor_set_int(&run->out, i,
                              (int64_t) ((uint64_t) run->first +
                                         (uint64_t) i * (uint64_t) run->by));
}

static void read_number(const mo_tensor_desc *desc, const void *data,
                        double *real, int64_t *integer)
{
    uint64_t copy = 0;
    mo_tensor_dense dense = { *desc, &copy, false };

    memcpy(&copy, data, mo_elem_size(desc->elem));
    *real = mo_tensor_get_double(&dense, 0);
    *integer = mo_tensor_get_int(&dense, 0);
}

static mo_status run_range(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                           const void *const *in, void *const *out,
                           void *workspace, mo_error *err)
{
    enum { AT_ONCE = 1 << 13 };
    const range_kernel *range = (const range_kernel *) kernel;
    const mo_call_range *call = &range->call->u.range;
    range_run run = { .out = { range->out, out[0], false },
                      .start = (double) call->start,
                      .step = (double) call->step,
                      .first = call->start,
                      .by = call->step };

    (void) workspace, (void) err;
    if (range->call->n_in > 0) {
        read_number(&range->start, in[0], &run.start, &run.first);
        read_number(&range->step, in[2], &run.step, &run.by);
    }
    mo_cpu_thread_pool_parallel_for(unit->pool,
                                    mo_tensor_desc_elements(&range->out),
                                    AT_ONCE, fill_range, &run);
    return MO_OK;
}

static mo_status prepare_range(mo_cpu_unit *unit, const mo_call *call,
                               const mo_backend_operand *in,
                               const mo_tensor_desc *out,
                               mo_cpu_kernel **kernel, size_t *workspace,
                               mo_error *err)
{
    mo_status status = mo_backend_check_range(call, in, err);
    range_kernel *range;

    assert(!call->after);
    (void) unit, (void) workspace;
    if (status != MO_OK)
        return status;
    range = calloc(1, sizeof *range);
    if (!range)
        return mo_fail_memory(err);
    range->call = call;
    range->out = out[0];
    if (call->n_in > 0) {
        range->start = in[0].desc;
        range->step = in[2].desc;
    }
    *kernel = &range->base;
    return MO_OK;
}

const mo_cpu_kernel_class mo_cpu_range = { prepare_range, run_range, NULL };
