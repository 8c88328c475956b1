/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/algo.h"

#include <stdlib.h>
#include <string.h>

bool mo_cuda_algo_kind_wanted(const mo_cuda_algo_problem *task,
                              const char *word)
{
    size_t n = strlen(word);

    return !task->only || (strncmp(task->only, word, n) == 0 &&
                           (task->only[n] == ' ' || task->only[n] == 0));
}

bool mo_cuda_algo_wanted(const mo_cuda_algo_problem *task, const char *name)
{
    return !task->only || strcmp(task->only, name) == 0;
}

mo_status mo_cuda_algo_list_add(mo_backend_unit *unit, mo_cuda_algo_list *ways,
                                mo_cuda_algo *way, mo_error *err)
{
    mo_cuda_algo **more =
        realloc(ways->ways, ((size_t) ways->n + 1) * sizeof *more);

    if (!more) {
        way->kind->drop(unit, way);
        return mo_fail_memory(err);
    }
    ways->ways = more;
    ways->ways[ways->n++] = way;
    return MO_OK;
}
