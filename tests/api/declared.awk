# The functions that a header declares as part of an interface, one a line: what follows MC_API, MCCACHE_API or PTXSIM_API.
{ text = text $0 "\n" }
END {
    gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", text)
    gsub(/(^|\n)#[^\n]*/, "\n", text)
    count = split(text, statements, ";")
    for (i = 1; i <= count; i++) {
        if (!match(statements[i], /[A-Z]+_API[ \n]/)) continue
        declaration = substr(statements[i], RSTART + RLENGTH)
        if (match(declaration, /[a-z_0-9]+\(/)) print substr(declaration, RSTART, RLENGTH - 1)
    }
}
