/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - a text that is put together in memory.
 */
#ifndef MO_TESTS_SUPPORT_TEXT_H
#define MO_TESTS_SUPPORT_TEXT_H

#include "base/out.h"

mo_out *text_new(void);

/* What was written; the caller frees it.  out is gone. */
char *text_end(mo_out *out);

#endif
