/* SPDX-License-Identifier: Apache-2.0 */
/* Inventory of GPUs in a build without CUDA: none, and the reason. */
#include <stdio.h>

#include "exec/discover/discover_internal.h"

void mo_discover_cuda_gpus(mo_discover_inventory *inventory)
{
    snprintf(inventory->no_gpu, sizeof inventory->no_gpu,
             "this program was built without CUDA");
}
