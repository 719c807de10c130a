import Foundation
import Glibc
import Synchronization
import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport
import TransferWatch

@testable import TransferFolders
@testable import TransferJobs
@testable import TransferQueue

/// The events of a watched folder.
final class WatchLog: Sendable {
    private struct State {
        var events: [WatchedFolderEvent] = []
        var confirmations = 0
    }

    private let awaited = AwaitedState(State())

    func add(_ event: WatchedFolderEvent) {
        awaited.change { state in
            state.events.append(event)
            if event.confirmedPath != nil { state.confirmations += 1 }
        }
    }

    var events: [WatchedFolderEvent] { awaited.state.events }

    func wait(until condition: @escaping @Sendable ([WatchedFolderEvent]) -> Bool) async {
        await awaited.wait { condition($0.events) }
    }

    func wait(forConfirmed paths: String...) async {
        await wait { events in Set(events.compactMap(\.confirmedPath)).isSuperset(of: paths) }
    }

    func wait(forConfirmations count: Int) async {
        await awaited.wait { $0.confirmations >= count }
    }

    /// Returns when all files of the folder have been offered and taken.
    func caughtUp(_ times: Int = 1) async {
        await wait { $0.count(where: \.isCaughtUp) >= times }
    }

    var timesCaughtUp: Int { events.count(where: \.isCaughtUp) }

    var confirmed: [String] { events.compactMap(\.confirmedPath) }
}

extension WatchedFolderEvent {
    var isCaughtUp: Bool { if case .watch(.caughtUp) = self { true } else { false } }

    var confirmedPath: String? { if case .confirmed(let path, _) = self { path } else { nil } }

    var donePath: String? {
        switch self {
        case .moved(let path, _), .deleted(let path): path
        default: nil
        }
    }

    var staysCode: TransferError.Code? { if case .stays(_, let error, _) = self { error.code } else { nil } }
}

extension WatchedFolderEvent {
    /// Returns whether no file waits any longer, and this number of files is kept for their time.
    func isBacklog(kept: Int) -> Bool {
        if case .backlog(waiting: 0, kept: kept) = self { true } else { false }
    }
}

extension [WatchedFolderEvent] {
    /// The last reported backlog.
    var lastBacklog: (waiting: Int, kept: Int)? {
        lazy.compactMap { if case .backlog(let waiting, let kept) = $0 { (waiting, kept) } else { nil } }.last
    }
}

/// A server that keeps the uploaded files, and notes forbidden events.
final class Inbox: Sendable {
    struct State {
        /// The uploaded contents by path, in the order of their ends.
        var puts: [String: [[UInt8]]] = [:]
        var underWay: [String: Int] = [:]
        /// The paths that were being put twice at a time.
        var overlaps: Set<String> = []
    }

    private let state = Mutex(State())
    /// The function that is called on the connection's thread before the answer to a PUT, and may block it.
    private let beforeAnswer: @Sendable (String) -> Void

    init(_ server: TestServer, beforeAnswer: @escaping @Sendable (String) -> Void = { _ in }) {
        self.beforeAnswer = beforeAnswer
        serve(server)
    }

    func serve(_ server: TestServer) { server.handle("PUT", "/in/*") { [self] in put($0) } }

    private func put(_ request: Request) -> Response {
        let path = String(request.path.dropFirst(4))
        state.withLock { state in
            state.underWay[path, default: 0] += 1
            if state.underWay[path, default: 0] > 1 { state.overlaps.insert(path) }
        }
        beforeAnswer(path)
        state.withLock { state in
            state.underWay[path, default: 1] -= 1
            state.puts[path, default: []].append(request.body)
        }
        return Response(status: 201)
    }

    /// Returns when a body has arrived whole and waits for its answer.
    func wait(forBodyOf path: String) async throws {
        try await within { [self] in
            while state.withLock({ $0.underWay[path, default: 0] }) == 0 {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    var puts: [String: [String]] {
        state.withLock { $0.puts.mapValues { $0.map { String(decoding: $0, as: UTF8.self) } } }
    }

    /// The contents that are there now.
    var contents: [String: [UInt8]] { state.withLock { $0.puts.compactMapValues(\.last) } }
    var overlaps: Set<String> { state.withLock { $0.overlaps } }
}

/// A gate for threads of a server: closed, then opened once.
final class Latch: Sendable {
    private let gate = Gate()

    /// Blocks until the gate is open.
    func pass() {
        gate.pass()
        gate.letThrough()
    }

    func open() { gate.letThrough() }
}

extension TemporaryFolder {
    func watchSpec(_ server: TestServer, _ change: (inout WatchSpec) -> Void = { _ in }) throws -> WatchSpec {
        var spec = WatchSpec(folder: try folder("in"), url: server.url("/in/{path}"))
        spec.rules.isRecursive = true
        spec.settle = .milliseconds(20)
        spec.settings = Sample.quick
        change(&spec)
        return spec
    }

    func rename(_ from: String, _ to: String) throws {
        try #require(Glibc.rename(path(from), path(to)) == 0, "\(errno)")
    }

    var database: RawDatabase { RawDatabase(path: path("state/queue.sqlite")) }

    /// Returns when the upload history has this value.
    ///
    /// - Throws: ``DidNotEnd``
    func history(_ value: String, _ condition: String = "1", is expected: String?) async throws {
        let database = database
        try await within {
            while try database.value("SELECT \(value) FROM ledger WHERE \(condition)") != expected {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    /// Writes rows for files that were uploaded two hours ago.
    func confirm(_ paths: [String], _ number: Int64) throws {
        let places = FolderPlaces(path("in"))
        let rows = try paths.map { path in
            let version = FileVersion(try #require(places.file(path)).stamp, path: path)
            return """
                (\(number), \(version.deviceBits), \(version.inodeBits), \(version.size),
                \(version.modified), '\(path)', '\(path)', 1, '', 0, unixepoch() * 1000 - 7200000,
                unixepoch() * 1000 - 3600000)
                """
        }
        try database.run(
            """
            INSERT INTO ledger (folder, device, inode, size, modified, path, url, state, digest, staged, confirmed, due)
            VALUES \(rows.joined(separator: ","))
            """)
    }

    func unlink(_ relative: String) throws { try #require(Glibc.unlink(path(relative)) == 0, "\(errno)") }
}

/// Watches a folder while the queue runs; both end with `body`.
func withWatch<Result>(
    _ folder: TemporaryFolder, _ spec: WatchSpec, times: WatchTimes = WatchTimes(), runs: Bool = true,
    limits: BatchLimits = BatchLimits(), isolation: isolated (any Actor)? = #isolation,
    _ body: (JobQueue, WatchedFolder, WatchLog) async throws -> Result
) async throws -> Result {
    try await withQueue(folder, limits: limits) { queue in
        let log = WatchLog()
        let watched = try await WatchedFolder.start(spec, on: queue, times: times) { log.add($0) }
        let run = runs ? Task { try await queue.run() } : nil
        do {
            let result = try await body(queue, watched, log)
            await watched.stop()
            run?.cancel()
            try await run?.value
            return result
        } catch {
            await watched.stop()
            run?.cancel()
            try? await run?.value
            throw error
        }
    }
}

extension JobQueue {
    /// Runs the queue for the duration of `body`: earlier submissions have waited until now.
    func run(_ body: () async throws -> Void) async throws {
        let run = Task { try await self.run() }
        try await body()
        run.cancel()
        try await run.value
    }
}
