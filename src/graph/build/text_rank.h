/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank.h - the texts of a table in byte order.
 */
#ifndef MO_GRAPH_BUILD_TEXT_RANK_H
#define MO_GRAPH_BUILD_TEXT_RANK_H

#include "base/error.h"
#include "base/intern.h"

/* Fills by_rank with the numbers of all texts of the table, in the order of
 * strcmp: by_rank[0] is the number of the first. */
mo_status mo_intern_rank_texts(const mo_intern *texts, int *by_rank,
                               mo_error *err);

#endif
