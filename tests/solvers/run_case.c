/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "tests/solvers/run_case.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/out.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

const char run_small_lp[] = "\\ small\n"
                            "Minimize\n obj: w\n"
                            "Subject To\n"
                            " place_0: x_0_0 + x_0_1 = 1\n"
                            " place_1: x_1_0 + x_1_1 = 1\n"
                            " memory_0: 600 x_0_0 + 600 x_1_0 <= 1000\n"
                            " memory_1: 600 x_0_1 + 600 x_1_1 <= 1000\n"
                            " order: s_1 - 3.5 x_0_0 - 7 x_0_1 >= 0\n"
                            " last: w - s_1 - 2 x_1_0 - 1.25 x_1_1 >= 0\n"
                            " identity: moirai_g_0123456789abcdef = 1\n"
                            "Bounds\n s_1 <= 1000\n w <= 1000\n"
                            "Binaries\n x_0_0 x_0_1 x_1_0 x_1_1\nEnd\n";
const double run_small_answer = 4.75;

char run_folder[4200];

void run_enter(void)
{
    scratch_enter();
    ck_assert_ptr_nonnull(getcwd(run_folder, sizeof run_folder - 16));
    strcat(run_folder, "/job");
    ck_assert_int_eq(mkdir(run_folder, 0700), 0);
}

mo_solver_job run_job(const char *model)
{
    return (mo_solver_job){ .model = model,
                            .folder = run_folder,
                            .gap = 0,
                            .threads = 1,
                            .presolve = true };
}
