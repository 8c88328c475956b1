#include "exec/backend/cpu/pointwise/pointwise.h"

#include <stdlib.h>

#include "exec/backend/cpu/cpu_backend.h"
#include "exec/backend/cpu/pointwise/compiled_program.h"

/* Elements one thread does at a time: some microseconds of work. */
enum { GRAIN = 16 * MO_PROGRAM_BLOCK };

typedef struct point_kernel {
    mo_kernel base;
    mo_program *program;
    int64_t count;
} point_kernel;

/* A kernel on its way through a crew. */
typedef struct point_run {
    const point_kernel *kernel;
    const void *const *in;
    void *out, *workspace;
} point_run;

static void do_range(void *context, int64_t begin, int64_t end, int worker)
{
    const point_run *run = context;
    const mo_program *program = run->kernel->program;
    void *scratch =
        mo_cpu_share(run->workspace, mo_program_scratch(program), worker);

    mo_program_run(program, run->in, run->out, begin, end - begin, scratch);
}

static mo_status prepare(mo_unit *unit, const mo_call *call,
                         const mo_call_operand *in, const mo_desc *out,
                         mo_kernel **kernel, size_t *workspace, mo_error *err)
{
    point_kernel *made = calloc(1, sizeof *made);
    mo_status status;

    (void) in;
    if (!made)
        return mo_fail_memory(err);
    made->count = mo_desc_elements(out);
    status = mo_program_new(&call->u.point, out, &made->program, err);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    *workspace = mo_cpu_shares(unit, mo_program_scratch(made->program));
    *kernel = &made->base;
    return MO_OK;
}

static mo_status run(mo_unit *unit, const mo_kernel *kernel,
                     const void *const *in, void *const *out, void *workspace,
                     mo_error *err)
{
    const point_kernel *point = (const point_kernel *) kernel;
    point_run context = { point, in, out[0], workspace };

    (void) err;
    mo_crew_split(unit->crew, point->count, GRAIN, do_range, &context);
    return MO_OK;
}

static void drop(mo_kernel *kernel)
{
    mo_program_free(((point_kernel *) kernel)->program);
    free(kernel);
}

const mo_cpu_maker mo_cpu_point = { prepare, run, drop };
