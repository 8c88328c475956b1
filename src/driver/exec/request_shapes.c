/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdlib.h>

#include "base/minmax.h"
#include "base/stop.h"
#include "driver/exec/input_tensors.h"
#include "driver/exec/request_files.h"
#include "driver/exec/shape_job.h"
#include "exec/tensor/npy.h"

const mo_exec_plan *mo_exec_requests_part(const mo_exec_requests *r, int phase)
{
    return r->whole->phases ? r->whole->parts[phase] : r->whole;
}

void mo_exec_requests_replan(mo_exec_requests *requests,
                             const mo_exec_plan *plan)
{
    requests->whole = plan;
    requests->plan = mo_exec_requests_part(requests, 0);
    requests->intake_ns = requests->output_ns = 0;
}

mo_status mo_exec_request_shapes_init(const mo_exec_requests *r,
                                      mo_exec_request_shapes *s, mo_error *err)
{
    *s = (mo_exec_request_shapes){ .requests = r };
    s->descs = calloc((size_t) r->plan->n_inputs + 1, sizeof *s->descs);
    for (int i = 0; s->descs && i < r->plan->n_inputs; i++)
        s->descs[i].shape.rank = -1;
    return s->descs ? MO_OK : mo_fail_memory(err);
}

void mo_exec_request_shapes_clear(mo_exec_request_shapes *s)
{
    free(s->descs);
    s->descs = NULL;
}

int mo_exec_request_shapes_phase(const mo_exec_request_shapes *s)
{
    const mo_exec_requests *r = s->requests;

    for (int p = 0; p < r->whole->n_phases || p == 0; p++) {
        const mo_plan_input *inputs = mo_exec_requests_part(r, p)->inputs;
        bool fits = true;

        for (int i = 0; i < r->plan->n_inputs && fits; i++)
            fits = s->descs[i].shape.rank < 0 ||
                   mo_exec_input_check(&inputs[i], "", &s->descs[i], NULL) ==
                       MO_OK;
        if (fits)
            return p;
    }
    return -1;
}

/* No phase has the inputs that are known. */
static void explain(const mo_exec_request_shapes *s, mo_error *err)
{
    const mo_exec_requests *r = s->requests;
    mo_path_list shapes = { 0 };
    mo_status status = MO_OK;

    for (int i = 0; i < r->plan->n_inputs && status == MO_OK; i++) {
        char dims[MO_SHAPE_TEXT_SIZE + 1];

        if (s->descs[i].shape.rank < 0)
            continue;
        dims[mo_shape_write(&s->descs[i].shape, dims)] = '\0';
        status = mo_path_list_append(
            &shapes, mo_path_format("%s=%s", r->plan->inputs[i].name, dims),
            err);
    }
    if (status == MO_OK)
        (void) mo_exec_shape_fail(r->graph, &shapes, true, err);
    mo_path_list_clear(&shapes);
}

const mo_plan_input *mo_exec_request_shapes_add(void *context,
                                                const mo_tensor_desc *desc,
                                                mo_error *err)
{
    mo_exec_request_shapes *s = context;
    const mo_exec_requests *r = s->requests;
    int phase;

    s->descs[s->input] = *desc;
    phase = mo_exec_request_shapes_phase(s);
    if (phase >= 0)
        return &mo_exec_requests_part(r, phase)->inputs[s->input];
    /* What follows is not compared with it. */
    if (r->whole->n_phases > 1)
        explain(s, err);
    else
        (void) mo_exec_input_check(&r->plan->inputs[s->input], "standard input",
                                   desc, err);
    s->descs[s->input].shape.rank = -1;
    return NULL;
}

mo_status mo_exec_request_shapes_read(mo_exec_request_shapes *s,
                                      int64_t request, const char *file,
                                      mo_tensor_dense *value, mo_error *err)
{
    const mo_exec_requests *r = s->requests;
    mo_tensor_desc desc;
    mo_status status = MO_OK;
    int phase = 0;

    if (r->whole->phases) {
        status = mo_npy_read_desc(file, &desc, err);
        if (status == MO_OK && !mo_exec_request_shapes_add(s, &desc, err))
            status = MO_E_INPUT;
        phase = mo_max_int(mo_exec_request_shapes_phase(s), 0);
    }
    return status == MO_OK
               ? mo_exec_input_make(r->options->seed + request, r->graph,
                                    mo_exec_requests_part(r, phase), s->input,
                                    file, value, err)
               : status;
}

void mo_exec_requests_set_phase(mo_exec_requests *r, int64_t request, int phase)
{
    pthread_mutex_lock(&r->lock);
    r->phase_of[request % MO_EXEC_REQUEST_PHASES] = phase;
    pthread_mutex_unlock(&r->lock);
}

int mo_exec_requests_phase(void *context, int64_t request)
{
    mo_exec_requests *r = context;
    int phase;

    pthread_mutex_lock(&r->lock);
    phase = r->phase_of[request % MO_EXEC_REQUEST_PHASES];
    pthread_mutex_unlock(&r->lock);
    return phase;
}

mo_status mo_exec_requests_write(void *context, int64_t request,
                                 const mo_tensor_dense *outputs,
                                 const mo_error *failure, mo_error *err)
{
    mo_exec_requests *r = context;

    if (r->output_ns == 0)
        r->output_ns = mo_stop_clock_ns();
    if (outputs && r->whole->phases)
        outputs +=
            r->whole->phases[mo_exec_requests_phase(r, request)].start.output;
    return mo_exec_requests_deliver(r, request, outputs, failure, err);
}
