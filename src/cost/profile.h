/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - profile: measured times of operators and links
 * (moirai-profile(5)).
 *
 * Rows for operators, by device and signature (type, shapes, element types,
 * parameters), and rows for links, by ordered pair of devices. A device is
 * identified by its id or by its model; a known model by any of its names. The
 * caller frees a profile with mo_profile_free(), which accepts NULL.
 */
#ifndef MO_COST_PROFILE_H
#define MO_COST_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/out.h"
#include "cost/cluster.h"
#include "graph/graph.h"
#include "ingest/input.h"

typedef struct mo_profile_op {
    const char *device;
    const char *signature;
    double median_us, spread_us;
    int count;              /* number of measurements */
    double flops, bytes;    /* of the op measured, or MO_UNKNOWN */
    double output_elements; /* or MO_UNKNOWN */
    int class;              /* a mo_class, or MO_UNKNOWN */
    int line;
} mo_profile_op;

/* A message of from_bytes or more takes latency + size / bandwidth, up to
 * from_bytes of the next row of the pair. */
typedef struct mo_profile_link {
    const char *from, *to;
    double latency_us, gbps;
    int64_t from_bytes;
    const char *path; /* of the measured messages: "local", "shm", "tcp", ...;
                         NULL: unknown; not part of the digest */
    int line;
} mo_profile_link;

/* Rates of a device in a runtime: an op that has no time takes the longer of
 * its work and its traffic at these rates, and the overhead. */
typedef struct mo_profile_rate {
    const char *device;
    double gflops, bandwidth_gbs; /* > 0 */
    double overhead_us;           /* of an op */
    int line;
} mo_profile_rate;

typedef struct mo_profile {
    const char *host;     /* where it was measured, or NULL */
    const char *emulated; /* the partitions of a GPU used as devices, or NULL */
    int in_flight;        /* requests at once when it was measured; 0: one */
    /* Overhead of a transfer, see mo_instance, of CPUs that pipeline requests;
     * 0: none is known. */
    double overhead_us, copy_gbs;
    /* Time of the host for GPUs that pipeline requests, see mo_instance; 0:
     * none is known. */
    double host_request_us, host_transfer_us;
    /* Of the parts of a GPU, or of CPU devices: by how much ops take longer
     * there than their rows while several parts work; 0: none is known. */
    double parts_slowdown;
    /* The same of a transfer between two of them: the time by which it adds to
     * the load of either; 0: none is known. */
    double parts_overhead_us;
    const char *file;   /* for error messages */
    mo_profile_op *ops; /* sorted by device, signature; no two equal */
    int n_ops;
    mo_profile_link *links; /* sorted by from, to, from_bytes; no two equal */
    int n_links;
    mo_profile_rate *rates; /* sorted by device; no two equal */
    int n_rates;
    /* The rows of devices that are known models again, under their short
     * names, sorted in the same way. */
    mo_profile_op *model_ops;
    int n_model_ops;
    mo_profile_link *model_links;
    int n_model_links;
    mo_arena *arena; /* owns everything, the profile too */
} mo_profile;

/* "-" is standard input. */
mo_status mo_profile_read(const char *path, mo_profile **profile,
                          mo_error *err);
mo_status mo_profile_read_memory(const char *file, const char *data,
                                 size_t size, mo_profile **profile,
                                 mo_error *err);
/* The same over an input the caller opened and closes. */
mo_status mo_profile_read_input(mo_input *input, mo_profile **profile,
                                mo_error *err);

/* Deterministic: equal profiles give equal bytes, and reading them back gives
 * an equal profile. */
void mo_profile_write(const mo_profile *profile, mo_out *out);

void mo_profile_free(mo_profile *profile);

/* Sets *digest to a digest of the rows, without the host. */
mo_status mo_profile_digest(const mo_profile *profile, uint64_t *digest,
                            mo_error *err);

/* Writes the signature of an op of g: ops with equal signatures take the same
 * time. It does not depend on names of ops. */
void mo_profile_signature(const mo_graph *g, int op, mo_out *out);

/* Returns the row for a signature on a device, by its id, else by its model;
 * NULL when there is none. The result is borrowed from profile. */
const mo_profile_op *mo_profile_find(const mo_profile *profile,
                                     const mo_device *device,
                                     const char *signature);

/* Returns the median of that row, or NAN. */
double mo_profile_time_us(const mo_profile *profile, const mo_device *device,
                          const char *signature);

/* Returns a time between those of two rows of the device that differ from the
 * signature in dimensions alone and have it on the segment between them, by
 * flops, else by bytes, else by length; the op's may be MO_UNKNOWN. NAN when
 * there are no two such rows. */
double mo_profile_interpolate_us(const mo_profile *profile,
                                 const mo_device *device, const char *signature,
                                 double flops, double bytes);

/* Returns the rates of a device, by its id, else by its model; NULL when there
 * are none. Borrowed from profile. */
const mo_profile_rate *mo_profile_find_rate(const mo_profile *profile,
                                            const mo_device *device);

/* Returns the time of an op by the rates of the device; NAN when there are
 * none, or its work is unknown. */
double mo_profile_rate_us(const mo_profile *profile, const mo_device *device,
                          double flops, double bytes);

/* Returns the row for a message of that size, by the devices' ids, else by
 * their models; NULL when there is none. Borrowed from profile. */
const mo_profile_link *mo_profile_find_link(const mo_profile *profile,
                                            const mo_device *from,
                                            const mo_device *to, int64_t bytes);

/* Returns the time of a message by that row, in nanoseconds before rounding;
 * NAN when there is no row. */
double mo_profile_link_ns(const mo_profile *profile, const mo_device *from,
                          const mo_device *to, int64_t bytes);

/* Returns MO_OK when a device of the profile is in the cluster, else
 * MO_E_INPUT with a message that names the devices of both: the profile was
 * measured on another machine. */
mo_status mo_profile_check_cluster(const mo_profile *profile,
                                   const mo_cluster *cluster, mo_error *err);

#endif
