import Foundation
import Glibc
import Testing
import TransferTestSupport

/// The end of a worker in order, and its reload.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(2))) struct FleetDrainTests {
    /// Starts a server whose files `0`, `1` and so on have that size, and queues their downloads.
    private func bring(_ count: Int, bytes: Int, rate: String, to fleet: FleetPlace) async throws -> NginxServer {
        var options = NginxServer.Options()
        options.limitRate = rate
        let server = try await NginxServer.start(options: options)
        for number in 0..<count {
            try Data(repeating: UInt8(number), count: bytes)
                .write(to: URL(fileURLWithPath: "\(server.root)/\(number)"))
        }
        try fleet.place.jobs(
            (0..<count).map { download(server.url("/\($0)"), to: "in/\($0)", #""id": "j\#($0)""#) })
        try await fleet.bring()
        return server
    }

    private func running(_ fleet: FleetPlace) async throws -> Int64 {
        try await fleet.workers().first?["running"]?.int ?? 0
    }

    @Test func aWorkerThatIsAskedToEndLetsItsTransfersEndAndTakesNoOthers() async throws {
        let fleet = try await FleetPlace()
        let server = try await bring(6, bytes: 6000, rate: "2k", to: fleet)
        let worker = try fleet.worker("a", "-j", "2", "--drain", "1m")
        try await worker.starts(2)
        worker.kill(SIGTERM)
        let result = try await worker.result()
        #expect(result.exitCode == 0, "\(result)")
        #expect(
            result.standardError.contains(
                "ending: no new jobs, and 2 transfers under way may end within 1m 00s; a second signal"), "\(result)")
        #expect(result.standardError.contains("all transfers under way have ended"), "\(result)")
        let states = try await fleet.status("batch", "--jobs").compactMap { $0["state"]?.string }
        #expect(states.filter { $0 == "done" }.count == 2 && states.filter { $0 == "queued" }.count == 4, "\(states)")
        let next = try fleet.worker("b")
        #expect(try await fleet.run("wait", "batch").exitCode == 0)
        try await fleet.stop(next)
        await server.stop()
        let uris = try server.accessLog().map(\.uri)
        #expect(uris.count == 6 && Set(uris).count == 6, "no file was fetched twice: \(uris)")
    }

    @Test func transfersThatDoNotEndInTimeAreCheckpointedAndGivenBack() async throws {
        let fleet = try await FleetPlace()
        let server = try await bring(2, bytes: 400_000, rate: "2k", to: fleet)
        let worker = try fleet.worker("a", "--drain", "1s")
        try await worker.event("job.started")
        let asked = ContinuousClock.now
        worker.kill(SIGTERM)
        let result = try await worker.result()
        let took = ContinuousClock.now - asked
        #expect(result.exitCode == 0 && took >= .seconds(1) && took < .seconds(10), "\(took) \(result)")
        #expect(
            result.standardError.contains("did not end in time: checkpointed and given back"), "\(result)")
        let states = try await fleet.status("batch", "--jobs").compactMap { $0["state"]?.string }
        #expect(states == ["queued", "queued"], "no lease has to end first")
        await server.stop()
    }

    @Test func aSecondSignalEndsADrainAtOnce() async throws {
        let fleet = try await FleetPlace()
        let server = try await bring(1, bytes: 400_000, rate: "2k", to: fleet)
        let worker = try fleet.worker("a", "--drain", "1h")
        try await worker.event("job.started")
        worker.kill(SIGTERM)
        _ = try await worker.line { $0.contains("a second signal ends the worker at once") }
        let asked = ContinuousClock.now
        worker.kill(SIGINT)
        let result = try await worker.result()
        #expect(result.exitCode == 128 + SIGINT || result.signal == SIGINT, "\(result)")
        #expect(ContinuousClock.now - asked < .seconds(5))
        await server.stop()
    }

    @Test func aHangUpReadsTheConfigurationAgain() async throws {
        let fleet = try await FleetPlace()
        let server = try await bring(3, bytes: 400_000, rate: "2k", to: fleet)
        func limit(_ value: String) throws {
            try fleet.folder.write(#"{"version": 1, "limits": {"concurrency": \#(value)}}"#, to: "limits.json")
        }
        try limit("1")
        let worker = try fleet.worker("a", "--config", "limits.json")
        try await worker.event("job.started")
        #expect(try await running(fleet) <= 1)
        try limit("\"many\"")
        worker.kill(SIGHUP)
        _ = try await worker.line { $0.contains("the worker continues as before") }
        try limit("3")
        worker.kill(SIGHUP)
        _ = try await worker.line { $0.contains("the configuration was read again") }
        try await worker.starts(3)
        #expect(try await fleet.batch()?["done"]?.int == 0, "no transfer had to end for it")
        try await fleet.stop(worker)
        await server.stop()
    }
}

extension ChildProcess {
    /// Waits until the worker has started that many transfers since its own start.
    fileprivate func starts(_ count: Int) async throws {
        var seen = 0
        _ = try await line(.standardOutput) { line in
            if line.contains(#""job.started""#) { seen += 1 }
            return seen == count
        }
    }
}
