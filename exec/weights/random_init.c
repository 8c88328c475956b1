/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/random.h"
#include "exec/weights/constants_internal.h"

/* How many dimensions are larger than one: a bias has one, whatever its rank.
 */
static int wide_dimensions(const mo_shape *shape)
{
    int count = 0;

    for (int d = 0; d < shape->rank; d++)
        count += shape->dims[d] > 1;
    return count;
}

/* What one result of a product sums up, roughly: all but the output channels of
 * a filter; of a matrix, that may lie either way, the longer side. */
static double fan_in(const mo_shape *shape)
{
    double n = (double) mo_shape_elements(shape), longest = 1;

    if (shape->rank > 2 && shape->dims[0] > 0)
        return n / (double) shape->dims[0];
    for (int d = 0; d < shape->rank; d++)
        if ((double) shape->dims[d] > longest)
            longest = (double) shape->dims[d];
    return longest;
}

/*
 * Integers nobody could guess are indices, and the first of everything is
 * there.
 *
 * Scalars and vectors may be anything: an epsilon, a variance, an exponent, a
 * divisor.  All of these can be near one, and a bias can, too.  What is wider
 * is a weight, evenly around zero, so that sums of products keep their size.
 */
void mo_weights_fill_random(mo_tensor_dense *value, uint64_t seed)
{
    const mo_shape *shape = &value->desc.shape;
    int64_t n = mo_tensor_desc_elements(&value->desc);
    mo_random random = { seed };

    if (!mo_elem_is_float(value->desc.elem))
        return;
    if (wide_dimensions(shape) > 1) {
        mo_tensor_fill_random(value, seed, sqrt(3 / fan_in(shape)), 2);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        mo_tensor_set_double(value, i,
                             n == 1 ? 1 : 0.75 + mo_random_unit(&random) / 2);
}
