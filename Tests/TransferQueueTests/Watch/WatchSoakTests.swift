import Testing
import TransferCore
import TransferEventLoop
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport
import TransferWatch

@testable import TransferFolders
@testable import TransferJobs
@testable import TransferQueue

/// Many writers, a server that restarts, and a queue that restarts.
@Suite(.serialized) struct WatchSoakTests {
    @Test(.timeLimit(.minutes(2))) func everyFinalVersionArrivesAndNothingElse() async throws {
        try await soak(files: 320, queueRestarts: 1)
    }

    @Test(.enabled(if: TransferCommand.runsHeavyTests), .timeLimit(.minutes(10)))
    func everyFinalVersionOfFiveThousandArrivesAndNothingElse() async throws {
        try await soak(files: 5000, queueRestarts: 2)
    }

    private func soak(files: Int, queueRestarts: Int) async throws {
        let folder = try TemporaryFolder("soak")
        let restarts = try ServerThatRestarts()
        let inbox = try restarts.start()
        defer { restarts.stop() }
        var spec = WatchSpec(folder: try folder.folder("in"), url: restarts.url("/in/{path}"))
        spec.rules.isRecursive = true
        spec.settle = .milliseconds(30)
        spec.then = .move(to: folder.path("out"))
        spec.settings = Sample.retries(1000)
        let crew = WriterCrew(folder: spec.folder, writers: 4, files: files)
        for round in 0...queueRestarts {
            let isLast = round == queueRestarts
            try await withWatch(folder, spec) { [spec] _, _, log in
                try crew.work(part: round, of: queueRestarts + 1) {
                    // The restart comes in the middle of the work, with connections open.
                    try restarts.restart()
                }
                guard isLast else { return }
                try crew.finish()
                await log.wait { events in
                    // Files that earlier rounds moved are not among these.
                    guard case .moved = events.last else { return false }
                    return inbox.has(crew.finals) && WriterCrew.isEmpty(spec.folder)
                }
            }
        }
        #expect(Set(inbox.contents.keys) == Set(crew.finals.keys))
        #expect(inbox.contents.mapValues { String(decoding: $0, as: UTF8.self) } == crew.finals)
        #expect(inbox.overlaps.isEmpty)
        let moved = try folder.files(below: "out")
        #expect(Set(moved).isSuperset(of: crew.finals.keys))
        #expect(!moved.contains { $0.hasSuffix(".part") || $0.contains("deleted") || $0.contains(".transfer-") })
        let rows = try folder.database.value("SELECT count(*) FROM ledger WHERE state <> 1")
        #expect(rows == "0")
    }
}

extension Inbox {
    func has(_ finals: [String: String]) -> Bool {
        let contents = contents
        return finals.allSatisfy { contents[$0].map { String(decoding: $0, as: UTF8.self) } == $1 }
    }
}

/// One address, and servers that come and go behind it; the received files stay.
///
/// `@unchecked Sendable`: used by one task.
final class ServerThatRestarts: @unchecked Sendable {
    private var server: TestServer?
    private var inbox: Inbox?
    private let port: HeldPort

    init() throws { port = try HeldPort() }

    func start() throws -> Inbox {
        let server = try TestServer(on: .ipv4(port: port.number))
        self.server = server
        let inbox = Inbox(server)
        self.inbox = inbox
        return inbox
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port.number)\(path)" }

    func restart() throws {
        server?.stop()
        let server = try TestServer(on: .ipv4(port: port.number))
        inbox?.serve(server)
        self.server = server
    }

    func stop() { server?.stop() }
}
