/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unique_names.h - unique names for layers: a graph needs them, a model does
 * not.
 */
#ifndef MO_INGEST_IR_UNIQUE_NAMES_H
#define MO_INGEST_IR_UNIQUE_NAMES_H

#include "base/error.h"
#include "ingest/ir/ir.h"

/* Renames the layers with a name that is empty or shared with another by
 * appending
 * "#" and their id. Afterwards all names are distinct; ir owns them. */
mo_status mo_ir_make_names_unique(mo_ir *ir, mo_error *err);

#endif
