# fish completion: a line for each word and option.
function line(command, rest) {
    print "complete -c " program (command == "-" ? "" : " -n '__fish_seen_subcommand_from " command "'") rest
}

END {
    print "# fish completion of " program ", made of its own table of options."
    n = split(substr(fields[""], 2), part, / /)
    for (i = 1; i <= n; i++) {
        m = split(substr(values["", part[i]], 2), value, / /)
        for (k = 1; k <= m; k++) settings = settings " " part[i] "=" value[k]
    }
    for (i = 1; i <= word_count; i++)
        if (word_owner[i] == "-")
            print "complete -c " program " -f -n __fish_use_subcommand -a " word[i] " -d " quoted(word_help[i])
        else line(word_owner[i], " -a " word[i] " -d " quoted(word_help[i]))
    for (c = 1; c <= command_count; c++)
        if (takes_specs(commands[c])) line(commands[c], " -a " quoted(substr(specs, 2)) " -d 'shipped spec'")
    if (!command_count) line("-", " -a " quoted(substr(specs, 2)) " -d 'shipped spec'")
    for (i = 1; i <= count; i++) {
        kind = value_of(i)
        text = (letter[i] == "" ? "" : " -s " substr(letter[i], 2)) (name[i] == "" ? "" : " -l " name[i])
        if (kind == "files") text = text " -r"
        else if (kind == "anything") text = text " -x"
        else if (kind == "fields") text = text " -x -a " quoted(substr(settings, 2))
        else if (kind != "") text = text " -x -a " quoted(kind)
        line(owner[i], text " -d " quoted(help[i]))
    }
}
