/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/einsum.h"

#include "graph/op_attrs.h"

#include <string.h>

bool mo_einsum_find(const mo_attr_list *attrs, mo_einsum_equation *equation)
{
    const mo_attr *attr = mo_attr_find_string(attrs, "equation");
    const char *end;

    if (!attr)
        return false;
    end = attr->text + attr->length;
    *equation = (mo_einsum_equation){ .inputs = { attr->text, end } };
    for (const char *at = attr->text; at + 1 < end; at++)
        if (at[0] == '-' && at[1] == '>') {
            equation->inputs.end = at;
            equation->output = (mo_einsum_text){ at + 2, end };
            break;
        }
    return true;
}

mo_einsum_text mo_einsum_take_subscript(mo_einsum_text *inputs)
{
    size_t rest = (size_t) (inputs->end - inputs->at);
    const char *comma = memchr(inputs->at, ',', rest);
    mo_einsum_text subscript = { inputs->at, comma ? comma : inputs->end };

    inputs->at = comma ? comma + 1 : inputs->end;
    return subscript;
}

bool mo_einsum_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

int mo_einsum_take_label(mo_einsum_text *subscript)
{
    mo_einsum_text *s = subscript;

    while (s->at < s->end && *s->at == ' ')
        s->at++;
    if (s->at == s->end)
        return MO_EINSUM_END;
    if (mo_einsum_is_letter(*s->at))
        return *s->at++;
    if (s->end - s->at >= 3 && memcmp(s->at, "...", 3) == 0) {
        s->at += 3;
        return MO_EINSUM_ELLIPSIS;
    }
    return MO_EINSUM_INVALID;
}

int mo_einsum_count_letters(mo_einsum_text text)
{
    int count = 0;

    for (const char *at = text.at; at < text.end; at++)
        count += mo_einsum_is_letter(*at);
    return count;
}
