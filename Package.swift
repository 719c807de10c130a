// swift-tools-version: 6.1
import PackageDescription

/// Every target: Swift 6 language mode (from the tools version), explicit imports and `any`.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

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
                "TransferCore", "CTransferLinux", .product(name: "DequeModule", package: "swift-collections"),
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
                .product(
                    name: "RawStructuredFieldValues", package: "swift-http-structured-headers",
                    condition: .when(traits: ["Queue"])),
            ],
            swiftSettings: settings),
        .target(
            name: "TransferEngine",
            dependencies: [
                "TransferCore", "TransferEventLoop", "TransferCrypto", "CTransferCurl", "CTransferAres",
                "CTransferLinux",
                "CTransferZlib", "CTransferPSL", .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(
            name: "TransferNetworking",
            dependencies: [
                "TransferCore", "TransferEventLoop", "TransferEngine", "TransferCrypto", "TransferReachability",
                "CTransferLinux", "CTransferZlib", .product(name: "DequeModule", package: "swift-collections"),
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
                "TransferCore", "TransferEngine", "TransferReachability", "TransferJobs",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(
            name: "TransferStore",
            dependencies: [
                "TransferCore", "TransferEventLoop", "TransferEngine", "TransferReachability", "TransferWatch",
                "TransferJobs", "TransferScheduling", "CTransferLinux",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        // The store of one machine.
        .target(
            name: "TransferStoreSQLite",
            dependencies: [
                "TransferCore", "TransferEventLoop", "TransferEngine", "TransferReachability", "TransferWatch",
                "TransferJobs", "TransferScheduling", "TransferStore", "CTransferLinux",
                "CTransferSQLite",
                .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["Queue"])),
                .product(name: "GRDBSQLite", package: "GRDB.swift", condition: .when(traits: ["Queue"])),
                .product(name: "DequeModule", package: "swift-collections"),
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
                "TransferStoreSQLite", "TransferFolders", "CTransferLinux",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Queue"])),
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
                "TransferNetworking",
                .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["Combine"])),
                .product(name: "OpenCombineDispatch", package: "OpenCombine", condition: .when(traits: ["Combine"])),
                .product(name: "OpenCombineFoundation", package: "OpenCombine", condition: .when(traits: ["Combine"])),
            ],
            swiftSettings: settings),
        // The queue as a part of a server: apart from it, so that who needs neither package gets neither.
        .target(
            name: "TransferService",
            dependencies: [
                "TransferQueue",
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
            ],
            swiftSettings: settings),
        .target(
            name: "TransferMetrics",
            dependencies: [
                "TransferQueue",
                .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
            ],
            swiftSettings: settings),
        // The queue behind HTTP, steered by other programs and a page: apart from the command, which is built without it.
        .target(
            name: "TransferServer",
            dependencies: [
                "TransferCore", "TransferEventLoop", "TransferCrypto", "TransferQueue", "TransferService",
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Server"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Queue"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras", condition: .when(traits: ["Server"])),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras", condition: .when(traits: ["Server"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOWebSocket", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
            ],
            resources: [.embedInCode("API/openapi.json"), .embedInCode("Page/page.html")],
            swiftSettings: settings),
        .executableTarget(
            name: "transfer-server",
            dependencies: [
                "TransferEventLoop", "TransferServer", "TransferService", "TransferQueue", "TransferFleet",
                "CTransferProgram",
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Command"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Queue"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
                .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "transfer",
            dependencies: [
                "TransferCore", "TransferCrypto", "TransferEventLoop", "TransferQueue", "TransferEngine",
                "TransferFleet",
                "TransferReachability", "TransferWatch", "CTransferProgram",
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Command"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Queue"])),
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
                "TransferQueue", "TransferService", "TransferMetrics",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Queue"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
                .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
                .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
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
        .executableTarget(
            name: "network-probe", dependencies: ["TransferReachability", "TransferCore", "TransferEventLoop"],
            path: "Tests/network-probe", swiftSettings: settings),
        .executableTarget(
            name: "transfer-demo-server", dependencies: ["TransferTestServer"], swiftSettings: settings),

        .testTarget(
            name: "TransferTestServerTests", dependencies: ["TransferTestServer"], swiftSettings: settings),
        .testTarget(name: "TransferCoreTests", dependencies: ["TransferCore"], swiftSettings: settings),
        .testTarget(
            name: "TransferEventLoopTests",
            dependencies: ["TransferEventLoop", "TransferCore", "CTransferLinux", "TransferTestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "TransferEngineTests",
            dependencies: [
                "TransferEngine", "TransferEventLoop", "TransferCore", "TransferCrypto", "CTransferCurl",
                "CTransferLinux", "TransferTestServer", "TransferTestSupport", "link-probe",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TransferCryptoTests", dependencies: ["TransferCrypto", "TransferCore", "TransferTestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "TransferWatchTests",
            dependencies: [
                "TransferWatch", "TransferCore", "TransferEventLoop", "CTransferLinux", "TransferTestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TransferUploadTests",
            dependencies: [
                "TransferUpload", "TransferCore", "TransferCrypto", "TransferTestServer", "TransferTestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TransferReachabilityTests",
            dependencies: [
                "TransferReachability", "TransferCore", "TransferEventLoop", "TransferTestSupport", "network-probe",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TransferNetworkingTests",
            dependencies: [
                "TransferNetworking", "TransferKit", "TransferCore", "TransferCrypto", "TransferEngine",
                "TransferTestServer",
                "TransferTestSupport", "CTransferZlib",
                "queue-program", "request-load", "resumable-download", "watch-program",
            ],
            exclude: ["Snippets/README.md", "Documents"], swiftSettings: settings),
        .testTarget(
            name: "TransferKitCombineTests",
            dependencies: ["TransferKitCombine", "TransferTestServer", "TransferTestSupport"], swiftSettings: settings),
        .testTarget(
            name: "TransferQueueTests",
            dependencies: [
                "TransferQueue", "TransferJobs", "TransferScheduling", "TransferStore", "TransferStoreSQLite",
                "TransferStorePostgres", "TransferFolders", "TransferReachability", "TransferWatch",
                "TransferTestServer", "TransferTestSupport",
                .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["Queue"])),
                .product(name: "GRDBSQLite", package: "GRDB.swift", condition: .when(traits: ["Queue"])),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TransferServiceTests",
            dependencies: [
                "TransferService", "TransferMetrics", "TransferQueue", "TransferTesting", "TransferTestSupport",
                "service-program", .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Queue"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
                .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
                .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
                .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TransferServerTests",
            dependencies: [
                "TransferServer", "TransferQueue", "TransferTestServer", "TransferTestSupport", "transfer",
                "transfer-server",
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Server"])),
            ],
            exclude: ["Clients"], swiftSettings: settings),
        // The documentation's code and tables, held against what they speak of.
        .testTarget(
            name: "TransferDocumentationTests",
            dependencies: [
                "TransferKit", "TransferKitCombine", "TransferQueue", "TransferNetworking", "TransferService",
                "TransferMetrics", "TransferTesting", "TransferTestSupport", "transfer",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Queue"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
                .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
            ],
            exclude: ["Given"], swiftSettings: settings),
        .testTarget(
            name: "TransferTestingTests",
            dependencies: ["TransferTesting", "TransferKit", "TransferQueue", "TransferTestSupport"],
            swiftSettings: settings),
        // The fuzzers' properties (`make fuzz`), and a replay of the inputs by which they failed before.
        .testTarget(
            name: "TransferFuzzTests", dependencies: ["TransferQueue", "TransferJobs"], path: "Tests/fuzz",
            exclude: ["README.md", "corpus", "driver", "regressions", "run"], swiftSettings: settings),
        .testTarget(
            name: "TransferCommandTests",
            dependencies: [
                "transfer", "TransferQueue", "TransferJobs", "TransferStore", "TransferReachability", "TransferWatch",
                "TransferTestServer", "TransferTestSupport",
            ],
            swiftSettings: settings),
    ]
)
