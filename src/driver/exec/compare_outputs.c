/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/compare_outputs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/tensor/npy.h"

enum { PATH_SIZE = 4096, LINE_SIZE = 512 };

static mo_status begin_comparison(const mo_exec_plan *plan, const char *with,
                                  mo_exec_comparison *c, mo_error *err)
{
    *c = (mo_exec_comparison){
        .errors = calloc((size_t) plan->n_outputs + 1, sizeof *c->errors),
        .max_error = NAN,
        .with = with,
    };
    if (!c->errors)
        return mo_fail_memory(err);
    for (int i = 0; i < plan->n_outputs; i++)
        c->errors[i] = NAN;
    return MO_OK;
}

void mo_exec_comparison_clear(mo_exec_comparison *c)
{
    free(c->errors);
    *c = (mo_exec_comparison){ .max_error = NAN };
}

static void compare_output(const mo_tensor_dense *is,
                           const mo_tensor_dense *wanted, int output,
                           mo_exec_comparison *c)
{
    mo_tensor_difference d = mo_tensor_compare(is, wanted);
    bool any = d.same_shape && mo_tensor_desc_elements(&is->desc) > 0;

    c->errors[output] = d.relative;
    if (d.relative <= c->max_error)
        return;
    c->max_error = d.relative;
    c->worst = output;
    c->at = d.at;
    c->same_shape = d.same_shape;
    c->is = any ? mo_tensor_get_double(is, d.at) : NAN;
    c->wanted = any ? mo_tensor_get_double(wanted, d.at) : NAN;
}

mo_status mo_exec_compare_files(const char *folder, const mo_exec_plan *plan,
                                const mo_run_result *result,
                                mo_exec_comparison *c, mo_error *err)
{
    mo_status status = begin_comparison(plan, folder, c, err);

    for (int i = 0; i < plan->n_outputs && status == MO_OK; i++) {
        char path[PATH_SIZE];
        mo_tensor_dense wanted = { 0 };

        if (snprintf(path, sizeof path, "%s/output%d.npy", folder, i) >=
            (int) sizeof path)
            return mo_fail(err, MO_E_INPUT,
                           "the path of --reference is too "
                           "long");
        status = mo_npy_read_desc(path, &wanted.desc, err);
        /* Tensors of other shapes differ, whatever their values. */
        if (status == MO_OK &&
            mo_shape_equal(&wanted.desc.shape, &result->outputs[i].desc.shape))
            status = mo_npy_read(path, &wanted, err);
        if (status == MO_OK)
            compare_output(&result->outputs[i], &wanted, i, c);
        mo_tensor_clear(&wanted);
    }
    return status;
}

static mo_status run_single(const mo_exec_plan *plan,
                            const mo_exec_units *units,
                            const mo_exec_inputs *inputs, mo_run_result *result,
                            mo_error *err)
{
    const mo_transport_world_options world_options = { 0 };
    int *here = calloc((size_t) units->n + 1, sizeof *here);
    const mo_backend **backends =
        calloc((size_t) units->n + 1, sizeof *backends);
    mo_run_plan_options options = {
        .transport = &mo_transport_local,
        .backends = backends,
        .units = units->options,
        .rank_of = here,
        .inputs = inputs->values,
        .runs = 1,
    };
    mo_status status =
        here && backends
            ? mo_transport_local.open(&world_options, &options.world, err)
            : mo_fail_memory(err);

    for (int k = 0; backends && k < units->n; k++)
        backends[k] = &mo_backend_cpu;
    if (status == MO_OK) {
        status = mo_run_plan(plan, &options, result, err);
        mo_transport_local.close(options.world);
    }
    free(backends);
    free(here);
    return status;
}

mo_status mo_exec_compare_single_device(const mo_exec_options *o,
                                        const mo_exec_job *job,
                                        const mo_exec_units *units,
                                        const mo_exec_inputs *inputs,
                                        const mo_run_result *result,
                                        mo_exec_comparison *c, mo_error *err)
{
    mo_run_result single = { 0 };
    mo_exec_plan *plan = NULL;
    /* Any device of this process will do: results do not depend on it. */
    int device = 0;

    while (device < units->n - 1 && units->rank_of[device] != 0)
        device++;
    mo_status status =
        begin_comparison(job->plan, "a run on one device", c, err);

    if (status == MO_OK)
        status = mo_exec_job_plan_single_device(o, job, device, &plan, err);
    if (status == MO_OK)
        status = mo_exec_units_check_memory(
            units, plan, 0, mo_exec_job_memory_left(o, job), err);
    if (status == MO_OK)
        status = run_single(plan, units, inputs, &single, err);
    for (int i = 0; status == MO_OK && i < plan->n_outputs; i++)
        compare_output(&result->outputs[i], &single.outputs[i], i, c);
    mo_run_result_clear(&single);
    mo_plan_free(plan);
    return status;
}

bool mo_exec_comparison_log_mismatch(const mo_exec_options *o,
                                     const mo_exec_plan *plan,
                                     const mo_exec_comparison *c)
{
    char name[LINE_SIZE], with[LINE_SIZE];

    if (isnan(c->max_error) || c->max_error <= o->tolerance)
        return false;
    mo_utf8_escape_controls(name, sizeof name, plan->outputs[c->worst].name);
    mo_utf8_escape_controls(with, sizeof with, c->with);
    if (!c->same_shape)
        fprintf(stderr, "%s: output %d '%s' has another shape than in %s\n",
                o->logger.command, c->worst, name, with);
    else
        fprintf(stderr,
                "%s: output %d '%s' differs from %s: element %lld is %.9g, "
                "not %.9g (error %.3g, tolerance %g)\n",
                o->logger.command, c->worst, name, with, (long long) c->at,
                c->is, c->wanted, c->max_error, o->tolerance);
    return true;
}
