/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/efficiency.h. */
#include "cost/efficiency.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

START_TEST(the_built_in_table_knows_every_class)
{
    const mo_efficiencies *table = &mo_efficiencies_builtin;

    for (int i = 0; i < table->n; i++) {
        const mo_efficiency *row = &table->rows[i];

        ck_assert(row->compute > 0 && row->compute <= 1);
        ck_assert(row->memory > 0 && row->memory <= 1);
        ck_assert(row->launch >= 0);
        for (int k = 0; k < i; k++)
            ck_assert(table->rows[k].class != row->class ||
                      table->rows[k].generation != row->generation);
    }
    ck_assert_double_eq(table->rows[table->n].compute, 0);
    for (int c = 0; c < MO_CLASSES; c++) {
        const mo_efficiency *row =
            mo_efficiency_of(NULL, (mo_class) c, MO_GEN_BLACKWELL);

        ck_assert_int_eq(row->class, c);
        ck_assert_int_eq(row->generation, MO_GEN_UNKNOWN);
    }
}
END_TEST

static const char factors[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<efficiency>\n"
    "  <factors class=\"matmul\" compute=\"0.5\" memory=\"0.25\" "
    "launch=\"2\"/>\n"
    "  <factors class=\"matmul\" generation=\"volta\" compute=\"0.625\" "
    "memory=\"0.75\" launch=\"0\"/>\n"
    "</efficiency>\n";

START_TEST(factors_are_written_as_they_are_read)
{
    mo_efficiencies table;
    mo_out *out;
    char *text;
    size_t size;

    MUST(mo_efficiencies_read_memory("f", factors, strlen(factors), &table,
                                     &err));
    MUST(mo_out_memory(&out, &err));
    mo_efficiencies_write(&table, out);
    text = mo_out_take(out, &size);
    mo_out_abandon(out);
    ck_assert_str_eq(text, factors);
    free(text);
}
END_TEST

START_TEST(a_row_is_chosen_by_generation_then_by_class_then_built_in)
{
    mo_efficiencies table;

    MUST(mo_efficiencies_read_memory("f", factors, strlen(factors), &table,
                                     &err));
    ck_assert_double_eq(
        mo_efficiency_of(&table, MO_CLASS_MATMUL, MO_GEN_VOLTA)->compute,
        0.625);
    ck_assert_double_eq(
        mo_efficiency_of(&table, MO_CLASS_MATMUL, MO_GEN_TURING)->compute, 0.5);
    ck_assert_ptr_eq(mo_efficiency_of(&table, MO_CLASS_POOL, MO_GEN_VOLTA),
                     mo_efficiency_of(NULL, MO_CLASS_POOL, MO_GEN_VOLTA));
}
END_TEST

static const struct {
    const char *text, *error;
} refused[] = {
    { "<profile/>",
      "f:1: is no efficiency: it begins with <profile>, not <efficiency>" },
    { "<efficiency x='1'/>",
      "f:1: a <efficiency> has no attribute 'x'; it has " },
    { "<efficiency><factors/></efficiency>",
      "f:1: class '' of a <factors> is none of the operator classes in "
      "moirai-graph(5)" },
    { "<efficiency><factors class='fast'/></efficiency>",
      "f:1: class 'fast' of a <factors> is none of the operator classes in "
      "moirai-graph(5)" },
    { "<efficiency><factors class='pool' generation='kepler'/></efficiency>",
      "f:1: generation 'kepler' of a <factors> is none of those in "
      "moirai-cost(7)" },
    { "<efficiency><factors class='pool' generation='unknown'/></efficiency>",
      "f:1: generation 'unknown' of a <factors> is none of those in "
      "moirai-cost(7)" },
    { "<efficiency><factors class='pool' compute='0'/></efficiency>",
      "f:1: compute '0' of a <factors> must be a number greater than 0" },
    { "<efficiency><factors class='pool' memory='1.5'/></efficiency>",
      "f:1: memory of a <factors> is more than 1; it is a fraction of the "
      "device's peak" },
    { "<efficiency><factors class='pool'/>\n<factors class='pool'/>"
      "</efficiency>",
      "f:2: the factors of pool are there already, from line 1; keep one of "
      "them" },
    { "<efficiency><factors class='pool' generation='ada'/>\n"
      "<factors class='pool' generation='ada'/></efficiency>",
      "f:2: the factors of pool on ada are there already, from line 1; keep "
      "one of them" },
};

START_TEST(wrong_factors_are_reported_in_one_line)
{
    const char *text = refused[_i].text;
    mo_efficiencies table;
    mo_error err = { 0 };
    char line[2048];

    ck_assert_int_ne(
        mo_efficiencies_read_memory("f", text, strlen(text), &table, &err),
        MO_OK);
    ck_assert_str_eq(mo_error_format(&err, line, sizeof line),
                     refused[_i].error);
}
END_TEST

START_TEST(factors_of_a_type_are_apart_from_those_of_f32)
{
    static const char text[] =
        "<efficiency><factors class='matmul' compute='0.5'/>"
        "<factors class='matmul' type='f16' compute='0.7'/>"
        "<factors class='matmul' type='f16' generation='ada' "
        "compute='0.8'/></efficiency>";
    static const char wrong[] =
        "<efficiency><factors class='matmul' type='f17'/></efficiency>";
    mo_efficiencies table, again;
    mo_out *out;
    char *written;
    size_t size;
    mo_error reason = { 0 };

    MUST(mo_efficiencies_read_memory("e", text, strlen(text), &table, &err));
    MUST(mo_out_memory(&out, &err));
    mo_efficiencies_write(&table, out);
    written = mo_out_take(out, &size);
    mo_out_abandon(out);
    MUST(mo_efficiencies_read_memory("e", written, size, &again, &err));
    free(written);
    ck_assert_int_eq(again.n, 3);
    ck_assert_double_eq(
        mo_efficiency_of(&again, MO_CLASS_MATMUL, MO_GEN_ADA)->compute, 0.5);
    ck_assert_double_eq(
        mo_efficiency_of_type(&again, MO_CLASS_MATMUL, MO_MATH_F16, MO_GEN_ADA)
            ->compute,
        0.8);
    ck_assert_double_eq(mo_efficiency_of_type(&again, MO_CLASS_MATMUL,
                                              MO_MATH_F16, MO_GEN_HOPPER)
                            ->compute,
                        0.7);
    ck_assert_ptr_null(mo_efficiency_of_type(&again, MO_CLASS_MATMUL,
                                             MO_MATH_BF16, MO_GEN_ADA));
    ck_assert_int_eq(
        mo_efficiencies_read_memory("e", wrong, strlen(wrong), &table, &reason),
        MO_E_INPUT);
}
END_TEST

SUITE(efficiency)
{
    TEST(the_built_in_table_knows_every_class);
    TEST(factors_are_written_as_they_are_read);
    TEST(a_row_is_chosen_by_generation_then_by_class_then_built_in);
    EACH(wrong_factors_are_reported_in_one_line, COUNT(refused));
    TEST(factors_of_a_type_are_apart_from_those_of_f32);
}
