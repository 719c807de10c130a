# Proves that comments can be read by strangers, many of whom learned English late (the house's rules for prose):
#   - a paragraph begins with its subject: no pronoun, genitive or question that has no noun before it; nor does a line begin
#     a sentence with a pronoun;
#   - a sentence has at most 25 words;
#   - no contraction ("is not", because "isn't" and "it's" have two readings for a learner), in messages neither; the text of
#     a migration stays as it was run;
#   - the field's words, not the accent of this project ("reported" for "told", "no process" for "nobody").
#   awk -f lint-prose.awk FILE...            judges the sources
#   awk -v all=1 -f lint-prose.awk FILE...   judges every file that is named, by all rules

BEGIN {
    opening = "^(What|Whatever|Which|Whichever|Who|Whoever|Whose|Whom|That which|Those|These|Of|It|It's|Its|They|They're|Their" \
        "|Them|To be called|Also|So|Neither|Nor|Behind|Nothing of)[ ,:;]"
    # A paragraph may begin with a condition only where a comma ends the condition.
    clause = "^(Where|When)[ ]"
    contraction = "(^|[^A-Za-z`])(it's|that's|there's|what's|who's|here's|let's|I'm|[A-Za-z]+n't|[A-Za-z]+'(re|ve|ll|d))([^A-Za-z]|$)"
    # A line that begins a sentence with one of these hides the noun at the end of the line before.
    pronoun = "^(It|They|This|That|These|Those|Such|Its|Their|Otherwise|Where)[ ,]"
    accent = "(^|[^A-Za-z`_.])(told|tell|tells|nobody|somebody|whoever|anybody|everybody|what is|goes on|go on|going on|as far as|any more|by itself|of its own accord)([^A-Za-z`(]|$)"
}

function fault(line, rule, words) {
    print file ":" line ": " rule ": " substr(words, 1, 90)
    faults = 1
}

function judge(    count, i, sentences, words, plain) {
    if (paragraph == "") return
    plain = paragraph
    gsub(/``[^`]*``/, "X", plain)
    gsub(/`[^`]*`/, "X", plain)
    gsub(/https?:[^ ]*/, "X", plain)
    gsub(/(e\.g\.|i\.e\.|etc\.|vs\.|cf\.)/, "X", plain)
    if (plain ~ opening || plain ~ clause && plain !~ /,/) fault(first, "begins without its subject", plain)
    if (match(plain, contraction)) fault(first, "contraction", substr(plain, RSTART > 10 ? RSTART - 10 : 1))
    if (match(plain, accent)) fault(first, "word to replace", substr(plain, RSTART > 10 ? RSTART - 10 : 1))
    count = split(plain, sentences, /[.!?:;]+[)"”]?( +|$)/)
    for (i = 1; i <= count; i++)
        if (split(sentences[i], words, /[ \t]+/) > 26) fault(first, "a sentence of more than 25 words", sentences[i])
    paragraph = ""
}

FNR == 1 { judge(); isCode = 0; file = FILENAME }

!all && FILENAME !~ "^Sources/" { next }

/^[ \t]*(```|\/\/\/? *```)/ { isCode = !isCode }

{
    isComment = $0 ~ /^[ \t]*\/\/\/?([ \t]|$)/
    text = $0
    sub(/^[ \t]*\/\/\/?[ \t]*/, "", text)
    isTable = text ~ /^\|/
    isItem = text ~ /^([-*]|[0-9]+\.) /
    if (!isComment && FILENAME !~ /\/Schema[^\/]*$/ && match($0, contraction))
        fault(FNR, "contraction", substr($0, RSTART > 10 ? RSTART - 10 : 1))
    if (!isComment || isCode || text == "" || isTable || isItem) judge()
    if (isComment && !isCode && text ~ pronoun) fault(FNR, "a line begins with a pronoun or a condition", text)
    if (isComment && !isCode && text != "" && !isTable && text !~ /^(swift-format-ignore|swiftlint|FIXME|MARK)/) {
        sub(/^([-*]|[0-9]+\.) +((Parameter|Throws|Returns|Note|Important|Warning)[^:]*: *)?/, "", text)
        if (paragraph == "") { first = FNR; paragraph = text } else paragraph = paragraph " " text
    }
}

END { judge(); exit faults }
