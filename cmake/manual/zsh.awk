# zsh completion: a specification for _arguments of each command.
function escaped(text) { gsub(/[][\\:]/, "\\\\&", text); return text }

function options(command, indent,   i, j, kind, tail, flag) {
    for (i = 1; i <= count; i++) {
        if (owner[i] != command) continue
        kind = value_of(i)
        tail = ""
        if (kind == "files") tail = ":" escaped(argument[i]) ":_files"
        else if (kind == "fields") tail = ":field:_" program "_setting"
        else if (kind == "anything") tail = ":" escaped(argument[i]) ": "
        else if (kind != "") tail = (argument[i] ~ /^\[/ ? "::" : ":") escaped(name[i]) ":(" kind ")"
        for (j = 1; j <= 2; j++) {
            flag = j == 1 ? letter[i] : (name[i] == "" ? "" : "--" name[i] (tail == "" ? "" : "="))
            if (flag != "") print indent quoted((kind == "fields" ? "*" : "") flag "[" escaped(help[i]) "]" tail) " \\"
        }
    }
}

function operand(command, indent,   first) {
    first = words_of(command)
    if (first != "" && command != "-") print indent quoted("1:word:(" substr(first, 2) ")") " \\"
    if (takes_specs(command)) print indent quoted("*:spec or file:_" program "_operand")
    else print indent quoted("*:file:_files")
}

END {
    print "#compdef " program
    print "# zsh completion of " program ", made of its own table of options."
    print "_" program "_operand() {"
    print "    _alternative 'specs:shipped spec:(" substr(specs, 2) ")' 'files:file:_files'\n}"
    print "_" program "_setting() {\n    if compset -P '*='; then\n        local field=${IPREFIX%=}"
    print "        compset -P '*,'\n        case ${field##*[ =]} in"
    n = split(substr(fields[""], 2), part, / /)
    for (i = 1; i <= n; i++) print "        " part[i] ") compadd --" values["", part[i]] " ;;"
    print "        esac\n    else\n        compadd -S= --" fields[""] "\n    fi\n}"
    print "_" program "() {\n    local curcontext=$curcontext state line"
    if (!command_count) {
        print "    _arguments -S \\"
        options("-", "        ")
        operand("-", "        ")
    } else {
        print "    if ((CURRENT == 2)); then\n        local -a commands=("
        for (i = 1; i <= word_count; i++)
            if (word_owner[i] == "-") print "            " quoted(word[i] ":" escaped(word_help[i]))
        print "            'help:the options of a command' '--help:all commands' '--version:the version'"
        print "        )\n        _describe command commands\n        return\n    fi"
        print "    local command=$words[2]\n    shift words\n    ((CURRENT--))\n    case $command in"
        print "    help) compadd --" words_of("-") " ;;"
        for (c = 1; c <= command_count; c++) {
            print "    " commands[c] ")\n        _arguments -S \\"
            options(commands[c], "            ")
            operand(commands[c], "            ")
            print "        ;;"
        }
        print "    esac"
    }
    print "}\n_" program " \"$@\""
}
