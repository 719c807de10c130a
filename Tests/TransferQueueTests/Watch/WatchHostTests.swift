import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// The report to outside observers about the host that a watched folder's files wait for.
@Suite(.timeLimit(.minutes(1))) struct WatchHostTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("host") }

    private var batch: String { "watch:" + folder.path("in") }

    private func status(where condition: @escaping @Sendable (BatchStatus) -> Bool) async throws -> BatchStatus {
        let remote = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
        let batch = batch
        return try await within {
            while true {
                try Task.checkCancellation()
                if let status = try remote.statuses(name: batch).first, condition(status) { return status }
                await Task.yield()
            }
        }
    }

    @Test func aHostThatRefusesConnectionsIsReportedWithItsFiles() async throws {
        let port = try RefusingPort()
        var spec = WatchSpec(folder: try folder.folder("in"), url: "\(port.url)/{path}")
        spec.settle = .milliseconds(20)
        spec.settings = Sample.retries(1)
        for name in ["a", "b", "c", "d"] { try folder.write(name, to: "in/" + name) }
        try await withWatch(folder, spec) { _, _, _ in
            let status = try await status { $0.hosts.first?.jobs == 4 }
            #expect(status.hosts.map(\.origin) == [port.url] && status.waiting == 4)
            #expect(status.hosts.first?.message.contains("refused") == true)
            let (remote, batch) = (try QueueRemote(state: folder.path("state"), runtimeFolder: nil), self.batch)
            // The file waits for its host between its turns as the probe.
            let message = try await within {
                while true {
                    try Task.checkCancellation()
                    let reason = try remote.explain(batch: batch, job: "a@1").reason
                    if case .host(port.url, nil, let message, _) = reason { return message }
                    await Task.yield()
                }
            }
            #expect(message.contains("refused"))
        }
    }

    @Test func aHostThatAsksForAPauseIsReportedUntilItAnswers() async throws {
        try await withTestServer { server in
            server.handle("PUT", "/in/*") { _ in Response(status: 503, headers: ["Retry-After": "60"]) }
            try folder.write("one", to: "in/a")
            try await withWatch(folder, try folder.watchSpec(server)) { queue, _, log in
                let status = try await status { $0.hosts.first?.jobs == 1 }
                #expect(status.hosts.first?.status == 503 && status.waiting == 1)
                let inbox = Inbox(server)
                _ = try QueueRemote(state: folder.path("state"), runtimeFolder: nil).ask(.retry, batch: batch, job: nil)
                await log.wait(forConfirmed: "a")
                _ = try await self.status { $0.hosts.isEmpty && $0.waiting == 0 }
                #expect(inbox.puts.count == 1)
            }
        }
    }

    /// The faults are those of a load balancer without servers: one file at a time finds that out for all of them.
    @Test(arguments: [Fault.resetBeforeHead, .closeBeforeHead])
    func aHostThatEndsEveryConnectionIsProbedByOneFile(_ fault: Fault) async throws {
        try await withTestServer { server in
            let names = (0..<40).map { "f\($0)" }
            for name in names {
                try folder.write(name, to: "in/" + name)
                server.script("/in/" + name, [], afterwards: fault)
            }
            let spec = try folder.watchSpec(server) {
                $0.settings.retry.scale = .seconds(30)
                $0.settings.retry.maxDelay = .seconds(30)
            }
            try await withWatch(folder, spec) { queue, _, log in
                let status = try await status { $0.hosts.first?.jobs == 40 }
                #expect(status.waiting == 40 && status.failed == 0)
                #expect(server.requests.count < 20, "those that were under way together")
                for name in names { server.script("/in/" + name, []) }
                let inbox = Inbox(server)
                _ = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
                    .ask(.retry, batch: batch, job: nil)
                await log.wait(forConfirmations: 40)
                #expect(inbox.puts.count == 40)
            }
        }
    }

    /// A file that its server cannot process does not delay the other files.
    @Test func aFileWithBrokenConnectionsDelaysNoOther() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            server.script("/in/bad", [], afterwards: .closeBeforeHead)
            try folder.write("bad", to: "in/bad")
            for number in 0..<20 { try folder.write("x", to: "in/f\(number)") }
            let spec = try folder.watchSpec(server) { $0.settings = Sample.retries(3) }
            try await withWatch(folder, spec) { _, _, log in
                await log.wait(forConfirmations: 20)
                try await folder.history("count(*)", "state = 2", is: "1")
            }
            #expect(inbox.puts.filter { $0.key != "bad" }.count == 20, "\(inbox.puts)")
        }
    }
}
