// swift-tools-version: 6.1
import PackageDescription

// A package with the name of Alamofire, so that a program's sources and manifests keep that name: apart from TransferKit's
// own package, because no two packages of one program may have modules of one name.
let package = Package(
    name: "Alamofire",
    products: [
        .library(name: "Alamofire", targets: ["Alamofire"])
    ],
    dependencies: [
        // No trait: requests alone, with one package beside them.
        .package(name: "TransferKit", path: "..", traits: [])
    ],
    targets: [
        .target(
            name: "Alamofire",
            dependencies: [
                .product(name: "TransferNetworking", package: "TransferKit")
            ],
            swiftSettings: [
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("ExistentialAny"),
            ])
    ]
)
