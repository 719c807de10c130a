public import Foundation

/// The compiler's diagnostics for sources outside the package, against the modules that were built with the tests.
public enum SwiftTypecheck {
    public struct Diagnostic: Sendable, CustomStringConvertible {
        /// The name of the source file.
        public let file: String
        public let line: Int
        public let kind: String
        public let message: String
        public var description: String { "\(file):\(line): \(kind): \(message)" }
        /// Whether the diagnostic names the replacement of a removed declaration.
        public var isHint: Bool {
            ["has been renamed to", "is unavailable: ", "been marked unavailable: ", "unavailable instance method"]
                .contains { message.contains($0) }
        }
    }

    /// A module outside the package of the tests.
    public struct Library: Sendable {
        let name: String
        let sources: [URL]

        public init(_ name: String, sources: [URL]) {
            self.name = name
            self.sources = sources
        }
    }

    /// Checks one source under any name. Files outside the package are not formatted either, so their names end in
    /// `.txt`.
    public static func run(_ source: URL, version: Int) async throws -> [Diagnostic] {
        try await run([("main.swift", try String(contentsOf: source, encoding: .utf8))], version: version)
    }

    /// Checks the sources of one module.
    ///
    /// - Parameters:
    ///   - sources: The names and texts of the sources.
    ///   - version: The version of the language.
    ///   - isStrict: Whether a member is visible only if its module is imported, as packages can require.
    ///   - library: A module that the sources can import, and that the tests' own build lacks.
    /// - Returns: Errors and warnings, sorted by their places.
    public static func run(
        _ sources: [(name: String, text: String)], version: Int, isStrict: Bool = false, library: Library? = nil
    ) async throws -> [Diagnostic] {
        let folder = try TemporaryFolder("typecheck")
        var arguments = ["swiftc", "-typecheck", "-wmo", "-swift-version", "\(version)", "-diagnostic-style", "llvm"]
        if isStrict { arguments += ["-enable-upcoming-feature", "MemberImportVisibility"] }
        // A library has no statements at its top level, which otherwise depend on the name of a file.
        if sources.count > 1 { arguments.append("-parse-as-library") }
        for source in sources { arguments.append(try folder.write(source.text, to: source.name)) }
        arguments += try await modules()
        if let library { arguments += ["-I", try await build(library, in: folder)] }
        let result = try await ChildProcess.start(
            ChildProcess.Command("/usr/bin/env", arguments, timeout: .seconds(150))
        ).result()
        let found = result.standardError.split(separator: "\n").compactMap { diagnostic(String($0), in: folder.path) }
        let failed = found.contains { $0.kind == "error" }
        guard failed == (result.exitCode != 0) else { throw TestSupportError("\(result)") }
        return found.sorted { ($0.file, $0.line, $0.message) < ($1.file, $1.line, $1.message) }
    }

    /// Builds the interface of a module, with the features of our own targets, and returns the folder that contains it.
    private static func build(_ library: Library, in folder: TemporaryFolder) async throws -> String {
        var arguments = ["swiftc", "-emit-module", "-module-name", library.name, "-parse-as-library"]
        arguments += ["-swift-version", "6", "-emit-module-path", folder.path + "/\(library.name).swiftmodule"]
        for feature in ["InternalImportsByDefault", "MemberImportVisibility", "ExistentialAny"] {
            arguments += ["-enable-upcoming-feature", feature]
        }
        arguments += library.sources.map(\.path)
        arguments += try await modules()
        let result = try await ChildProcess.start(
            ChildProcess.Command("/usr/bin/env", arguments, timeout: .seconds(150))
        ).result()
        guard result.exitCode == 0 else { throw TestSupportError("\(result)") }
        return folder.path
    }

    private static func diagnostic(_ line: String, in folder: String) -> Diagnostic? {
        guard line.hasPrefix(folder + "/"),
            let match = line.dropFirst(folder.count + 1).firstMatch(of: /^([^:]+):(\d+):\d+: (error|warning): (.*)$/)
        else { return nil }
        return Diagnostic(
            file: String(match.1), line: Int(match.2) ?? 0, kind: String(match.3), message: String(match.4))
    }
    private static func modules() async throws -> [String] {
        let build = URL(fileURLWithPath: try TransferCommand.builtProduct("request-load")).deletingLastPathComponent()
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
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
