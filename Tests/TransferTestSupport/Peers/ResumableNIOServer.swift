internal import Foundation
internal import Glibc

/// The server of NIOResumableUpload, interop version 6 of the IETF's draft: the program of `Tests/peers/resumable-nio`,
/// in a folder of its own.
public final class ResumableNIOServer: Sendable {
    public let port: UInt16
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// Whether suites against this server run: if it is built, or required (`TRANSFER_PEERS=required`, which `make
    /// check` sets). If required, they fail without it.
    public static let isWanted: Bool = {
        if isBuilt { return true }
        if ProcessInfo.processInfo.environment["TRANSFER_PEERS"] == "required" { return true }
        let line =
            "SKIPPED: the suites against NIOResumableUpload, as it is not built (`make peers`, which takes minutes)\n"
        FileHandle.standardError.write(Data(line.utf8))
        return false
    }()

    public static func start() async throws -> ResumableNIOServer {
        guard isBuilt else {
            throw TestSupportError("NIOResumableUpload's server is not built; `make peers` builds it")
        }
        let folder = try TemporaryFolder("resumable-nio")
        var command = ChildProcess.Command(binary, [folder.path], environment: [:], timeout: .seconds(3600))
        command.standardInput = .open
        let process = try ChildProcess.start(command)
        let mark = "listening on "
        let line = try await process.line { $0.hasPrefix(mark) }
        guard let port = UInt16(line.dropFirst(mark.count)) else { throw TestSupportError("no port: \(line)") }
        return ResumableNIOServer(port: port, folder: folder, process: process)
    }

    private init(port: UInt16, folder: TemporaryFolder, process: ChildProcess) {
        self.port = port
        self.folder = folder
        self.process = process
    }

    deinit { process.kill(SIGKILL) }

    /// Returns the SHA-256 of each complete upload, once for each time that it came.
    public func objects() async throws -> [String] {
        var sums: [String] = []
        for name in try folder.files(below: "objects") { sums.append(try await folder.sha256("objects/" + name)) }
        return sums
    }

    /// Returns the number of incomplete uploads.
    public func unfinished() throws -> Int { try folder.files(below: "incoming").count }

    /// Makes the server forget all incomplete uploads, so that they cannot be resumed.
    public func forget() { process.send(Data("forget\n".utf8)) }

    private static let binary = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../.build/peers/resumable-nio/release/resumable-nio").standardized.path

    private static var isBuilt: Bool { FileManager.default.isExecutableFile(atPath: binary) }
}
