/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz_network.h"

#include "tests/support/suite.h"

enum { N_SEEDS = 64 };

static fuzz_network *kept[N_SEEDS][RANDOM_PLAN_DEVICES];

static mo_graph *make_graph(unsigned seed)
{
    return seed % 4 == 3 ? random_picture(seed) : random_network(seed);
}

static void make_plan(random_plan *r, unsigned seed, int n_devices)
{
    random_plan_of(r, make_graph(seed), make_graph(seed), NULL, seed,
                   n_devices);
}

static void free_networks(void)
{
    for (int s = 0; s < N_SEEDS; s++)
        for (int k = 0; k < RANDOM_PLAN_DEVICES; k++) {
            if (!kept[s][k])
                continue;
            random_plan_clear(&kept[s][k]->made);
            mo_run_result_clear(&kept[s][k]->expected);
            free(kept[s][k]);
        }
}

fuzz_network *fuzz_network_draw(fuzz_input *in)
{
    static bool is_used;
    unsigned seed = (unsigned) fuzz_below(in, N_SEEDS);
    int n_devices = 1 + fuzz_below(in, RANDOM_PLAN_DEVICES);
    fuzz_network *network = kept[seed][n_devices - 1];
    random_plan one;

    if (network)
        return network;
    if (!is_used)
        atexit(free_networks);
    is_used = true;
    network = calloc(1, sizeof *network);
    ck_assert_ptr_nonnull(network);
    network->seed = seed;
    make_plan(&network->made, seed, n_devices);
    make_plan(&one, seed, 1);
    plan_runner_result(one.plan, seed, &network->expected);
    random_plan_clear(&one);
    kept[seed][n_devices - 1] = network;
    return network;
}

void fuzz_network_check(const fuzz_network *network, const mo_exec_plan *plan)
{
    mo_run_result result = { 0 };

    plan_runner_result(plan, network->seed, &result);
    check_outputs_equal(&network->expected, &result, (int) network->seed);
    mo_run_result_clear(&result);
}
