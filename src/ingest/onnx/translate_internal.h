/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translate_internal.h - parts of the translation: names and attributes in
 * their scopes (scope.c), inlined functions, branches and loops (expand.c),
 * nodes that can be placed but not run (opaque.c), inputs of the model
 * (model_inputs.c), nodes and the model (translate.c).
 */
#ifndef MO_INGEST_ONNX_TRANSLATE_INTERNAL_H
#define MO_INGEST_ONNX_TRANSLATE_INTERNAL_H

#include "base/intern.h"
#include "ingest/onnx/translate.h"

/* What a name is bound to: a layer's output, or a tensor of the file that no
 * node has read yet. */
typedef struct mo_onnx_binding {
    mo_onnx_ref value;
    const mo_onnx_tensor *tensor;
    bool is_lost; /* of a node that could not be translated */
} mo_onnx_binding;

/* Names of a graph or function. A graph in a node sees those around it. */
struct mo_onnx_scope {
    const mo_onnx_scope *outer;  /* or NULL */
    const mo_onnx_scope *caller; /* of a function: that of its node */
    const mo_onnx_node *call;    /* of a function: its node, or NULL */
    const mo_onnx_function *function;
    const mo_onnx_opset *opsets;
    size_t n_opsets;
    mo_intern *names;
    mo_onnx_binding *bindings;
    size_t room;
    const mo_onnx_graph *graph; /* for the shapes that the file gives */
    mo_intern *infos;           /* by name; NULL until it is needed */
    const mo_onnx_info **info_of;
};

typedef struct mo_onnx_translation {
    const char *file;
    const mo_onnx_model *model;
    mo_onnx_builder *b;
    mo_error *err;
    int depth;
    size_t expanded;
    char missing[700]; /* operators that cannot be translated */
    int n_missing;
    bool lacks_shapes; /* with known shapes one of them could be placed */
} mo_onnx_translation;

/* scope.c */

/* Opens a scope, whose other members the caller has set; it is closed in any
 * case. */
mo_status mo_onnx_scope_open(mo_onnx_translation *t, mo_onnx_scope *scope);
void mo_onnx_scope_close(mo_onnx_translation *t, mo_onnx_scope *scope);

/* Fails if name is bound in the scope already: a tensor is made once. */
mo_status mo_onnx_scope_check_new(mo_onnx_translation *t,
                                  const mo_onnx_scope *scope, const char *name);
mo_status mo_onnx_scope_bind(mo_onnx_translation *t, mo_onnx_scope *scope,
                             const char *name, mo_onnx_binding what);
mo_status mo_onnx_scope_bind_weights(mo_onnx_translation *t,
                                     mo_onnx_scope *scope,
                                     const mo_onnx_graph *g);

/* Returns what name is bound to, in the scope or around it; NULL: nothing. */
mo_onnx_binding *mo_onnx_scope_find(const mo_onnx_scope *scope,
                                    const char *name);
/* Returns the value of a binding: tensors become constants when read. */
mo_onnx_ref mo_onnx_scope_read(mo_onnx_translation *t, mo_onnx_binding *bound,
                               const char *name);
/* The same by name; MO_ONNX_NONE: it is bound to nothing. */
mo_onnx_ref mo_onnx_scope_result(mo_onnx_translation *t,
                                 const mo_onnx_scope *scope, const char *name);

/* Returns the node's attribute, that of the calling node where it refers to
 * it; NULL: none. */
const mo_onnx_attribute *mo_onnx_scope_attribute(const mo_onnx_scope *scope,
                                                 const mo_onnx_node *node,
                                                 const char *name);
/* Returns the type and shape that the file gives a name of the scope's graph;
 * NULL: none. */
const mo_onnx_info *mo_onnx_scope_info(mo_onnx_translation *t,
                                       mo_onnx_scope *scope, const char *name);

/* Returns whether it is the domain of ONNX's own operators. */
bool mo_onnx_is_own_domain(const char *domain);

/* expand.c: each sets op->outputs, or a failure of the builder. */

mo_status mo_onnx_inline_function(mo_onnx_translation *t, mo_onnx_scope *around,
                                  mo_onnx_op *op, const mo_onnx_function *f);
mo_status mo_onnx_take_branch(mo_onnx_translation *t, mo_onnx_scope *scope,
                              mo_onnx_op *op);
mo_status mo_onnx_unroll_loop(mo_onnx_translation *t, mo_onnx_scope *scope,
                              mo_onnx_op *op);
mo_status mo_onnx_unroll_scan(mo_onnx_translation *t, mo_onnx_scope *scope,
                              mo_onnx_op *op);

/* opaque.c */

/* Adds a node that cannot be run as a layer of its own type, which can be
 * placed; its attribute "refused" is why. Returns false where the file does not
 * give the shapes of its outputs. */
bool mo_onnx_add_opaque(mo_onnx_translation *t, mo_onnx_scope *scope,
                        mo_onnx_op *op, const char *why);

/* model_inputs.c */

mo_status mo_onnx_add_inputs(mo_onnx_translation *t, mo_onnx_scope *scope,
                             const mo_onnx_graph *g,
                             const mo_read_options *options);

/* translate.c */

mo_status mo_onnx_translate_nodes(mo_onnx_translation *t, mo_onnx_scope *scope,
                                  const mo_onnx_node *nodes, size_t n);

#endif
