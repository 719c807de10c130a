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

/// A server that is away, refuses files for one reason after the other, and comes back, without any user's action.
@Suite(.serialized) struct WatchOutageSoakTests {
    private static let refusals = [403, 423, 507, 429]

    /// The server is away for moments, and failed files come back only after a success.
    @Test(.timeLimit(.minutes(2))) func everyFileArrivesInOrderAfterAnOutage() async throws {
        var times = WatchTimes()
        times.again.first = .seconds(3600)
        let taken = try await soak(files: 8, times: times, Sample.retries(2)) { log in
            await log.wait { $0.lastBacklog?.waiting == 8 }
        }
        for phase in ["away", "403", "423", "507", "429"] {
            // A refused file comes back when a different file has shown that the server accepts files again.
            let groups = Dictionary(grouping: taken.filter { $0.name.hasPrefix(phase) }, by: \.refusals)
            for (refusals, group) in groups {
                let own = group.map(\.name)
                #expect(own == own.sorted(), "\(phase), refused \(refusals) times: \(own)")
            }
        }
    }

    /// The server is away for five minutes, with the default delays.
    @Test(.enabled(if: TransferCommand.runsHeavyTests), .timeLimit(.minutes(20)))
    func everyFileArrivesAfterFiveMinutes() async throws {
        let taken = try await soak(files: 40, times: WatchTimes(), JobSettings()) { log in
            await log.wait { $0.lastBacklog?.waiting == 40 }
            // The length of the outage is the subject of the test: every job's attempts would be used up by then. No
            // event marks it, as nothing happens meanwhile; the test is among the heavy ones.
            try await Task.sleep(for: .seconds(300))
        }
        let away = taken.map(\.name).filter { $0.hasPrefix("away") }
        #expect(away == away.sorted(), "\(away)")
    }

    /// - Parameter outage: Returns when the server has been away for long enough.
    /// - Returns: The received files in their order, except those that discovered the server's refusal: while that is
    ///   recorded a different file may be sent.
    private func soak(
        files: Int, times: WatchTimes, _ settings: JobSettings, outage: (WatchLog) async throws -> Void
    ) async throws -> [(name: String, refusals: Int)] {
        let folder = try TemporaryFolder("outage")
        let port = try HeldPort()
        let inbox = MoodyInbox()
        var server: TestServer?
        defer { server?.stop() }
        var spec = WatchSpec(folder: try folder.folder("in"), url: "http://127.0.0.1:\(port.number)/in/{name}")
        spec.settle = .milliseconds(20)
        spec.settings = settings
        var names: [String] = []
        func write(_ phase: String) throws {
            for number in 10..<10 + files {
                let name = "\(phase)-\(number)"
                // The file's time is its place in the order.
                try folder.write(name, to: "\(name).new")
                try folder.setTime("\(name).new", seconds: 1_000_000 + names.count)
                try folder.rename("\(name).new", "in/\(name)")
                names.append(name)
            }
        }
        try write("away")
        let limits = BatchLimits(concurrency: 1)
        let tried = AwaitedState(Set<String>())
        try await withWatch(folder, spec, times: times, limits: limits) { queue, _, log in
            _ = queue.observe { event in
                guard case .retrying(let job, _, _) = event.kind else { return }
                tried.change { _ = $0.insert(WatchedFolder.path(ofJob: job)) }
            }
            try await outage(log)
            inbox.refuse { _ in Self.refusals[0] }
            let back = try TestServer(on: .ipv4(port: port.number))
            server = back
            inbox.serve(back)
            for status in Self.refusals {
                inbox.refuse { _ in status }
                let before = inbox.refused.count
                try write("\(status)")
                // Only known files have an order.
                try await folder.history("count(*)", is: "\(names.count)")
                // 429 applies to all files: one that is probed twice more has been overtaken by those before it.
                let wanted = status == 429 ? inbox.refused.count + 2 : before + files
                await inbox.wait { $0.refused.count >= wanted }
            }
            inbox.refuse { _ in nil }
            await log.wait(forConfirmations: files * (1 + Self.refusals.count))
        }
        let taken = inbox.taken
        #expect(taken.sorted() == names.sorted(), "each once")
        let refused = inbox.refused
        return taken.filter { !tried.state.contains($0) }.map { name in (name, refused.count { $0 == name }) }
    }
}
