# Reads the table that interface.sh writes, for the completion of PROGRAM's command line in a shell. A second script,
# bash.awk, zsh.awk or fish.awk, prints it:   awk -f completion.awk -f bash.awk -v program=mcrun interface.txt
# What the value of an option can be follows from its row: one of the words of "all|best", a file where the argument is
# one, a value of the field that has the option's name, FIELD=VALUE for --set.
BEGIN { FS = "\t" }
$1 == "usage" && $2 == program { operands[$3] = $4; if ($3 != "-") commands[++command_count] = $3; next }
$1 == "option" && $2 == program {
    owner[++count] = $3
    letter[count] = $4 == "-" ? "" : "-" $4
    name[count] = $5 == "-" ? "" : $5
    argument[count] = $6
    help[count] = $7
    next
}
$1 == "word" && $2 == program { word_owner[++word_count] = $3; word[word_count] = $4; word_help[word_count] = $5; next }
$1 == "family" { families = families " " $2; next }
$1 == "field" { add_field($2, $3, $4); add_field("", $3, $4); next }
$1 == "spec" { specs = specs " " $2; next }

# Values of a field, of one family and of all families ("") together. Of numbers in a range only "open" is a word.
function add_field(family, field, text,   part, n, i) {
    if (!((family, field) in values)) {
        fields[family] = fields[family] " " field
        row_family[++row_count] = family
        row_field[row_count] = field
    }
    if (text ~ /"open"/) text = "\"open\""
    n = split(text, part, /, /)
    for (i = 1; i <= n; i++) {
        gsub(/"/, "", part[i])
        if (part[i] != "true" && part[i] != "false" && index(values[family, field] " ", " " part[i] " ") == 0)
            values[family, field] = values[family, field] " " part[i]
    }
}

# What the value of option I is: "" where it has none, "files", "fields", "anything", or a list of words.
function value_of(i,   text) {
    text = argument[i]
    if (text == "-") return ""
    if (text == "FIELD=VALUE") return "fields"
    if (text == "[FAMILY]") return substr(families, 2)
    if (text ~ /\|/) { gsub(/=[A-Z]+/, "=", text); gsub(/\|/, " ", text); return text } # percentile=P
    if (text ~ /^(FILE|DIR|FOLDER|PROGRAM|MATRIX)/ || text ~ /\.npy$/) return "files"
    if (name[i] == "arch") return substr(values["", "arch"], 2) " native"
    text = name[i] == "" ? "" : substr(values["", name[i]], 2)
    return text == "" || text == "open" ? "anything" : text
}

function words_of(command,   i, list) {
    for (i = 1; i <= word_count; i++) if (word_owner[i] == command) list = list " " word[i]
    return list
}
function options_of(command,   i, list) {
    for (i = 1; i <= count; i++)
        if (owner[i] == command) list = list (letter[i] == "" ? "" : " " letter[i]) (name[i] == "" ? "" : " --" name[i])
    return list
}
function takes_specs(command) { return operands[command] ~ /SPEC/ }
function takes_files(command) { return operands[command] ~ /SPEC|MATRIX|MASK|FILE|RESULTS|npy/ }
function quoted(text) { gsub(/'/, "'\\''", text); return "'" text "'" }
