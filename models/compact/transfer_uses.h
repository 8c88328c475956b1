/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer_uses.h - the resource part of transfer_items.h: ports, channels and
 * links.
 */
#ifndef MO_MODELS_COMPACT_TRANSFER_USES_H
#define MO_MODELS_COMPACT_TRANSFER_USES_H

#include "models/compact/transfer_items.h"

/* Finds the uses of items that have their arcs. */
mo_status mo_transfer_items_find_uses(mo_transfer_items *items, mo_error *err);

#endif
