/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llama_rule.h - how llama.cpp places layers (load_tensors of llama-model.cpp).
 */
#ifndef MO_REPORT_RUNTIME_LLAMA_RULE_H
#define MO_REPORT_RUNTIME_LLAMA_RULE_H

enum { MO_LLAMA_CPU = -1 };

/* Sets device[l], for the layers l < n_layers and the head l = n_layers, to the
 * number of the device in the order of --device, or to MO_LLAMA_CPU: the result
 * of -ngl gpu_layers and -ts shares, in the floats of llama.cpp.  n_devices is
 * at most MO_CHAIN_MAX_DEVICES; 0: all on the CPU. */
void mo_llama_rule(const float *shares, int n_devices, int n_layers,
                   int gpu_layers, int *device);

#endif
