/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - a text written to memory.
 */
#ifndef MO_TESTS_SUPPORT_TEXT_H
#define MO_TESTS_SUPPORT_TEXT_H

#include "base/out.h"

mo_out *text_new(void);

/* Returns the text, which the caller frees; frees out. */
char *text_end(mo_out *out);

#endif
