/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/ingest/gguf_text.h"

#include <assert.h>
#include <string.h>

enum { F16 = 1, WIDTH = 64, WORDS = 100 };

void gguf_put(gguf_text *f, int bytes, uint64_t value)
{
    assert(f->size + 8 < sizeof f->data);
    for (int i = 0; i < bytes; i++) {
        int shift = 8 * (f->is_big_endian ? bytes - 1 - i : i);

        f->data[f->size++] = (char) (value >> shift & 255);
    }
}

void gguf_put_text(gguf_text *f, const char *text)
{
    gguf_put(f, 8, strlen(text));
    assert(f->size + strlen(text) < sizeof f->data);
    memcpy(f->data + f->size, text, strlen(text));
    f->size += strlen(text);
}

void gguf_begin(gguf_text *f, uint32_t version, uint64_t tensors,
                uint64_t values)
{
    f->size = 4;
    f->offset = 0;
    memcpy(f->data, "GGUF", 4);
    gguf_put(f, 4, version);
    gguf_put(f, 8, tensors);
    gguf_put(f, 8, values);
}

void gguf_text_value(gguf_text *f, const char *key, const char *text)
{
    gguf_put_text(f, key);
    gguf_put(f, 4, 8);
    gguf_put_text(f, text);
}

void gguf_u32_value(gguf_text *f, const char *key, uint32_t value)
{
    gguf_put_text(f, key);
    gguf_put(f, 4, 4);
    gguf_put(f, 4, value);
}

void gguf_tensor(gguf_text *f, const char *name, uint64_t rows,
                 uint64_t columns, uint32_t type, uint64_t bytes)
{
    gguf_put_text(f, name);
    gguf_put(f, 4, 2);
    gguf_put(f, 8, columns);
    gguf_put(f, 8, rows);
    gguf_put(f, 4, type);
    gguf_put(f, 8, f->offset);
    f->offset += (bytes + 31) / 32 * 32;
}

void gguf_decoder(gguf_text *f)
{
    static const char *const square[] = {
        "blk.0.attn_q.weight",   "blk.0.attn_k.weight",
        "blk.0.attn_v.weight",   "blk.0.attn_output.weight",
        "blk.0.ffn_norm.weight", "blk.0.ffn_gate.weight",
        "blk.0.ffn_up.weight",   "blk.0.ffn_down.weight",
        "blk.0.attn_norm.weight"
    };

    gguf_begin(f, 3, N_GGUF_TENSORS, 4);
    gguf_text_value(f, "general.architecture", "llama");
    gguf_u32_value(f, "llama.block_count", 1);
    gguf_u32_value(f, "llama.embedding_length", WIDTH);
    gguf_u32_value(f, "llama.attention.head_count", 4);
    gguf_tensor(f, "token_embd.weight", WORDS, WIDTH, F16, 2 * WORDS * WIDTH);
    gguf_tensor(f, "output.weight", WORDS, WIDTH, F16, 2 * WORDS * WIDTH);
    for (int i = 0; i < 9; i++)
        gguf_tensor(f, square[i], WIDTH, WIDTH, F16, 2 * WIDTH * WIDTH);
}
