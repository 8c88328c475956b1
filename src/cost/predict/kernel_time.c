/* SPDX-License-Identifier: Apache-2.0 */
/* Choice of the model of a kernel and of its constants for an op. */
#include <math.h>

#include "cost/predict.h"

/* Weights narrower than these are of 8, or of 4 bits. */
#define INT8_BYTES 1.5
#define INT4_BYTES 0.75

static bool can_model(const mo_workload *work, const mo_device *device)
{
    return work->math != MO_MATH_F32 && !device->is_cpu && device->sms > 0 &&
           device->clock_mhz > 0 && device->bandwidth_gbs > 0 &&
           mo_device_peak_gflops(device->gflops, work->math) > 0;
}

/* Boards of the Blackwell generation have the multiprocessors of Ada. */
static mo_generation kernels_of(const mo_device *device)
{
    mo_generation generation = mo_generation_of(device);

    return generation == MO_GEN_BLACKWELL_RTX ? MO_GEN_ADA : generation;
}

/* Narrow operands that the device has no rate for are converted to half
 * precision, as weights are. */
static mo_operands operands_of(const mo_workload *work, const mo_device *device)
{
    if (device->gflops[work->math] > 0) {
        if (work->math == MO_MATH_FP8)
            return MO_OPERANDS_FP8;
        if (work->math == MO_MATH_INT8)
            return MO_OPERANDS_INT8;
        if (work->math == MO_MATH_FP4)
            return MO_OPERANDS_FP4;
    }
    if (work->product.b_bytes <= INT4_BYTES)
        return MO_OPERANDS_INT4_WEIGHTS;
    return work->product.b_bytes <= INT8_BYTES ? MO_OPERANDS_INT8_WEIGHTS
                                               : MO_OPERANDS_HALF;
}

static double product_us(const mo_efficiency *factors, const mo_workload *work,
                         const mo_device *device,
                         const mo_kernel_device *figures)
{
    mo_product_constants c =
        *mo_product_constants_of(kernels_of(device), operands_of(work, device));

    if (factors) {
        c.compute = factors->compute;
        c.memory = factors->memory;
        c.launch_us = factors->launch * device->launch_us;
    }
    return mo_product_us(&work->product, figures, &c);
}

static double attention_us(const mo_efficiency *factors,
                           const mo_workload *work, const mo_device *device,
                           const mo_kernel_device *figures)
{
    bool is_few = work->attention.queries <= MO_ATTENTION_FEW_QUERIES;
    mo_attention_constants c =
        *mo_attention_constants_of(kernels_of(device), is_few);

    if (factors) {
        c.compute = factors->compute;
        c.memory = factors->memory;
        c.launch_us = factors->launch * device->launch_us;
    }
    return mo_attention_us(&work->attention, figures, &c);
}

double mo_predict_fitted_kernel_us(const mo_efficiency *factors,
                                   const mo_workload *work,
                                   const mo_device *device)
{
    mo_kernel_device figures;

    if (!can_model(work, device))
        return NAN;
    figures = (mo_kernel_device){
        .gflops = mo_device_peak_gflops(device->gflops, work->math),
        .bandwidth_gbs = device->bandwidth_gbs,
        .clock_mhz = device->clock_mhz,
        .cache_mib = device->cache_mib,
        .watts = device->watts,
        .process_nm = device->process_nm,
        .sms = device->sms,
    };
    if (work->product.batch > 0)
        return product_us(factors, work, device, &figures);
    if (work->attention.batch > 0)
        return attention_us(factors, work, device, &figures);
    return NAN;
}

double mo_predict_kernel_us(const mo_workload *work, const mo_device *device)
{
    return mo_predict_fitted_kernel_us(NULL, work, device);
}
