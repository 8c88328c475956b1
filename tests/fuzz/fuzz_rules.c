/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of coarsen/fusion_rules.h: any bytes give valid rules that can be
 * read again, or an error with a line. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/out.h"
#include "coarsen/fusion_rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Longest first, then by their words, none twice. */
static int compare(const mo_fusion_rule *a, const mo_fusion_rule *b)
{
    int order = b->n - a->n;

    for (int i = 0; i < a->n && order == 0; i++)
        order = strcasecmp(a->words[i].text, b->words[i].text);
    return order;
}

static void check_rule(const mo_fusion_rule *rule)
{
    assert(rule->n >= 2 && rule->n <= MO_FUSION_MAX_RULE_LENGTH);
    for (int k = 0; k < rule->n; k++) {
        const mo_fusion_pattern *word = &rule->words[k];

        assert(word->text[0] != '\0');
        assert(strcspn(word->text, " \t\r\n#*") == strlen(word->text));
        assert(!word->role || !word->kind);
    }
}

static void check_rules(const mo_fusion_rules *rules)
{
    assert(rules->n >= 0 && rules->n <= MO_FUSION_MAX_RULES);
    for (int r = 0; r < rules->n; r++) {
        check_rule(&rules->rules[r]);
        assert(r == 0 || compare(&rules->rules[r - 1], &rules->rules[r]) < 0);
    }
}

/* The rules as a file, the last one first. */
static char *write_rules(const mo_fusion_rules *rules, size_t *length,
                         mo_error *err)
{
    mo_out *out = NULL;
    char *text;

    if (mo_out_memory(&out, err) != MO_OK)
        abort();
    for (int r = rules->n - 1; r >= 0; r--) {
        for (int k = 0; k < rules->rules[r].n; k++) {
            mo_out_text(out, rules->rules[r].words[k].text);
            mo_out_char(out, ' ');
        }
        mo_out_char(out, '\n');
    }
    text = mo_out_take(out, length);
    mo_out_abandon(out);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mo_fusion_rules *rules = NULL, *again = NULL;
    mo_error err = { 0 };
    uint64_t digest, same;
    size_t length;
    char *text;
    mo_status status =
        mo_fusion_rules_parse("fuzz", (const char *) data, size, &rules, &err);

    assert(status == MO_OK ? rules != NULL : !rules && err.line > 0);
    if (!rules)
        return 0;
    check_rules(rules);
    text = write_rules(rules, &length, &err);
    assert(text);
    assert(mo_fusion_rules_parse("again", text, length, &again, &err) == MO_OK);
    assert(mo_fusion_rules_digest(rules, &digest, &err) == MO_OK);
    assert(mo_fusion_rules_digest(again, &same, &err) == MO_OK);
    assert(digest == same && again->n == rules->n);
    free(text);
    mo_fusion_rules_free(again);
    mo_fusion_rules_free(rules);
    return 0;
}
