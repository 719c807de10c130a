import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// An attack that takes time: a local user replaces a folder by a link that leads outside, while a job's file is open.
@Suite(.timeLimit(.minutes(2))) struct SwappedFolderTests {
    private func swap(_ place: ServedPlace) throws {
        let files = FileManager.default
        try files.moveItem(atPath: place.folder.path("files/deep"), toPath: place.folder.path("files/moved"))
        try files.createSymbolicLink(
            atPath: place.folder.path("files/deep"), withDestinationPath: place.folder.path("outside"))
    }

    private func names(_ name: String, _ place: ServedPlace) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: place.folder.path(name)).sorted()
    }

    /// The swap happens between the opening of the partial file and the rename. With a digest the file is read again.
    @Test(arguments: [false, true]) func aFolderThatBecomesALinkGetsNothingOutside(isProven: Bool) async throws {
        try await withTestServer { server in
            let body = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
            server.serve("/a", .bytes(Array(body)), etag: "\"1\"")
            server.script("/a", [.stall(after: 50_000)])
            try await withService { place in
                _ = try place.folder.folder("files/deep")
                _ = try place.folder.write("secret", to: "outside/a")
                let proof = isProven ? "\"checksum\": \"sha-512:\(try await sum(body))\"" : ""
                let answer = try await place.ask("/api/v1/jobs", json: job(server.url("/a"), to: "deep/a", proof))
                let gid = try #require(answer.json["gid"] as? String, "\(answer.text)")
                try await server.waitForHeld(1)
                try await until("a half is there") {
                    (try await place.ask("/api/v1/jobs/\(gid)").json["bytes"] as? Int ?? 0) >= 50_000
                }
                try swap(place)
                server.release("/a")
                _ = try await place.job(gid, becomes: "done")
                #expect(try names("files/moved", place) == ["a"] && place.folder.size("files/moved/a") == 100_000)
                #expect(try names("outside", place) == ["a"] && place.folder.text("outside/a") == "secret")
            }
        }
    }

    private func sum(_ body: Data) async throws -> String {
        var command = ChildProcess.Command("/usr/bin/sha512sum", [], environment: ["PATH": "/usr/bin"])
        command.standardInput = .data(body)
        return String(try await ChildProcess.start(command).result().standardOutput.prefix(128))
    }

    /// The next attempt finds that the name leads to another place.
    @Test func anAttemptAfterTheSwapIsRefused() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 100_000), etag: "\"1\"")
            server.script("/a", [.stall(after: 50_000)])
            try await withService { place in
                _ = try place.folder.folder("files/deep")
                _ = try place.folder.folder("outside")
                let answer = try await place.ask("/api/v1/jobs?batch=b", json: job(server.url("/a"), to: "deep/a"))
                let gid = try #require(answer.json["gid"] as? String)
                try await server.waitForHeld(1)
                _ = try await place.ask("/api/v1/steer", json: #"{"action": "pause", "select": {"batch": "b"}}"#)
                _ = try await place.job(gid, becomes: "paused")
                try swap(place)
                server.script("/a", [])
                _ = try await place.ask("/api/v1/steer", json: #"{"action": "resume", "select": {"batch": "b"}}"#)
                let failed = try await place.job(gid, becomes: "failed")
                #expect((failed["message"] as? String)?.contains("is not beneath") == true, "\(failed)")
                #expect(try names("outside", place).isEmpty && names("files/moved", place) == ["a.part"])
            }
        }
    }

    @Test func aSourceThatBecomesALinkIsNotSent() async throws {
        try await withTestServer { server in
            let sink = server.acceptUploads("/in/*")
            try await withService { place in
                _ = try place.folder.write("own", to: "files/deep/a")
                _ = try place.folder.write("secret", to: "outside/a")
                let body = #"{"upload": "deep/a", "to": ""# + server.url("/in/a") + #""}"#
                let answer = try await place.ask("/api/v1/jobs?paused=1&batch=b", json: body)
                let gid = try #require(answer.json["gid"] as? String, "\(answer.text)")
                try swap(place)
                _ = try await place.ask("/api/v1/steer", json: #"{"action": "resume", "select": {"batch": "b"}}"#)
                let failed = try await place.job(gid, becomes: "failed")
                #expect((failed["message"] as? String)?.contains("is not beneath") == true, "\(failed)")
                #expect(sink.uploads.isEmpty)
            }
        }
    }
}
