import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

@Suite struct UploadRunTests {
    func place(_ count: Int = 200_000) throws -> Workplace {
        let place = try Workplace()
        try place.folder.write(count: count, seed: 3, to: "out.bin")
        return place
    }

    @Test(arguments: ["put", "post"]) func sendsTheFileAndKeepsTheResponse(_ name: String) async throws {
        try await withTestServer { server in
            let place = try place()
            let sink = server.acceptUploads(
                "/in", answer: Response(status: 201, headers: ["ETag": "\"u1\""], body: .text("{\"id\": 7}")))
            try place.jobs([upload("out.bin", to: server.url("/in"), #""id": "up", "protocol": "\#(name)""#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(sink.uploads.map(\.method) == [name.uppercased()])
            #expect(try sink.uploads.first?.bytes == place.content("out.bin"))
            let end = try #require(try result.events().of("up").named("job.finished").first)
            #expect(end["response"]?.string == "{\"id\": 7}")
            #expect(end["direction"]?.string == "upload")
            #expect(end["status"]?.int == 201 && end["bytes"]?.int == 200_000 && end["transferred"]?.int == 200_000)
            #expect(end["path"]?.string == place.folder.path("out.bin"))
        }
    }

    /// The maximum number of uploads starts at once: one of them finds out which credentials the server requires.
    @Test(arguments: [30_000, 200_000]) func aPasswordCostsOneBodyInVainAtMost(_ count: Int) async throws {
        try await withTestServer { server in
            let place = try place(count)
            server.handle("PUT", "/in") { request in
                request.headers["Authorization"] == "Basic bWU6cHc="
                    ? Response(status: 201)
                    : Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"x\""])
            }
            let auth = #""auth": {"user": "me", "password": {"env": "PASSWORD"}}"#
            try place.jobs(
                (0..<20).map { upload("out.bin", to: server.url("/in?\($0)"), #""id": "\#($0)", \#(auth)"#) })
            var command = place.command(["run", "jobs.json", "--json"])
            command.environment["PASSWORD"] = "pw"
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.count == 21, "\(server.requests.map(\.target))")
            #expect(server.requests.filter { $0.headers["Authorization"] == nil }.count == 1)
        }
    }

    /// Prepares a server that has the file, while the process that sent it is killed before the answer.
    private func withPutThatArrivedBeforeAKill(
        _ count: Int = 200_000, _ more: String = #""id": "up""#, _ then: (Workplace, NginxServer) async throws -> Void
    ) async throws {
        var options = NginxServer.Options()
        options.allowsWriting = true
        let server = try await NginxServer.start(options: options)
        let relay = try FaultRelay(to: server.port)
        defer { relay.stop() }
        let place = try place(count)
        try place.jobs([upload("out.bin", to: "http://127.0.0.1:\(relay.port)/up", more)])
        relay.delayAnswers(milliseconds: 2000)
        let process = try place.startJobs()
        try await until("the server has it") { Self.received(server)?.count == count }
        process.kill(SIGKILL)
        _ = try await process.result()
        relay.delayAnswers(milliseconds: 0)
        try await then(place, server)
        await server.stop()
    }

    private static func received(_ server: NginxServer) -> [UInt8]? {
        (try? Data(contentsOf: URL(fileURLWithPath: server.root + "/up"))).map { [UInt8]($0) }
    }

    @Test(
        arguments: [
            (200_000, #""id": "up""#), (5 << 20, #""id": "up""#), (200_000, #""id": "up", "createFolders": true"#),
        ])
    func aPutThatArrivedBeforeAKillIsQueriedAndNotSentAgain(_ count: Int, _ more: String) async throws {
        try await withPutThatArrivedBeforeAKill(count, more) { place, server in
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try result.events().ends == ["up": "finished"])
            await server.stop()
            #expect(try server.accessLog().map(\.method) == ["PUT", "HEAD", "GET"])
        }
    }

    /// The server has an earlier version of the same size, from the second in which the newer upload was about to
    /// begin.
    @Test func anEarlierVersionOfTheSameSizeIsNoProofOfArrival() async throws {
        var options = NginxServer.Options()
        options.allowsWriting = true
        let server = try await NginxServer.start(options: options)
        let relay = try FaultRelay(to: server.port)
        defer { relay.stop() }
        let place = try place()
        try place.jobs([upload("out.bin", to: "http://127.0.0.1:\(relay.port)/up", #""id": "up""#)])
        #expect(try await place.runJobs().exitCode == 0)
        try place.folder.write(count: 200_000, seed: 4, to: "out.bin")
        relay.halt(at: relay.bytesUp)
        let process = try place.startJobs()
        try await process.event("job.started", id: "up")
        process.kill(SIGKILL)
        _ = try await process.result()
        relay.halt(at: nil)
        relay.cutAll()
        #expect(try await place.runJobs().exitCode == 0)
        #expect(try Self.received(server) == place.content("out.bin"))
        await server.stop()
    }

    /// A later write may leave different content of the same length.
    @Test func aFileThatWasRewrittenAfterAKillIsSent() async throws {
        try await withPutThatArrivedBeforeAKill { place, server in
            try place.folder.write(count: 200_000, seed: 4, to: "out.bin")
            #expect(try await place.runJobs().exitCode == 0)
            #expect(try Self.received(server) == place.content("out.bin"))
        }
    }

    @Test func aURLOfAFolderGetsTheFilesName() async throws {
        try await withTestServer { server in
            let place = try place(10)
            try FileManager.default.moveItem(atPath: place.folder.path("out.bin"), toPath: place.folder.path("o t.bin"))
            let sink = server.acceptUploads("/in/*")
            try place.jobs([upload("o t.bin", to: server.url("/in/"))])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(sink.uploads.count == 1)
            #expect(server.requests.map(\.path) == ["/in/o%20t.bin"])
        }
    }

    /// RFC 4918 requires 409; nginx answers 500.
    @Test(arguments: [(200_000, 409), (200_000, 500), (5 << 20, 409), (5 << 20, 500)])
    func aMissingFolderOnAServerIsNamedAsWhatMayBeWrong(_ count: Int, _ status: Int) async throws {
        try await withTestServer { server in
            let place = try place(count)
            server.acceptUploads("/missing/*", answer: Response(status: status, headers: ["Server": "nginx/1.22.1"]))
            try place.jobs(
                [
                    upload("out.bin", to: server.url("/missing/up"), #""id": "put""#),
                    upload("out.bin", to: server.url("/missing/other"), #""id": "post", "protocol": "post""#),
                ], extra: #""defaults": {"retry": {"limit": 0}}, "#)
            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            let failures = try result.events().named("job.failed")
            #expect(failures.count == 2)
            for failure in failures {
                let isHinted = failure["message"]?.string?.contains("--create-folders makes it")
                #expect(isHinted == (failure["id"]?.string == "put"), "\(result)")
            }
        }
    }

    @Test func anEmptyFileIsSent() async throws {
        try await withTestServer { server in
            let place = try place(0)
            let sink = server.acceptUploads("/in")
            try place.jobs([upload("out.bin", to: server.url("/in"))])
            #expect(try await place.runJobs().exitCode == 0)
            #expect(sink.uploads.map(\.count) == [0] && server.requests.first?.headers["Content-Length"] == "0")
        }
    }

    @Test func anOtherMethodIsUsed() async throws {
        try await withTestServer { server in
            let place = try place(10)
            let sink = server.acceptUploads("/in")
            try place.jobs([upload("out.bin", to: server.url("/in"), #""method": "PATCH""#)])
            #expect(try await place.runJobs().exitCode == 0)
            #expect(sink.uploads.map(\.method) == ["PATCH"])
        }
    }

    @Test func aServerThatIgnoresExpectGetsTheBody() async throws {
        try await withTestServer { server in
            let place = try place(3_000_000)
            let sink = server.acceptUploads("/in", keepsBytes: false)
            server.script("/in", [.noContinue])
            try place.jobs([upload("out.bin", to: server.url("/in"))])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(sink.uploads.map(\.count) == [3_000_000])
        }
    }

    @Test func a417IsAskedAgainWithoutExpect() async throws {
        try await withTestServer { server in
            let place = try place(3_000_000)
            let sink = server.acceptUploads("/in", keepsBytes: false)
            server.handle("PUT", "/in") { request in
                Response(status: request.headers["Expect"] == nil ? 201 : 417)
            }
            server.acceptUploads("/other", keepsBytes: false)
            try place.jobs([upload("out.bin", to: server.url("/in"))])
            server.script("/in", [.answerEarly(417)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.last?.headers["Expect"] == nil)
            _ = sink
        }
    }

    @Test func aPUTIsSentAgainFromItsStart() async throws {
        try await withTestServer { server in
            let place = try place()
            let sink = server.acceptUploads("/in")
            server.script("/in", method: "PUT", [.cutUpload(after: 50_000), .loseAnswer, .status(503)])
            try place.jobs([upload("out.bin", to: server.url("/in"), #""id": "up""#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            // After a lost answer the server is queried first.
            #expect(server.requests.filter { $0.method == "PUT" }.count == 4)
            #expect(server.requests.contains { $0.method == "HEAD" })
            #expect(try sink.uploads.last?.bytes == place.content("out.bin"))
            #expect(try result.events().of("up").named("job.retrying").count == 3)
            #expect(try result.events().of("up").named("job.finished").first?["attempts"]?.int == 4)
        }
    }

    /// libcurl would send it again at once, as the connection may have been closed before: it may have arrived all the
    /// same.
    @Test(arguments: [1000, 200_000]) func aPutIsQueriedWhenAUsedConnectionIsLost(_ count: Int) async throws {
        try await withTestServer { server in
            let place = try place(count)
            server.acceptUploads("/first")
            server.acceptUploads("/in")
            server.script("/in", method: "PUT", [.loseAnswer])
            try place.jobs([
                upload("out.bin", to: server.url("/first"), #""id": "first""#),
                upload("out.bin", to: server.url("/in"), #""id": "up", "needs": ["first"]"#),
            ])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            let methods = server.requests.filter { $0.path == "/in" }.map(\.method)
            #expect(methods.prefix(2) == ["PUT", "HEAD"], "\(methods)")
        }
    }

    @Test func aPUTThatWasUnderWayAtAKillIsSentWhole() async throws {
        try await withTestServer { server in
            let place = try place()
            let sink = server.acceptUploads("/in")
            server.script("/in", [.stallUpload(after: 50_000)])
            try place.jobs([upload("out.bin", to: server.url("/in"))])
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            process.kill(SIGKILL)
            _ = try await process.result()
            let again = try await place.runJobs()
            #expect(again.exitCode == 0, "\(again)")
            // The first upload may end later: its server notices the kill on a different connection.
            #expect(try sink.uploads.filter(\.isComplete).map(\.bytes) == [place.content("out.bin")])
        }
    }

    @Test func aFileThatGrowsWhileItIsSentIsNotASuccess() async throws {
        try await withTestServer { server in
            let place = try place(20_000_000)
            server.acceptUploads("/in", keepsBytes: false)
            server.script("/in", [.stallUpload(after: 1_000_000)])
            try place.jobs([upload("out.bin", to: server.url("/in"), #""id": "up", "retry": {"limit": 0}"#)])
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            let file = try #require(FileHandle(forWritingAtPath: place.folder.path("out.bin")))
            try file.write(contentsOf: Data("changed".utf8))
            try file.close()
            server.release()
            let result = try await process.result()
            #expect(
                try result.events().of("up").named("job.failed").first?["code"]?.string == "sourceChanged", "\(result)")
        }
    }

    @Test func putSendsFilesToAFolderOfTheServer() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try place.folder.write("a", to: "a b.txt")
            try place.folder.write("c", to: "c")
            let sink = server.acceptUploads("/in/*")
            let result = try await place.run("put", "a b.txt", "c", server.url("/in/"))
            #expect(result.exitCode == 0, "\(result)")
            #expect(Set(sink.uploads.map(\.path)) == ["/in/a%20b.txt", "/in/c"])
            #expect(try await place.status().isEmpty, "a batch that went well is forgotten")
        }
    }

    @Test func anUploadThatIsDoneIsNotSentAgainUntilTheFileChanges() async throws {
        try await withTestServer { server in
            let place = try place(1000)
            server.acceptUploads("/in")
            try place.jobs([upload("out.bin", to: server.url("/in"), #""id": "up""#)])
            #expect(try await place.runJobs().exitCode == 0)
            #expect(try await place.runJobs().events().ends == ["up": "kept"])
            #expect(server.requests.count == 1)
            try place.folder.write("another version", to: "out.bin")
            #expect(try await place.runJobs().events().ends == ["up": "finished"])
            #expect(server.requests.count == 2)
        }
    }
}
