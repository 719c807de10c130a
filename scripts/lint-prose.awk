# Proves that comments are read by strangers: no paragraph of one begins with a pronoun, a genitive or a question that has no
# noun before it ("Of uploads that …", "What is done …", "It's …"). The subject comes first, in the field's words.
#   awk -f lint-prose.awk FILE...

BEGIN {
    # Folders and files whose comments are clean. Another one is added when it is; none is taken out.
    clean = "^Sources/(TransferStore|TransferStoreSQLite|TransferStorePostgres|TransferCore|TransferEngine|TransferUpload|TransferCrypto|TransferEventLoop|TransferReachability|TransferFolders)/"

    # A clause with Where or When that comes before its sentence has a comma.
    opening = "^(What|Whatever|Which|Whichever|Who|Whoever|Whose|Whom|That which|Those|These|Of|It|It's|Its|They|They're|Their" \
        "|Them|To be called|Also|So|Neither|Nor|Behind|Nothing of)[ ,:;]"
    clause = "^(Where|When)[ ]"
}

FILENAME !~ clean { next }

{
    isComment = $0 ~ /^[ \t]*\/\/\/?([ \t]|$)/
    text = $0
    sub(/^[ \t]*\/\/\/?[ \t]*/, "", text)
    if (isComment && text != "" && !isInside && (text ~ opening || text ~ clause && text !~ /,/)) {
        print FILENAME ":" FNR ": a comment begins without its subject: " substr(text, 1, 60)
        faults = 1
    }
    isInside = isComment && text != ""
}

END { exit faults }
