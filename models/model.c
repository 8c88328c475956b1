/* SPDX-License-Identifier: Apache-2.0 */
#include "models/model.h"

mo_status mo_model_make(const mo_formulation *formulation,
                        const mo_frame *frame, const mo_identity *identity,
                        mo_model *model, mo_error *err)
{
    void *state;
    mo_status status = formulation->prepare(frame, &state, err);

    if (status != MO_OK)
        return status;
    if (formulation->frame)
        frame = formulation->frame(state);
    *model = (mo_model){ formulation, frame, identity, state };
    return MO_OK;
}

void mo_model_clear(mo_model *model)
{
    if (model->formulation)
        model->formulation->release(model->state);
    *model = (mo_model){ 0 };
}

int mo_model_transfers(const mo_model *model)
{
    const mo_formulation *f = model->formulation;

    return f->n_transfers ? f->n_transfers(model->state)
                          : model->frame->x->n_flows;
}

int mo_model_transfer(const mo_model *model, int i)
{
    const mo_formulation *f = model->formulation;

    return f->transfer ? f->transfer(model->state, i) : i;
}

bool mo_model_has_start(const mo_model *model)
{
    const mo_formulation *f = model->formulation;

    return f->has_start ? f->has_start(model->state)
                        : model->frame->start != NULL;
}

static void stream_model(const mo_model *model, mo_sink *sink, int pass)
{
    mo_sink_begin(sink, pass);
    model->formulation->columns(model->state, sink);
    /* The id of the first; the others follow it. */
    int identity = sink->n_columns;

    for (int i = 0; i < model->identity->n; i++)
        mo_sink_column(sink, &(mo_variable){ .role = MO_VARIABLE_ROLE_IDENTITY,
                                             .text = model->identity->name[i],
                                             .kind = MO_VARIABLE_CONTINUOUS,
                                             .lower = 1,
                                             .upper = 1,
                                             .value = 1 });
    mo_sink_columns_end(sink);
    if (!sink->kind->wants_rows)
        return;
    model->formulation->rows(model->state, sink);
    /* A row over all of them: a reader may drop a column that is in no row. */
    mo_sink_family(sink, "identity");
    for (int i = 0; i < model->identity->n; i++)
        mo_sink_term(sink, identity + i, 1);
    mo_sink_row(sink, MO_EQ, model->identity->n);
}

mo_status mo_model_write(const mo_model *model, mo_sink *sink, mo_error *err)
{
    for (int pass = 0; pass < sink->kind->passes; pass++)
        if (!mo_sink_failed(sink))
            stream_model(model, sink, pass);
    return mo_sink_end(sink, err);
}
