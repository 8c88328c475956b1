/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ir_name.h - a graph wants different names for its ops; a model need not have
 * them.
 */
#ifndef MO_INGEST_IR_UNIQUE_NAMES_H
#define MO_INGEST_IR_UNIQUE_NAMES_H

#include "base/error.h"
#include "ingest/ir/ir.h"

/* Renames the layers whose name is empty or shared with another: "#" and their
 * id come behind it.  No two layers have the same name afterwards. */
mo_status mo_ir_make_names_unique(mo_ir *ir, mo_error *err);

#endif
