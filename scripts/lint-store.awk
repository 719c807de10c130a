# Proves that the queue knows its store by its protocols (JobStore and its like) alone: what is declared beside GRDB is a part
# of one store, and no other target names it. Which store it is that is asked is decided where a queue is opened.
#   awk -f lint-store.awk pass=1 FILE... pass=2 FILE...

FNR == 1 {
    isStore = FILENAME ~ /^Sources\/TransferStore\//
    isText = 0
    isDatabase = 0
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

isStore && line ~ /^(package )?import GRDB$/ { isDatabase = 1 }

# Only what others can name: a declaration of the outermost level that isn't private.
pass == 1 && isDatabase && line ~ /^(public |package |final |indirect )*(struct|class|enum|actor|protocol|typealias) / {
    name = line
    sub(/^.*(struct|class|enum|actor|protocol|typealias) /, "", name)
    sub(/[^A-Za-z0-9_].*$/, "", name)
    isPart[name] = 1
}

pass == 2 && !isStore {
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
