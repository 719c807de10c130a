import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// A working folder for the command, with a file system in `mounted`.
final class FileSystemPlace: Sendable {
    /// Whether the tests run: mounting takes root and some time.
    static let areWanted = FileSystemKind.areMountable && TransferCommand.runsHeavyTests

    let folder: TemporaryFolder
    private let place: Workplace
    private let mounted: MountedFileSystem

    init(_ kind: FileSystemKind) async throws {
        place = try Workplace("filesystem")
        folder = place.folder
        mounted = try await MountedFileSystem(kind, in: folder)
    }

    func jobs(_ jobs: [String]) throws { try place.jobs(jobs) }

    func start(_ arguments: String...) throws -> ChildProcess { try start(arguments) }

    func start(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess.start(mounted.command(place.command(arguments)))
    }

    /// Starts the command under strace(1), which gets the first arguments.
    func startTraced(_ options: [String], _ arguments: [String]) throws -> ChildProcess {
        var command = try mounted.command(place.command(arguments))
        guard let program = command.arguments.firstIndex(of: try TransferCommand.binary()) else {
            throw TestSupportError("no command in \(command.arguments)")
        }
        command.arguments.insert(
            contentsOf: ["/usr/bin/strace", "-f", "-qq", "-o", "/dev/null", "--seccomp-bpf"] + options, at: program)
        return try ChildProcess.start(command)
    }

    func run(_ arguments: String...) async throws -> ProcessResult { try await start(arguments).result() }

    /// Runs lines of `sh` in the file system's root.
    ///
    /// - Returns: The output of the lines, without the last end of line.
    @discardableResult
    func shell(_ script: String) async throws -> String {
        let output = try await mounted.shell("cd mounted && { \(script)\n}", place.command([]))
        return output.hasSuffix("\n") ? String(output.dropLast()) : output
    }

    /// Returns all its files, with hidden ones and partial files, separated by spaces.
    func names() async throws -> String {
        try await shell("find . -type f ! -path './lost+found*' | LC_ALL=C sort | tr '\\n' ' ' | sed 's/ $//'")
    }

    func holds(_ content: Content, _ name: String) async throws -> Bool {
        try await shell("cp \(name) ../copy")
        return try content.firstDifference(fromFileAt: folder.path("copy")) == nil
    }
}

/// Runs `body`, or skips it where the kernel has no such file system, or where a program is missing that `make check`
/// does not require.
func withFileSystem(
    _ kind: FileSystemKind, _ body: (FileSystemPlace, TestServer) async throws -> Void
) async throws {
    if let lack = kind.lack {
        let isRequired = ProcessInfo.processInfo.environment["TRANSFER_PEERS"] == "required"
        if lack.isPackage, isRequired { throw TestSupportError("\(kind): there is no \(lack.reason)") }
        FileHandle.standardError.write(Data("SKIPPED: \(kind): \(lack.reason)\n".utf8))
        return
    }
    try await withTestServer { server in
        let place = try await FileSystemPlace(kind)
        try await body(place, server)
    }
}
