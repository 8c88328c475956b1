/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - the walks through a graph that labels.h remembers.
 */
#ifndef MO_GRAPH_REACH_LABEL_WALK_H
#define MO_GRAPH_REACH_LABEL_WALK_H

#include "base/error.h"
#include "graph/reach/interval_labels.h"

/* Fills the walks of all ops; labels->stack serves as scratch.  O(V + E), and
 * no recursion: networks are deep. */
mo_status mo_interval_labels_walk(mo_interval_labels *labels, mo_error *err);

#endif
