/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copy kernel: boxes are prepared once and copied in parallel by the thread
 * pool.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "exec/backend/copy_box.h"
#include "exec/backend/cpu/kernels/strided_copy.h"
#include "exec/backend/cpu/unit/cpu_unit.h"

enum { SMALL_BYTES = 1 << 16 };

typedef struct copy_kernel {
    mo_cpu_kernel base;
    mo_cpu_strided_copy *boxes;
    int64_t *first_job; /* by box, and the total at the end */
    int n_boxes;
    int fill_in;
    bool small; /* too small for parallel execution */
    /* Every element is written by one box: their order does not matter. */
    bool apart;
} copy_kernel;

typedef struct copy_run {
    const copy_kernel *kernel;
    const void *const *in;
    void *const *out;
    int first_box; /* jobs are counted from its first one */
} copy_run;

/* Returns the index of the box that contains the job. */
static int find_box(const copy_kernel *kernel, int64_t job)
{
    int low = 0, high = kernel->n_boxes - 1;

    while (low < high) {
        int middle = low + (high - low + 1) / 2;

        if (kernel->first_job[middle] <= job)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void run_job(void *context, int job, int worker)
{
    const copy_run *run = context;
    const copy_kernel *kernel = run->kernel;
    int64_t nth = kernel->first_job[run->first_box] + job;
    int at = find_box(kernel, nth);
    const mo_cpu_strided_copy *box = &kernel->boxes[at];
    int64_t begin = (nth - kernel->first_job[at]) * box->n_at_once;
    int64_t end = begin + box->n_at_once;
    const void *from = box->from >= 0         ? run->in[box->from]
                       : kernel->fill_in >= 0 ? run->in[kernel->fill_in]
                                              : (const void *) &box->fill;

    (void) worker;
    mo_cpu_strided_copy_run(box, from, run->out[box->to], begin,
                            end < box->n_units ? end : box->n_units);
}

/* Runs all jobs of the boxes first, ..., end - 1. */
static void run_boxes(mo_cpu_unit *unit, copy_run *run, int first, int end)
{
    const int64_t *jobs = run->kernel->first_job;

    int n_jobs = (int) (jobs[end] - jobs[first]);

    run->first_box = first;
    if (!run->kernel->small) {
        mo_cpu_thread_pool_run(unit->pool, n_jobs, run_job, run);
        return;
    }
    for (int job = 0; job < n_jobs; job++)
        run_job(run, job, 0);
}

static mo_status run_copy(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                          const void *const *in, void *const *out,
                          void *workspace, mo_error *err)
{
    const copy_kernel *copy = (const copy_kernel *) kernel;
    copy_run run = { copy, in, out, 0 };

    (void) workspace, (void) err;
    if (copy->apart) {
        run_boxes(unit, &run, 0, copy->n_boxes);
        return MO_OK;
    }
    for (int i = 0; i < copy->n_boxes; i++)
        run_boxes(unit, &run, i, i + 1);
    return MO_OK;
}

static bool is_small(const mo_call *call, const mo_tensor_desc *out)
{
    int64_t bytes = 0;

    for (int i = 0; i < call->n_out; i++)
        bytes += mo_tensor_desc_bytes(&out[i]);
    return bytes <= SMALL_BYTES;
}

static void make_boxes(copy_kernel *copy, const mo_call *call,
                       const mo_tensor_desc *out)
{
    for (int i = 0; i < call->u.copy.n_boxes; i++) {
        const mo_call_copy_box *box = &call->u.copy.boxes[i];
        int n_made = mo_cpu_strided_copy_init(box, out[box->to].elem,
                                              &copy->boxes[copy->n_boxes]);

        for (int k = 0; k < n_made; k++) {
            const mo_cpu_strided_copy *made = &copy->boxes[copy->n_boxes];
            int64_t jobs = mo_ceil_div(made->n_units, made->n_at_once);

            copy->first_job[copy->n_boxes + 1] =
                copy->first_job[copy->n_boxes] + jobs;
            copy->n_boxes++;
        }
    }
}

static void free_copy(mo_cpu_kernel *kernel)
{
    copy_kernel *copy = (copy_kernel *) kernel;

    free(copy->first_job);
    free(copy->boxes);
    free(copy);
}

static mo_status prepare_copy(mo_cpu_unit *unit, const mo_call *call,
                              const mo_backend_operand *in,
                              const mo_tensor_desc *out, mo_cpu_kernel **kernel,
                              size_t *workspace, mo_error *err)
{
    size_t most = 2 * (size_t) call->u.copy.n_boxes + 2;
    copy_kernel *copy = calloc(1, sizeof *copy);
    mo_status status;

    assert(!call->after);
    (void) unit, (void) workspace;
    if (!copy)
        return mo_fail_memory(err);
    copy->fill_in = call->u.copy.fill_in;
    copy->boxes = calloc(most, sizeof *copy->boxes);
    copy->first_job = calloc(most, sizeof *copy->first_job);
    status = copy->boxes && copy->first_job
                 ? mo_backend_copy_check(call, in, out, err)
                 : mo_fail_memory(err);
    if (status == MO_OK)
        make_boxes(copy, call, out);
    if (status == MO_OK && copy->first_job[copy->n_boxes] > INT32_MAX)
        status = mo_fail(err, MO_E_LIMIT, "a copy is too large");
    if (status != MO_OK) {
        free_copy(&copy->base);
        return status;
    }
    copy->apart = !mo_ablated(MO_ABLATION_copy_disjoint) &&
                  mo_backend_copy_boxes_disjoint(call, out);
    copy->small = is_small(call, out) && !mo_ablated(MO_ABLATION_copy_small);
    *kernel = &copy->base;
    return MO_OK;
}

const mo_cpu_kernel_class mo_cpu_copy = { prepare_copy, run_copy, free_copy };
