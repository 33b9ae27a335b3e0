_@program@() {
    local line=${COMP_LINE:0:COMP_POINT} command='' previous choice list kind='' cut='' prefix='' text
    local current=${line##*[[:space:]]} words=()
    read -ra words <<<"${line%"$current"}"
    previous=${words[${#words[@]} - 1]-}
    if [ -n "$_@program@_has_commands" ]; then command=${words[1]-}; fi

    # The value of --option=value, or of the option in front.
    text=$current
    if [[ $current == --*=* ]]; then
        prefix=${current%%=*}= text=${current#*=}
        kind=$(_@program@_value "$command" "${current%%=*}")
    elif [[ $previous == -* ]]; then
        kind=$(_@program@_value "$command" "$previous")
    fi
    case $kind in
    '')
        if [[ $current == -* && (-n $command || -z $_@program@_has_commands) ]]; then list=$(_@program@_options "$command")
        else list=$(_@program@_operands "$command"); fi
        ;;
    anything) list='' ;;
    fields)
        if [[ $text == *=* ]]; then
            list=$(_@program@_values "$command" "${text%%=*}")
            cut=${text%"${text##*[=,]}"}
            prefix+=$cut text=${text#"$cut"}
        else
            list=$(_@program@_fields "$command")
            list=${list// /= }=
            compopt -o nospace 2>/dev/null
        fi
        ;;
    *) list=$kind ;;
    esac

    # Where = breaks words, bash replaces only what follows the last one.
    cut=''
    if [[ $prefix == *=* && $COMP_WORDBREAKS == *=* ]]; then cut=${prefix%"${prefix##*=}"}; fi
    COMPREPLY=()
    for choice in $list; do
        if [ "$choice" = files ]; then
            compopt -o filenames 2>/dev/null
            while IFS= read -r choice; do COMPREPLY+=("$choice"); done < <(compgen -f -- "$text")
        elif [[ $choice == "$text"* ]]; then
            choice=$prefix$choice
            COMPREPLY+=("${choice#"$cut"}")
        fi
    done
}
complete -F _@program@ @program@
