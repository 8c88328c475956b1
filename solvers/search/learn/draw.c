#include "solvers/search/learn/draw.h"

#include <math.h>

int mo_draw_likeliest(const mo_real *logs, int n)
{
    int best = 0;

    for (int i = 1; i < n; i++)
        if (logs[i] > logs[best])
            best = i;
    return best;
}

/* Rounding may leave a little at the end, which nobody has: the likeliest gets
 * it. */
int mo_draw(const mo_real *logs, int n, mo_random *random)
{
    double left = mo_random_unit(random);

    for (int i = 0; i < n; i++) {
        left -= exp((double) logs[i]);
        if (left < 0)
            return i;
    }
    return mo_draw_likeliest(logs, n);
}
