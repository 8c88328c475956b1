/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/ingest/rule_case.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "graph/op_attrs.h"
#include "tests/support/suite.h"

/* "a=1,2 b=x" -> {"a":"1,2","b":"x"} */
static const mo_attr_list *parse_attributes(mo_arena *arena,
                                            const char *attributes)
{
    char text[1024] = "{";

    while (*attributes) {
        size_t word = strcspn(attributes, " ");
        size_t key = strcspn(attributes, "=");
        size_t used = strlen(text);

        ck_assert_uint_lt(key, word);
        snprintf(text + used, sizeof text - used, "%s\"%.*s\":\"%.*s\"",
                 used > 1 ? "," : "", (int) key, attributes,
                 (int) (word - key - 1), attributes + key + 1);
        attributes += word + strspn(attributes + word, " ");
    }
    strcat(text, "}");
    return mo_attr_list_parse(mo_arena_text(arena, text, strlen(text)), arena);
}

/* "1,2,3" -> items; returns how many. */
static int read_items(const char *text, size_t length, bool real,
                      mo_infer_scalar *items)
{
    int count = 0;

    while (length > 0) {
        const char *comma = memchr(text, ',', length);
        size_t word = comma ? (size_t) (comma - text) : length;

        if (real)
            ck_assert(!mo_number_read_double(text, word, &items[count].r));
        else
            ck_assert(!mo_number_read_int(text, word, &items[count].i));
        count++;
        word += comma != NULL;
        text += word;
        length -= word;
    }
    return count;
}

static void read_shape(const char *text, size_t length, mo_shape *shape)
{
    ck_assert_msg(mo_shape_read(text, length, shape) == MO_SHAPE_OK, "%.*s",
                  (int) length, text);
}

/* "2x3=1,2,3,4,5,6", mark being the '='. */
static void read_value(mo_arena *arena, const char *text, size_t length,
                       size_t mark, mo_infer_rule_input *input)
{
    bool real = text[mark] == '~';
    mo_infer_scalar items[64];
    int count = read_items(text + mark + 1, length - mark - 1, real, items);
    mo_infer_value *value;

    input->shape = (mo_shape){ .rank = text[mark] != '#', .dims = { count } };
    if (mark > 0)
        read_shape(text, mark, &input->shape);
    ck_assert_int_eq(mo_shape_elements(&input->shape), count);
    value = mo_infer_value_new(arena, &input->shape, real ? "f32" : "i64");
    for (int i = 0; i < count; i++)
        value->items[i] = items[i];
    input->value = value;
}

static void read_input(mo_arena *arena, const char *text, size_t length,
                       mo_infer_rule_input *input)
{
    size_t mark = strcspn(text, "=~#");

    while (length > 0 && text[length - 1] == ' ')
        length--;
    if (mark < length)
        read_value(arena, text, length, mark, input);
    else
        read_shape(text, length, &input->shape);
}

void rule_case_make(rule_case *c, const char *type, const char *version,
                    const char *attributes, const char *inputs, int n_outputs)
{
    *c = (rule_case){ .arena = mo_arena_new() };
    ck_assert_ptr_nonnull(c->arena);
    c->op = (mo_infer_rule_op){ .type = type,
                                .version = version,
                                .attrs = parse_attributes(c->arena, attributes),
                                .inputs = c->inputs,
                                .n_outputs = n_outputs };
    while (*inputs) {
        size_t length = strcspn(inputs, ";");

        ck_assert_int_lt(c->op.n_inputs, RULE_CASE_PORTS);
        read_input(c->arena, inputs, length, &c->inputs[c->op.n_inputs++]);
        inputs += length;
        inputs += strspn(inputs, "; ");
    }
}

void rule_case_free(rule_case *c)
{
    mo_arena_free(c->arena);
}

const char *rule_case_shapes(const rule_case *c)
{
    static char text[1024];
    size_t at = 0;

    for (int i = 0; i < c->op.n_outputs; i++) {
        if (i > 0)
            at += (size_t) sprintf(text + at, " ; ");
        if (c->outputs[i].rank == 0)
            at += (size_t) sprintf(text + at, "()");
        at += mo_shape_write(&c->outputs[i], text + at);
    }
    text[at] = '\0';
    return text;
}

const char *rule_case_items(const mo_infer_value *value)
{
    static char text[1024];
    size_t at = 0;

    for (int64_t i = 0; i < value->count; i++) {
        if (i > 0)
            text[at++] = ',';
        if (value->real)
            at += mo_number_write_double(text + at, value->items[i].r);
        else
            at += mo_number_write_int(text + at, value->items[i].i);
    }
    text[at] = '\0';
    return text;
}
