/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with weights in a storage format (block_format.h). Some rows of
 * weights at a time are converted to floats and multiplied with all rows of the
 * data.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "exec/backend/cpu/pointwise/pointwise.h"
#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/unit/load_f32.h"

enum { ROWS = 8 };

typedef struct linear_kernel {
    mo_cpu_kernel base;
    mo_call_linear linear;
    mo_cpu_epilogue epilogue;
    mo_elem elem; /* of the data */
    size_t row_bytes;
    size_t data_at, epilogue_at, scratch; /* of each worker */
} linear_kernel;

typedef struct linear_run {
    const linear_kernel *kernel;
    const void *const *in;
    void *out, *workspace;
} linear_run;

static float dot(const float *a, const float *b, int64_t n)
{
    float sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void multiply_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const linear_run *run = context;
    const linear_kernel *kernel = run->kernel;
    const mo_call_linear *l = &kernel->linear;
    char *scratch =
        mo_cpu_worker_scratch(run->workspace, kernel->scratch, worker);
    float *rows = (float *) (void *) scratch;
    float *data = (float *) (void *) (scratch + kernel->data_at);

    for (int64_t n = begin; n < end; n += ROWS) {
        int64_t count = mo_min_i64(ROWS, end - n);

        for (int64_t r = 0; r < count; r++)
            mo_block_format_to_f32(l->format,
                                   (const char *) run->in[1] +
                                       (size_t) (n + r) * kernel->row_bytes,
                                   l->k, rows + r * l->k);
        for (int64_t m = 0; m < l->m; m++) {
            float sums[ROWS];

            mo_cpu_load_f32(run->in[0], kernel->elem, m * l->k, 1, l->k, data);
            for (int64_t r = 0; r < count; r++)
                sums[r] = dot(data, rows + r * l->k, l->k);
            mo_cpu_epilogue_run(&kernel->epilogue, run->in, run->out,
                                m * l->n + n, count, sums,
                                scratch + kernel->epilogue_at);
        }
    }
}

static void free_linear(mo_cpu_kernel *kernel)
{
    mo_cpu_epilogue_clear(&((linear_kernel *) kernel)->epilogue);
    free(kernel);
}

static mo_status check_linear(const mo_call_linear *l,
                              const mo_backend_operand *in,
                              const mo_tensor_desc *out, mo_error *err)
{
    mo_elem elem = in[0].desc.elem;
    int64_t row = mo_block_format_row_bytes(l->format, l->k), bytes, a, c;

    if (!mo_elem_is_float(elem) || elem == MO_ELEM_F64 || out[0].elem != elem)
        return mo_fail(err, MO_E_SUPPORT,
                       "a product of %s and weights in %s to %s cannot be run",
                       mo_elem_name(elem), mo_block_format_name(l->format),
                       mo_elem_name(out[0].elem));
    if (row < 0 || !mo_int64_mul(row, l->n, &bytes) ||
        !mo_int64_mul(l->m, l->k, &a) || !mo_int64_mul(l->m, l->n, &c) ||
        bytes != (int64_t) mo_tensor_desc_bytes(&in[1].desc) ||
        a != mo_tensor_desc_elements(&in[0].desc) ||
        c != mo_tensor_desc_elements(&out[0]))
        return mo_fail(err, MO_E_INPUT, "a product does not fit its tensors");
    return MO_OK;
}

static mo_status prepare_linear(mo_cpu_unit *unit, const mo_call *call,
                                const mo_backend_operand *in,
                                const mo_tensor_desc *out,
                                mo_cpu_kernel **kernel, size_t *workspace,
                                mo_error *err)
{
    const mo_call_linear *l = &call->u.linear;
    linear_kernel *made;
    mo_status status = check_linear(l, in, out, err);

    if (status != MO_OK)
        return status;
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->linear = *l;
    made->elem = in[0].desc.elem;
    made->row_bytes = (size_t) mo_block_format_row_bytes(l->format, l->k);
    status = mo_cpu_epilogue_init(call, &out[0], &made->epilogue, err);
    if (status != MO_OK) {
        free_linear(&made->base);
        return status;
    }
    mo_cpu_append_part(&made->scratch, ROWS * (size_t) l->k * sizeof(float));
    made->data_at =
        mo_cpu_append_part(&made->scratch, (size_t) l->k * sizeof(float));
    made->epilogue_at = mo_cpu_append_part(
        &made->scratch, mo_cpu_epilogue_scratch_size(&made->epilogue));
    *workspace = mo_cpu_workspace_size(unit, made->scratch);
    *kernel = &made->base;
    return MO_OK;
}

static mo_status run_linear(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                            const void *const *in, void *const *out,
                            void *workspace, mo_error *err)
{
    const linear_kernel *k = (const linear_kernel *) kernel;
    linear_run run = { k, in, out[0], workspace };

    (void) err;
    mo_cpu_thread_pool_parallel_for(unit->pool, k->linear.n, ROWS,
                                    multiply_rows, &run);
    return MO_OK;
}

const mo_cpu_kernel_class mo_cpu_linear = { prepare_linear, run_linear,
                                            free_linear };
