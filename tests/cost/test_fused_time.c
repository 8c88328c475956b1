/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/predict/fused_time.h, each time computed by hand. */
#include "cost/predict/fused_time.h"

#include <string.h>

#include "tests/support/suite.h"

/* A takes 5 us to launch and moves 100,000 bytes a microsecond; of B nothing is
 * known; C is of a model. */
static mo_cluster *cluster_of_three(void)
{
    static const char text[] =
        "<cluster><device id='A' kind='cpu' gflops='1' launch_us='5' "
        "memory_bandwidth_gbs='100'/>"
        "<device id='B' kind='cpu' gflops='1' launch_us='0'/>"
        "<device id='C' model='t4' launch_us='2' memory_bandwidth_gbs='300'/>"
        "<link between='A B' gbps='1'/><link between='A C' gbps='1'/>"
        "</cluster>";
    mo_cluster *cluster = NULL;

    MUST(mo_cluster_read_memory("c", text, strlen(text), &cluster, &err));
    return cluster;
}

static const struct {
    const char *key;
    double us[4];
    int n;
    double saved_bytes, fused_us;
} cases[] = {
    /* One launch less, and what need not be moved. */
    { "A", { 20, 10 }, 2, 0, 25 },
    { "A", { 20, 10 }, 2, 200000, 23 },
    { "A", { 20, 10, 7 }, 3, 300000, 24 },
    { "C", { 20, 10 }, 2, 300000, 27 },
    /* But never less than the longest part. */
    { "A", { 20, 4 }, 2, 0, 20 },
    { "A", { 20, 10 }, 2, 1e9, 20 },
    { "A", { 4, 20, 4 }, 3, 0, 20 },
    /* The savings on these are unknown. */
    { "B", { 20, 10 }, 2, 200000, 30 },
    { "Z", { 20, 10 }, 2, 200000, 30 },
    /* What fusing does not change. */
    { "A", { 20 }, 1, 0, 20 },
    { "A", { 0, 0 }, 2, 100, 0 },
};

START_TEST(launches_and_traffic_are_saved)
{
    mo_cluster *cluster = cluster_of_three();
    mo_fused fused = { cases[_i].key, cases[_i].us, cases[_i].n,
                       cases[_i].saved_bytes };

    ck_assert_double_eq_tol(mo_predict_fused_us(cluster, &fused),
                            cases[_i].fused_us, 1e-9);
    mo_cluster_free(cluster);
}
END_TEST

/* A column may be called after a model, in the cluster or not. */
START_TEST(models_save_what_their_vendor_publishes)
{
    const mo_device_model *t4 = mo_device_find("t4");
    const double us[] = { 1000, 1000 };
    mo_fused fused = { "t4", us, 2, 3.2e6 };
    double wanted =
        2000 - t4->launch_us - fused.saved_bytes / (t4->bandwidth_gbs * 1e3);

    ck_assert_double_gt(t4->launch_us, 0);
    ck_assert_double_eq_tol(mo_predict_fused_us(NULL, &fused), wanted, 1e-9);
    fused.key = "A";
    ck_assert_double_eq(mo_predict_fused_us(NULL, &fused), 2000);
}
END_TEST

SUITE(fused_time)
{
    EACH(launches_and_traffic_are_saved, COUNT(cases));
    TEST(models_save_what_their_vendor_publishes);
}
