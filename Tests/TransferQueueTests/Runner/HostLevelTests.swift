import Dispatch
import Glibc
import Synchronization
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferScheduling

/// The number of transfers that a host gets where no number is configured, through the whole queue.
@Suite(.timeLimit(.minutes(1))) struct HostLevelTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("levels") }

    private func jobs(_ server: TestServer, _ count: Int) -> [JobSpec] {
        (0..<count).map { Sample.download(server.url("/\($0)"), to: folder.path("out/\($0)"), id: "\($0)") }
    }

    /// Delays an answer by 50 ms. A latency is a time, and these tests are about the concurrency level that hides it.
    private static func takeTime() { usleep(50_000) }

    @Test func hundredsOfFilesThatWaitForAnswersGetMoreThanTenAndNoMoreThan64() async throws {
        try await withTestServer { server in
            server.handle("GET", "/*") { request in
                Self.takeTime()
                return Response(body: .text(request.path))
            }
            try await withQueue(folder, limits: BatchLimits(concurrency: 100)) { queue in
                let totals = try await queue.complete(jobs(server, 400), limit: .seconds(50))
                #expect(totals.completed == 400)
            }
            #expect(server.peakRequests > 10 && server.peakRequests <= 64, "\(server.peakRequests) at once")
            #expect(try folder.text("out/399") == "/399")
        }
    }

    @Test func aNumberIsNeitherMoreNorLess() async throws {
        try await withTestServer { server in
            server.handle("GET", "/*") { _ in
                Self.takeTime()
                return Response(body: .text("x"))
            }
            try await withQueue(folder, limits: BatchLimits(concurrency: 100, perHost: 3)) { queue in
                let totals = try await queue.complete(jobs(server, 60), limit: .seconds(50))
                #expect(totals.completed == 60)
            }
            #expect(server.peakRequests == 3)
        }
    }

    /// A server that refuses, together, the first twenty simultaneous requests.
    private final class Crowd: Sendable {
        private struct State {
            var active = 0
            /// The largest number of simultaneous requests after the refusals.
            var later = 0
            var waiting = 0
            var isFull = false
            var isOver = false
        }

        private let state = Mutex(State())
        private let gate = DispatchSemaphore(value: 0)
        private let twenty = 20

        var later: Int { state.withLock(\.later) }
        var hasRefused: Bool { state.withLock(\.isOver) }

        /// - Returns: Whether the request is answered.
        func answers() -> Bool {
            state.withLock { state in
                state.active += 1
                if state.isOver { state.later = max(state.later, state.active) }
                if state.active > ConcurrencyProbe.first { state.isFull = true }
            }
            HostLevelTests.takeTime()
            enum Turn { case answer, wait, last }
            let turn = state.withLock { state -> Turn in
                guard state.isFull, !state.isOver else {
                    state.active -= 1
                    return .answer
                }
                state.waiting += 1
                guard state.waiting == twenty else { return .wait }
                (state.isOver, state.active) = (true, 0)
                return .last
            }
            switch turn {
            case .answer: return true
            case .wait: gate.wait()
            case .last: for _ in 1..<twenty { gate.signal() }
            }
            return false
        }
    }

    @Test(arguments: [503, 429]) func simultaneousRefusalsHalveTheLevelOnce(status: Int) async throws {
        let crowd = Crowd()
        try await withTestServer { server in
            server.handle("GET", "/*") { _ in
                crowd.answers() ? Response(body: .text("x")) : Response(status: status)
            }
            try await withQueue(folder, limits: BatchLimits(concurrency: 100)) { queue in
                let totals = try await queue.complete(jobs(server, 100), limit: .seconds(50))
                #expect(totals.completed == 100)
            }
        }
        #expect(crowd.hasRefused)
        // One place returns every ten seconds: no run is long enough for more of them.
        #expect((2...12).contains(crowd.later), "\(crowd.later) at once after twenty were refused")
    }

    static let failures: [(TransferError, Int?, Bool, ConcurrencyBackoff.Refusal?)] = [
        (Sample.busy(503), nil, false, .answer), (Sample.busy(503), nil, true, .answer),
        (Sample.busy(429), nil, false, .answer), (Sample.busy(500), nil, false, nil),
        (Sample.busy(404), nil, false, nil),
        (TransferError(.badResponse, "no part"), 503, false, .answer),
        (TransferError(.badResponse, "no part"), 200, false, nil),
        (TransferError(.connectionLost, "reset"), nil, false, .answer),
        (TransferError(.connectionLost, "reset"), nil, true, .brokenOff),
        (TransferError(.connectionLost, "reset"), 206, true, .brokenOff),
        (TransferError(.timedOut, "nothing came"), nil, false, nil), (Sample.unreachable(), nil, false, nil),
    ]

    @Test(arguments: failures) func statusesAreRefusalsOrNot(
        error: TransferError, status: Int?, hadBegun: Bool, expected: ConcurrencyBackoff.Refusal?
    ) {
        #expect(ConcurrencyBackoff.Refusal(error, status: status, hadBegun: hadBegun) == expected)
    }
}
