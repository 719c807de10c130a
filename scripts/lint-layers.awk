# The house as a table: which of our modules each target may import. Data comes in at the top and goes down, so
# nothing may be listed that stands higher in the house. A new target needs a line here.
BEGIN {
    allow("TransferCore", "CTransferIDN CTransferTimes")
    allow("TransferEventLoop", "TransferCore CTransferLinux")
    allow("TransferCrypto", "TransferCore CTransferOpenSSL")
    allow("TransferReachability", "TransferCore TransferEventLoop CTransferLinux CTransferNetlink")
    allow("TransferEngine", "TransferCore TransferEventLoop TransferCrypto CTransferLinux CTransferCurl " \
        "CTransferOpenSSL CTransferZlib CTransferAres CTransferPSL")
    allow("TransferUpload", "TransferCore TransferCrypto")
    allow("TransferNetworking", "TransferCore TransferEventLoop TransferCrypto TransferEngine TransferReachability " \
        "CTransferLinux CTransferZlib")
    allow("TransferWatch", "TransferCore TransferEventLoop CTransferLinux")
    # The queue: what a job is, who may start, what is durable, the folders that are watched, the queue itself.
    allow("TransferJobs", "TransferCore TransferEventLoop TransferCrypto TransferEngine TransferUpload TransferWatch " \
        "CTransferLinux")
    allow("TransferScheduling", "TransferCore TransferEngine TransferReachability TransferJobs")
    allow("TransferStore", "TransferCore TransferEventLoop TransferEngine TransferReachability TransferWatch " \
        "TransferJobs TransferScheduling CTransferLinux")
    allow("TransferStoreSQLite", "TransferCore TransferEventLoop TransferEngine TransferReachability TransferWatch " \
        "TransferJobs TransferScheduling TransferStore CTransferLinux CTransferSQLite")
    allow("TransferStorePostgres", "TransferCore TransferEventLoop TransferEngine TransferJobs TransferScheduling " \
        "TransferStore TransferWatch CTransferLinux CTransferPostgres")
    allow("TransferFolders", "TransferCore TransferEventLoop TransferEngine TransferWatch TransferJobs TransferStore " \
        "CTransferLinux")
    allow("TransferQueue", "TransferCore TransferEventLoop TransferCrypto TransferEngine TransferReachability " \
        "TransferUpload TransferWatch TransferJobs TransferScheduling TransferStore TransferStoreSQLite " \
        "TransferFolders CTransferLinux")
    allow("TransferFleet", "TransferCore TransferJobs TransferQueue TransferStorePostgres")
    allow("TransferKit", "TransferCore TransferEventLoop TransferCrypto TransferEngine TransferReachability " \
        "TransferNetworking TransferQueue TransferWatch")
    allow("TransferKitCombine", "TransferCore TransferEngine TransferNetworking TransferKit")
    allow("TransferService", "TransferCore TransferQueue")
    allow("TransferMetrics", "TransferCore TransferQueue")
    # Knows the queue's face, and the clock.
    allow("TransferServer", "TransferCore TransferCrypto TransferEventLoop TransferQueue TransferService")
    allow("transfer-server", "TransferCore TransferEventLoop TransferQueue TransferFleet TransferServer TransferService " \
        "CTransferProgram")
    allow("transfer", "TransferCore TransferEventLoop TransferCrypto TransferEngine TransferReachability " \
        "TransferQueue TransferFleet TransferWatch CTransferProgram")
    allow("TransferTestServer", "")
    allow("TransferTesting", "TransferTestServer")
    allow("transfer-demo-server", "TransferTestServer")

    # The folders that may speak to somebody else's library; a regular expression on the path.
    only("CTransferCurl", "^Sources/TransferEngine/Curl/")
    only("CTransferProgram", "^Sources/(transfer|transfer-server)/")
    only("CTransferAres", "^Sources/TransferEngine/Names/")
    only("CTransferOpenSSL", "^Sources/(TransferCrypto|TransferEngine/Curl/TLS|TransferEngine/TLS)/")
    only("CTransferNetlink", "^Sources/TransferReachability/")
    only("CTransferIDN", "^Sources/TransferCore/")
    only("CTransferPSL", "^Sources/TransferEngine/Cookies/")
    only("CTransferZlib", "^Sources/(TransferNetworking|TransferEngine/Coding)/")
    only("OpenCombine", "^(Sources/TransferKitCombine|Tests)/")
    # The command and the queue link neither.
    only("ServiceLifecycle", "^(Sources/(TransferService|TransferServer|transfer-server)|Tests/TransferServiceTests|examples/service-program)/")
    only("Hummingbird", "^(Sources/TransferServer|Tests/TransferServerTests)/")
    only("NIOCore", "^(Sources/TransferServer|Tests/peers)/")
    only("NIOPosix", "^(Sources/TransferServer|Tests/peers)/")
    only("CoreMetrics", "^(Sources/TransferMetrics|Tests/TransferServiceTests)/")
    only("CTransferPostgres", "^Sources/TransferStorePostgres/Connection/")
    only("CTransferSQLite", "^Sources/TransferStoreSQLite/")
    only("GRDB", "^(Sources/TransferStoreSQLite|Tests)/")
    only("GRDBSQLite", "^(Sources/TransferStoreSQLite|Tests)/")
    only("FoundationNetworking", "^(Sources/(TransferNetworking|TransferKit|TransferKitCombine)|Tests|examples|Alamofire)/")
    # All of Foundation needs ICU's data, and the command has none (Sources/CTransferProgram).
    only("Foundation", "^(Sources/(TransferNetworking|TransferKit|TransferKitCombine|TransferTestServer)|Tests|examples|Alamofire)/")
    # The runner is started without XCTest, so that such a test would silently not run.
    only("XCTest", "^$")

    risky = "(^|[^A-Za-z0-9_])(try!|fatalError\\(|Thread\\.sleep|usleep\\(|Task\\.sleep|nonisolated\\(unsafe\\)" \
        "|@unchecked[ \t]+Sendable)"
}

function allow(target, modules,    names, count, i) {
    known[target] = 1
    count = split(modules, names, " ")
    for (i = 1; i <= count; i++) allowed[target, names[i]] = 1
}

function only(module, path) { folders[module] = path }

function fault(text) {
    print FILENAME ":" FNR ": " text
    faults = 1
}

FNR == 1 {
    split(FILENAME, parts, "/")
    root = parts[1]
    target = parts[2]
    lastComment = 0
    limit = root == "Tests" ? 800 : 400
    if (root == "Sources" && !(target in known)) fault("target " target " is not in the table of scripts/lint-layers.awk")
}

FNR == limit + 1 { fault("longer than " limit " lines: one concept a file") }

/^[ \t]*(@[A-Za-z_]+(\([^)]*\))?[ \t]+)*((public|package|internal|fileprivate|private)[ \t]+)?import[ \t]/ {
    module = $0
    sub(/[ \t]*\/\/.*/, "", module)
    sub(/^.*import[ \t]+((struct|class|enum|protocol|typealias|func|var|let)[ \t]+)?/, "", module)
    sub(/[^A-Za-z0-9_].*/, "", module)
    if (module in folders && FILENAME !~ folders[module] && !(module ~ /^CTransfer/ && root == "Tests"))
        fault(module == "XCTest" ? "tests are written with Swift Testing" : \
            module " is not imported here; only paths like " folders[module])
    else if (root == "Sources" && module ~ /^C?Transfer[A-Z]/ && module != target && !((target, module) in allowed))
        fault(target " does not import " module ": nothing imports upwards")
}

{
    code = $0
    is_comment = code ~ /^[ \t]*(\/\/|\*|\/\*)/
    # A reason stands in a comment on the same line or at most three lines above, with no empty line between: so that
    # it can stand over the statement that the line belongs to, or over an attribute.
    if (!is_comment && code ~ risky) {
        comment = index(code, "// ")
        match(code, risky)
        construct = substr(code, RSTART, RLENGTH)
        sub(/^[^A-Za-z@]/, "", construct)
        if (!comment && !(lastComment && FNR - lastComment <= 3))
            fault(construct " needs a comment with its reason, on this line or just above")
    }
    # A program that uses the library has no options: errors take them by CommandPhrases.
    if (!is_comment && root == "Sources" && target !~ /^(transfer|transfer-server|transfer-demo-server|TransferTestServer|TransferNetworking)$/ &&
        code ~ /"([^"]*[ (])?--[a-z][a-z]/ && code !~ /CommandPhrases\./)
        fault("an option of the command in a text of the library: CommandPhrases says it to people alone")
    # Swift counts C's times to whichever module it met first: a file that imports Glibc may read them, or not.
    if (!is_comment && code ~ /(^|[^A-Za-z0-9_])tv_u?n?sec([^A-Za-z0-9_]|$)/ && root == "Sources")
        fault("members of C's times are read in CTransferTimes and CTransferLinux alone")
    # A job's slot, gate, lock and version are given back in one place.
    if (!is_comment && FILENAME ~ /^Sources\/TransferQueue\// && FILENAME !~ /QueueRunner\+Ends\.swift$/ &&
        code ~ /(^|[^A-Za-z0-9_])running\[[^]]*\][ \t]*=[ \t]*nil/)
        fault("a job leaves `running` by QueueRunner.leave(_:_:) and no other way")
    if (is_comment) lastComment = FNR
    else if (code ~ /^[ \t]*$/) lastComment = 0
}

END { exit faults }
