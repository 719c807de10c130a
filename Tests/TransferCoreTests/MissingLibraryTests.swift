import Foundation
import Testing

/// The compiler's error for a missing C library names the Debian package that provides it.
@Suite("Missing libraries")
struct MissingLibraryTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test(arguments: [
        ("CTransferCurl/shim.h", ["libcurl4-openssl-dev"]), ("CTransferIDN/shim.h", ["libidn2-dev"]),
        ("CTransferNetlink/shim.h", ["libnl-3-dev", "libnl-route-3-dev"]), ("CTransferOpenSSL/shim.h", ["libssl-dev"]),
        ("CTransferPSL/shim.h", ["libpsl-dev"]), ("CTransferSQLite/shim.h", ["libsqlite3-dev"]),
        ("CTransferPostgres/shim.h", ["libpq-dev"]), ("CTransferZlib/shim.h", ["zlib1g-dev"]),
        ("CTransferAres/ares.c", ["libc-ares-dev"]),
    ])
    func theCompilerNamesThePackageOfALibraryThatIsMissing(_ source: String, _ packages: [String]) throws {
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // The compiler gets no header folder.
        process.arguments = [
            "clang", "-fsyntax-only", "-nostdinc", "-ferror-limit=1", "-x", "c",
            Self.root.appendingPathComponent("Sources/\(source)").path,
        ]
        process.standardError = errors
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let setup = try String(contentsOf: Self.root.appendingPathComponent("scripts/setup"), encoding: .utf8)
        for package in packages {
            #expect(text.contains("apt-get install") && text.contains(package), "\(text)")
            #expect(setup.contains("build \(package) "))
        }
    }
}
