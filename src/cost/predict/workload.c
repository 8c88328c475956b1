/* SPDX-License-Identifier: Apache-2.0 */
/* Workload of an op: operator class, flops, bytes and elements. */
#include <string.h>

#include "cost/predict.h"
#include "graph/output_types.h"

/* Longer than the name of any known operator. */
enum { MAX_NAME = 64 };

/* Rank of the classes by cost: the part of a fused op with the highest rank
 * most likely takes longest. */
static const int weights[] = {
    [MO_CLASS_NONE] = 0,        [MO_CLASS_FREE] = 1,
    [MO_CLASS_SHAPE] = 2,       [MO_CLASS_ACTIVATION] = 3,
    [MO_CLASS_ELEMENTWISE] = 4, [MO_CLASS_MOVE] = 5,
    [MO_CLASS_GATHER] = 6,      [MO_CLASS_POOL] = 7,
    [MO_CLASS_REDUCTION] = 8,   [MO_CLASS_NORMALIZATION] = 9,
    [MO_CLASS_SOFTMAX] = 10,    [MO_CLASS_ATTENTION] = 11,
    [MO_CLASS_MATMUL] = 12,     [MO_CLASS_CONVOLUTION] = 13,
};

static const mo_operator *find_part(const char *type, size_t length)
{
    char name[MAX_NAME];

    if (length >= sizeof name)
        return NULL;
    memcpy(name, type, length);
    name[length] = '\0';
    return mo_operator_find(name);
}

static mo_class class_of(const char *type)
{
    const mo_operator *heaviest = NULL;

    while (type && *type) {
        size_t length = strcspn(type, "+");
        const mo_operator *part = find_part(type, length);

        if (part &&
            (!heaviest || weights[part->class] > weights[heaviest->class]))
            heaviest = part;
        type += length + (type[length] == '+');
    }
    return heaviest ? heaviest->class : MO_CLASS_ELEMENTWISE;
}

static double elements_of(const mo_shape_list *shapes)
{
    double sum = 0;

    for (int i = 0; shapes && i < shapes->n; i++) {
        mo_shape shape;

        if (!mo_shape_list_get(shapes, i, &shape))
            return 0;
        sum += (double) mo_shape_elements(&shape);
    }
    return sum;
}

mo_workload mo_workload_of(const mo_graph *g, int op)
{
    const mo_op *it = &g->ops[op];

    mo_class class = class_of(it->type);

    return (mo_workload){ class, it->flops, it->bytes, elements_of(it->shapes),
                          mo_numeric_math(&(mo_numeric){ 0 }, g, op, class) };
}
