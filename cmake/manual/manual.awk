# A manual page: the template with what the programs say of themselves in it (interface.sh).
#   awk -f manual.awk -v program=mcrun -v version=0.1.0 -v date=2026-01-31 interface.txt mcrun.1.in
# A line of the template is replaced where it is @OPTIONS@, by the program's own options; @COMMANDS@, by each command
# with its options; @FIELDS@, by the fields of each family of kernels; @SPECS@, by the shipped specs; @EXIT@, by the
# exit statuses. @VERSION@ and @DATE@ may stand anywhere.
BEGIN { FS = "\t" }

function roff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    sub(/^[.']/, "\\\\\\&&", text)
    return text
}
function italic(text) { return text == "" || text == "-" ? "" : "\\fI" roff(text) "\\fR" }
function bold(text) { return "\\fB" roff(text) "\\fR" }
function sentence(text) { return toupper(substr(text, 1, 1)) roff(substr(text, 2)) }

# The option of row I: its tag, and what it does.
function option(i,   tag) {
    tag = letter[i] == "-" ? "" : bold("-" letter[i])
    if (name[i] != "-") tag = tag (tag == "" ? "" : ", ") bold("--" name[i])
    if (argument[i] != "-") tag = tag " " italic(argument[i])
    print ".TP\n" tag "\n" roff(help[i])
}

function options_of(command,   i) {
    for (i = 1; i <= count; i++)
        if (owner[i] == command) {
            if (word[i] != "") print ".TP\n" bold(word[i]) "\n" roff(help[i])
            else option(i)
        }
}

function commands(   i, command) {
    for (i = 1; i <= command_count; i++) {
        command = command_name[i]
        print ".SS " bold(program " " command) (operands[command] == "-" ? "" : " " italic(operands[command]))
        print sentence(summary[command])
        options_of(command)
    }
}

function fields(   i, last) {
    for (i = 1; i <= field_count; i++) {
        if (family[i] != last) print ".SS \\fBop = \\(dq" family[i] "\\(dq\\fR\n" sentence(about[family[i]]) "."
        last = family[i]
        print ".TP\n" bold(field[i]) "\n" roff(values[i]) "; default " roff(standard[i]) ".\n.br\n" roff(doc[i])
    }
}

function exits(text,   part, n, i) {
    sub(/\.$/, "", text)
    n = split(text, part, /, /)
    for (i = 1; i <= n; i++) {
        # "1 impossible, failed or wrong": a part without a number goes on with the one before
        if (part[i] ~ /^[0-9] /) printf "%s.TP\n%s\n%s", (i > 1 ? "\n" : ""), bold(substr(part[i], 1, 1)), roff(substr(part[i], 3))
        else printf ", %s", roff(part[i])
    }
    print ""
}

FNR == NR && $1 == "usage" && $2 == program {
    operands[$3] = $4
    summary[$3] = $5
    if ($3 != "-") command_name[++command_count] = $3
}
FNR == NR && $1 == "option" && $2 == program {
    owner[++count] = $3
    letter[count] = $4
    name[count] = $5
    argument[count] = $6
    help[count] = $7
}
FNR == NR && $1 == "word" && $2 == program && $3 != "-" { owner[++count] = $3; word[count] = $4; help[count] = $5 }
FNR == NR && $1 == "exit" && $2 == program { exit_text = $3 }
FNR == NR && $1 == "family" { about[$2] = $3 }
FNR == NR && $1 == "field" {
    family[++field_count] = $2
    field[field_count] = $3
    values[field_count] = $4
    standard[field_count] = $5
    doc[field_count] = $6
}
FNR == NR && $1 == "spec" { specs = specs (specs == "" ? "" : ",\n") "\\%" bold($2) }
FNR == NR { next }

{ gsub(/@VERSION@/, version); gsub(/@DATE@/, date) }
/^@OPTIONS@$/ { options_of("-"); next }
/^@COMMANDS@$/ { commands(); next }
/^@FIELDS@$/ { fields(); next }
/^@SPECS@$/ { print specs "."; next }
/^@EXIT@$/ { exits(exit_text); next }
{ print }
