/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.h - products in fewer words.
 */
#ifndef MO_EXEC_OP_MATMUL_COLLAPSE_H
#define MO_EXEC_OP_MATMUL_COLLAPSE_H

#include <stdbool.h>

#include "exec/op/call.h"

/* The same product with as few batch dimensions as will do.  A result that lies
 * column by column is told as c' = b' a', for which true is returned. */
bool mo_call_matmul_collapse(mo_call_matmul *call);

#endif
