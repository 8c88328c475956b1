/* SPDX-License-Identifier: Apache-2.0 */
#include "base/option.h"

#include <string.h>

static bool is_repeated(const mo_option *option)
{
    return option->kind == MO_OPTION_COUNT || option->kind == MO_OPTION_LIST;
}

/* Writes the values of an option: its choices, or suggestions. Before a colon
 * is the text given. */
static void put_values(mo_out *out, const mo_option *option,
                       const char *before_colon)
{
    const char *name;

    /* The choices as words: "lp|mps" becomes "lp mps". */
    for (const char *at = option->choices; at && *at; at++)
        mo_out_char(out, *at == '|' ? ' ' : *at);
    for (size_t i = 0; option->suggest && (name = option->suggest(i)); i++) {
        mo_out_text(out, i > 0 ? " " : "");
        for (; *name; name++)
            mo_out_printf(out, "%s%c", *name == ':' ? before_colon : "", *name);
    }
}

static bool has_values(const mo_option *option)
{
    return option->choices || option->suggest;
}

static void put_operands(mo_out *out, const mo_command *command)
{
    const char *name;

    for (size_t i = 0; command->suggest && (name = command->suggest(i)); i++)
        mo_out_printf(out, "%s%s", i > 0 ? " " : "", name);
}

/* Writes text within single quotes. The characters in escaped get a backslash;
 * the quote itself is written as the shell requires. */
static void put_quoted(mo_out *out, const char *text, const char *escaped,
                       const char *quote)
{
    for (; *text; text++) {
        if (*text == '\'') {
            mo_out_text(out, quote);
            continue;
        }
        if (strchr(escaped, *text))
            mo_out_char(out, '\\');
        mo_out_char(out, *text);
    }
}

/* Writes the command's name as a shell function: "_moirai_info". */
static void put_function(mo_out *out, const char *name)
{
    mo_out_char(out, '_');
    for (; *name; name++)
        mo_out_char(out, *name == '-' ? '_' : *name);
}

static void bash_names(mo_out *out, const mo_option *option,
                       const char *between)
{
    if (option->letter)
        mo_out_printf(out, "-%c%s", option->letter, between);
    mo_out_printf(out, "--%s", option->name);
}

/* Writes what completes the word behind an option: names, files, folders. In a
 * list, the part behind the last comma. */
static void bash_value(mo_out *out, const mo_option *option)
{
    bool list = mo_option_takes_list(option);
    const char *word = list ? "${word##*,}" : "$word";

    mo_out_text(out, "    ");
    bash_names(out, option, "|");
    mo_out_text(out, ")\n");
    if (list)
        mo_out_text(out, "        local head=${word%\"${word##*,}\"}\n");
    if (has_values(option)) {
        mo_out_text(out, "        mapfile -t COMPREPLY < <(compgen -W '");
        put_values(out, option, "");
        mo_out_printf(out, "'%s -- \"%s\")\n", list ? " -P \"$head\"" : "",
                      word);
    }
    if (mo_option_takes_file(option))
        mo_out_text(out, "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < "
                         "<(compgen -f -- \"$word\")\n");
    else if (mo_option_takes_folder(option))
        mo_out_text(out, "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < "
                         "<(compgen -d -- \"$word\")\n");
    mo_out_text(out, "        return ;;\n");
}

/* The names are for the first operand: nothing but options is before it. */
static void bash_operands(mo_out *out, const mo_command *command)
{
    if (command->suggest) {
        mo_out_text(out, "        local i first=1\n"
                         "        for ((i = 1; i < COMP_CWORD; i++)); do\n"
                         "            [[ ${COMP_WORDS[i]} == -* ]] || first=\n"
                         "        done\n"
                         "        [[ -z $first ]] || mapfile -t COMPREPLY < "
                         "<(compgen -W '");
        put_operands(out, command);
        mo_out_text(out, "' -- \"$word\")\n");
    }
    if (!command->no_files)
        mo_out_text(out, "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < "
                         "<(compgen -f -- \"$word\")\n");
}

/* "moirai emit --fu" is completed as "moirai-emit --fu". */
static void bash_dispatch(mo_out *out, const mo_command *command)
{
    mo_out_text(out, "    local command=${COMP_WORDS[1]}\n"
                     "    if ((COMP_CWORD > 1)) && [[ ' ");
    put_operands(out, command);
    mo_out_printf(out,
                  " ' == *\" $command \"* ]]; then\n"
                  "        declare -F _%s_$command >/dev/null ||\n"
                  "            _completion_loader %s-$command 2>/dev/null\n"
                  "        declare -F _%s_$command >/dev/null || return\n"
                  "        COMP_WORDS=(%s-\"$command\" "
                  "\"${COMP_WORDS[@]:2}\")\n"
                  "        ((COMP_CWORD -= 1))\n"
                  "        _%s_$command\n"
                  "        return\n"
                  "    fi\n",
                  command->name, command->name, command->name, command->name,
                  command->name);
}

static void write_bash(const mo_command *command, mo_out *out)
{
    const mo_option *option;

    mo_out_printf(out, "# bash completion for %s\n", command->name);
    put_function(out, command->name);
    mo_out_text(out, "()\n{\n");
    if (command->dispatches)
        bash_dispatch(out, command);
    mo_out_text(out, "    local word=${COMP_WORDS[COMP_CWORD]}\n"
                     "    local before=${COMP_WORDS[COMP_CWORD-1]}\n"
                     "    COMPREPLY=()\n"
                     "    # --name=value arrives as three words.\n"
                     "    if [[ $word == = ]]; then\n"
                     "        word=\n"
                     "    elif [[ $before == = && $COMP_CWORD -ge 2 ]]; then\n"
                     "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
                     "    fi\n"
                     "    case $before in\n");
    for (size_t i = 0; (option = mo_option_at(command, i)); i++)
        if (mo_option_takes_value(option))
            bash_value(out, option);
    mo_out_text(out, "    esac\n"
                     "    if [[ $word == -* ]]; then\n"
                     "        mapfile -t COMPREPLY < <(compgen -W '");
    for (size_t i = 0; (option = mo_option_at(command, i)); i++) {
        mo_out_text(out, i > 0 ? " " : "");
        bash_names(out, option, " ");
    }
    mo_out_text(out, "' -- \"$word\")\n"
                     "    else\n");
    bash_operands(out, command);
    mo_out_text(out, "    fi\n"
                     "}\n"
                     "complete -o filenames -F ");
    put_function(out, command->name);
    mo_out_printf(out, " %s\n", command->name);
}

/* Names, files, folders, or several of these. */
static void zsh_action(mo_out *out, const mo_option *option)
{
    const char *files = mo_option_takes_file(option)     ? "_files"
                        : mo_option_takes_folder(option) ? "_files -/"
                                                         : "";

    if (!has_values(option)) {
        mo_out_text(out, *files ? files : " ");
        return;
    }
    if (mo_option_takes_list(option))
        mo_out_text(out, "_values -s , value");
    else
        mo_out_text(out, *files ? "{_alternative \"names\\:name\\:(" : "(");
    if (mo_option_takes_list(option))
        mo_out_char(out, ' ');
    put_values(out, option, "\\");
    if (!mo_option_takes_list(option))
        mo_out_char(out, ')');
    if (*files && !mo_option_takes_list(option))
        mo_out_printf(out, "\" \"files\\:file\\:%s\"}", files);
}

/* "[help]:VALUE:action" */
static void zsh_tail(mo_out *out, const mo_option *option)
{
    mo_out_char(out, '[');
    put_quoted(out, option->help, "[]:\\", "'\\''");
    mo_out_char(out, ']');
    if (mo_option_takes_value(option)) {
        mo_out_printf(out, ":%s:", option->value);
        zsh_action(out, option);
    }
    mo_out_text(out, "' \\\n");
}

/* One spec per name; the names of one option exclude each other, unless it may
 * be repeated. */
static void zsh_option(mo_out *out, const mo_option *option)
{
    bool takes_value = mo_option_takes_value(option);
    const char *start = is_repeated(option) ? "*" : "";

    if (option->letter) {
        mo_out_text(out, "    '");
        if (!is_repeated(option))
            mo_out_printf(out, "(--%s)", option->name);
        mo_out_printf(out, "%s-%c%s", start, option->letter,
                      takes_value ? "+" : "");
        zsh_tail(out, option);
    }
    mo_out_text(out, "    '");
    if (option->letter && !is_repeated(option))
        mo_out_printf(out, "(-%c)", option->letter);
    mo_out_printf(out, "%s--%s%s", start, option->name, takes_value ? "=" : "");
    zsh_tail(out, option);
}

static void zsh_dispatch(mo_out *out, const mo_command *command)
{
    mo_out_text(out, "if (( CURRENT > 2 )) && [[ ' ");
    put_operands(out, command);
    mo_out_printf(out,
                  " ' == *\" $words[2] \"* ]]; then\n"
                  "    words=(%s-$words[2] \"${(@)words[3,-1]}\")\n"
                  "    (( CURRENT-- ))\n"
                  "    _$words[1]\n"
                  "    return\n"
                  "fi\n",
                  command->name);
}

static void write_zsh(const mo_command *command, mo_out *out)
{
    const mo_option *option;

    mo_out_printf(out, "#compdef %s\n", command->name);
    if (command->dispatches)
        zsh_dispatch(out, command);
    mo_out_text(out, "_arguments -s -S \\\n");
    for (size_t i = 0; (option = mo_option_at(command, i)); i++)
        zsh_option(out, option);
    if (command->suggest) {
        mo_out_text(out, command->no_files
                             ? "    '1:name:("
                             : "    '1:name:{_alternative \"names\\:name\\:(");
        put_operands(out, command);
        mo_out_text(out, command->no_files
                             ? ")'\n"
                             : ")\" \"files\\:file\\:_files\"}' \\\n");
    }
    if (!command->no_files)
        mo_out_text(out, "    '*:file:_files'\n");
}

static void fish_option(mo_out *out, const mo_command *command,
                        const mo_option *option)
{
    mo_out_printf(out, "complete -c %s", command->name);
    if (option->letter)
        mo_out_printf(out, " -s %c", option->letter);
    mo_out_printf(out, " -l %s", option->name);
    if (has_values(option)) {
        mo_out_text(out,
                    mo_option_takes_file(option) ? " -r -F -a '" : " -x -a '");
        put_values(out, option, "");
        mo_out_char(out, '\'');
    } else if (mo_option_takes_file(option)) {
        mo_out_text(out, " -r -F");
    } else if (mo_option_takes_folder(option)) {
        mo_out_text(out, " -x -a '(__fish_complete_directories)'");
    } else if (mo_option_takes_value(option)) {
        mo_out_text(out, " -x");
    }
    mo_out_text(out, " -d '");
    put_quoted(out, option->help, "\\", "\\'");
    mo_out_text(out, "'\n");
}

static void write_fish(const mo_command *command, mo_out *out)
{
    const mo_option *option;

    mo_out_printf(out, "# fish completion for %s\n", command->name);
    if (command->suggest) {
        mo_out_printf(out, "complete -c %s %s-n __fish_is_first_arg -a '",
                      command->name, command->no_files ? "-f " : "");
        put_operands(out, command);
        mo_out_text(out, "'\n");
    }
    if (command->dispatches) {
        mo_out_printf(out,
                      "complete -c %s -n 'contains -- (commandline -opc)[2] ",
                      command->name);
        put_operands(out, command);
        mo_out_printf(out,
                      "' -f -a '(complete -C (string join \" \" -- "
                      "%s-(commandline -opc)[2] (commandline -opc)[3..-1] "
                      "(commandline -ct | string collect -a)))'\n",
                      command->name);
    }
    for (size_t i = 0; (option = mo_option_at(command, i)); i++)
        fish_option(out, command, option);
}

void mo_completion_write(const mo_command *command, const char *shell,
                         mo_out *out)
{
    static const struct {
        const char *shell;
        void (*write)(const mo_command *command, mo_out *out);
    } writers[] = {
        { "bash", write_bash },
        { "zsh", write_zsh },
        { "fish", write_fish },
    };

    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (strcmp(writers[i].shell, shell) == 0)
            writers[i].write(command, out);
}
