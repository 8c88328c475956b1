/* SPDX-License-Identifier: Apache-2.0 */
#include "models/transfer_number.h"

bool mo_transfer_is_tensor(const mo_regime *regime)
{
    return regime->tensors == MO_TENSORS_ONCE &&
           (regime->congestion != MO_CONGESTION_NONE ||
            regime->memory == MO_MEMORY_LIVE);
}

int mo_transfer_number(const mo_instance *x, const mo_regime *regime, int item,
                       int device)
{
    return mo_transfer_is_tensor(regime)
               ? item * (x->n_devices + 1) +
                     (device == MO_FREE ? 0 : device + 1)
               : item;
}

int64_t mo_transfer_number_limit(const mo_instance *x, const mo_regime *regime)
{
    return mo_transfer_is_tensor(regime)
               ? (int64_t) x->n_tensors * (x->n_devices + 1)
               : x->n_flows;
}

mo_transfer_ends mo_transfer_from_number(const mo_instance *x,
                                         const mo_regime *regime, int number)
{
    int tensor = number / (x->n_devices + 1);
    int device = number % (x->n_devices + 1) - 1;
    int first =
        mo_transfer_is_tensor(regime) ? x->tensor_start[tensor] : number;
    bool alone = !mo_transfer_is_tensor(regime) ||
                 x->tensor_start[tensor + 1] - first == 1;

    return (mo_transfer_ends){
        .item = mo_transfer_is_tensor(regime) ? tensor : number,
        .from = x->flows[first].from,
        .to = alone ? x->flows[first].to : MO_FREE,
        .device =
            mo_transfer_is_tensor(regime) && device >= 0 ? device : MO_FREE,
    };
}
