import Logging
import ServiceLifecycle
import Testing
import TransferQueue
import TransferService
import TransferTestSupport
import TransferTesting

/// The queue in a `ServiceGroup`.
@Suite(.timeLimit(.minutes(1))) struct QueueServiceTests {
    private enum Ending: CaseIterable {
        case shutdown, cancellation
    }

    private let folder: TemporaryFolder
    private let logger: Logger

    init() throws {
        folder = try TemporaryFolder("service")
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        self.logger = logger
    }

    private func open() async throws -> TransferQueue {
        try await TransferQueue.open(.init(state: folder.path("state"), logger: logger))
    }

    @Test(arguments: Ending.allCases)
    private func runningJobsAreKeptAndResumedByTheNextService(_ ending: Ending) async throws {
        let body = ServedBody.random(count: 4_000_000)
        try await withScriptedServer { server in
            server.serve("/x", body)
            server.script("/x", [.stall(after: 3_000_000)])
            let queue = try await open()
            let job = try await queue.submit(.download(server.url("/x"), to: folder.path("x"), id: "x"), batch: "b")
            let group = ServiceGroup(services: [QueueService(queue)], logger: logger)
            let running = Task { try await group.run() }
            for try await progress in job.progress where progress.completed >= 2_000_000 { break }
            switch ending {
            case .shutdown:
                await group.triggerGracefulShutdown()
                try await running.value
            case .cancellation:
                running.cancel()
                _ = await running.result
            }
            await queue.close()
            #expect(folder.exists("x.part") && !folder.exists("x"))

            let next = try await open()
            let second = ServiceGroup(services: [QueueService(next)], logger: logger)
            let again = Task { try await second.run() }
            let same = try #require(try await next.job("x", batch: "b"))
            let receipt = try await same.receipt(unattended: .seconds(30))
            #expect(receipt.transferred < 2_500_000)
            await second.triggerGracefulShutdown()
            try await again.value
            await next.close()
            #expect(try body.firstDifference(fromFileAt: folder.path("x")) == nil)
        }
    }

    @Test func aShutdownBeforeTheStartEndsTheServiceToo() async throws {
        let queue = try await open()
        let group = ServiceGroup(services: [QueueService(queue)], logger: logger)
        await group.triggerGracefulShutdown()
        try await group.run()
        await queue.close()
    }

    /// The tutorial's program receives SIGTERM in the middle of a download, and is started once more.
    @Test func theProgramOfTheTutorialResumesAfterSIGTERM() async throws {
        let body = ServedBody.random(count: 4_000_000)
        try await withScriptedServer { server in
            server.serve("/x.bin", body)
            server.script("/x.bin", [.stall(after: 3_000_000)])
            let command = ChildProcess.Command(
                try TransferCommand.builtProduct("service-program"),
                [folder.path("state"), folder.path("files"), server.url("/x.bin")], workingFolder: folder.path)
            let first = try ChildProcess.start(command)
            try await first.line(.standardError) { $0.contains("transfer_bytes_total") }
            first.kill(15)
            let stopped = try await first.result()
            #expect(stopped.exitCode == 0, "\(stopped)")
            #expect(!folder.exists("files/x.bin"))

            let second = try ChildProcess.start(command)
            try await second.line(.standardError) { $0.contains("files/x.bin has 4000000 bytes") }
            second.kill(15)
            let result = try await second.result()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try body.firstDifference(fromFileAt: folder.path("files/x.bin")) == nil)
            #expect(server.requests.last?.header("Range") != nil)
            // The output has the metrics of the run.
            #expect(result.standardError.contains("transfer_jobs_ended_total"), "\(result)")
        }
    }
}
