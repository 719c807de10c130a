# Proves that the queue knows its store by its protocols (JobStore and its like) alone: what is declared in the SQLite store is
# a part of that store, and no other target names it. Which store it is that is asked is decided where a queue is opened.
# Proves too that no protocol of the stores has more than 18 requirements: JobStore is composed of smaller ones.
# Proves, too, that a job's state is set by the renderers of JobChange alone.
#   awk -f lint-store.awk pass=1 FILE... pass=2 FILE...

FNR == 1 {
    update = ""
    isRenderer = FILENAME ~ /\/Transitions\//
    isStore = FILENAME ~ /^Sources\/TransferStoreSQLite\//
    isText = 0
    requirements = 0
    protocol = ""
}

# The assignments of an UPDATE of jobs, which may stand on several lines.
pass == 1 && FILENAME ~ /^Sources\/TransferStore(SQLite|Postgres)\// && !isRenderer {
    text = $0
    if (update == "" && match(text, /UPDATE job( |$)/)) {
        update = " "
        text = substr(text, RSTART)
    }
    if (update != "") {
        isWhole = match(text, / (WHERE|FROM) |^ *(WHERE|FROM) |"""/)
        update = update " " (isWhole ? substr(text, 1, RSTART - 1) : text)
        if (isWhole) {
            if (update ~ /(SET|,) +state = /) {
                printf "%s:%d: a job\047s state is set by a JobTransition (JobUpdate, PostgresJobUpdate)\n", FILENAME, FNR
                bad = 1
            }
            update = ""
        }
    }
}

{
    line = $0
    # Texts of several lines, texts of one, and comments name nothing.
    if (isText) {
        if (line ~ /"""/) isText = 0
        next
    }
    gsub(/\\"/, "", line)
    if (line ~ /"""[^"]*$/) {
        isText = 1
        sub(/""".*$/, "", line)
    }
    gsub(/"[^"]*"/, "", line)
    sub(/\/\/.*$/, "", line)
}

pass == 1 && line ~ /^(public |package )?protocol / {
    protocol = line
    sub(/^.*protocol /, "", protocol)
    sub(/[^A-Za-z0-9_].*$/, "", protocol)
    requirements = 0
}

pass == 1 && protocol != "" && line ~ /^    (mutating |static )*(func|var|init|subscript)[ (]/ { requirements++ }

pass == 1 && protocol != "" && line ~ /^}/ {
    if (FILENAME ~ /^Sources\/TransferStore\// && requirements > 18) {
        printf "%s:%d: %s has %d requirements: 18 at most\n", FILENAME, FNR, protocol, requirements
        bad = 1
    }
    protocol = ""
}

# Only what others can name: a declaration of the outermost level that isn't private.
pass == 1 && isStore && line ~ /^(public |package |final |indirect )*(struct|class|enum|actor|protocol|typealias) / {
    name = line
    sub(/^.*(struct|class|enum|actor|protocol|typealias) /, "", name)
    sub(/[^A-Za-z0-9_].*$/, "", name)
    isPart[name] = 1
}

pass == 2 && !isStore && FILENAME !~ /^Sources\/TransferStorePostgres\// {
    count = split(line, words, /[^A-Za-z0-9_]+/)
    for (i = 1; i <= count; i++) {
        word = words[i]
        if (word in isPart && (word != "SQLiteStore" || FILENAME !~ /\/(JobQueue|QueueRemote|JobChecker)\.swift$/)) {
            printf "%s:%d: %s: the queue knows its store by JobStore and its like\n", FILENAME, FNR, word
            bad = 1
        }
    }
}

END { exit bad }
