import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Pending commands for jobs whose worker is gone: real workers that are killed in the middle of an upload.
@Suite(.enabled(if: PostgresServer.isWanted), .serialized, .timeLimit(.minutes(3))) struct FleetCancelTests {
    /// A worker in the middle of an upload, and the server of the upload.
    private struct Bench {
        let fleet: FleetPlace
        let peer: any UploadPeer
        let relay: FaultRelay
        /// The process that submitted the job and reports its end.
        let run: ChildProcess
        let worker: ChildProcess

        init(_ kind: UploadPeerKind) async throws {
            fleet = try await FleetPlace()
            peer = try await kind.start()
            relay = try FaultRelay(to: peer.port)
            relay.script([.stall(after: 2 << 20)], countsFromFirstAnswer: kind.answersBeforeTheBody)
            try fleet.folder.write(count: UploadConformanceTests.size, seed: 7, to: "a/f")
            try fleet.folder.write("secret", to: "credentials/key")
            let (url, members) = peer.target(relay.port)
            let named = members.replacingOccurrences(of: #"{"file": "secret"}"#, with: #"{"credential": "key"}"#)
            try fleet.place.jobs([upload("f", to: url, #""id": "f", \#(named)"#)])
            run = try fleet.command(["run", "jobs.json", "--json", "--queue", fleet.queue]).start()
            worker = try Self.worker(fleet, relay)
            try await until("the upload to stall") { [relay] in relay.stalledCount == 1 }
        }

        /// Kills the worker; the server drops its connection.
        func kill() async throws {
            worker.kill(SIGKILL)
            _ = try await worker.result()
            relay.script([])
            relay.cutAll()
            try await until("the server to have begun") { [peer] in try await peer.unfinished() == 1 }
        }

        func next() throws -> ChildProcess { try Self.worker(fleet, relay) }

        private static func worker(_ fleet: FleetPlace, _ relay: FaultRelay) throws -> ChildProcess {
            var command = fleet.command([
                "work", "--queue", fleet.queue, "-d", "a", "--allow-private", "--lease", "3s", "--json",
                "--allow-secret", "key=http://127.0.0.1:\(relay.port)",
            ])
            command.environment["CREDENTIALS_DIRECTORY"] = fleet.folder.path("credentials")
            return try command.start()
        }

        /// Returns the state of the one job.
        func state() async throws -> [String?] { try await fleet.status("batch", "--jobs").map { $0["state"]?.string } }
    }

    /// The server of an unfinished upload is asked to delete it, whichever worker sent it.
    @Test(arguments: UploadPeerKind.available.filter { [.tus, .resumable8, .moto, .rclone].contains($0) })
    func anUploadThatIsCancelledAfterItsWorkerWasKilledIsDroppedByTheNextOne(_ kind: UploadPeerKind) async throws {
        let bench = try await Bench(kind)
        try await bench.kill()
        // The lease of the killed worker is not over: the worker still has the job.
        let cancel = try await bench.fleet.run("cancel", "batch/f")
        #expect(cancel.exitCode == 0, "\(cancel)")
        let next = try bench.next()
        let ends = try await bench.run.result()
        #expect(try ends.events().ends == ["f": "cancelled"], "\(ends)")
        #expect(try ends.events().named("job.cancelled").count == 1, "\(ends)")
        try await until("the server to have nothing of it") { try await bench.peer.unfinished() == 0 }
        #expect(try await bench.peer.objects().isEmpty)
        #expect(try await bench.state() == ["cancelled"])
        try await bench.fleet.stop(next)
    }

    @Test(arguments: UploadPeerKind.available.filter { [.tus, .moto].contains($0) })
    func anUploadThatIsCancelledWhileItIsSentIsDroppedByItsWorker(_ kind: UploadPeerKind) async throws {
        let bench = try await Bench(kind)
        try await until("the server to have begun") { try await bench.peer.unfinished() == 1 }
        #expect(try await bench.fleet.run("cancel", "batch/f").exitCode == 0)
        let ends = try await bench.run.result()
        #expect(try ends.events().ends == ["f": "cancelled"], "\(ends)")
        bench.relay.cutAll()
        try await until("the server to have nothing of it") { try await bench.peer.unfinished() == 0 }
        try await bench.fleet.stop(bench.worker)
    }

    /// The store cancels a job that no worker has, and the worker that was running all the time notifies the server.
    @Test func anUploadThatIsCancelledWhileItWaitsForAWorkerIsDropped() async throws {
        let bench = try await Bench(.tus)
        try await bench.kill()
        try await until("the lease to be over") {
            try await bench.fleet.workers().allSatisfy { ($0["lease"]?.double ?? 1) <= 0 }
        }
        let cancel = try await bench.fleet.run("cancel", "batch")
        #expect(cancel.standardOutput.contains("1 job cancelled"), "\(cancel)")
        #expect(try await bench.peer.unfinished() == 1)
        let next = try bench.next()
        try await until("the server to have nothing of it") { try await bench.peer.unfinished() == 0 }
        #expect(try await bench.state() == ["cancelled"])
        try await bench.fleet.stop(next)
    }

    @Test func anUploadThatIsPausedAfterItsWorkerWasKilledStaysPaused() async throws {
        let bench = try await Bench(.tus)
        try await bench.kill()
        #expect(try await bench.fleet.run("pause", "batch/f").exitCode == 0)
        let next = try bench.next()
        try await until("the next worker to have taken over") { try await bench.state() == ["paused"] }
        #expect(try await bench.fleet.run("resume", "batch").exitCode == 0)
        let run = try await bench.run.result()
        #expect(run.exitCode == 0, "\(run)")
        #expect(try await bench.peer.objects().count == 1)
        try await bench.fleet.stop(next)
    }
}
