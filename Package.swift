// swift-tools-version: 6.1
import PackageDescription

/// Every target: Swift 6 language mode (from the tools version), explicit imports and `any`.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

/// A product of a package that is resolved only with a trait.
func product(_ name: String, of package: String, for trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

/// A target of tests, in the folder of its name unless another is given.
func tests(
    _ name: String, _ dependencies: [Target.Dependency], path: String? = nil, exclude: [String] = []
) -> Target {
    .testTarget(name: name, dependencies: dependencies, path: path, exclude: exclude, swiftSettings: settings)
}

/// Products that several targets link.
let logging = product("Logging", of: "swift-log", for: "Queue")
let lifecycle = product("ServiceLifecycle", of: "swift-service-lifecycle", for: "Server")
let signals = product("UnixSignals", of: "swift-service-lifecycle", for: "Server")
let arguments = product("ArgumentParser", of: "swift-argument-parser", for: "Command")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")

let package = Package(
    name: "TransferKit",
    products: [
        .library(name: "TransferKit", targets: ["TransferKit"]),
        .library(name: "TransferKitCombine", targets: ["TransferKitCombine"]),
        .library(name: "TransferQueue", targets: ["TransferQueue"]),
        .library(name: "TransferFleet", targets: ["TransferFleet"]),
        .library(name: "TransferNetworking", targets: ["TransferNetworking"]),
        .library(name: "TransferService", targets: ["TransferService"]),
        .library(name: "TransferMetrics", targets: ["TransferMetrics"]),
        .library(name: "TransferServer", targets: ["TransferServer"]),
        .library(name: "TransferTesting", targets: ["TransferTesting"]),
        .executable(name: "transfer", targets: ["transfer"]),
        .executable(name: "transfer-server", targets: ["transfer-server"]),
    ],
    // Parts that a program can leave out, with the packages that only they need. `traits: []` in the program's manifest leaves
    // TransferNetworking with one package, `traits: ["Queue"]` TransferQueue and TransferFleet with four.
    traits: [
        .trait(
            name: "Queue",
            description: "TransferQueue and TransferKit: the durable queue (GRDB, swift-log, structured headers)."),
        .trait(name: "Command", description: "The commands transfer and transfer-server (swift-argument-parser)."),
        .trait(name: "Combine", description: "TransferKitCombine: publishers of requests (OpenCombine)."),
        .trait(
            name: "Server",
            description:
                "TransferServer and TransferService: the queue behind HTTP (Hummingbird, SwiftNIO, service-lifecycle)."),
        .trait(name: "Metrics", description: "TransferMetrics: the queue's figures (swift-metrics)."),
        .default(enabledTraits: ["Queue", "Command", "Combine", "Server", "Metrics"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.0.0"),
        // Linked by TransferService and TransferMetrics alone: neither the command nor the queue needs them.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        // Linked by TransferServer alone. Without its traits it needs no more of Foundation than the command does.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.6.0", traits: []),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.25.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.3.0"),
    ],
    targets: [
        // The C libraries, one module each: a module map and a header of typed inline functions.
        .systemLibrary(name: "CTransferCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        // libc-ares-dev: compiled, so that its headers stay out of Swift's sight.
        .target(name: "CTransferAres", linkerSettings: [.linkedLibrary("cares")]),
        .systemLibrary(name: "CTransferOpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CTransferNetlink", pkgConfig: "libnl-route-3.0",
            providers: [.apt(["libnl-3-dev", "libnl-route-3-dev"])]),
        .systemLibrary(name: "CTransferTimes"),
        // Linux's own calls, calls for children, and the steps at which `make torture` kills the process (empty otherwise).
        .systemLibrary(name: "CTransferLinux"),
        // Compiled into the programs: code that runs before their first line, or takes the place of a library's.
        .target(name: "CTransferProgram", cSettings: [.define("_GNU_SOURCE")]),
        .systemLibrary(name: "CTransferZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CTransferSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CTransferPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CTransferPSL", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"])]),
        .systemLibrary(name: "CTransferIDN", pkgConfig: "libidn2", providers: [.apt(["libidn2-dev"])]),

        // From the bottom up: a target imports only what stands above it in this list.
        // libm: its rounding, for programs that link nothing else which needs it.
        .target(
            name: "TransferCore", dependencies: ["CTransferIDN", "CTransferTimes"], swiftSettings: settings,
            linkerSettings: [.linkedLibrary("m")]),
        .target(
            name: "TransferEventLoop",
            dependencies: [
                "TransferCore", "CTransferLinux", deque,
            ],
            swiftSettings: settings),
        .target(name: "TransferCrypto", dependencies: ["TransferCore", "CTransferOpenSSL"], swiftSettings: settings),
        .target(
            name: "TransferReachability",
            dependencies: ["TransferCore", "TransferEventLoop", "CTransferNetlink"], swiftSettings: settings),
        .target(
            name: "TransferUpload",
            dependencies: [
                "TransferCore", "TransferCrypto",
                product("RawStructuredFieldValues", of: "swift-http-structured-headers", for: "Queue"),
            ],
            swiftSettings: settings),
        .target(
            name: "TransferEngine",
            dependencies: [
                "TransferCore", "TransferEventLoop", "TransferCrypto", "CTransferCurl", "CTransferAres",
                "CTransferLinux", "CTransferZlib", "CTransferPSL", deque,
            ],
            swiftSettings: settings),
        .target(
            name: "TransferNetworking",
            dependencies: [
                "TransferCore", "TransferEventLoop", "TransferEngine", "TransferCrypto", "TransferReachability",
                "CTransferLinux", "CTransferZlib", deque,
            ],
            swiftSettings: settings),
        .target(
            name: "TransferWatch", dependencies: ["TransferCore", "TransferEventLoop", "CTransferLinux"],
            swiftSettings: settings),
        // The queue, from the bottom up: what a job is and how its file is read; who may start, by no look at anything;
        // what is durable; the folders that are watched; and the queue itself.
        .target(
            name: "TransferJobs",
            dependencies: [
                "TransferCore", "TransferEventLoop", "TransferCrypto", "TransferEngine", "TransferUpload",
                "TransferWatch", "CTransferLinux",
            ],
            swiftSettings: settings),
        .target(
            name: "TransferScheduling",
            dependencies: [
                "TransferCore", "TransferEngine", "TransferReachability", "TransferJobs", deque,
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(
            name: "TransferStore",
            dependencies: [
                "TransferCore", "TransferEventLoop", "TransferEngine", "TransferReachability", "TransferWatch",
                "TransferJobs", "TransferScheduling", "CTransferLinux", deque,
            ],
            swiftSettings: settings),
        // The store of one machine.
        .target(
            name: "TransferStoreSQLite",
            dependencies: [
                "TransferCore", "TransferEventLoop", "TransferEngine", "TransferReachability", "TransferWatch",
                "TransferJobs", "TransferScheduling", "TransferStore", "CTransferLinux", "CTransferSQLite",
                product("GRDB", of: "GRDB.swift", for: "Queue"),
                product("GRDBSQLite", of: "GRDB.swift", for: "Queue"), deque,
            ],
            swiftSettings: settings),
        // The store for many machines; apart, so that who needs one machine's queue links no libpq.
        .target(
            name: "TransferStorePostgres",
            dependencies: [
                "TransferCore", "TransferEventLoop", "TransferEngine", "TransferJobs", "TransferScheduling",
                "TransferStore", "TransferWatch", "CTransferLinux", "CTransferPostgres",
            ],
            swiftSettings: settings),
        .target(
            name: "TransferFolders",
            dependencies: [
                "TransferCore", "TransferEventLoop", "TransferEngine", "TransferWatch", "TransferJobs",
                "TransferStore", "CTransferLinux",
            ],
            swiftSettings: settings),
        .target(
            name: "TransferQueue",
            dependencies: [
                "TransferCore", "TransferEventLoop", "TransferCrypto", "TransferEngine", "TransferReachability",
                "TransferUpload", "TransferWatch", "TransferJobs", "TransferScheduling", "TransferStore",
                "TransferStoreSQLite", "TransferFolders", "CTransferLinux", logging,
            ],
            swiftSettings: settings),
        // The queue over the store for many machines.
        .target(
            name: "TransferFleet",
            dependencies: ["TransferCore", "TransferJobs", "TransferQueue", "TransferStorePostgres"],
            swiftSettings: settings),
        .target(
            name: "TransferKit",
            dependencies: [
                "TransferCore", "TransferCrypto", "TransferEngine", "TransferNetworking", "TransferQueue",
                "TransferReachability", "TransferWatch",
            ],
            swiftSettings: settings),
        .target(
            name: "TransferKitCombine",
            dependencies: [
                "TransferNetworking", product("OpenCombine", of: "OpenCombine", for: "Combine"),
                product("OpenCombineDispatch", of: "OpenCombine", for: "Combine"),
                product("OpenCombineFoundation", of: "OpenCombine", for: "Combine"),
            ],
            swiftSettings: settings),
        // The queue as a part of a server: apart from it, so that who needs neither package gets neither.
        .target(
            name: "TransferService",
            dependencies: [
                "TransferQueue", lifecycle,
            ],
            swiftSettings: settings),
        .target(
            name: "TransferMetrics",
            dependencies: [
                "TransferQueue", product("CoreMetrics", of: "swift-metrics", for: "Metrics"),
            ],
            swiftSettings: settings),
        // The queue behind HTTP, steered by other programs and a page: apart from the command, which is built without it.
        .target(
            name: "TransferServer",
            dependencies: [
                "TransferCore", "TransferEventLoop", "TransferCrypto", "TransferQueue", "TransferService",
                product("Hummingbird", of: "hummingbird", for: "Server"),
                product("HummingbirdCore", of: "hummingbird", for: "Server"),
                product("HTTPTypes", of: "swift-http-types", for: "Server"), logging,
                product("NIOCore", of: "swift-nio", for: "Server"),
                product("NIOHTTP1", of: "swift-nio", for: "Server"),
                product("NIOHTTPTypes", of: "swift-nio-extras", for: "Server"),
                product("NIOHTTPTypesHTTP1", of: "swift-nio-extras", for: "Server"),
                product("NIOPosix", of: "swift-nio", for: "Server"),
                product("NIOWebSocket", of: "swift-nio", for: "Server"), lifecycle,
            ],
            resources: [.embedInCode("API/openapi.json"), .embedInCode("Page/page.html")],
            swiftSettings: settings),
        .executableTarget(
            name: "transfer-server",
            dependencies: [
                "TransferEventLoop", "TransferServer", "TransferService", "TransferQueue", "TransferFleet",
                "CTransferProgram", arguments, logging, lifecycle, signals,
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "transfer",
            dependencies: [
                "TransferCore", "TransferCrypto", "TransferEventLoop", "TransferQueue", "TransferEngine",
                "TransferFleet", "TransferReachability", "TransferWatch", "CTransferProgram", arguments, logging,
            ],
            swiftSettings: settings),

        // Programs that show the library at work; the tests build and run them.
        .executableTarget(
            name: "resumable-download", dependencies: ["TransferKit"], path: "examples/resumable-download",
            swiftSettings: settings),
        .executableTarget(
            name: "queue-program", dependencies: ["TransferKit"], path: "examples/queue-program",
            swiftSettings: settings),
        .executableTarget(
            name: "watch-program", dependencies: ["TransferKit"], path: "examples/watch-program",
            swiftSettings: settings),
        .executableTarget(
            name: "service-program",
            dependencies: [
                "TransferQueue", "TransferService", "TransferMetrics", logging, lifecycle, signals,
                product("MetricsTestKit", of: "swift-metrics", for: "Metrics"),
            ],
            path: "examples/service-program", swiftSettings: settings),

        // A server whose faults are scripted: for the tests, `make run` and the examples.
        .target(name: "TransferTestServer", swiftSettings: settings),
        // Its face for the tests of other programs.
        .target(name: "TransferTesting", dependencies: ["TransferTestServer"], swiftSettings: settings),
        .target(name: "TransferTestSupport", path: "Tests/TransferTestSupport", swiftSettings: settings),
        // What tests run in a process of its own, to see its memory.
        .executableTarget(
            name: "request-load", dependencies: ["TransferNetworking", "TransferReachability"],
            path: "Tests/request-load", swiftSettings: settings),
        // What tests run inside network namespaces, which a process can't enter for one of its suites.
        .executableTarget(
            name: "link-probe", dependencies: ["TransferCore", "TransferCrypto", "TransferEngine"],
            path: "Tests/link-probe",
            swiftSettings: settings),
        // Whole runs of the queue in virtual time, repeated by a seed (`make simulate`).
        .executableTarget(
            name: "transfer-simulation",
            dependencies: [
                "TransferCore", "TransferCrypto", "TransferEventLoop", "TransferEngine", "TransferJobs",
                "TransferScheduling", "TransferStore", "TransferQueue", logging,
            ],
            path: "Tests/simulation", swiftSettings: settings),
        .executableTarget(
            name: "network-probe", dependencies: ["TransferReachability", "TransferCore", "TransferEventLoop"],
            path: "Tests/network-probe", swiftSettings: settings),
        .executableTarget(
            name: "transfer-demo-server", dependencies: ["TransferTestServer"], swiftSettings: settings),

        tests("TransferTestServerTests", ["TransferTestServer"]),
        tests("TransferCoreTests", ["TransferCore"]),
        tests(
            "TransferEventLoopTests", ["TransferEventLoop", "TransferCore", "CTransferLinux", "TransferTestSupport"]),
        tests(
            "TransferEngineTests",
            [
                "TransferEngine", "TransferEventLoop", "TransferCore", "TransferCrypto", "CTransferCurl",
                "CTransferLinux", "TransferTestServer", "TransferTestSupport", "link-probe",
            ]),
        tests("TransferCryptoTests", ["TransferCrypto", "TransferCore", "TransferTestSupport"]),
        tests(
            "TransferWatchTests",
            [
                "TransferWatch", "TransferCore", "TransferEventLoop", "CTransferLinux", "TransferTestSupport",
            ]),
        tests(
            "TransferUploadTests",
            [
                "TransferUpload", "TransferCore", "TransferCrypto", "TransferTestServer", "TransferTestSupport",
            ]),
        tests(
            "TransferReachabilityTests",
            [
                "TransferReachability", "TransferCore", "TransferEventLoop", "TransferTestSupport", "network-probe",
            ]),
        tests(
            "TransferNetworkingTests",
            [
                "TransferNetworking", "TransferKit", "TransferCore", "TransferCrypto", "TransferEngine",
                "TransferTestServer", "TransferTestSupport", "CTransferZlib", "queue-program", "request-load",
                "resumable-download", "watch-program",
            ],
            exclude: ["Snippets/README.md", "Documents"]),
        tests("TransferKitCombineTests", ["TransferKitCombine", "TransferTestServer", "TransferTestSupport"]),
        // What the tests of the queue's libraries share: samples of jobs, and each kind of store.
        .target(
            name: "TransferQueueFixtures",
            dependencies: [
                "TransferJobs", "TransferStore", "TransferStoreSQLite", "TransferStorePostgres", "TransferTestSupport",
                product("GRDB", of: "GRDB.swift", for: "Queue"),
            ],
            path: "Tests/TransferQueueFixtures", swiftSettings: settings),
        tests("TransferJobsTests", ["TransferJobs", "TransferWatch", "TransferScheduling", "TransferQueueFixtures"]),
        tests("TransferSchedulingTests", ["TransferScheduling", "TransferReachability", "TransferQueueFixtures"]),
        tests(
            "TransferStoreTests",
            [
                "TransferStoreSQLite", "TransferStorePostgres", "TransferWatch", "TransferScheduling",
                "TransferQueueFixtures", product("GRDB", of: "GRDB.swift", for: "Queue"),
                product("GRDBSQLite", of: "GRDB.swift", for: "Queue"),
            ]),
        tests(
            "TransferQueueTests",
            [
                "TransferQueue", "TransferFolders", "TransferReachability", "TransferWatch", "TransferQueueFixtures",
                "TransferTestServer",
            ]),
        tests(
            "TransferServiceTests",
            [
                "TransferService", "TransferMetrics", "TransferQueue", "TransferTesting", "TransferTestSupport",
                "service-program", logging, lifecycle, signals,
                product("CoreMetrics", of: "swift-metrics", for: "Metrics"),
                product("MetricsTestKit", of: "swift-metrics", for: "Metrics"),
            ]),
        tests(
            "TransferServerTests",
            [
                "TransferServer", "TransferQueue", "TransferTestServer", "TransferTestSupport", "transfer",
                "transfer-server", logging, product("Hummingbird", of: "hummingbird", for: "Server"),
                product("HTTPTypes", of: "swift-http-types", for: "Server"),
            ],
            exclude: ["Clients"]),
        // The documentation's code and tables, held against what they speak of.
        tests(
            "TransferDocumentationTests",
            [
                "TransferKit", "TransferKitCombine", "TransferQueue", "TransferNetworking", "TransferService",
                "TransferMetrics", "TransferTesting", "TransferTestSupport", "transfer", logging, lifecycle,
                product("CoreMetrics", of: "swift-metrics", for: "Metrics"),
            ],
            exclude: ["Given"]),
        tests("TransferTestingTests", ["TransferTesting", "TransferKit", "TransferQueue", "TransferTestSupport"]),
        // The fuzzers' properties (`make fuzz`), and a replay of the inputs by which they failed before.
        tests(
            "TransferFuzzTests", ["TransferQueue", "TransferJobs"], path: "Tests/fuzz",
            exclude: ["README.md", "corpus", "driver", "regressions", "run"]),
        tests(
            "TransferCommandTests",
            [
                "transfer", "TransferQueue", "TransferJobs", "TransferStore", "TransferReachability",
                "TransferWatch", "TransferTestServer", "TransferTestSupport",
            ]),
    ]
)
