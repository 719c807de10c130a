# Proves that names are the field's terms (Glossary.md): no declaration of a type, a function, a property or a case has a word that
# this project used for something that the field has a name for.
#   awk -f lint-names.awk FILE...

BEGIN {
    banned("Desk", "Service, Handler, Registry")
    banned("Doorkeeper", "Middleware")
    banned("Door", "gate, entry, upgrade")
    banned("Wish", "pending command, request")
    banned("Luggage", "entries")
    banned("Ledger", "history, statistics")
    banned("LetGo", "release")
    banned("Hurry", "cancelWaits")
    banned("Knock", "probe")
    banned("Recall", "revoke")
    banned("Told", "reported, declared")
    banned("Untold", "unreported")
    banned("Luck", "tolerance")
    banned("Nobody", "the thing that is absent")
    banned("Somebody", "the party that acts")
    banned("Whoever", "the party that acts")

    declaration = "(class|struct|enum|protocol|actor|typealias|func|var|let|case)[ \t]+`?[A-Za-z_][A-Za-z0-9_]*"
}

function banned(word, instead) { terms[word] = instead }

FILENAME !~ "^Sources/" || /^[ \t]*\/\// { next }

{
    line = $0
    gsub(/"[^"]*"/, "\"\"", line)
    while (match(line, declaration)) {
        name = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        sub(/^.*[ \t]`?/, "", name)
        if (name in allowed) continue
        first = toupper(substr(name, 1, 1)) substr(name, 2)
        for (word in terms) {
            at = index(first, word)
            if (!at) continue
            after = substr(first, at + length(word), 1)
            # A longer word that begins alike is another one: `Doors` is banned, `Doorway` would be.
            if (after ~ /[a-z]/ && substr(first, at + length(word)) !~ /^(s|es|ed|ing)([A-Z0-9]|$)/) continue
            print FILENAME ":" FNR ": " name ": the field says " terms[word]
            faults = 1
        }
    }
}

END { exit faults }
