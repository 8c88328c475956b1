/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.h - programs that run language models on several devices: what they
 * can place where, and writers of their settings.  One table, one file each.
 */
#ifndef MO_REPORT_RUNTIME_RUNTIME_H
#define MO_REPORT_RUNTIME_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "base/out.h"
#include "report/runtime/split.h"

/* A placement to write settings for; all is borrowed. */
typedef struct mo_runtime_case {
    const mo_chain *chain;
    const mo_chain_placement *placement;
    const char *model; /* path */
    int64_t context;   /* tokens that the cache has room for */
    const char *cache; /* its element type */
    int draft_layers;  /* behind the layers, in the file and in no unit */
} mo_runtime_case;

/* The same of single ops. */
typedef struct mo_runtime_ops {
    const mo_cluster *cluster;
    const mo_graph *graph;
    const int *device; /* by op and constant of it */
} mo_runtime_ops;

typedef struct mo_runtime {
    const char *name;
    const char *help;   /* one line */
    const char *format; /* of its models, in mo_read_formats; NULL: any */
    mo_chain_rules rules;

    /* What the runtime does without settings, and its name; NULL: nothing. */
    const char *default_name;
    mo_status (*split_default)(const mo_chain *chain, const bool *allowed,
                               mo_split *split, mo_error *err);

    /* Writes the settings: lines of a shell, or a JSON object under key; or, of
     * a runtime that places single ops, an object of those.  The others are
     * NULL. */
    void (*write_command)(const mo_runtime_case *it, mo_out *out);
    void (*write_json)(const mo_runtime_case *it, const char *key,
                       mo_json_writer *w);
    void (*write_ops)(const mo_runtime_ops *it, const char *key,
                      mo_json_writer *w);
} mo_runtime;

/* Settings that a report of a placement has. */
typedef struct mo_runtime_settings {
    const mo_runtime *runtime; /* places single ops; NULL: there are none */
    mo_runtime_ops ops;
} mo_runtime_settings;

extern const mo_runtime mo_runtime_llama_cpp, mo_runtime_vllm,
    mo_runtime_accelerate, mo_runtime_openvino, mo_runtime_pytorch_pipelining;

/* Returns runtime i, NULL behind the last, and the one of that name or NULL. */
const mo_runtime *mo_runtime_at(size_t i);
const mo_runtime *mo_runtime_find(const char *name);

/* Writes the settings to out. */
void mo_runtime_write(const mo_runtime *runtime, const mo_runtime_case *it,
                      mo_out *out);

/* Writes them under "settings", if there are any; settings may be NULL. */
void mo_runtime_put_settings(const mo_runtime_settings *settings,
                             mo_json_writer *w);

/* Returns the name of the backend of ggml that runs on a device: "CUDA",
 * "ROCm", "SYCL", "MTL" or "CPU". */
const char *mo_runtime_backend(const mo_device *device);

/* Returns the number that a GPU has in a runtime: the one of the cluster file,
 * else its position among those of its backend on its machine. */
int mo_runtime_gpu_number(const mo_cluster *cluster, int device);

/* Fails where the settings cannot tell devices of the cluster apart: GPUs of a
 * machine with the same number (MO_E_INPUT), or devices of several machines
 * where the runtime runs on one (MO_E_USAGE). */
mo_status mo_runtime_check_devices(const mo_runtime *runtime,
                                   const mo_cluster *cluster, mo_error *err);

/* Writes a word for a POSIX shell, in quotes if it needs them. */
void mo_runtime_put_word(mo_out *out, const char *word);

/* Splits the layers evenly over the devices allowed, GPUs if there are any, in
 * the order of the cluster.  The last devices but one have one more where
 * is_vllm, else the first ones. */
mo_status mo_runtime_split_evenly(const mo_chain *chain, const bool *allowed,
                                  bool is_vllm, mo_split *split, mo_error *err);

#endif
