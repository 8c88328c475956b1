#include "exec/backend/cuda/way.h"

#include <stdlib.h>

mo_status mo_cuda_ways_add(mo_unit *unit, mo_cuda_ways *ways, mo_cuda_way *way,
                           mo_error *err)
{
    mo_cuda_way **more =
        realloc(ways->ways, ((size_t) ways->n + 1) * sizeof *more);

    if (!more) {
        way->kind->drop(unit, way);
        return mo_fail_memory(err);
    }
    ways->ways = more;
    ways->ways[ways->n++] = way;
    return MO_OK;
}
