# A man page from what a program prints as help, with backslashes and hyphens escaped; version: of gtmark.

function put(text)
{
    print (text ~ /^[.']/ ? "\\&" : "") text
}

# Lines of examples are not filled.
function verbatim(wanted)
{
    if (wanted != unfilled)
        print wanted ? ".nf" : ".fi"
    unfilled = wanted
}

function section(name)
{
    verbatim(0)
    if (name != now)
        print ".SH " name
    now = name
}

# A line at the margin after the flags: text.
function flush()
{
    if (held == "")
        return
    if (sub(/^Examples: */, "", held))
        section("EXAMPLES")
    else if (sub(/^Exit status: */, "", held))
        section("EXIT STATUS")
    else
        section(now == "OPTIONS" ? "NOTES" : now)
    if (held != "")
        put(held)
    held = ""
}

# A line at the margin before flags: the heading of their group.
function heading()
{
    if (held == "")
        return
    colon = index(held, ":")
    print ".SS " substr(held, 1, colon - 1)
    if (colon < length(held))
        put(substr(held, colon + 2))
    held = ""
}

NR == 1 {
    colon = index($0, ": ")
    name = substr($0, 1, colon - 1)
    print ".TH \"" toupper(name) "\" 1 \"\" \"gtmark " version "\" \"gtmark\""
    print ".nh\n.ad l" # names are not hyphenated
    section("NAME")
    print name " \\- " substr($0, colon + 2)
    next
}

/^usage: / {
    section("SYNOPSIS")
    print "\\fB" $2 "\\fR" substr($0, length("usage: " $2) + 1)
    section("OPTIONS")
    next
}

# A flag: its name; after a single blank what its value is called; what it does.
/^  \\-\\-/ {
    heading()
    value = ""
    rest = substr($0, 3 + length($1))
    if (rest ~ /^ [^ ]/) {
        value = " \\fI" $2 "\\fR"
        rest = substr(rest, 2 + length($2))
    }
    sub(/^ +/, "", rest)
    print ".TP\n\\fB" $1 "\\fR" value
    put(rest)
    next
}

/^          / {
    sub(/^ +/, "")
    put($0)
    next
}

{
    flush()
}

/^  / {
    verbatim(1)
    print
    next
}

/^$/ {
    if (now == "NOTES")
        print ".PP"
    next
}

{
    held = $0
}

END {
    flush()
    verbatim(0)
}
