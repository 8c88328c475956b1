/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the decoder, where there is no nanopb. */
#include "ingest/onnx/model.h"

mo_status mo_onnx_decode(mo_input *input, mo_arena *arena, mo_onnx_model *model,
                         mo_error *err)
{
    (void) arena;
    (void) model;
    return mo_fail_at(err, MO_E_SUPPORT, mo_input_name(input), 0,
                      "is an ONNX model, and this build has no nanopb to read "
                      "it; install nanopb and libnanopb-dev, then configure "
                      "and build again");
}
