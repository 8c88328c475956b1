/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/cluster/nccl/nccl_rate.h"

#include <stddef.h>
#include <string.h>

#include "base/number.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const struct {
    int device;
    const char *model;
} models[] = {
    { 0x15f8, "p100-pcie" },
    { 0x15f9, "p100" },
    { 0x1bb3, "p4" },
    { 0x1db1, "v100-16gb" },
    { 0x1db4, "v100-pcie-16gb" },
    { 0x1db5, "v100" },
    { 0x1db6, "v100-pcie" },
    { 0x1e04, "rtx2080ti" },
    { 0x1e07, "rtx2080ti" },
    { 0x1eb8, "t4" },
    { 0x20b0, "a100" },
    { 0x20b2, "a100-80gb" },
    { 0x20b5, "a100-pcie-80gb" },
    { 0x20f1, "a100-pcie" },
    { 0x2204, "rtx3090" },
    { 0x2236, "a10" },
    { 0x2330, "h100" },
    { 0x2331, "h100-pcie" },
    { 0x2335, "h200" },
    { 0x2486, "rtx3060ti" },
    { 0x2489, "rtx3060ti" },
    { 0x2684, "rtx4090" },
    { 0x26b9, "l40s" },
    { 0x27b8, "l4" },
};

const char *mo_nccl_topology_model(int device)
{
    for (size_t i = 0; i < COUNT(models); i++)
        if (models[i].device == device)
            return models[i].model;
    return NULL;
}

/* By the smallest compute capability that has this rate, the newest first. */
static const struct {
    int sm;
    double gbps;
} nvlinks[] = {
    { 100, 400 },  /* Blackwell */
    { 87, 200 },   /* Hopper */
    { 86, 112.5 }, /* Ampere boards with a bridge between two */
    { 70, 200 },   /* Volta, Turing, A100 */
    { 0, 160 },    /* Pascal */
};

double mo_nccl_topology_nvlink_gbps(int sm)
{
    size_t i = 0;

    while (i + 1 < COUNT(nvlinks) && sm < nvlinks[i].sm)
        i++;
    return nvlinks[i].gbps;
}

/* Efficiency of the line code, by the smallest speed that uses it. */
static const struct {
    double gts, share;
} codings[] = {
    { 64, 242.0 / 256 },
    { 8, 128.0 / 130 },
    { 0, 8.0 / 10 },
};

double mo_nccl_topology_pci_gbps(const char *speed, int width)
{
    enum { USUAL_WIDTH = 16, WIDEST = 32 };
    const double usual_gts = 8, fastest_gts = 1024;
    double gts = 0;
    size_t i = 0;

    mo_number_read_double(speed, strcspn(speed, " G"), &gts);
    if (!(gts > 0 && gts <= fastest_gts))
        gts = usual_gts;
    if (width < 1 || width > WIDEST)
        width = USUAL_WIDTH;
    while (i + 1 < COUNT(codings) && gts < codings[i].gts)
        i++;
    return gts * codings[i].share * width;
}

/* One link between two sockets. Families and models are counted as in NCCL:
 * the extended family in front of the basic one, 143 being 17h. The first
 * matching row counts, and a family or model of 0 matches all. */
static const struct {
    const char *vendor;
    int family, model;
    double gbps;
} sockets[] = {
    { "GenuineIntel", 6, 85, 166.4 },  /* UPI at 10.4 GT/s: Skylake */
    { "GenuineIntel", 6, 106, 179.2 }, /* 11.2: Ice Lake */
    { "GenuineIntel", 6, 143, 256 },   /* 16: Sapphire Rapids */
    { "GenuineIntel", 6, 207, 320 },   /* 20: Emerald Rapids */
    { "GenuineIntel", 6, 173, 384 },   /* 24: Granite Rapids */
    { "AuthenticAMD", 143, 0, 288 },   /* 16 lanes at 18 GT/s: Rome */
    { "AuthenticAMD", 175, 1, 288 },   /* the same: Milan */
    { "AuthenticAMD", 175, 0, 512 },   /* at 32 GT/s: Genoa */
    { "AuthenticAMD", 191, 0, 512 },   /* the same: Turin */
};

double mo_nccl_topology_socket_gbps(const char *vendor, int family, int model)
{
    const double qpi_gbps = 153.6; /* at 9.6 GT/s, and for all others */

    for (size_t i = 0; vendor && i < COUNT(sockets); i++)
        if (strcmp(sockets[i].vendor, vendor) == 0 &&
            (sockets[i].family == 0 || sockets[i].family == family) &&
            (sockets[i].model == 0 || sockets[i].model == model))
            return sockets[i].gbps;
    return qpi_gbps;
}
