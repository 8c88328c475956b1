/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/discover/discover.h on synthetic inventories: assignment of
 * GPUs to ranks, devices and links, and that the written cluster reads back
 * the same. */
#include <config.h>

#include "exec/discover/discover.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "exec/discover/discover_internal.h"
#include "tests/support/suite.h"

static const mo_discover_options plain = { .cpus = 1, .precision = "f32" };

static mo_discover_inventory machine(const char *host, int n_gpus)
{
    mo_discover_inventory s = { .version = MO_DISCOVER_INVENTORY_VERSION,
                                .processors = 8,
                                .cores = 4,
                                .clock_mhz = 3000,
                                .flops_per_cycle = 32,
                                .socket_gbps = 100,
                                .memory_bytes = (int64_t) 64 << 30,
                                .n_gpus = n_gpus };

    snprintf(s.host, sizeof s.host, "%s", host);
    snprintf(s.machine, sizeof s.machine, "%s", host);
    for (int g = 0; g < n_gpus; g++) {
        snprintf(s.gpus[g].name, sizeof s.gpus[g].name, "NVIDIA H200");
        s.gpus[g].ordinal = g;
        s.gpus[g].arch = 90;
        s.gpus[g].sms = 132;
        s.gpus[g].clock_mhz = 1980;
        s.gpus[g].bandwidth_gbs = 4800;
        s.gpus[g].memory_bytes = (int64_t) 140 << 30;
        s.gpus[g].bus = mo_discover_pci_address(0, 16 + (unsigned) g, 0);
        s.gpus[g].peers = UINT64_MAX;
        s.gpus[g].socket = -1;
    }
    return s;
}

static mo_cluster *discover(const mo_discover_inventory *inventories, int n,
                            const mo_discover_options *options,
                            mo_cluster_notes *notes)
{
    mo_cluster *cluster;

    MUST(mo_discover_cluster(inventories, n, options, &cluster, notes, &err));
    return cluster;
}

static const mo_link *link_of(const mo_cluster *cluster, const char *from,
                              const char *to)
{
    int l = mo_cluster_find_link(cluster, mo_cluster_find(cluster, from),
                                 mo_cluster_find(cluster, to));

    ck_assert_msg(l >= 0, "no link from %s to %s", from, to);
    return &cluster->links[l];
}

START_TEST(ranks_that_see_all_gpus_share_them)
{
    mo_discover_inventory two[] = { machine("a", 4), machine("a", 4) };
    bool owned[2 * MO_DISCOVER_MAX_GPUS];

    mo_discover_assign_gpus(two, 2, owned);
    for (int g = 0; g < 4; g++) {
        ck_assert_int_eq(owned[g], g % 2 == 0);
        ck_assert_int_eq(owned[MO_DISCOVER_MAX_GPUS + g], g % 2 == 1);
    }
}
END_TEST

START_TEST(a_rank_gets_the_gpu_that_only_it_sees)
{
    mo_discover_inventory two[] = { machine("a", 1), machine("a", 1) };
    bool owned[2 * MO_DISCOVER_MAX_GPUS];

    two[1].gpus[0].bus = mo_discover_pci_address(0, 77, 0);
    mo_discover_assign_gpus(two, 2, owned);
    ck_assert(owned[0] && owned[MO_DISCOVER_MAX_GPUS]);
}
END_TEST

START_TEST(machines_with_the_same_addresses_are_not_mixed_up)
{
    mo_discover_inventory two[] = { machine("a", 2), machine("b", 2) };
    mo_cluster_notes notes;
    mo_cluster *cluster = discover(two, 2, &plain, &notes);

    ck_assert_int_eq(cluster->n_devices, 6);
    ck_assert_int_ge(mo_cluster_find(cluster, "r0_gpu1"), 0);
    ck_assert_int_ge(mo_cluster_find(cluster, "r1_gpu0"), 0);
    ck_assert_int_eq(cluster->devices[mo_cluster_find(cluster, "r1_cpu")].rank,
                     1);
    mo_cluster_free(cluster);
}
END_TEST

START_TEST(more_ranks_than_gpus_leave_some_with_processors_alone)
{
    mo_discover_inventory three[] = { machine("a", 2), machine("a", 2),
                                      machine("a", 2) };
    mo_cluster_notes notes;
    mo_cluster *cluster = discover(three, 3, &plain, &notes);

    ck_assert_int_eq(cluster->n_devices, 2 + 3);
    ck_assert_int_eq(mo_cluster_find(cluster, "r2_gpu0"), -1);
    mo_cluster_free(cluster);
}
END_TEST

/* Models with published numbers. */
START_TEST(peaks_are_the_vendors)
{
    static const struct {
        const char *model;
        int arch;
    } known[] = {
        { "p100", 60 },      { "p4", 61 },   { "v100", 70 }, { "t4", 75 },
        { "rtx2080ti", 75 }, { "a100", 80 }, { "a10", 86 },  { "rtx3090", 86 },
        { "l40s", 89 },      { "h100", 90 }, { "h200", 90 },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const mo_device_model *model = mo_device_find(known[i].model);
        const mo_discover_gpu gpu = { .arch = known[i].arch,
                                      .sms = model->sms,
                                      .clock_mhz = model->clock_mhz };
        double peak = mo_discover_peak_gflops(&gpu, "f32");

        ck_assert_msg(fabs(peak / model->gflops[MO_MATH_F32] - 1) < 0.05,
                      "%s: %g, not %g", known[i].model, peak,
                      model->gflops[MO_MATH_F32]);
    }
}
END_TEST

START_TEST(peaks_depend_on_the_precision)
{
    const mo_discover_gpu v100 = { .arch = 70, .sms = 80, .clock_mhz = 1530 };
    const mo_discover_gpu h100 = { .arch = 90, .sms = 132, .clock_mhz = 1830 };
    const mo_discover_gpu none = { .arch = 50, .sms = 16, .clock_mhz = 1000 };

    ck_assert_double_eq_tol(mo_discover_peak_gflops(&v100, "f16"), 125e3, 1e3);
    ck_assert_double_eq(mo_discover_peak_gflops(&v100, "bf16"),
                        mo_discover_peak_gflops(&v100, "f32"));
    ck_assert_double_eq_tol(mo_discover_peak_gflops(&h100, "tf32"), 494.7e3,
                            2e3);
    ck_assert_double_eq_tol(mo_discover_peak_gflops(&h100, "bf16"), 989.4e3,
                            2e3);
    ck_assert_double_eq(mo_discover_peak_gflops(&none, "f32"), 0);
}
END_TEST

START_TEST(processors_are_divided)
{
    const mo_discover_options two_each = { .cpus = 2, .precision = "f32" };
    mo_discover_inventory two[] = { machine("a", 0), machine("a", 0) };
    mo_cluster_notes notes;
    mo_cluster *cluster = discover(two, 2, &two_each, &notes);

    ck_assert_int_eq(cluster->n_devices, 4);
    for (int k = 0; k < 4; k++) {
        ck_assert(cluster->devices[k].is_cpu);
        ck_assert_int_eq(cluster->devices[k].threads, 2);
        ck_assert_int_eq(cluster->devices[k].memory_bytes, (int64_t) 16 << 30);
        ck_assert_double_eq_tol(cluster->devices[k].gflops[MO_MATH_F32], 96,
                                1e-9);
    }
    mo_cluster_free(cluster);

    /* A launcher with CPU binding has divided the processors already. */
    two[0].is_bound = two[1].is_bound = 1;
    cluster = discover(two, 2, &two_each, &notes);
    ck_assert_int_eq(cluster->devices[0].threads, 4);
    mo_cluster_free(cluster);
}
END_TEST

/* Four cores with two hardware threads each. */
static mo_discover_inventory numbered(void)
{
    mo_discover_inventory s = machine("a", 0);

    for (int i = 0; i < 8; i++) {
        s.cpus[i] = (int16_t) i;
        s.core_of[i] = (int16_t) (i % 4);
    }
    s.n_cpus = 8;
    return s;
}

static void check_cpus(const mo_cluster *cluster, int device,
                       const char *expected)
{
    const mo_device *d = &cluster->devices[device];
    char text[128] = "";

    for (int i = 0; i < d->n_cpus; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d",
                 i > 0 ? "," : "", d->cpus[i]);
    ck_assert_str_eq(text, expected);
    ck_assert(d->n_cpus == 0 || d->n_cpus == d->threads);
}

START_TEST(devices_have_processors_of_their_own)
{
    const mo_discover_options two_each = { .cpus = 2, .precision = "f32" };
    mo_discover_inventory two[] = { numbered(), numbered() };
    mo_cluster_notes notes;
    mo_cluster *cluster = discover(two, 1, &two_each, &notes);

    check_cpus(cluster, 0, "0,1,4,5");
    check_cpus(cluster, 1, "2,3,6,7");
    mo_cluster_free(cluster);

    cluster = discover(two, 2, &two_each, &notes);
    check_cpus(cluster, 0, "0,4");
    check_cpus(cluster, 1, "1,5");
    check_cpus(cluster, 2, "2,6");
    check_cpus(cluster, 3, "3,7");
    mo_cluster_free(cluster);

    /* Bound together, ranks share; bound apart, they do not. */
    for (int r = 0; r < 2; r++)
        two[r].is_bound = two[r].n_cpus = two[r].processors = 4;
    cluster = discover(two, 2, &two_each, &notes);
    check_cpus(cluster, 3, "3");
    mo_cluster_free(cluster);
    for (int i = 0; i < 4; i++)
        two[1].cpus[i] = (int16_t) (4 + i);
    cluster = discover(two, 2, &two_each, &notes);
    check_cpus(cluster, 0, "0,1");
    check_cpus(cluster, 3, "6,7");
    mo_cluster_free(cluster);

    /* A single device has all of them, and too few cannot be shared. */
    cluster = discover(two, 1, &plain, &notes);
    check_cpus(cluster, 0, "");
    mo_cluster_free(cluster);
    two[0].n_cpus = two[0].processors = two[0].cores = 1;
    cluster = discover(two, 1, &two_each, &notes);
    check_cpus(cluster, 0, "");
    mo_cluster_free(cluster);
}
END_TEST

/* The table has the peaks by type of a known model. */
START_TEST(an_unknown_gpu_has_the_peaks_of_its_generation)
{
    mo_discover_inventory s = machine("a", 1);
    mo_cluster_notes notes;
    mo_cluster *cluster;

    snprintf(s.gpus[0].name, sizeof s.gpus[0].name, "NVIDIA H999");
    cluster = discover(&s, 1, &plain, &notes);
    for (int k = 0; k < cluster->n_devices; k++) {
        const mo_device *d = &cluster->devices[k];

        if (d->is_cpu)
            continue;
        ck_assert_ptr_null(d->known);
        ck_assert_double_eq_tol(d->gflops[MO_MATH_F32], 66.9e3, 100);
        ck_assert_double_eq_tol(d->gflops[MO_MATH_TF32], 535.3e3, 100);
        ck_assert_double_eq_tol(d->gflops[MO_MATH_BF16], 1070.5e3, 100);
    }
    mo_cluster_free(cluster);
}
END_TEST

START_TEST(what_the_driver_does_not_tell_the_table_does)
{
    mo_discover_inventory s = machine("a", 1);
    mo_cluster_notes notes;
    mo_cluster *cluster;

    s.gpus[0].clock_mhz = s.gpus[0].bandwidth_gbs = 0;
    cluster = discover(&s, 1, &plain, &notes);
    ck_assert_double_eq(cluster->devices[0].gflops[MO_MATH_F32], 66900);
    ck_assert_double_eq(cluster->devices[0].bandwidth_gbs, 4800);
    ck_assert_double_eq(cluster->devices[0].launch_us, 4);
    mo_cluster_free(cluster);
}
END_TEST

START_TEST(no_device_at_all_is_an_error)
{
    const mo_discover_options none = { .cpus = 0, .precision = "f32" };
    mo_discover_inventory s = machine("a", 0);
    mo_cluster *cluster = NULL;
    mo_cluster_notes notes;
    mo_error err = { 0 };

    ck_assert_int_eq(mo_discover_cluster(&s, 1, &none, &cluster, &notes, &err),
                     MO_E_INPUT);
    ck_assert_ptr_null(cluster);
    ck_assert_ptr_nonnull(strstr(err.text, "--cpus none"));
}
END_TEST

static void wire(mo_discover_inventory *s, int from, uint64_t to, int n)
{
    mo_discover_gpu *gpu = &s->gpus[from];

    while (n-- > 0)
        gpu->nvlinks[gpu->n_nvlinks++] = to;
}

START_TEST(links_are_what_the_wires_are)
{
    mo_discover_inventory s = machine("a", 4);
    mo_cluster_notes notes;
    mo_cluster *cluster;

    wire(&s, 0, s.gpus[1].bus, 6);
    wire(&s, 1, s.gpus[0].bus, 6);
    wire(&s, 2, 0, 18);
    wire(&s, 3, 0, 12);
    s.gpus[0].pci_gbps = 500;
    s.gpus[2].pci_gbps = 250;
    s.gpus[0].socket = s.gpus[1].socket = 0;
    s.gpus[2].socket = 2;
    cluster = discover(&s, 1, &plain, &notes);
    ck_assert_double_eq(link_of(cluster, "gpu0", "gpu1")->gbps, 1200);
    ck_assert_double_eq(link_of(cluster, "gpu2", "gpu3")->gbps, 2400);
    /* From socket to socket, then to a GPU without NVML data. */
    ck_assert_double_eq(link_of(cluster, "gpu0", "gpu2")->gbps, 100);
    ck_assert_double_eq_tol(link_of(cluster, "gpu0", "gpu3")->gbps, 126.031,
                            0.001);
    ck_assert_double_eq(link_of(cluster, "cpu", "gpu2")->gbps, 250);
    mo_cluster_free(cluster);
}
END_TEST

START_TEST(networks_are_as_fast_as_their_slower_card)
{
    mo_discover_inventory two[] = { machine("a", 1), machine("b", 1) };
    mo_cluster_notes notes;
    mo_cluster *cluster;

    two[0].network_gbps = 200;
    two[1].network_gbps = 100;
    cluster = discover(two, 2, &plain, &notes);
    ck_assert_double_eq(link_of(cluster, "r0_gpu0", "r1_gpu0")->gbps, 100);
    mo_cluster_free(cluster);
    two[0].network_gbps = 0;
    cluster = discover(two, 2, &plain, &notes);
    ck_assert_double_eq(link_of(cluster, "r0_gpu0", "r1_cpu")->gbps, 10);
    mo_cluster_free(cluster);
}
END_TEST

START_TEST(every_pair_is_linked_and_every_number_has_a_remark)
{
    mo_discover_inventory two[] = { machine("a", 3), machine("b", 2) };
    mo_cluster_notes notes;
    mo_cluster *cluster = discover(two, 2, &plain, &notes);

    ck_assert_int_eq(cluster->n_devices, 7);
    ck_assert_int_eq(cluster->n_links, 42);
    for (int k = 0; k < cluster->n_devices; k++)
        ck_assert(notes.devices[k] && *notes.devices[k]);
    for (int l = 0; l < cluster->n_links; l++)
        ck_assert(notes.links[l] && *notes.links[l]);
    mo_cluster_free(cluster);
}
END_TEST

static const char topology[] =
    "<cluster><device id='x' gpu='0'/><device id='y' gpu='1'/>"
    "<link from='x' to='y' gbps='77' latency_us='3'/></cluster>";

START_TEST(a_topology_counts_for_more_than_a_guess)
{
    mo_discover_inventory s = machine("a", 2);
    mo_discover_options options = plain;
    mo_cluster *cluster, *told;
    mo_cluster_notes notes;

    MUST(mo_cluster_read_memory("t.xml", topology, strlen(topology), &told,
                                &err));
    options.topology = told;
    cluster = discover(&s, 1, &options, &notes);
    ck_assert_double_eq(link_of(cluster, "gpu0", "gpu1")->gbps, 77);
    ck_assert_int_eq(link_of(cluster, "gpu0", "gpu1")->latency_ns, 3000);
    ck_assert_double_ne(link_of(cluster, "gpu1", "gpu0")->gbps, 77);
    mo_cluster_free(cluster);
    mo_cluster_free(told);
}
END_TEST

static void check_written(const mo_cluster *cluster,
                          const mo_cluster_notes *notes)
{
    uint64_t before, after;
    mo_cluster *read;
    mo_out *out;
    size_t size;
    char *text;

    MUST(mo_out_memory(&out, &err));
    mo_cluster_write(cluster, notes, out);
    text = mo_out_take(out, &size);
    mo_out_abandon(out);
    ck_assert_ptr_nonnull(text);
    MUST(mo_cluster_read_memory("w.xml", text, size, &read, &err));
    MUST(mo_cluster_digest(cluster, &before, &err));
    MUST(mo_cluster_digest(read, &after, &err));
    ck_assert_msg(before == after, "another cluster was read back: %s", text);
    for (int k = 0; k < read->n_devices; k++) {
        const mo_device *a = &cluster->devices[k], *b = &read->devices[k];

        ck_assert_int_eq(a->rank, b->rank);
        ck_assert_int_eq(a->gpu, b->gpu);
        ck_assert_int_eq(a->threads, b->threads);
        ck_assert_int_eq(a->n_cpus, b->n_cpus);
        ck_assert_pstr_eq(a->host, b->host);
    }
    mo_cluster_free(read);
    free(text);
}

START_TEST(what_is_written_is_read_back)
{
    mo_discover_inventory two[] = { machine("a--\"<&>-", 3), machine("b", 2) };
    mo_cluster_notes notes;
    mo_cluster *cluster;

    snprintf(two[0].gpus[0].name, MO_DISCOVER_TEXT_SIZE,
             "-- new --> <GPU> & '\"-");
    cluster = discover(two, 2, &plain, &notes);
    check_written(cluster, &notes);
    mo_cluster_free(cluster);
}
END_TEST

START_TEST(so_are_other_clusters)
{
    static const char odd[] =
        "<cluster name='odd'>"
        "<device id='a' model='h200' launch_us='0' memory_gib='1.5'/>"
        "<device id='b' kind='cpu' cpus='1,3-5' threads='2'/>"
        "<device id='c' model='of my own' sms='3' reserve_bytes='1'"
        " memory_bytes='9'/>"
        "<link between='a b' gbps='1e-3' latency_us='1e8'/>"
        "<link from='c' to='a' gbps='0.1' latency_us='0.001'/>"
        "<link from='a' to='c' gbps='0.1' latency_us='0.002'/>"
        "</cluster>";
    mo_cluster *cluster;

    MUST(mo_cluster_read_memory("o.xml", odd, strlen(odd), &cluster, &err));
    check_written(cluster, NULL);
    mo_cluster_free(cluster);
    for (int i = 0; mo_cluster_builtins[i].name; i++) {
        const char *text = mo_cluster_builtins[i].text;

        MUST(mo_cluster_read_memory("b.xml", text, strlen(text), &cluster,
                                    &err));
        check_written(cluster, NULL);
        mo_cluster_free(cluster);
    }
}
END_TEST

static mo_status gather(mo_discover_inventory *inventory, mo_error *why)
{
    const mo_transport_world_options options = { .peer_timeout_s = 0 };
    mo_transport_world *world;
    mo_status status;

    MUST(mo_transport_local.open(&options, &world, &err));
    status =
        mo_discover_gather(&mo_transport_local, world, true, inventory, why);
    mo_transport_local.close(world);
    return status;
}

START_TEST(an_inventory_that_makes_no_sense_is_refused)
{
    mo_discover_inventory good = machine("a", 2), bad = good;
    mo_error err = { 0 };

    ck_assert_int_eq(gather(&good, &err), MO_OK);
    bad.n_gpus = MO_DISCOVER_MAX_GPUS + 1;
    ck_assert_int_eq(gather(&bad, &err), MO_E_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "rank 0"));
    bad = good;
    bad.version++;
    ck_assert_int_eq(gather(&bad, &err), MO_E_INPUT);
    bad = good;
    memset(bad.host, 'x', sizeof bad.host);
    ck_assert_int_eq(gather(&bad, &err), MO_E_INPUT);
    bad = good;
    bad.gpus[1].n_nvlinks = -1;
    ck_assert_int_eq(gather(&bad, &err), MO_E_INPUT);
}
END_TEST

START_TEST(this_machine_is_seen_twice_as_the_same)
{
    mo_discover_inventory a, b;
    const int none[1] = { 0 };

    MUST(mo_discover_local(none, 0, &a, &err));
    MUST(mo_discover_local(none, 0, &b, &err));
    ck_assert_int_ge(a.processors, 1);
    ck_assert_int_ge(a.processors, a.cores);
    ck_assert_int_ge(a.n_cpus, a.processors);
    ck_assert_int_eq(a.n_gpus, 0);
    ck_assert(*a.host && *a.machine);
    ck_assert_mem_eq(&a, &b, sizeof a);
}
END_TEST

SUITE(discover)
{
    TEST(ranks_that_see_all_gpus_share_them);
    TEST(a_rank_gets_the_gpu_that_only_it_sees);
    TEST(machines_with_the_same_addresses_are_not_mixed_up);
    TEST(more_ranks_than_gpus_leave_some_with_processors_alone);
    TEST(peaks_are_the_vendors);
    TEST(peaks_depend_on_the_precision);
    TEST(an_unknown_gpu_has_the_peaks_of_its_generation);
    TEST(processors_are_divided);
    TEST(devices_have_processors_of_their_own);
    TEST(what_the_driver_does_not_tell_the_table_does);
    TEST(no_device_at_all_is_an_error);
    TEST(links_are_what_the_wires_are);
    TEST(networks_are_as_fast_as_their_slower_card);
    TEST(every_pair_is_linked_and_every_number_has_a_remark);
    TEST(a_topology_counts_for_more_than_a_guess);
    TEST(what_is_written_is_read_back);
    TEST(so_are_other_clusters);
    TEST(an_inventory_that_makes_no_sense_is_refused);
    TEST(this_machine_is_seen_twice_as_the_same);
}
