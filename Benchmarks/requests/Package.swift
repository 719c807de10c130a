// swift-tools-version: 6.1
import PackageDescription

// The request benchmark, apart from the library, so that no build of TransferKit fetches its peers.

// Without MemberImportVisibility: AsyncHTTPClient's own types are used through what it re-exports of NIO.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "requests",
    dependencies: [
        .package(name: "TransferKit", path: "../.."),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.24.0"),
    ],
    targets: [
        .target(name: "RequestLoad", swiftSettings: settings),
        // Each client has its own program, without the memory and the threads of other clients.
        .executableTarget(
            name: "requests-transferkit",
            dependencies: ["RequestLoad", .product(name: "TransferNetworking", package: "TransferKit")],
            swiftSettings: settings),
        .executableTarget(
            name: "requests-async-http-client",
            dependencies: ["RequestLoad", .product(name: "AsyncHTTPClient", package: "async-http-client")],
            swiftSettings: settings),
        .executableTarget(name: "requests-urlsession", dependencies: ["RequestLoad"], swiftSettings: settings),
    ]
)
