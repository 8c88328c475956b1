/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/exec/op/op_case.h"

#include "exec/weights/evaluate.h"
#include "graph/op_attrs.h"
#include "tests/exec/support/run_calls.h"
#include "tests/support/suite.h"

op_case op_case_of(const char *type, const char *attrs)
{
    return (op_case){ .type = type, .attrs = attrs };
}

static mo_tensor_dense *add_input(op_case *c, mo_elem elem,
                                  const mo_shape *shape)
{
    mo_tensor_desc desc = { elem, *shape };
    mo_tensor_dense *value = &c->value[c->n_in];

    ck_assert_int_lt(c->n_in, OP_CASE_PORTS);
    MUST(mo_tensor_new(&desc, value, &err));
    c->n_in++;
    return value;
}

mo_tensor_dense *op_case_data(op_case *c, mo_elem elem, const mo_shape *shape,
                              uint64_t seed)
{
    mo_tensor_dense *value = add_input(c, elem, shape);

    mo_tensor_fill_random(value, seed, 1, 100);
    return value;
}

mo_tensor_dense *op_case_indices(op_case *c, mo_random *random, mo_elem elem,
                                 const mo_shape *shape, int64_t size)
{
    mo_tensor_dense *indices = add_input(c, elem, shape);
    bool from_end = elem == MO_ELEM_I64 || elem == MO_ELEM_I32;

    for (int64_t i = 0; i < mo_tensor_desc_elements(&indices->desc); i++) {
        int64_t index = mo_random_below(random, (int) size);

        if (from_end && mo_random_below(random, 2))
            index -= size;
        mo_tensor_set_int(indices, i, index);
    }
    return indices;
}

void op_case_list(op_case *c, const int64_t *values, int n)
{
    mo_shape shape = { .rank = 1, .dims = { n } };
    mo_tensor_dense *value = add_input(c, MO_ELEM_I64, &shape);

    for (int i = 0; i < n; i++)
        mo_tensor_set_int(value, i, values[i]);
}

void op_case_number(op_case *c, mo_elem elem, double number)
{
    mo_shape scalar = { .rank = 0 };

    mo_tensor_set_double(add_input(c, elem, &scalar), 0, number);
}

void op_case_makes(op_case *c, mo_elem elem, const mo_shape *shape)
{
    ck_assert_int_lt(c->n_out, OP_CASE_PORTS);
    c->out[c->n_out++] = (mo_tensor_desc){ elem, *shape };
}

static mo_status evaluate(const mo_op_site *site, mo_tensor_dense *result,
                          mo_error *err)
{
    const mo_backend *backend = tested_backend();

    if (backend == &mo_backend_cpu)
        return mo_weights_eval_op(site, NULL, result, err);
    return run_site(backend, tested_unit(backend, MO_BACKEND_PRECISION_F32),
                    site, result, err);
}

mo_status op_case_try(op_case *c, mo_error *err)
{
    const mo_tensor_dense *values[OP_CASE_PORTS];
    mo_tensor_desc in[OP_CASE_PORTS];
    mo_arena *arena = mo_arena_new();
    mo_op_site site = { .name = "tried",
                        .type = c->type,
                        .attrs = c->attrs ? mo_attr_list_parse(c->attrs, arena)
                                          : NULL,
                        .n_in = c->n_in,
                        .n_out = c->n_out,
                        .in = in,
                        .out = c->out,
                        .value = values };
    mo_status status;

    for (int i = 0; i < c->n_in; i++) {
        in[i] = c->value[i].desc;
        values[i] = &c->value[i];
    }
    status = evaluate(&site, c->result, err);
    mo_arena_free(arena);
    return status;
}

void op_case_run(op_case *c)
{
    MUST(op_case_try(c, &err));
}

void op_case_clear(op_case *c)
{
    for (int i = 0; i < c->n_in; i++)
        mo_tensor_clear(&c->value[i]);
    for (int i = 0; i < c->n_out; i++)
        mo_tensor_clear(&c->result[i]);
}

mo_shape random_shape(mo_random *random, int min_rank, int max_rank)
{
    mo_shape shape = { .rank = min_rank };

    shape.rank += mo_random_below(random, max_rank - min_rank + 1);
    for (int d = 0; d < shape.rank; d++)
        shape.dims[d] = mo_random_below(random, 40) == 0
                            ? 0
                            : 1 + mo_random_below(random, 6);
    return shape;
}

void coordinates_of(const mo_shape *shape, int64_t i, int64_t *at)
{
    for (int d = shape->rank; d-- > 0;) {
        at[d] = i % shape->dims[d];
        i /= shape->dims[d];
    }
}

int64_t element_at(const mo_shape *shape, const int64_t *at)
{
    int64_t element = 0;

    for (int d = 0; d < shape->rank; d++)
        element = element * shape->dims[d] + at[d];
    return element;
}

bool same_element(const mo_tensor_dense *a, int64_t i, const mo_tensor_dense *b,
                  int64_t k)
{
    size_t width = mo_elem_size(a->desc.elem);

    return a->desc.elem == b->desc.elem &&
           memcmp((const char *) a->data + (size_t) i * width,
                  (const char *) b->data + (size_t) k * width, width) == 0;
}
