/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/predict/kernel_shape.h"

#include <math.h>

/* Fewer columns or shorter sums do not fill a tile: a depthwise convolution is
 * no product. */
enum { LEAST_COLUMNS = 8, LEAST_SUM = 8 };

/* Returns the bytes of an element of an operand: no more than arithmetic uses,
 * since wider ones are converted before. */
static double operand_bytes(const mo_kernel_tensor *tensor, mo_math math)
{
    double most = mo_numeric_bytes(math);

    return tensor->element_bytes > 0 ? fmin(tensor->element_bytes, most) : most;
}

/* Returns the bytes of an element of the result; of narrow types f16. */
static double result_bytes(const mo_kernel_tensor *tensor, mo_math math)
{
    return tensor->element_bytes > 0 ? tensor->element_bytes
                                     : fmax(mo_numeric_bytes(math), 2);
}

static double count_elements(const mo_kernel_tensor *tensor)
{
    return tensor->shape.rank < 0 ? 0
                                  : (double) mo_shape_elements(&tensor->shape);
}

/* The dimension back places from the end, 1 for those a shape does not have. */
static double dim_from_end(const mo_shape *shape, int back)
{
    return back <= shape->rank ? (double) shape->dims[shape->rank - back] : 1;
}

/* Every output is a sum of k products: 2 k flops, and perhaps a bias. */
static double sum_length(const mo_workload *work, double outputs)
{
    return outputs > 0 && work->flops > 0 ? floor(work->flops / outputs / 2)
                                          : 0;
}

/* The right operand has k n elements for each product of the batch. */
static void set_matmul(const mo_kernel_operands *in, mo_workload *work)
{
    const mo_kernel_tensor *b = &in->inputs[in->first + 1];
    double outputs = count_elements(&in->output), k = sum_length(work, outputs);
    double n = dim_from_end(&in->output.shape, 1), batch;
    mo_product *p = &work->product;

    if (k < 1 || n < 1)
        return;
    batch = round(count_elements(b) / (k * n));
    if (batch < 1 || fmod(outputs / n, batch) != 0)
        batch = 1;
    p->batch = batch;
    p->m = outputs / n / batch;
    p->n = n;
    p->k = k;
    p->a_bytes = operand_bytes(&in->inputs[in->first], work->math);
    p->b_bytes = operand_bytes(b, work->math);
    if (in->weight_bytes > 0)
        p->b_bytes = fmin(in->weight_bytes / (batch * n * k),
                          mo_numeric_bytes(work->math));
    p->c_bytes = result_bytes(&in->output, work->math);
}

/* An implicit product: rows are positions of the output, columns its channels,
 * and the sum is over the filter (Chetlur et al., cuDNN, 2014). */
static void set_convolution(const mo_kernel_operands *in, mo_workload *work)
{
    double outputs = count_elements(&in->output), k = sum_length(work, outputs);
    double groups = in->groups > 0 ? in->groups : 1, n;
    mo_product *p = &work->product;

    if (in->output.shape.rank < 3)
        return;
    n = (double) in->output.shape.dims[1] / groups;
    if (k < LEAST_SUM || n < LEAST_COLUMNS || work->bytes <= 0)
        return;
    p->batch = groups;
    p->m = outputs / (n * groups);
    p->n = n;
    p->k = k;
    p->a_bytes = operand_bytes(&in->inputs[0], work->math);
    p->b_bytes = operand_bytes(&in->inputs[1], work->math);
    p->c_bytes = result_bytes(&in->output, work->math);
    p->bytes = work->bytes;
}

/* (q [..., heads, queries, size], k [..., kv heads, keys, size], v) */
static void set_attention(const mo_kernel_operands *in, mo_workload *work)
{
    const mo_shape *q = &in->inputs[0].shape, *k = &in->inputs[1].shape;
    double elements = count_elements(&in->inputs[0]), rows;

    if (q->rank < 2 || k->rank < 2 || elements <= 0 ||
        count_elements(&in->inputs[1]) <= 0)
        return;
    rows = dim_from_end(q, 2) * dim_from_end(q, 1);
    work->attention = (mo_attention){
        .batch = elements / rows / dim_from_end(q, 3),
        .queries = dim_from_end(q, 2),
        .keys = dim_from_end(k, 2),
        .heads = dim_from_end(q, 3),
        .kv_heads = dim_from_end(k, 3),
        .head_size = dim_from_end(q, 1),
        .element_bytes = operand_bytes(&in->inputs[0], work->math),
        .kv_bytes = operand_bytes(&in->inputs[1], work->math),
        .is_causal = in->is_causal,
    };
}

void mo_kernel_shape_set(const mo_kernel_operands *operands, mo_workload *work)
{
    switch (work->class) {
    case MO_CLASS_MATMUL:
        set_matmul(operands, work);
        break;
    case MO_CLASS_CONVOLUTION:
        set_convolution(operands, work);
        break;
    case MO_CLASS_ATTENTION:
        set_attention(operands, work);
        break;
    default:
        break;
    }
}
