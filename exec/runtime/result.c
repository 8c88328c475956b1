/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "exec/runtime/run.h"

void mo_run_result_clear(mo_run_result *result)
{
    for (int d = 0; result->steps && d < result->n_devices; d++)
        free(result->steps[d]);
    for (int i = 0; result->outputs && i < result->n_outputs; i++)
        mo_tensor_clear(&result->outputs[i]);
    free(result->steps);
    free(result->outputs);
    free(result->makespan_ns);
    free(result->call_ns);
    free(result->busy_ns);
    free(result->workspace_bytes);
    free(result->allocated_bytes);
    *result = (mo_run_result){ 0 };
}
