import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// `transfer serve --keep`: batches of clients that ended long ago leave the queue.
@Suite(.timeLimit(.minutes(2))) struct ServedRetentionTests {
    private func names(_ place: ServedPlace) async throws -> Set<String> {
        let batches = try await place.ask("/api/v1/batches").json["batches"] as? [[String: Any]]
        return Set(batches?.compactMap { $0["name"] as? String } ?? [])
    }

    /// The option, or the key of the configuration.
    @Test(arguments: [true, false]) func oldBatchesOfClientsAreRemovedAndTheirFilesStay(byOption: Bool) async throws {
        try await withTestServer { server in
            server.handle("GET", "/*") { request in Response(body: .text(request.path)) }
            let folder = try TemporaryFolder("serve")
            try folder.write(
                #"{"version": 1, "name": "own", "jobs": [\#(job(server.url("/o"), to: "o"))]}"#, to: "own.json")
            let options = ServedPlace.options + [folder.path("own.json")]
            let first = try await ServedPlace.start(options + ["--no-config"], in: folder)
            let ended = try await first.ask("/api/v1/jobs?batch=ended", json: job(server.url("/a"), to: "a"))
            _ = try await first.job(try #require(ended.json["gid"] as? String, "\(ended.text)"), becomes: "done")
            let paused = try await first.ask("/api/v1/jobs?batch=paused&paused=1", json: job(server.url("/b"), to: "b"))
            #expect(paused.status == 201)
            try await until("the own batch is done") { first.folder.exists("files/o") }
            #expect(try await first.stop().exitCode == 0)
            try folder.write(#"{"version": 1, "serve": {"keep": "10ms"}}"#, to: "config.json")
            let keep = byOption ? ["--no-config", "--keep", "10ms"] : ["--config", folder.path("config.json")]
            let again = try await ServedPlace.start(options + keep, in: folder)
            try await until("the old batch is removed") { try await !names(again).contains("ended") }
            let left = try await names(again)
            #expect(left.contains("paused") && left.count == 2, "\(left): and the batch of the job file")
            #expect(folder.exists("files/a"))
            #expect(try await again.stop().exitCode == 0)
        }
    }

    @Test(arguments: ["0", "soon", "-1d"]) func anInvalidAgeIsRefused(_ age: String) async throws {
        let folder = try TemporaryFolder("serve")
        let command = ChildProcess.Command(
            try TransferCommand.builtProduct("transfer-server"), ["--state", folder.path("state"), "--keep=\(age)"],
            environment: ["PATH": "/usr/bin"], workingFolder: folder.path)
        let result = try await ChildProcess.start(command).result()
        #expect(result.exitCode == 64 && result.standardError.contains("--keep"), "\(result)")
    }
}
