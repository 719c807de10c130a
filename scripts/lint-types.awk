# Proves that no type has grown into several: at most four files declare or extend it, at most fifteen of its stored
# properties can change, and it has at most sixty functions. A type beyond that is a part that waits for its name. Plain values,
# structures without a function that changes them, may have as many properties as the thing that they describe.
#   awk -f lint-types.awk FILE...

BEGIN {
    mostFiles = 4
    mostVariables = 15
    mostFunctions = 60

    # Types that are spread further or hold more, each with its reason. One that has come within the bounds is a fault here.
    spread("TransferError", "each target makes the errors of its own field")

    large("ResumeData", "a plain value: the record of what is there of a file, without behaviour")

    large("BatchStatus", "a plain value: one row of what a batch looks like from outside")

    busy("QueueRunner", "the hub: an answer to each requirement of its parts")
    busy("PostgresStore", "the face of its parts: one line for each requirement of the protocols")
    busy("SQLiteStore", "the face of its parts: one line for each requirement of the protocols")

    # Folders whose types have the shape of Alamofire's, which users know.
    shaped = "^Sources/(TransferNetworking|TransferKitCombine)/"

    modifiers = "(@[A-Za-z_]+(\\([^)]*\\))?[ \t]+)*((public|package|internal|fileprivate|private|final|indirect|lazy|weak" \
        "|unowned|open|nonisolated)(\\([a-z]*\\))?[ \t]+)*"
    declaration = "^[ \t]*" modifiers "(struct|class|actor|enum|protocol|extension)[ \t]+[A-Za-z_]"
    routine = "^[ \t]*(" modifiers "|mutating[ \t]+|static[ \t]+|class[ \t]+|override[ \t]+)*func[ \t]"
    variable = "^[ \t]*" modifiers "var[ \t]+[A-Za-z_`(]"
}

function spread(type, reason) { mayBeSpread[type] = reason }

function busy(type, reason) { mayDoMuch[type] = reason }

function large(type, reason) { mayBeLarge[type] = reason }

function fault(place, text) {
    print place ": " text
    faults = 1
}

# Counts the properties that a line of variables declares: `var a = 0, b = 0` has two.
function properties(text,    count) {
    sub(/\{.*$/, "", text)
    while (gsub(/\([^()]*\)|<[^<>]*>|\[[^][]*\]/, "", text)) continue
    count = 1
    while (match(text, /,[ \t]*[A-Za-z_]+[ \t]*[:=]/)) {
        count++
        text = substr(text, RSTART + RLENGTH)
    }
    return count
}

function count(type, line, number) {
    if (!(type in variables)) firstLine[type] = line
    variables[type] += number
}

FNR == 1 {
    depth = 0
    scopes = 0
    isText = 0
    mayBeObserved = 0
}

FILENAME ~ shaped { next }

{
    line = $0
    # Braces in texts and in comments open nothing.
    if (isText) {
        if (line ~ /"""/) isText = 0
        next
    }
    gsub(/\\"/, "", line)
    if (line ~ /"""[^"]*$/) {
        isText = 1
        sub(/""".*$/, "\"\"", line)
    }
    gsub(/"[^"]*"/, "\"\"", line)
    sub(/\/\/.*$/, "", line)

    # An observer makes a property of what looks like a computation.
    if (mayBeObserved && line ~ /(didSet|willSet)/) count(observed, observedLine, 1)
    mayBeObserved = 0

    opens = gsub(/\{/, "{", line)
    closes = gsub(/\}/, "}", line)

    if (line ~ declaration && line !~ /(class|static)[ \t]+(func|var|let|subscript)/) {
        name = line
        sub(declaration, "&\n", name)
        kind = name
        sub(/[ \t]+[^ \t]*\n.*$/, "", kind)
        sub(/^.*[ \t]/, "", kind)
        match(line, declaration)
        name = substr(line, RSTART + RLENGTH - 1)
        sub(/[^A-Za-z0-9_.].*$/, "", name)
        outer = scopes ? names[scopes] "." : ""
        type = outer name
        if (kind != "extension" && !(type in home)) home[type] = FILENAME ":" FNR
        if (kind != "extension") kinds[type] = kind
        if (!((type, FILENAME) in seen)) {
            seen[type, FILENAME] = 1
            files[type]++
        }
        # A declaration without a brace on its line has it on a later one.
        names[++scopes] = type
        depths[scopes] = depth + 1
        isOpen[scopes] = 0
    } else if (scopes && depth == depths[scopes] && line ~ routine) {
        functions[names[scopes]]++
        if (line ~ /mutating[ \t]+([a-z]+[ \t]+)*func/) changes[names[scopes]] = 1
    } else if (scopes && depth == depths[scopes] && line ~ variable) {
        head = line
        sub(/\{.*$/, "", head)
        if (line !~ /\{/ || head ~ /=/ || line ~ /(didSet|willSet)/) {
            count(names[scopes], FILENAME ":" FNR, properties(line))
        } else {
            mayBeObserved = 1
            observed = names[scopes]
            observedLine = FILENAME ":" FNR
        }
    }

    depth += opens - closes
    if (scopes && (opens || closes)) isOpen[scopes] = 1
    while (scopes && isOpen[scopes] && depth < depths[scopes]) scopes--
}

END {
    for (type in files) {
        if (!(type in home)) continue
        if (files[type] > mostFiles && !(type in mayBeSpread))
            fault(home[type], type " is spread over " files[type] " files; at most " mostFiles)
        if (functions[type] > mostFunctions && !(type in mayDoMuch))
            fault(home[type], type " has " functions[type] " functions; at most " mostFunctions)
        # A structure that nothing of its own changes describes a thing, and the thing has as many properties as it has.
        if (kinds[type] == "struct" && !(type in changes)) continue
        if (variables[type] > mostVariables && !(type in mayBeLarge))
            fault(home[type], type " has " variables[type] " stored properties that can change; at most " mostVariables)
    }
    for (type in mayBeSpread)
        if (files[type] <= mostFiles) fault("scripts/lint-types.awk:1", type " is not spread any more: no exception")
    for (type in mayBeLarge)
        if (variables[type] <= mostVariables) fault("scripts/lint-types.awk:1", type " is not large any more: no exception")
    for (type in mayDoMuch)
        if (functions[type] <= mostFunctions) fault("scripts/lint-types.awk:1", type " has few functions: no exception")
    exit faults
}
