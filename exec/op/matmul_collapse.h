/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul_collapse.h - canonical form of a matrix product.
 */
#ifndef MO_EXEC_OP_MATMUL_COLLAPSE_H
#define MO_EXEC_OP_MATMUL_COLLAPSE_H

#include <stdbool.h>

#include "exec/op/call.h"

/* Merges batch dimensions of call, in place, as far as possible. A result
 * stored column by column is computed as c' = b' a', for which true is
 * returned. */
bool mo_call_matmul_collapse(mo_call_matmul *call);

#endif
