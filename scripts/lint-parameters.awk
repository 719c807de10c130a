# Proves that a docstring names only parameters that its declaration has, by label or by name: a renamed parameter takes
# its description along.
#   awk -f lint-parameters.awk FILE...

function check(    count, names, index_, name) {
    count = split(described, names, " ")
    for (index_ = 1; index_ <= count; ++index_) {
        name = names[index_]
        if (declaration !~ "(^|[^A-Za-z0-9_])" name "( [A-Za-z_]+)?:") {
            print place ": no parameter of this name: " name
            faults = 1
        }
    }
    described = ""
}

FNR == 1 { if (described != "") check(); described = ""; inList = 0; inDocstring = 0 }

/^[ \t]*\/\/\// {
    if (!inDocstring) {
        if (described != "") check()
        inDocstring = 1
        inList = 0
    }
    line = $0
    sub(/^[ \t]*\/\/\//, "", line)
    if (line ~ /^ - Parameters:/) {
        inList = 1
    } else if (line ~ /^ - [A-Za-z]/) {
        inList = 0
    }
    if (line ~ /^ - Parameter [A-Za-z_]+:/) {
        sub(/^ - Parameter /, "", line)
    } else if (!inList || line !~ /^   - [A-Za-z_]+:/) {
        next
    } else {
        sub(/^   - /, "", line)
    }
    sub(/:.*/, "", line)
    described = described " " line
    place = FILENAME ":" FNR
    next
}

# The declaration follows; fourteen lines hold the longest.
{
    if (inDocstring) {
        inDocstring = 0
        declaration = ""
        lines = 0
    }
    if (described == "") next
    declaration = declaration " " $0
    if (++lines == 14) check()
}

END {
    if (described != "") check()
    exit faults
}
