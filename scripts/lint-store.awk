# Proves that the folders of a target know each other one way: a file names no type of a folder that stands above its own.
#   awk -f lint-order.awk pass=1 FILE... pass=2 FILE...

BEGIN {
    # From the bottom up; folders of one number may know each other.
    split("Files:1 Model:2 JobFile:2 Uploads:2 Scheduler:3 Network:3 Store:4 Watch:5 Runner:6 Why:6", pairs, " ")
    for (i in pairs) {
        split(pairs[i], pair, ":")
        rank[pair[1]] = pair[2]
    }
}

FNR == 1 {
    folder = FILENAME
    sub(/^.*Sources\/TransferQueue\//, "", folder)
    sub(/\/.*$/, "", folder)
    isText = 0
    isDatabase = 0
    if (!(folder in rank) && pass == 1) {
        printf "%s:1: %s/ has no place in the order of folders (scripts/lint-order.awk)\n", FILENAME, folder
        bad = 1
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

# What is declared beside GRDB is a part of one store.
folder == "Store" && line ~ /^import GRDB$/ { isDatabase = 1 }

# Only what others can name: a declaration of the outermost level that isn't private.
pass == 1 && line ~ /^(public |package |final |indirect )*(struct|class|enum|actor|protocol|typealias) / {
    name = line
    sub(/^.*(struct|class|enum|actor|protocol|typealias) /, "", name)
    sub(/[^A-Za-z0-9_].*$/, "", name)
    if (!(name in lowest) || rank[folder] < lowest[name]) {
        lowest[name] = rank[folder]
        home[name] = folder
    }
    if (isDatabase) isPart[name] = 1
}

pass == 2 {
    count = split(line, words, /[^A-Za-z0-9_]+/)
    for (i = 1; i <= count; i++) {
        word = words[i]
        if (word in lowest && lowest[word] > rank[folder]) {
            printf "%s:%d: %s/ names %s of %s/, which stands above it\n", FILENAME, FNR, folder, word, home[word]
            bad = 1
        }
        # Which store it is that is asked is decided where a queue is opened.
        if (word in isPart && folder != "Store" \
            && (word != "SQLiteStore" || FILENAME !~ /\/(JobQueue|QueueRemote|JobChecker)\.swift$/)) {
            printf "%s:%d: %s: the queue knows its store by JobStore and its like\n", FILENAME, FNR, word
            bad = 1
        }
    }
}

END { exit bad }
