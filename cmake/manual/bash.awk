# bash completion: functions that tell words, for the one of completion.bash that picks among them.
function begin(title, subject) { print "_" program "_" title "() {\n    case " subject " in" }
function branch(pattern, list) { sub(/^ /, "", list); print "    " pattern ") printf %s " quoted(list) " ;;" }
function end() { print "    esac\n}" }

function operands_of(command) {
    return (takes_specs(command) ? specs : "") words_of(command) (takes_files(command) ? " files" : "")
}

END {
    print "# bash completion of " program ", made of its own table of options."
    begin("options", "$1")
    branch("''", options_of("-"))
    for (c = 1; c <= command_count; c++) branch(commands[c], options_of(commands[c]))
    end()

    # COMMAND:OPTION tells "files", "fields", "anything" or words.
    begin("value", "$1:$2")
    for (i = 1; i <= count; i++) {
        kind = value_of(i)
        if (kind == "") continue
        command = owner[i] == "-" ? "" : owner[i]
        pattern = letter[i] == "" ? "" : command ":" letter[i]
        if (name[i] != "") pattern = pattern (pattern == "" ? "" : " | ") command ":--" name[i]
        branch(pattern, kind)
    }
    end()

    # COMMAND tells words that an operand can be, and "files" where it can be one.
    begin("operands", "$1")
    branch("''", command_count ? words_of("-") " help --help --version" : operands_of("-"))
    if (command_count) branch("help", words_of("-"))
    for (c = 1; c <= command_count; c++) branch(commands[c], operands_of(commands[c]))
    end()

    # FAMILY is a command that is one; others get the fields of all.
    begin("fields", "$1")
    n = split(substr(families, 2), part, / /)
    for (i = 1; i <= n; i++) branch(part[i], fields[part[i]])
    branch("*", fields[""])
    end()
    begin("values", "$1:$2")
    for (i = 1; i <= row_count; i++)
        if (row_family[i] != "") branch(row_family[i] ":" row_field[i], values[row_family[i], row_field[i]])
    for (i = 1; i <= row_count; i++)
        if (row_family[i] == "") branch("*:" row_field[i], values["", row_field[i]])
    end()
    print "_" program "_has_commands=" (command_count ? "yes" : "")
}
