#include "report/instance_sums.h"

double mo_instance_time_ns(const mo_instance *x, int device)
{
    double sum = 0;

    for (int i = 0; i < x->n; i++)
        sum += (double) mo_instance_p_ns(x, i, device);
    return sum;
}

double mo_instance_transfer_ns(const mo_instance *x, int a, int b)
{
    double sum = 0;

    for (int q = 0; q < x->n_flows; q++)
        sum += (double) mo_instance_flow_ns(x, q, a, b);
    return sum;
}

double mo_instance_memory_bytes(const mo_instance *x)
{
    double sum = 0;

    for (int i = 0; i < x->n; i++)
        sum += (double) x->memory_bytes[i];
    return sum;
}
