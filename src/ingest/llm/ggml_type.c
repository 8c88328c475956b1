/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/llm/ggml_type.h"

#include <stddef.h>
#include <string.h>

#include "base/array.h"

/* ggml.h has the numbers; those missing here were removed from it. */
/* clang-format off */
static const mo_llm_type types[] = {
    { 0,  "f32",       1,   4 },
    { 1,  "f16",       1,   2 },
    { 2,  "q4_0",     32,  18 },
    { 3,  "q4_1",     32,  20 },
    { 6,  "q5_0",     32,  22 },
    { 7,  "q5_1",     32,  24 },
    { 8,  "q8_0",     32,  34 },
    { 9,  "q8_1",     32,  40 },
    { 10, "q2_k",    256,  84 },
    { 11, "q3_k",    256, 110 },
    { 12, "q4_k",    256, 144 },
    { 13, "q5_k",    256, 176 },
    { 14, "q6_k",    256, 210 },
    { 15, "q8_k",    256, 292 },
    { 16, "iq2_xxs", 256,  66 },
    { 17, "iq2_xs",  256,  74 },
    { 18, "iq3_xxs", 256,  98 },
    { 19, "iq1_s",   256,  50 },
    { 20, "iq4_nl",   32,  18 },
    { 21, "iq3_s",   256, 110 },
    { 22, "iq2_s",   256,  82 },
    { 23, "iq4_xs",  256, 136 },
    { 24, "i8",        1,   1 },
    { 25, "i16",       1,   2 },
    { 26, "i32",       1,   4 },
    { 27, "i64",       1,   8 },
    { 28, "f64",       1,   8 },
    { 29, "iq1_m",   256,  56 },
    { 30, "bf16",      1,   2 },
    { 34, "tq1_0",   256,  54 },
    { 35, "tq2_0",   256,  66 },
    { 39, "mxfp4",    32,  17 },
    { 40, "nvfp4",    64,  36 },
    { 41, "q1_0",    128,  18 },
};
/* clang-format on */

enum { N_TYPES = sizeof types / sizeof *types };

const mo_llm_type *mo_llm_type_of(uint32_t number)
{
    for (int i = 0; i < N_TYPES; i++)
        if (types[i].number == number)
            return &types[i];
    return NULL;
}

const mo_llm_type *mo_llm_type_find(const char *name)
{
    for (int i = 0; i < N_TYPES; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

const mo_llm_type *mo_llm_type_at(int i)
{
    return i >= 0 && i < N_TYPES ? &types[i] : NULL;
}

bool mo_llm_type_row_bytes(const mo_llm_type *type, int64_t elements,
                           int64_t *bytes)
{
    int64_t blocks =
        elements / type->block + (elements % type->block > 0 ? 1 : 0);

    return mo_int64_mul(blocks, type->block_bytes, bytes);
}
