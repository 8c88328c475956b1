/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/models/tiny_model.h"

#include <math.h>
#include <string.h>

#include "base/out.h"
#include "models/transfer_number.h"
#include "tests/support/suite.h"

static mo_status prepare(const mo_frame *frame, void **state, mo_error *err)
{
    (void) frame;
    (void) state;
    (void) err;
    return MO_OK;
}

static int n_transfers(const void *state)
{
    (void) state;
    return 1;
}

static int transfer(const void *state, int i)
{
    const tiny_model *tiny = state;

    (void) i;
    return mo_transfer_number(tiny->p.x, &tiny->frame.regime, 0,
                              tiny->once ? 1 : MO_FREE);
}

static void columns(void *state, mo_sink *sink)
{
    int sent = transfer(state, 0);
    const mo_variable all[] = {
        { .role = MO_VARIABLE_ROLE_MAKESPAN, .upper = INFINITY, .value = 7.5 },
        { .role = MO_VARIABLE_ROLE_PLACE,
          .kind = MO_VARIABLE_BINARY,
          .number = { 0, 1 },
          .value = 1 },
        { .role = MO_VARIABLE_ROLE_PLACE,
          .kind = MO_VARIABLE_BINARY,
          .number = { 1, 0 } },
        { .role = MO_VARIABLE_ROLE_START,
          .number = { 1 },
          .upper = 9,
          .value = 2.25 },
        { .role = MO_VARIABLE_ROLE_SEND, .number = { sent }, .upper = 9 },
        { .role = MO_VARIABLE_ROLE_CHANNEL,
          .number = { sent, 1, 0 },
          .upper = 1 },
        { .role = MO_VARIABLE_ROLE_ORDER,
          .kind = MO_VARIABLE_BINARY,
          .number = { 1, 0 } },
        { .role = MO_VARIABLE_ROLE_SEND_ORDER,
          .kind = MO_VARIABLE_BINARY,
          .number = { sent, sent } },
        { .role = MO_VARIABLE_ROLE_SPACE, .number = { 1 }, .upper = INFINITY },
    };

    for (int i = 0; i < COUNT(all); i++)
        mo_sink_column(sink, &all[i]);
}

static void rows(void *state, mo_sink *sink)
{
    tiny_model *tiny = state;

    tiny->rows_sent++;
    mo_sink_family(sink, "all");
    for (int i = 0; i < 9; i++)
        mo_sink_term(sink, i, 1);
    mo_sink_row(sink, MO_GE, 1);
}

static void release(void *state)
{
    (void) state;
}

void tiny_model_make(tiny_model *tiny, const char *graph)
{
    *tiny = (tiny_model){ .once = false };
    problem_make(&tiny->p, graph, "A; B; A-B gbps=8", NULL);
    tiny->frame =
        (mo_frame){ .x = tiny->p.x, .horizon_ns = 123456, .unit_ns = 100 };
    tiny->identity = (mo_identity){ 2, { "moirai_g_1", "moirai_i_2" } };
    tiny->formulation = (mo_formulation){ .name = "tiny",
                                          .prepare = prepare,
                                          .columns = columns,
                                          .rows = rows,
                                          .release = release,
                                          .n_transfers = n_transfers,
                                          .transfer = transfer };
    MUST(mo_model_make(&tiny->formulation, &tiny->frame, &tiny->identity,
                       &tiny->model, &err));
    tiny->model.state = tiny;
}

void tiny_model_send_once(tiny_model *tiny)
{
    tiny->once = true;
    tiny->frame.regime.tensors = MO_TENSORS_ONCE;
}

void tiny_model_clear(tiny_model *tiny)
{
    mo_model_clear(&tiny->model);
    problem_clear(&tiny->p);
}

char *tiny_model_text(tiny_model *tiny,
                      mo_status (*sink_new)(mo_out *out, const tiny_model *tiny,
                                            mo_sink **sink, mo_error *err))
{
    mo_out *out = NULL;
    mo_sink *sink = NULL;
    size_t size;
    char *text;

    MUST(mo_out_memory(&out, &err));
    MUST(sink_new(out, tiny, &sink, &err));
    MUST(mo_model_write(&tiny->model, sink, &err));
    mo_sink_free(sink);
    text = mo_out_take(out, &size);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(strlen(text), size);
    MUST(mo_out_commit(out, &err));
    return text;
}
