/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compiled_program.h - a compiled pointwise program (internal to pointwise.h).
 *
 * Dimensions are those of the result in memory order, merged. Operands are
 * classified by their access pattern relative to the result:
 *
 *     CONTIGUOUS    from beginning to end
 *     PERIODIC      a scalar, a bias per channel
 *     STRIDED       anything else, regular along the innermost dimension
 *     ACCUMULATOR   the sums of the kernel whose epilogue this is
 */
#ifndef MO_EXEC_BACKEND_CPU_POINTWISE_COMPILED_PROGRAM_H
#define MO_EXEC_BACKEND_CPU_POINTWISE_COMPILED_PROGRAM_H

#include "exec/backend/cpu/pointwise/pointwise.h"
#include "exec/backend/cpu/pointwise/steps.h"

/* BLOCK elements pass all steps together: 4 KiB a register. Periods are at
 * most half of it; innermost dimensions of a LONG row end a block. */
enum {
    MO_CPU_POINT_BLOCK = 1024,
    MO_CPU_POINT_MAX_PERIOD = 512,
    MO_CPU_POINT_LONG_ROW = 128
};

typedef enum mo_cpu_point_source_kind {
    MO_CPU_POINT_SOURCE_CONTIGUOUS,
    MO_CPU_POINT_SOURCE_PERIODIC,
    MO_CPU_POINT_SOURCE_STRIDED,
    MO_CPU_POINT_SOURCE_ACCUMULATOR
} mo_cpu_point_source_kind;

/* An operand. */
typedef struct mo_cpu_point_source {
    mo_cpu_point_source_kind kind;
    bool used;
    bool as_real; /* integers that are loaded as reals */
    bool direct;  /* used in place as a register */
    size_t elem_bytes, reg_bytes;
    mo_cpu_load_fn *load;
    int64_t offset, stride[MO_MAX_RANK];
    int64_t period;      /* of a PERIODIC one */
    bool dense;          /* whose elements are adjacent, and direct */
    size_t scratch_byte; /* offset of its register in scratch */
} mo_cpu_point_source;

typedef struct mo_cpu_point_step {
    mo_cpu_step_fn *fn;
    mo_point_step step;
    int arity, reg; /* its inputs, and the register it writes */
    bool uniform;   /* of scalars alone: computed once, not for each block */
    size_t scratch_byte; /* offset of the result, except for the last step */
} mo_cpu_point_step;

struct mo_cpu_point_program {
    int rank;
    int64_t extent[MO_MAX_RANK];
    int64_t row; /* the innermost extent */
    bool by_row; /* blocks end with rows */
    bool logic;  /* registers are bytes: booleans and logical steps only */
    int n_sources, n_steps;
    mo_cpu_point_source *sources; /* behind the steps */
    int result;
    bool into_out; /* the last step writes to the output */
    mo_elem elem;
    size_t elem_bytes;
    mo_cpu_store_fn *store;
    size_t scratch_bytes;
    mo_cpu_point_step steps[]; /* without dead steps */
};

/* As mo_cpu_point_program_new; with sums, operand 0 is the ACCUMULATOR. */
mo_status mo_cpu_point_program_compile(const mo_point_program *point,
                                       const mo_tensor_desc *out, bool sums,
                                       mo_cpu_point_program **program,
                                       mo_error *err);

/* As mo_cpu_point_program_run; sums are those from element first on. */
void mo_cpu_point_program_run_accumulator(const mo_cpu_point_program *program,
                                          const void *sums,
                                          const void *const *operands,
                                          void *out, int64_t first,
                                          int64_t count, void *scratch);

/* The same for a buffer that has only these elements. */
void mo_cpu_point_program_run_to(const mo_cpu_point_program *program,
                                 const void *sums, const void *const *operands,
                                 void *to, int64_t first, int64_t count,
                                 void *scratch);

#endif
