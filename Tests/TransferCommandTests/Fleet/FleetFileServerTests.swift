import Foundation
import Glibc
import Testing
import TransferTestSupport

/// Workers that upload to an FTP server, where an unfinished file has a temporary name.
@Suite(.enabled(if: PostgresServer.isWanted && FTPServer.isWanted), .serialized, .timeLimit(.minutes(2)))
struct FleetFileServerTests {
    let fleet: FleetPlace
    let server: FTPServer

    init() async throws {
        fleet = try await FleetPlace()
        server = try await FTPServer.start()
        try fleet.folder.write(count: 6 << 20, seed: 7, to: "a/f")
    }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: server.root)) ?? [] }

    private func bring(_ source: String, to name: String = "f", rate: String) async throws {
        let members = #""id": "f", "ftp": {"requireTLS": false}, "limitRate": "\#(rate)""#
        try fleet.place.jobs([upload(source, to: server.url("/\(name)"), members)])
        try await fleet.bring()
    }

    /// Submits an upload whose worker is killed in the middle of it.
    private func killedUpload() async throws {
        try await bring("f", rate: "1M")
        let worker = try fleet.worker("a")
        try await until("a part on the server") {
            names.contains { name in
                let part = try? Data(contentsOf: URL(fileURLWithPath: "\(server.root)/\(name)"))
                return part.map { $0.count > 1 << 20 } ?? false
            }
        }
        worker.kill(SIGKILL)
        _ = try await worker.result()
        #expect(names.count == 1 && names[0].hasSuffix(".part"), "\(names)")
    }

    @Test func theUploadOfAChangedJobIsDroppedByTheNextWorker() async throws {
        try await killedUpload()
        try await until("the lease to be over") {
            try await fleet.workers().allSatisfy { ($0["lease"]?.double ?? 1) <= 0 }
        }
        let part = names
        try fleet.folder.write(count: 3 << 20, seed: 9, to: "a/g")
        try await bring("g", rate: "50M")
        #expect(names == part)
        let next = try fleet.worker("a")
        #expect(try await fleet.run("wait", "batch").exitCode == 0)
        try await until("the part to be gone") { names == ["f"] }
        // One of them is from the killed worker, which tested before the transfer whether the account may delete.
        #expect(server.commands("DELE").count { "\($0)".hasSuffix(part[0]) } == 2)
        let isSame = try Data(contentsOf: URL(fileURLWithPath: "\(server.root)/f")) == fleet.folder.data("a/g")
        #expect(isSame, "other bytes")
        try await fleet.stop(next)
    }

    @Test func anUploadThatIsCancelledAfterItsWorkerWasKilledIsDroppedByTheNextOne() async throws {
        try await killedUpload()
        let part = try #require(names.first)
        // The lease of the killed worker is not over: the worker still has the job.
        #expect(try await fleet.run("cancel", "batch/f").exitCode == 0)
        let next = try fleet.worker("a")
        try await until("the server to have nothing of it") { names.isEmpty }
        // One of them is from the killed worker, which tested before the transfer whether the account may delete.
        #expect(server.commands("DELE").count { "\($0)".hasSuffix(part) } == 2)
        #expect(try await fleet.status("batch", "--jobs").map { $0["state"]?.string } == ["cancelled"])
        try await fleet.stop(next)
    }
}
