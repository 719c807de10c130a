# Proves that documents can be read by strangers, many of whom learned English late (the house's rules for prose):
#   - a paragraph begins with its subject: no pronoun, genitive or question that has no noun before it;
#   - a sentence has at most 25 words, a paragraph at most six sentences, and a line of the change log at most 30 words;
#   - no contraction ("is not", because "isn't" and "it's" have two readings for a learner);
#   - the field's words, not the accent of this project ("reported" for "told", "no process" for "nobody").
# Code, tables and the targets of links are not judged. A span of code counts as one word, and so do several in a row.
# Manual pages (man/*) are mdoc(7): a macro with its words counts as one word. Text of make tables is not judged.
#   awk -f lint-documents.awk FILE...            judges the files of the clean list
#   awk -v all=1 -f lint-documents.awk FILE...   judges every file that is named

BEGIN {
    # Documents that are clean. Another one is added when it is; none is taken out.
    clean = "^(CHANGELOG\\.md" \
        "|Sources/TransferQueue/TransferQueue\\.docc/Decisions\\.md" \
        "|Sources/TransferEngine/TransferEngine\\.docc/Decisions\\.md" \
        "|Sources/TransferKit/TransferKit\\.docc/WatchedFolders\\.md" \
        "|Sources/TransferKit/TransferKit\\.docc/Architecture\\.md" \
        "|Sources/TransferKit/TransferKit\\.docc/Fleet\\.md" \
        "|Sources/TransferKit/TransferKit\\.docc/FileSystems\\.md" \
        "|Sources/TransferKit/TransferKit\\.docc/Links\\.md" \
        "|Sources/TransferKit/TransferKit\\.docc/ThePage\\.md" \
        "|Sources/TransferWatch/TransferWatch\\.docc/Decisions\\.md" \
        "|Sources/TransferReachability/TransferReachability\\.docc/Decisions\\.md" \
        "|Sources/TransferKit/TransferKit\\.docc/TheCommand\\.md" \
        "|Sources/TransferKit/TransferKit\\.docc/JobFile\\.md" \
        "|Sources/TransferEngine/TransferEngine\\.docc/TransferEngine\\.md" \
        "|Sources/TransferKit/TransferKit\\.docc/Configuration\\.md" \
        "|Sources/TransferKit/TransferKit\\.docc/InAProgram\\.md" \
        "|Sources/TransferKit/TransferKit\\.docc/MovingFromOtherTools\\.md" \
        "|Sources/TransferKit/TransferKit\\.docc/RoundTrips\\.md" \
        "|Sources/TransferKit/TransferKit\\.docc/TransferKit\\.md" \
        "|Sources/TransferNetworking/TransferNetworking\\.docc/GettingStarted\\.md" \
        "|Sources/TransferNetworking/TransferNetworking\\.docc/MovingFromAlamofire\\.md" \
        "|Sources/TransferNetworking/TransferNetworking\\.docc/ResumingAcrossProcesses\\.md" \
        "|Sources/TransferNetworking/TransferNetworking\\.docc/TransferNetworking\\.md" \
        "|Sources/TransferQueue/TransferQueue\\.docc/QueueInAService\\.md" \
        "|Sources/TransferQueue/TransferQueue\\.docc/TransferQueue\\.md" \
        "|Sources/TransferQueue/TransferQueue\\.docc/WatchedFolderInAProgram\\.md" \
        "|Sources/TransferReachability/TransferReachability\\.docc/TransferReachability\\.md" \
        "|Sources/TransferTesting/TransferTesting\\.docc/TestingYourOwnProgram\\.md" \
        "|Sources/TransferTesting/TransferTesting\\.docc/TransferTesting\\.md" \
        "|Sources/TransferWatch/TransferWatch\\.docc/TransferWatch\\.md" \
        "|SECURITY\\.md" \
        "|README\\.md" \
        "|man/transfer\\.1" \
        "|man/transfer-jobs\\.5" \
        "|man/transfer-config\\.5" \
        "|CONTRIBUTING\\.md" \
        "|CODE_OF_CONDUCT\\.md" \
        "|Tests/fuzz/README\\.md" \
        "|Tests/link/README\\.md)$"

    opening = "^(What|Whatever|Which|Whichever|Who|Whoever|Whose|Whom|That which|Those|These|Of|It|It's|Its|They|They're|Their" \
        "|Them|To be called|Also|So|Neither|Nor|Behind|Nothing of)[ ,:;]"
    # A paragraph may begin with a condition only where a comma ends the condition.
    clause = "^(Where|When)[ ]"
    contraction = "(^|[^A-Za-z])(it's|that's|there's|what's|who's|here's|let's|I'm|[A-Za-z]+n't|[A-Za-z]+'(re|ve|ll|d))([^A-Za-z]|$)"
    accent = "(^|[^A-Za-z_.])(told|tell|tells|nobody|somebody|whoever|anybody|everybody|what is|goes on|go on|going on|went on" \
        "|as far as|any more|by itself|of its own accord)([^A-Za-z(]|$)"
}

function fault(line, rule, words) {
    print file ":" line ": " rule ": " substr(words, 1, 90)
    faults = 1
}

# The words that a reader reads: spans of code and addresses become one word, links their text.
function spoken(text) {
    gsub(/``[^`]*``/, "X", text)
    gsub(/`[^`]*`/, "X", text)
    gsub(/\]\([^)]*\)/, "", text)
    gsub(/<[a-z]+:[^>]*>/, "X", text)
    gsub(/https?:[^ ]*/, "X", text)
    gsub(/[*\[]/, "", text)
    gsub(/(e\.g\.|i\.e\.|etc\.|vs\.|cf\.)/, "X", text)
    gsub(/’/, "'", text)
    # Names in a row are one word.
    gsub(/X(, X)+(,? (and|or) X)?/, "X", text)
    return text
}

function judgeWords(plain, line, isHeading) {
    if (match(tolower(plain), contraction)) fault(line, "contraction", substr(plain, RSTART > 10 ? RSTART - 10 : 1))
    if (!isHeading && match(tolower(plain), accent)) fault(line, "word to replace", substr(plain, RSTART > 10 ? RSTART - 10 : 1))
}

function judge(    count, i, sentences, words, plain) {
    if (paragraph == "") return
    plain = spoken(paragraph)
    paragraph = ""
    if (plain ~ opening || plain ~ clause && plain !~ /,/) fault(first, "begins without its subject", plain)
    judgeWords(plain, first)
    if (file ~ /CHANGELOG\.md$/ && isItem && split(plain, words, /[ \t]+/) > 30) fault(first, "a line of more than 30 words", plain)
    if (split(plain, sentences, /[.!?][)"”]*( +|$)/) > 7) fault(first, "a paragraph of more than six sentences", plain)
    count = split(plain, sentences, /[.!?:;]+[)"”]*( +|$)/)
    for (i = 1; i <= count; i++) {
        sub(/^ +/, "", sentences[i])
        if (split(sentences[i], words, /[ \t]+/) > 25) fault(first, "a sentence of more than 25 words", sentences[i])
    }
}

FNR == 1 { judge(); isCode = 0; isRemark = 0; isTable = 0; isDisplay = 0; isOutline = 0; file = FILENAME; sub(/^\.\//, "", file) }

!all && file !~ clean { next }

/^[ \t]*```/ { judge(); isCode = !isCode; next }

isCode { next }

# Code by its indentation.
paragraph == "" && /^(    |\t)/ { next }

/^[ \t]*<!--/ { judge(); isRemark = 1 }

isRemark { if ($0 ~ /-->/) isRemark = 0; next }

# Manual pages.
file ~ /\.[1-8]$/ {
    if ($0 ~ /^\.\\" make tables: end/) isTable = 0
    else if ($0 ~ /^\.\\" make tables/) isTable = 1
    if ($1 == ".Bd") { judge(); isDisplay = 1 }
    if ($1 == ".Ed") isDisplay = 0
    if ($1 == ".Sh") isOutline = $2 == "SYNOPSIS" || $2 == "NAME"
    if (isTable || isDisplay || isOutline || $0 ~ /^\.\\"/ || $1 ~ /^\.(Dd|Dt|Os|Dl|D1)$/) next
    if ($1 ~ /^\.(Sh|Ss|Pp|It|El|Bl|Ed)$/) { judge(); next }
    text = $0
    if (text ~ /^\./) {
        end = ""
        while (text ~ / [.,:;)]$/) { end = substr(text, length(text)) end; text = substr(text, 1, length(text) - 2) }
        text = ($1 != ".Pq" ? "X" : $2 ~ /^[A-Z][a-z]$/ ? "(X)" : "(" substr(text, 5) ")") end
    }
    if (paragraph == "") { first = FNR; isItem = 0; paragraph = text } else paragraph = paragraph " " text
    next
}

# Headings, tables and directives of DocC end a paragraph. Tests look for some headings by their words.
/^#/ { judge(); judgeWords(spoken($0), FNR, 1); next }

/^[ \t]*([|@}]|$)/ { judge(); next }

{
    text = $0
    sub(/^[ \t]*>?[ \t]*/, "", text)
    startsItem = text ~ /^([-*+]|[0-9]+\.) /
    if (startsItem) judge()
    sub(/^([-*+]|[0-9]+\.) +/, "", text)
    if (paragraph == "") { first = FNR; isItem = startsItem; paragraph = text } else paragraph = paragraph " " text
}

END { judge(); exit faults }
