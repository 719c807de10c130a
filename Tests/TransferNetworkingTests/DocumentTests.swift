import Foundation
import Testing
import TransferTestSupport

/// The documents' own text, extracted by `scripts/document-snippets`, with `import TransferKit` and nothing else.
@Suite("The documents' text, compiled", .timeLimit(.minutes(3)))
struct DocumentTests {
    @Test(arguments: ["Document000", "Document002", "Document003"], [5, 6])
    func theTextOfADocumentCompiles(_ document: String, _ version: Int) async throws {
        let found = try await SwiftTypecheck.run(document, version: version)
        #expect(found.filter { $0.kind == "error" }.map(\.description) == [])
    }

    @Test func aProgramOfSwift5GetsNoWarning() async throws {
        #expect(try await SwiftTypecheck.run("Swift5Program", version: 5).map(\.description) == [])
    }

    /// What compiles of Alamofire 4's documents, and what the compiler says where it doesn't: by the line of the block.
    @Test(arguments: ["Document001", "Document004"])
    func theCompilerSaysHowAProgramOfVersion4Moves(_ document: String) async throws {
        let errors = try await SwiftTypecheck.run(document, version: 5).filter { $0.kind == "error" }
        let places = try SwiftTypecheck.places(of: document)
        var seen: Set<String> = []
        let lines = errors.map { error in
            let place = places.last { $0.line < error.line }?.place ?? "?"
            return "\(place)\t\(error.isHint ? "hint" : "none")\t\(error.message)"
        }.filter { seen.insert($0).inserted }
        let text = lines.map { $0 + "\n" }.joined()
        let path = SwiftTypecheck.folder.appendingPathComponent("\(document).hints")
        if ProcessInfo.processInfo.environment["TRANSFER_TABLES"] == "write" {
            try text.write(to: path, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: path, encoding: .utf8) == text)
    }
}

/// The compiler's word on a file of the documents' folder, against the modules that were built with the tests.
private enum SwiftTypecheck {
    struct Diagnostic: CustomStringConvertible {
        let line: Int
        let kind: String
        let message: String
        var description: String { "\(line): \(kind): \(message)" }
        /// Whether it says what stands in the place of something that's gone.
        var isHint: Bool { message.contains("has been renamed to") || message.contains("is unavailable: ") }
    }

    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Documents")

    static func run(_ name: String, version: Int) async throws -> [Diagnostic] {
        let copies = try TemporaryFolder("documents")
        let file = copies.path("\(name).swift")
        // Another name, as what is no part of the package isn't to be formatted either.
        try FileManager.default.copyItem(
            atPath: folder.appendingPathComponent("\(name).swift.txt").path, toPath: file)
        var arguments = ["swiftc", "-typecheck", "-swift-version", "\(version)", "-diagnostic-style", "llvm", file]
        arguments += try await modules()
        let result = try await ChildProcess.start(
            ChildProcess.Command("/usr/bin/env", arguments, timeout: .seconds(150))
        ).result()
        let found = result.standardError.split(separator: "\n").compactMap { diagnostic(String($0), of: file) }
        let failed = found.contains { $0.kind == "error" }
        guard failed == (result.exitCode != 0) else { throw TestSupportError("\(result)") }
        return found.sorted { ($0.line, $0.message) < ($1.line, $1.message) }
    }

    /// The blocks of a file: the line of their comment there, and their line in the document.
    static func places(of name: String) throws -> [(line: Int, place: String)] {
        let text = try String(contentsOf: folder.appendingPathComponent("\(name).swift.txt"), encoding: .utf8)
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            line.wholeMatch(of: /\/\/ \d{3}:(\d+)/).map { (index + 1, String($0.1)) }
        }
    }

    private static func diagnostic(_ line: String, of file: String) -> Diagnostic? {
        guard line.hasPrefix(file + ":"),
            let match = line.dropFirst(file.count).firstMatch(of: /^:(\d+):\d+: (error|warning): (.*)$/)
        else { return nil }
        return Diagnostic(line: Int(match.1) ?? 0, kind: String(match.2), message: String(match.3))
    }

    private static func modules() async throws -> [String] {
        let build = URL(fileURLWithPath: try TransferCommand.builtProduct("request-load")).deletingLastPathComponent()
        let sources = folder.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Sources")
        let checkouts = build.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
            "checkouts")
        var maps: [URL] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: sources.path) where name.hasPrefix("C") {
            maps.append(sources.appendingPathComponent("\(name)/module.modulemap"))
        }
        for name in ["CTransferAres", "COpenCombineHelpers"] {
            maps.append(build.appendingPathComponent("\(name).build/module.modulemap"))
        }
        maps.append(checkouts.appendingPathComponent("GRDB.swift/Sources/GRDBSQLite/module.modulemap"))
        var arguments: [String] = ["-I", build.appendingPathComponent("Modules").path]
        for map in maps where FileManager.default.fileExists(atPath: map.path) {
            arguments += ["-Xcc", "-fmodule-map-file=\(map.path)"]
        }
        arguments += ["-Xcc", "-I", "-Xcc", sources.appendingPathComponent("CTransferAres/include").path]
        let libraries = ["pkg-config", "--cflags-only-I", "libcurl", "openssl", "libnl-route-3.0", "libpsl", "libidn2"]
        let flags = try await ChildProcess.start(ChildProcess.Command("/usr/bin/env", libraries)).result()
        for flag in flags.standardOutput.split(whereSeparator: \.isWhitespace) { arguments.append(String(flag)) }
        return arguments
    }
}
