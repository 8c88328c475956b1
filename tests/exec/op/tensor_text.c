/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/exec/op/tensor_text.h"

#include <math.h>

#include "tests/support/suite.h"

/* "f32[2,2]": type and shape; returns what follows. */
static const char *read_desc(const char *text, mo_tensor_desc *desc)
{
    const char *open = strchr(text, '['), *close = strchr(text, ']');
    char name[16] = "";

    ck_assert_msg(open && close && open - text < 16, "'%s'", text);
    memcpy(name, text, (size_t) (open - text));
    ck_assert_msg(mo_elem_from_name(name, &desc->elem), "'%s'", text);
    ck_assert_msg(mo_shape_read(open + 1, (size_t) (close - open - 1),
                                &desc->shape) == MO_SHAPE_OK,
                  "'%s'", text);
    return close + 1;
}

mo_tensor_dense tensor_of(const char *text)
{
    mo_tensor_dense dense = { 0 };
    mo_tensor_desc desc;
    const char *first = read_desc(text, &desc), *at = first;
    bool repeats = false;

    MUST(mo_tensor_new(&desc, &dense, &err));
    for (int64_t i = 0; i < mo_tensor_desc_elements(&desc); i++) {
        char *end;
        double x = strtod(at, &end);

        if (end == at) {
            ck_assert_msg(i == 1 || repeats, "'%s' has %d numbers", text,
                          (int) i);
            repeats = true;
            at = first;
            x = strtod(at, &end);
        }
        if (mo_elem_is_float(desc.elem))
            mo_tensor_set_double(&dense, i, x);
        else
            mo_tensor_set_int(&dense, i, (int64_t) strtoull(at, NULL, 10));
        at = end;
    }
    return dense;
}

static bool is_near(double x, double y)
{
    if (x != x || y != y || isinf(x) || isinf(y))
        return x == y || (x != x && y != y);
    return fabs(x - y) <= 1e-5 * (1e-3 + fabs(y));
}

void check_tensor(const mo_tensor_dense *dense, const char *text,
                  const char *what)
{
    mo_tensor_dense said = tensor_of(text);
    bool real = mo_elem_is_float(dense->desc.elem);
    char words[MO_TENSOR_DESC_TEXT_SIZE];

    ck_assert_msg(mo_tensor_desc_equal(&dense->desc, &said.desc),
                  "%s is %s, not %s", what,
                  mo_tensor_desc_format(&dense->desc, words), text);
    for (int64_t i = 0; i < mo_tensor_desc_elements(&said.desc); i++) {
        double x = mo_tensor_get_double(dense, i),
               y = mo_tensor_get_double(&said, i);

        ck_assert_msg(real ? is_near(x, y)
                           : mo_tensor_get_int(dense, i) ==
                                 mo_tensor_get_int(&said, i),
                      "%s: element %d is %.9g, not %.9g", what, (int) i, x, y);
    }
    mo_tensor_clear(&said);
}
