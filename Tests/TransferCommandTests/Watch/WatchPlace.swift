import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// A folder `out` that the command watches, and a server that accepts its files under `/in/`.
final class WatchPlace: Sendable {
    let place: Workplace
    let server: TestServer
    let sink: UploadSink

    init(_ server: TestServer) throws {
        place = try Workplace("watch")
        try place.folder.folder("out")
        self.server = server
        sink = server.acceptUploads("/in/*")
    }

    var folder: TemporaryFolder { place.folder }
    /// The folder's name in messages and, after `watch:`, in the queue.
    var path: String { folder.path("out") }

    func command(_ options: [String] = [], to path: String = "/in/", json: Bool = true) -> TransferCommand {
        place.command(
            ["watch", "out", "--to", server.url(path), "--settle", "50ms"] + (json ? ["--json"] : []) + options)
    }

    func start(_ options: String...) throws -> ChildProcess { try command(options).start() }

    /// Writes a file into the watched folder.
    func write(_ text: String, to name: String) throws { try folder.write(text, to: "out/" + name) }

    /// Returns the received contents under a name, in order.
    func bodies(_ name: String) -> [String] {
        sink.uploads(to: "/in/" + name).filter(\.isComplete).map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    /// Stops the process, and expects a normal end.
    @discardableResult
    func stop(_ process: ChildProcess, by signal: Int32 = SIGTERM) async throws -> ProcessResult {
        let asked = ContinuousClock.now
        process.kill(signal)
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(result)")
        #expect(ContinuousClock.now - asked < .seconds(5))
        return result
    }
}

extension ChildProcess {
    /// Waits until a file's version is on the server and recorded as uploaded.
    ///
    /// - Parameter count: The number of the version under that name, from 1.
    @discardableResult
    func confirmed(_ path: String, _ count: Int = 1) async throws -> JSONValue {
        var seen = 0
        return try await event("watch.confirmed") { event in
            if event["path"]?.string == path { seen += 1 }
            return seen == count
        }
    }

    /// Waits until the folder has been scanned, and this number of files was confirmed.
    func caughtUp(confirming count: Int) async throws {
        var confirmed = 0
        try await event("watch.confirmed") { _ in
            confirmed += 1
            return confirmed == count
        }
        try await event("watch.caughtUp")
    }
}
