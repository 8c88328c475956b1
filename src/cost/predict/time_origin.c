/* SPDX-License-Identifier: Apache-2.0 */
/* Limit and typical error of a prediction. */
#include "cost/time_origin.h"

#include <math.h>

const char *const mo_time_source_names[MO_TIME_SOURCES] = {
    [MO_TIME_GIVEN] = "given",
    [MO_TIME_MEASURED] = "measured",
    [MO_TIME_INTERPOLATED] = "interpolated",
    [MO_TIME_SCALED] = "scaled",
    [MO_TIME_PREDICTED] = "predicted",
    [MO_TIME_ELSEWHERE] = "elsewhere",
};

const char *const mo_time_limit_names[MO_TIME_LIMITS] = {
    [MO_TIME_LIMIT_NONE] = "",
    [MO_TIME_LIMIT_COMPUTE] = "compute",
    [MO_TIME_LIMIT_MEMORY] = "memory",
    [MO_TIME_LIMIT_LAUNCH] = "launch",
};

/* Median errors of moirai-cost(7) on devices that were not fitted to, by class;
 * of the roofline in f32 (generations of Pascal to Turing) and of the models of
 * kernels (Ampere to Blackwell). 0: not measured. */
static const struct {
    double roofline, kernel;
} median_errors[] = {
    [MO_CLASS_MATMUL] = { 0.316, 0.08 },   [MO_CLASS_ATTENTION] = { 0, 0.15 },
    [MO_CLASS_ELEMENTWISE] = { 0.088, 0 }, [MO_CLASS_ACTIVATION] = { 0.081, 0 },
    [MO_CLASS_NORMALIZATION] = { 0.2, 0 }, [MO_CLASS_SOFTMAX] = { 0.088, 0 },
    [MO_CLASS_GATHER] = { 0.379, 0 },      [MO_CLASS_MOVE] = { 1.906, 0 },
};

static double typical_error(const mo_workload *work, const mo_device *device)
{
    mo_generation generation = mo_generation_of(device);
    bool by_kernel = !isnan(mo_predict_kernel_us(work, device));
    double error = 0;

    if ((size_t) work->class >= sizeof median_errors / sizeof *median_errors)
        return NAN;
    if (by_kernel && generation >= MO_GEN_AMPERE &&
        generation <= MO_GEN_BLACKWELL)
        error = median_errors[work->class].kernel;
    if (!by_kernel && generation >= MO_GEN_PASCAL &&
        generation <= MO_GEN_TURING)
        error = median_errors[work->class].roofline;
    return error > 0 ? error : NAN;
}

/* The limit is found by sensitivity, so that every model has one: a time that
 * is all arithmetic halves with twice the compute. */
static mo_time_limit limit_of(const mo_predictor *predictor,
                              const mo_predictor_input *basis,
                              const mo_device *device, double us)
{
    mo_device compute = *device, memory = *device;
    double by_compute, by_memory;

    for (int i = 0; i < MO_MATHS; i++)
        compute.gflops[i] *= 2;
    compute.watts *= 2;
    compute.clock_mhz *= 2;
    memory.bandwidth_gbs *= 2;
    by_compute = us - mo_predictor_input_us(predictor, basis, &compute);
    by_memory = us - mo_predictor_input_us(predictor, basis, &memory);
    if (!(us > 0))
        return MO_TIME_LIMIT_NONE;
    if (!(by_compute + by_memory > us / 4))
        return MO_TIME_LIMIT_LAUNCH;
    return by_compute > by_memory ? MO_TIME_LIMIT_COMPUTE
                                  : MO_TIME_LIMIT_MEMORY;
}

static bool is_product(mo_class class)
{
    return class == MO_CLASS_MATMUL || class == MO_CLASS_CONVOLUTION ||
           class == MO_CLASS_ATTENTION;
}

mo_time_origin mo_time_origin_predicted(const mo_predictor *predictor,
                                        const mo_predictor_input *basis,
                                        const mo_device *device, double us)
{
    return (mo_time_origin){
        predictor->is_wave ? MO_TIME_SCALED : MO_TIME_PREDICTED,
        limit_of(predictor, basis, device, us),
        is_product(basis->work.class) ? basis->work.math : MO_MATH_F32,
        predictor->is_wave ? NAN : typical_error(&basis->work, device)
    };
}
