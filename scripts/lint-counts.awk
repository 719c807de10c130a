# Proves that nobody reads "1 jobs": no text puts a number before a plural by itself. CountText.words and NumberText.count
# do it for any number.
#   awk -f lint-counts.awk FILE...

BEGIN {
    nouns = "bytes|jobs|files|folders|batches|transfers|attempts|retries|hosts|links|lines|errors|faults|warnings|parts" \
        "|pieces|sources|entries|cells|redirects|certificates|connections|requests|seconds|minutes|hours|days|times|keys|codings" \
        "|patterns|elements|attributes|others|URLs|options|values|characters|digits|processes|uploads|downloads" \
        "|ranges|segments|origins|mirrors|headers|fields|events|rows|columns"
    # Ends of interpolations, and the noun that follows, perhaps behind an adjective.
    plural = "\\)( (other|more|watched|further|failed))? (" nouns ")([^A-Za-z]|$)"
}

# Texts of the test server are for programmers, and what has a marker says why it's never one.
FILENAME !~ "^Sources/" || FILENAME ~ "^Sources/(TransferTestServer|TransferTesting|transfer-demo-server)/" { next }
/^[ \t]*\/\// || /never one/ { next }

{
    # Only what stands in quotes: an interpolation begins with a backslash.
    if ($0 ~ /\\\(/ && $0 ~ plural) {
        match($0, plural)
        print FILENAME ":" FNR ": a plural without a helper, which is \"1 jobs\" for one: " substr($0, RSTART, RLENGTH)
        faults = 1
    }
}

END { exit faults }
