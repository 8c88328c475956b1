/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict.h - cost models for ops without a measured time: roofline (Williams,
 * Waterman, Patterson, 2009) and wave scaling (Habitat). moirai-cost(7) has
 * the formulas and their measured error.
 *
 * All times are in microseconds; NAN means that the op or the device is not
 * known well enough for a prediction.
 */
#ifndef MO_COST_PREDICT_H
#define MO_COST_PREDICT_H

#include <stdbool.h>

#include "base/error.h"
#include "cost/cluster.h"
#include "cost/efficiency.h"
#include "cost/kernel_model.h"
#include "cost/numeric.h"
#include "cost/profile.h"
#include "graph/graph.h"
#include "ingest/operator.h"

/* The properties of an op that predictions use. */
typedef struct mo_workload {
    mo_class class;
    double flops, bytes;    /* or MO_UNKNOWN */
    double output_elements; /* degree of parallelism; 0: unknown */
    mo_math math;           /* of products; all else computes in f32 */
    mo_product product;     /* of a product, or of a convolution as one; a
                               batch of 0: unknown, or neither */
    mo_attention attention; /* the same of attention */
} mo_workload;

/* Returns the workload of an op, in the formats of the graph. A fused op,
 * "MatMul+Add+Gelu", has the class of its most expensive part; an op of unknown
 * type counts as elementwise. */
mo_workload mo_workload_of(const mo_graph *g, int op);

/* The same in other formats, which the numbers of g have (mo_numeric_apply). */
mo_workload mo_workload_in(const mo_numeric *numeric, const mo_graph *g,
                           int op);

/* launch + max(flops / (compute * waves * peak), traffic / (memory *
 * bandwidth)), with the utilization of the waves of blocks, and with the bytes
 * of products counted again for every tile that loads them; for products,
 * convolutions and attention in other types than f32 the models of kernels,
 * where the device is known well enough.  table may be NULL: the built-in
 * one. */
double mo_predict_roofline_us(const mo_efficiencies *table,
                              const mo_workload *work, const mo_device *device);

/* The models of kernels (kernel_model.h); NAN where they do not apply: in f32,
 * on a CPU, without the sizes of the op, or without clock, multiprocessors,
 * peak and bandwidth of the device. */
double mo_predict_kernel_us(const mo_workload *work, const mo_device *device);

/* The same with fitted factors in the place of the constants for compute,
 * memory and launch; NULL: the constants. */
double mo_predict_fitted_kernel_us(const mo_efficiency *factors,
                                   const mo_workload *work,
                                   const mo_device *device);

/* Habitat's wave scaling: returns the time on device, from the time us on
 * origin. Classes whose kernels differ between devices scale by the ratio of
 * rooflines instead. */
double mo_predict_wave_us(const mo_efficiencies *table, const mo_workload *work,
                          const mo_device *origin, double us,
                          const mo_device *device);

/* Returns a device with the vendor's figures, named by its model. */
mo_device mo_device_from_model(const mo_device_model *model);

/* A cost model, selected by --cost. All zeros is the built-in roofline. */
typedef struct mo_predictor {
    const char *text;   /* as given, for messages; borrowed; NULL: built in */
    mo_numeric numeric; /* formats of products; sizes are the graph's */
    bool is_wave;
    mo_device origin; /* of wave scaling */
    const mo_profile
        *profile; /* with measured times on the origin, or NULL; borrowed */
    mo_efficiencies efficiencies;
} mo_predictor;

/* Parses "roofline", "roofline:FILE", "wave:DEVICE": an id of the cluster or a
 * model. The predictor borrows from cluster and profile, which may be NULL. */
mo_status mo_predictor_parse(const char *text, const mo_cluster *cluster,
                             const mo_profile *profile, mo_predictor *predictor,
                             mo_error *err);

/* The device-independent input of a prediction, computed once for many
 * devices. */
typedef struct mo_predictor_input {
    mo_workload work;
    double origin_us; /* on the origin of wave scaling, else NAN */
} mo_predictor_input;

mo_predictor_input mo_predictor_input_of(const mo_predictor *predictor,
                                         const mo_graph *g, int op);
double mo_predictor_input_us(const mo_predictor *predictor,
                             const mo_predictor_input *input,
                             const mo_device *device);

/* Returns the predicted time of op on device. */
double mo_predictor_us(const mo_predictor *predictor, const mo_graph *g, int op,
                       const mo_device *device);

#endif
