/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "coarsen/fusion_rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/digest.h"
#include "base/reader.h"

static bool is_named(const mo_fusion_candidate *candidate, const char *name)
{
    return candidate->kind && strcmp(candidate->kind->name, name) == 0;
}

static bool is_class(const mo_fusion_candidate *candidate, mo_class class)
{
    return candidate->kind && candidate->kind->class == class;
}

static bool is_conv(const mo_fusion_candidate *candidate)
{
    return is_class(candidate, MO_CLASS_CONVOLUTION) &&
           (is_named(candidate, "Convolution") ||
            is_named(candidate, "GroupConvolution"));
}

static bool is_matmul(const mo_fusion_candidate *candidate)
{
    return is_class(candidate, MO_CLASS_MATMUL) &&
           (is_named(candidate, "MatMul") || is_named(candidate, "Linear") ||
            is_named(candidate, "Gemm") || is_named(candidate, "Addmm"));
}

/* The other operand is a constant. */
static bool is_bias(const mo_fusion_candidate *candidate)
{
    return candidate->n_inputs == 1 && is_named(candidate, "Add");
}

static bool is_scale(const mo_fusion_candidate *candidate)
{
    return candidate->n_inputs == 1 &&
           (is_named(candidate, "Multiply") || is_named(candidate, "Divide"));
}

static bool is_bn(const mo_fusion_candidate *candidate)
{
    return is_class(candidate, MO_CLASS_NORMALIZATION) &&
           is_named(candidate, "BatchNormInference");
}

static bool is_norm(const mo_fusion_candidate *candidate)
{
    return is_class(candidate, MO_CLASS_NORMALIZATION);
}

static bool is_act(const mo_fusion_candidate *candidate)
{
    return is_class(candidate, MO_CLASS_ACTIVATION);
}

static bool is_eltwise(const mo_fusion_candidate *candidate)
{
    return is_act(candidate) || is_class(candidate, MO_CLASS_ELEMENTWISE);
}

static bool is_pool(const mo_fusion_candidate *candidate)
{
    return is_class(candidate, MO_CLASS_POOL);
}

static bool is_softmax(const mo_fusion_candidate *candidate)
{
    return is_class(candidate, MO_CLASS_SOFTMAX);
}

const mo_fusion_role mo_fusion_roles[] = {
    { "conv", "a convolution, grouped or not", is_conv },
    { "matmul", "a matrix product, with or without its own bias", is_matmul },
    { "bias", "an Add that reads one op: its other operand is a constant",
      is_bias },
    { "scale", "a Multiply or Divide that reads one op", is_scale },
    { "bn", "a batch normalisation", is_bn },
    { "norm", "any normalisation", is_norm },
    { "act", "any activation: one input, element by element", is_act },
    { "eltwise", "anything element by element", is_eltwise },
    { "pool", "any pooling", is_pool },
    { "softmax", "a softmax or log-softmax", is_softmax },
    { NULL, NULL, NULL },
};

mo_fusion_pattern mo_fusion_pattern_of(const char *text)
{
    mo_fusion_pattern word = { .text = text };

    for (const mo_fusion_role *role = mo_fusion_roles; role->word; role++)
        if (strcasecmp(role->word, text) == 0)
            word.role = role;
    if (!word.role)
        word.kind = mo_operator_find(text);
    return word;
}

/* A type that denotes an operator is compared as such, not as text: aten.norm
 * is not "norm". */
bool mo_fusion_pattern_matches(const mo_fusion_pattern *word,
                               const mo_fusion_candidate *candidate)
{
    if (!candidate->kind)
        return candidate->type && strcasecmp(word->text, candidate->type) == 0;
    return word->role ? word->role->matches(candidate)
                      : word->kind == candidate->kind;
}

/* State of the parser of a rule file. */
typedef struct rule_parser {
    mo_fusion_rules *made;
    size_t room;
    const char *file;
    int line;
} rule_parser;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static mo_status fail_at_line(const rule_parser *p, mo_error *err,
                              const char *what)
{
    return mo_fail_at(err, MO_E_INPUT, p->file, p->line, "%s", what);
}

static mo_status check_word(const rule_parser *p, const char *word,
                            size_t length, mo_error *err)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char) word[i];

        if (c == '*')
            return fail_at_line(p, err,
                                "'*' is not supported: a rule is an ordered "
                                "list of operator types, write each out");
        if (c <= ' ' || c >= 127)
            return fail_at_line(p, err,
                                "a rule holds something else than operator "
                                "types; write words such as 'conv bn relu'");
    }
    return MO_OK;
}

/* Splits one line into *n words. */
static mo_status split_words(rule_parser *p, const char *text, size_t length,
                             mo_fusion_pattern *words, int *n, mo_error *err)
{
    size_t at = 0;

    *n = 0;
    for (;;) {
        size_t start;
        char *word;

        while (at < length && is_blank(text[at]))
            at++;
        if (at == length || text[at] == '#')
            return MO_OK;
        for (start = at; at < length && !is_blank(text[at]) && text[at] != '#';)
            at++;
        if (*n == MO_FUSION_MAX_RULE_LENGTH)
            return fail_at_line(p, err,
                                "a rule of more than 16 types; no backend "
                                "fuses that many, split it");
        if (check_word(p, text + start, at - start, err) != MO_OK)
            return MO_E_INPUT;
        word = mo_arena_text(p->made->arena, text + start, at - start);
        if (!word)
            return mo_fail_memory(err);
        words[(*n)++] = mo_fusion_pattern_of(word);
    }
}

static mo_status add_rule(rule_parser *p, const mo_fusion_pattern *words, int n,
                          mo_error *err)
{
    size_t count = (size_t) p->made->n;
    mo_fusion_pattern *kept;

    if (n == 1)
        return fail_at_line(p, err,
                            "a rule of one type fuses nothing; add the types "
                            "that follow it, or remove the line");
    if (count == MO_FUSION_MAX_RULES)
        return fail_at_line(p, err,
                            "more than 1024 rules; no backend has that many");
    kept = mo_arena_array(p->made->arena, (size_t) n, sizeof *kept);
    if (!kept || MO_ARRAY_GROW(p->made->rules, count, p->room, err) != MO_OK)
        return mo_fail_memory(err);
    memcpy(kept, words, (size_t) n * sizeof *kept);
    p->made->rules[p->made->n++] = (mo_fusion_rule){ kept, n };
    return MO_OK;
}

static mo_status parse_lines(rule_parser *p, const char *text, size_t length,
                             mo_error *err)
{
    mo_fusion_pattern words[MO_FUSION_MAX_RULE_LENGTH];
    const char *end = text + length;

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t) (end - text));
        size_t size = (size_t) ((newline ? newline : end) - text);
        int n;
        mo_status status;

        p->line++;
        status = split_words(p, text, size, words, &n, err);
        if (status == MO_OK && n > 0)
            status = add_rule(p, words, n, err);
        if (status != MO_OK)
            return status;
        text += size + (newline ? 1 : 0);
    }
    return MO_OK;
}

static int compare_rules(const void *a, const void *b)
{
    const mo_fusion_rule *left = a, *right = b;
    int order = right->n - left->n;

    for (int i = 0; i < left->n && order == 0; i++)
        order = strcasecmp(left->words[i].text, right->words[i].text);
    return order;
}

static void sort_rules(mo_fusion_rules *rules)
{
    int kept = 0;

    if (rules->n == 0)
        return;
    qsort(rules->rules, (size_t) rules->n, sizeof *rules->rules, compare_rules);
    for (int i = 1; i < rules->n; i++)
        if (compare_rules(&rules->rules[i], &rules->rules[kept]) != 0)
            rules->rules[++kept] = rules->rules[i];
    rules->n = kept + 1;
}

mo_status mo_fusion_rules_parse(const char *file, const char *text,
                                size_t length, mo_fusion_rules **rules,
                                mo_error *err)
{
    rule_parser p = { .made = calloc(1, sizeof *p.made), .file = file };
    mo_status status;

    if (!p.made)
        return mo_fail_memory(err);
    p.made->arena = mo_arena_new();
    status = p.made->arena ? parse_lines(&p, text, length, err)
                           : mo_fail_memory(err);
    if (status != MO_OK) {
        mo_fusion_rules_free(p.made);
        return status;
    }
    sort_rules(p.made);
    *rules = p.made;
    return MO_OK;
}

static mo_status load_file(const char *path, mo_fusion_rules **rules,
                           mo_error *err)
{
    mo_reader *reader = NULL;
    char *text = NULL;
    size_t length;
    mo_status status;

    if (strcmp(path, "-") != 0 && access(path, F_OK) != 0 && errno == ENOENT)
        return mo_fail_at(err, MO_E_IO, path, 0,
                          "no such file, and no built-in fusion set of "
                          "that name; --help lists the sets");
    status = mo_reader_open(path, &reader, err);
    if (status != MO_OK)
        return status;
    text = malloc(MO_FUSION_MAX_FILE + 1);
    status = text ? mo_reader_read(reader, text, MO_FUSION_MAX_FILE + 1,
                                   &length, err)
                  : mo_fail_memory(err);
    if (status == MO_OK && length > MO_FUSION_MAX_FILE)
        status = mo_fail_at(err, MO_E_LIMIT, path, 0,
                            "larger than 1 MiB; is this a rule file?");
    else if (status == MO_OK)
        status = mo_fusion_rules_parse(mo_reader_name(reader), text, length,
                                       rules, err);
    free(text);
    mo_reader_close(reader);
    return status;
}

const mo_fusion_rule_set *mo_fusion_rule_set_find(const char *name)
{
    const mo_fusion_rule_set *set = mo_fusion_rule_sets;

    while (set->name && strcmp(set->name, name) != 0)
        set++;
    return set->name ? set : NULL;
}

bool mo_fusion_rules_is_set(const char *name)
{
    return mo_fusion_rule_set_find(name) || strcmp(name, "none") == 0;
}

mo_status mo_fusion_rules_load(const char *name_or_file,
                               mo_fusion_rules **rules, mo_error *err)
{
    const mo_fusion_rule_set *set = mo_fusion_rule_set_find(name_or_file);

    return set ? mo_fusion_rules_parse(set->name, set->text, strlen(set->text),
                                       rules, err)
               : load_file(name_or_file, rules, err);
}

void mo_fusion_rules_free(mo_fusion_rules *rules)
{
    if (!rules)
        return;
    free(rules->rules);
    mo_arena_free(rules->arena);
    free(rules);
}

static void hash_word(mo_digest *digest, const char *word)
{
    char lower[64];

    for (size_t at = 0; word[at] != '\0';) {
        size_t n = 0;

        for (; n < sizeof lower && word[at] != '\0'; n++, at++)
            lower[n] = (char) (word[at] >= 'A' && word[at] <= 'Z'
                                   ? word[at] - 'A' + 'a'
                                   : word[at]);
        mo_digest_bytes(digest, lower, n);
    }
    mo_digest_int(digest, (int64_t) strlen(word));
}

mo_status mo_fusion_rules_digest(const mo_fusion_rules *rules, uint64_t *digest,
                                 mo_error *err)
{
    mo_digest *made = mo_digest_new();

    if (!made)
        return mo_fail_memory(err);
    mo_digest_int(made, rules->n);
    for (int i = 0; i < rules->n; i++) {
        mo_digest_int(made, rules->rules[i].n);
        for (int k = 0; k < rules->rules[i].n; k++)
            hash_word(made, rules->rules[i].words[k].text);
    }
    *digest = mo_digest_value(made);
    mo_digest_free(made);
    return MO_OK;
}
