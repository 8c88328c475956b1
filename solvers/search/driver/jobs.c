/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the jobs of the search `moirai`; job.h has the contract. */
#include "solvers/search/driver/job.h"

extern const mo_search_job mo_search_job_whole_bound,
    mo_search_job_whole_anneal, mo_search_job_colocation,
    mo_search_job_memory_prices, mo_search_job_root_lp, mo_search_job_hubs,
    mo_search_job_blocks, mo_search_job_list, mo_search_job_priced,
    mo_search_job_segments, mo_search_job_compose;

/* clang-format off */
const mo_search_job *const mo_search_jobs[] = {
    &mo_search_job_whole_bound,
    &mo_search_job_whole_anneal,
    &mo_search_job_colocation,
    &mo_search_job_memory_prices,
    &mo_search_job_root_lp,
    &mo_search_job_hubs,
    &mo_search_job_blocks,
    &mo_search_job_list,
    &mo_search_job_priced,
    &mo_search_job_segments,
    &mo_search_job_compose,
    NULL
};
/* clang-format on */
