/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/formulation.h: the table. */
#include "models/formulation.h"

#include <string.h>

#include "base/out.h"
#include "tests/support/suite.h"

START_TEST(the_table_is_what_the_command_offers)
{
    mo_out *out = NULL;
    char *names;
    size_t size;

    MUST(mo_out_memory(&out, &err));
    for (int i = 0; mo_formulations[i]; i++)
        mo_out_printf(out, "%s%s", i ? "|" : "", mo_formulations[i]->name);
    names = mo_out_take(out, &size);
    ck_assert_str_eq(names, MO_FORMULATION_CHOICES);
    free(names);
    mo_out_abandon(out);
}
END_TEST

START_TEST(every_formulation_is_found_by_its_name)
{
    for (int i = 0; mo_formulations[i]; i++)
        ck_assert_ptr_eq(mo_formulation_of(mo_formulations[i]->name),
                         mo_formulations[i]);
}
END_TEST

START_TEST(every_formulation_is_whole)
{
    for (int i = 0; mo_formulations[i]; i++) {
        const mo_formulation *f = mo_formulations[i];

        ck_assert(f->help && f->prepare && f->columns && f->rows && f->release);
        ck_assert(!f->n_transfers == !f->transfer);
        f->release(NULL);
    }
}
END_TEST

SUITE(formulation)
{
    TEST(the_table_is_what_the_command_offers);
    TEST(every_formulation_is_found_by_its_name);
    TEST(every_formulation_is_whole);
}
