/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/text.h"

#include "tests/support/suite.h"

mo_out *text_new(void)
{
    mo_out *out;

    MUST(mo_out_memory(&out, &err));
    return out;
}

char *text_end(mo_out *out)
{
    size_t size;
    char *text = mo_out_take(out, &size);

    ck_assert_ptr_nonnull(text);
    mo_out_abandon(out);
    return text;
}
