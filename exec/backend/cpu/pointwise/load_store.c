/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and stores of the registers of pointwise programs, for every element
 * type, and selection of the functions of steps.h.
 */
#include "exec/backend/cpu/unit/multiversion.h"

#include "exec/backend/cpu/pointwise/steps.h"
#include "exec/tensor/half.h"

/* Converts elements of type to a register of reg_type; an element that is
 * repeated (stride 0) is read once. */
#define LOAD(name, type, reg_type, value)                                      \
    MO_CPU_MULTIVERSION static void name(const void *from, int64_t at,         \
                                         int64_t stride, void *reg, int n)     \
    {                                                                          \
        const type *first = (const type *) from + at;                          \
        reg_type *out = reg;                                                   \
                                                                               \
        if (stride == 1) {                                                     \
            MO_CPU_IVDEP for (int i = 0; i < n; i++)                           \
            {                                                                  \
                type x = first[i];                                             \
                out[i] = (value);                                              \
            }                                                                  \
        } else if (stride == 0) {                                              \
            type x = n > 0 ? *first : 0;                                       \
            reg_type same = (value);                                           \
            for (int i = 0; i < n; i++)                                        \
                out[i] = same;                                                 \
        } else {                                                               \
            for (int i = 0; i < n; i++) {                                      \
                type x = first[i * stride];                                    \
                out[i] = (value);                                              \
            }                                                                  \
        }                                                                      \
    }

LOAD(load_f32, float, float, x)
LOAD(load_f64, double, float, (float) x)
LOAD(load_f16, uint16_t, float, mo_f16_to_f32(x))
LOAD(load_bf16, uint16_t, float, mo_bf16_to_f32(x))
LOAD(load_f32_wide, float, double, x)
LOAD(load_f64_wide, double, double, x)
LOAD(load_f16_wide, uint16_t, double, mo_f16_to_f32(x))
LOAD(load_bf16_wide, uint16_t, double, mo_bf16_to_f32(x))
LOAD(load_i64, int64_t, int64_t, x)
LOAD(load_i32, int32_t, int64_t, x)
LOAD(load_i16, int16_t, int64_t, x)
LOAD(load_i8, int8_t, int64_t, x)
LOAD(load_u32, uint32_t, int64_t, x)
LOAD(load_u16, uint16_t, int64_t, x)
LOAD(load_u8, uint8_t, int64_t, x)
LOAD(load_bool, uint8_t, int64_t, x != 0)
LOAD(load_logic, uint8_t, uint8_t, x != 0)
LOAD(real_i32, int32_t, float, (float) x)
LOAD(real_i16, int16_t, float, (float) x)
LOAD(real_i8, int8_t, float, (float) x)
LOAD(real_u16, uint16_t, float, (float) x)
LOAD(real_u8, uint8_t, float, (float) x)
LOAD(real_i32_wide, int32_t, double, x)
LOAD(real_i16_wide, int16_t, double, x)
LOAD(real_i8_wide, int8_t, double, x)
LOAD(real_u16_wide, uint16_t, double, x)
LOAD(real_u8_wide, uint8_t, double, x)

void mo_cpu_load_logic(const void *from, int64_t at, int64_t stride, void *reg,
                       int n)
{
    load_logic(from, at, stride, reg, n);
}

mo_cpu_load_fn *mo_cpu_load_fn_for(mo_elem elem, bool wide)
{
    static mo_cpu_load_fn *const table[MO_ELEM_COUNT][2] = {
        [MO_ELEM_F32] = { load_f32, load_f32_wide },
        [MO_ELEM_F64] = { load_f64, load_f64_wide },
        [MO_ELEM_F16] = { load_f16, load_f16_wide },
        [MO_ELEM_BF16] = { load_bf16, load_bf16_wide },
        [MO_ELEM_I64] = { load_i64, load_i64 },
        [MO_ELEM_I32] = { load_i32, load_i32 },
        [MO_ELEM_I16] = { load_i16, load_i16 },
        [MO_ELEM_I8] = { load_i8, load_i8 },
        [MO_ELEM_U64] = { load_i64, load_i64 },
        [MO_ELEM_U32] = { load_u32, load_u32 },
        [MO_ELEM_U16] = { load_u16, load_u16 },
        [MO_ELEM_U8] = { load_u8, load_u8 },
        [MO_ELEM_BOOL] = { load_bool, load_bool },
    };

    return table[elem][wide];
}

mo_cpu_load_fn *mo_cpu_load_real_fn_for(mo_elem elem, bool wide)
{
    static mo_cpu_load_fn *const table[MO_ELEM_COUNT][2] = {
        [MO_ELEM_I32] = { real_i32, real_i32_wide },
        [MO_ELEM_I16] = { real_i16, real_i16_wide },
        [MO_ELEM_I8] = { real_i8, real_i8_wide },
        [MO_ELEM_U16] = { real_u16, real_u16_wide },
        [MO_ELEM_U8] = { real_u8, real_u8_wide },
    };

    return table[elem][wide];
}

/* Converts a register of reg_type to elements of type. */
#define STORE(name, reg_type, type, value)                                     \
    MO_CPU_MULTIVERSION static void name(const void *reg, void *to,            \
                                         int64_t at, int n)                    \
    {                                                                          \
        const reg_type *in = reg;                                              \
        type *out = (type *) to + at;                                          \
                                                                               \
        MO_CPU_IVDEP for (int i = 0; i < n; i++)                               \
        {                                                                      \
            reg_type x = in[i];                                                \
            out[i] = (type) (value);                                           \
        }                                                                      \
    }

STORE(store_f32, float, float, x)
STORE(store_f64, float, double, x)
STORE(store_f16, float, uint16_t, mo_f32_to_f16(x))
STORE(store_bf16, float, uint16_t, mo_f32_to_bf16(x))
STORE(store_f32_wide, double, float, x)
STORE(store_f64_wide, double, double, x)
STORE(store_f16_wide, double, uint16_t, mo_f32_to_f16((float) x))
STORE(store_bf16_wide, double, uint16_t, mo_f32_to_bf16((float) x))
STORE(store_i32_of_f32, float, int32_t, x)
STORE(store_8, int64_t, uint64_t, x)
STORE(store_4, int64_t, uint32_t, x)
STORE(store_2, int64_t, uint16_t, x)
STORE(store_1, int64_t, uint8_t, x)
STORE(store_bool, int64_t, uint8_t, x != 0)

/* Signed and unsigned integers are truncated to their width alike. */
mo_cpu_store_fn *mo_cpu_store_fn_for(mo_elem elem, bool wide)
{
    static mo_cpu_store_fn *const table[MO_ELEM_COUNT][2] = {
        [MO_ELEM_F32] = { store_f32, store_f32_wide },
        [MO_ELEM_F64] = { store_f64, store_f64_wide },
        [MO_ELEM_F16] = { store_f16, store_f16_wide },
        [MO_ELEM_BF16] = { store_bf16, store_bf16_wide },
        [MO_ELEM_I64] = { store_8, store_8 },
        [MO_ELEM_I32] = { store_4, store_4 },
        [MO_ELEM_I16] = { store_2, store_2 },
        [MO_ELEM_I8] = { store_1, store_1 },
        [MO_ELEM_U64] = { store_8, store_8 },
        [MO_ELEM_U32] = { store_4, store_4 },
        [MO_ELEM_U16] = { store_2, store_2 },
        [MO_ELEM_U8] = { store_1, store_1 },
        [MO_ELEM_BOOL] = { store_bool, store_bool },
    };

    return table[elem][wide];
}

void mo_cpu_store_i32_of_f32(const void *reg, void *to, int64_t at, int n)
{
    store_i32_of_f32(reg, to, at, n);
}

bool mo_cpu_elem_is_register(mo_elem elem, bool wide)
{
    return elem == (wide ? MO_ELEM_F64 : MO_ELEM_F32) || elem == MO_ELEM_I64 ||
           elem == MO_ELEM_U64;
}

mo_cpu_step_fn *mo_cpu_step_fn_for(mo_point_op op, bool wide)
{
    mo_cpu_step_fn *fn = mo_cpu_step_fn_int(op);

    if (fn)
        return fn;
    return wide ? mo_cpu_step_fn_f64(op) : mo_cpu_step_fn_f32(op);
}
