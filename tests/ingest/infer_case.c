/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/ingest/infer_case.h"

#include "ingest/infer/infer.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

mo_ir *infer_ir(const char *text)
{
    mo_ir *ir;

    MUST(mo_ir_read_memory("m.xml", text, strlen(text), &ir, &err));
    return ir;
}

void infer_write_bin(void)
{
    FILE *file = fopen("m.bin", "wb");

    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < 5; i++) {
        int64_t number = i < 4 ? i : -1;

        for (int b = 0; b < 8; b++)
            fputc((int) ((uint64_t) number >> 8 * b & 255), file);
    }
    ck_assert_int_eq(fclose(file), 0);
}

const char infer_chain[] =
    NET(X RELU_X(1, "a") RESULT(2, "r"), EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0));

const char infer_flattened[] =
    NET(X LAYER_OF("opset3", 1, "shape", "ShapeOf",
                   DATA("output_type=\"i64\"") INPUTS(F32(0, ANY DIM(3)))
                       OUTPUTS(I64(1, DIM(2)))) LIST(2, "index", 1, 8,
                                                     8) NUMBER(3, "axis", 0)
            LAYER_OF("opset8", 4, "size", "Gather",
                     DATA("batch_dims=\"0\"")
                         INPUTS(I64(0, DIM(2)) I64(1, DIM(1)) I64(2, ""))
                             OUTPUTS(I64(3, DIM(1)))) LIST(5, "rest", 1, 32, 8)
                LAYER(6, "pattern", "Concat",
                      DATA("axis=\"0\"") INPUTS(I64(0, DIM(1)) I64(1, DIM(1)))
                          OUTPUTS(I64(2, DIM(2))))
                    LAYER(7, "flat", "Reshape",
                          DATA("special_zero=\"false\"")
                              INPUTS(F32(0, ANY DIM(3)) I64(1, DIM(2)))
                                  OUTPUTS(F32(2, ANY ANY)))
                        LAYER(8, "r", "Result", INPUTS(F32(0, ANY ANY))),
        EDGE(0, 0, 1, 0) EDGE(1, 1, 4, 0) EDGE(2, 0, 4, 1) EDGE(3, 0, 4, 2)
            EDGE(4, 3, 6, 0) EDGE(5, 0, 6, 1) EDGE(0, 0, 7, 0) EDGE(6, 2, 7, 1)
                EDGE(7, 2, 8, 0));

mo_status infer_with(mo_ir *ir, const char *bin, const char *const *shapes,
                     size_t n, mo_error *err)
{
    const mo_read_options options = {
        .shapes = { .items = (const char **) (uintptr_t) shapes, .count = n }
    };

    return mo_infer_shapes(ir, bin, &options, err);
}
