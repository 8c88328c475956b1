/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/pointwise/pointwise.h"

#include <stdlib.h>

#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/pointwise/compiled_program.h"

/* Elements per task: some microseconds of work. */
enum { GRAIN = 16 * MO_CPU_POINT_BLOCK };

typedef struct point_kernel {
    mo_cpu_kernel base;
    mo_cpu_point_program *program;
    int64_t count;
} point_kernel;

/* A kernel while the thread pool runs it. */
typedef struct point_run {
    const point_kernel *kernel;
    const void *const *in;
    void *out, *workspace;
} point_run;

static void run_range(void *context, int64_t begin, int64_t end, int worker)
{
    const point_run *run = context;
    const mo_cpu_point_program *program = run->kernel->program;
    void *scratch = mo_cpu_worker_scratch(
        run->workspace, mo_cpu_point_program_scratch_size(program), worker);

    mo_cpu_point_program_run(program, run->in, run->out, begin, end - begin,
                             scratch);
}

static mo_status prepare_pointwise(mo_cpu_unit *unit, const mo_call *call,
                                   const mo_backend_operand *in,
                                   const mo_tensor_desc *out,
                                   mo_cpu_kernel **kernel, size_t *workspace,
                                   mo_error *err)
{
    point_kernel *made = calloc(1, sizeof *made);
    mo_status status;

    (void) in;
    if (!made)
        return mo_fail_memory(err);
    made->count = mo_tensor_desc_elements(out);
    status = mo_cpu_point_program_new(&call->u.point, out, &made->program, err);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    *workspace = mo_cpu_workspace_size(
        unit, mo_cpu_point_program_scratch_size(made->program));
    *kernel = &made->base;
    return MO_OK;
}

static mo_status run_pointwise(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                               const void *const *in, void *const *out,
                               void *workspace, mo_error *err)
{
    const point_kernel *point = (const point_kernel *) kernel;
    point_run context = { point, in, out[0], workspace };

    (void) err;
    mo_cpu_thread_pool_parallel_for(unit->pool, point->count, GRAIN, run_range,
                                    &context);
    return MO_OK;
}

static void free_pointwise(mo_cpu_kernel *kernel)
{
    mo_cpu_point_program_free(((point_kernel *) kernel)->program);
    free(kernel);
}

const mo_cpu_kernel_class mo_cpu_pointwise = { prepare_pointwise, run_pointwise,
                                               free_pointwise };
