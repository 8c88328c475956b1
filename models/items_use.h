/*
 * items_use.h - the part of items.h that knows ports, channels and links.
 */
#ifndef MO_MODELS_ITEMS_USE_H
#define MO_MODELS_ITEMS_USE_H

#include "models/items.h"

/* Finds the uses of items that have their arcs. */
mo_status mo_items_find_uses(mo_items *items, mo_error *err);

#endif
