import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Copies from server to server, by the command, against real and scripted servers on both sides.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CopyTests {
    static let size = 6 << 20

    /// Returns a job that copies the server's content under `/f`.
    private func copy(_ from: String, to url: String, _ more: String) -> String {
        #"{"download": "\#(from)", "to": "\#(url)", "id": "f"\#(more.isEmpty ? "" : ", " + more)}"#
    }

    private static let source = Content.random(seed: 7, count: Int64(size))
    private static let sum = UploadDigest.of(source)

    private func workplace() throws -> Workplace {
        let place = try Workplace("copies")
        try place.folder.write("secret", to: "secret")
        return place
    }

    private func write(_ place: Workplace, _ job: String, limit: Int = 20) throws {
        try place.jobs(
            [job], extra: #""defaults": {"retry": {"scale": "50ms", "jitter": false, "limit": \#(limit)}}, "#)
    }

    @Test(arguments: UploadPeerKind.available)
    func aCopyArrivesWholeAndLeavesNoFileHere(_ kind: UploadPeerKind) async throws {
        try await withTestServer { server in
            server.serve("/f", Self.source, etag: "\"1\"")
            let place = try workplace()
            let peer = try await kind.start()
            let (url, members) = peer.target(peer.port)
            try write(place, copy(server.url("/f"), to: url, members))
            let before = try place.traces()
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try await peer.objects() == [digest("sha256", Self.source.bytes())])
            #expect(try place.traces().filter { !$0.hasPrefix("home/") && !$0.hasPrefix("state/") } == before)
            // The second run finds the copy complete, and asks no server.
            let requests = server.requests.count
            #expect(try await place.runJobs().exitCode == 0)
            #expect(server.requests.count == requests)
        }
    }

    @Test(arguments: UploadPeerKind.resuming)
    func bothSidesResumeAfterACut(_ kind: UploadPeerKind) async throws {
        try await withTestServer { server in
            server.serve("/f", Self.source, etag: "\"1\"")
            server.script("/f", [.cut(after: 1 << 20), .cut(after: 700_000), .cut(after: 3 << 20)])
            let place = try workplace()
            let peer = try await kind.start()
            let relay = try FaultRelay(to: peer.port)
            defer { relay.stop() }
            relay.script(
                [.cut(after: 1 << 20), .cut(after: 2 << 20)], countsFromFirstAnswer: kind.answersBeforeTheBody)
            let (url, members) = peer.target(relay.port)
            try write(place, copy(server.url("/f"), to: url, members))
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try await peer.objects() == [digest("sha256", Self.source.bytes())])
            #expect(try result.events().named("job.restarted").isEmpty, "\(result)")
            // Confirmed bytes are not read again. A cut at the destination costs the source's bytes in the kernel's
            // buffers, and a part where there are parts.
            let bound = Int64(Self.size) + 2 * ((kind.isS3 ? 5 << 20 : 0) + (4 << 20))
            #expect(server.bytesSent("/f") < bound, "\(server.bytesSent("/f"))")
        }
    }

    @Test(arguments: FileServerKind.allCases)
    func aFileServerIsASource(_ kind: FileServerKind) async throws {
        guard FileServerKind.isWanted else { return }
        let bench = try await FileServerBench(kind)
        try bench.serve()
        try await withTestServer { server in
            let sink = server.acceptUploads("/in/*")
            try write(bench.place, copy(bench.url("f"), to: server.url("/in/f"), bench.members))
            let result = try await bench.place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            let sample = try TemporaryFolder("sample")
            try sample.write(count: FileServerBench.size, seed: 7, to: "f")
            #expect(try sink.uploads.map(\.digest) == [UploadDigest.of(.bytes(Array(sample.data("f"))))])
        }
    }

    @Test(arguments: FileServerKind.allCases)
    func aFileServerIsADestination(_ kind: FileServerKind) async throws {
        guard FileServerKind.isWanted else { return }
        let bench = try await FileServerBench(kind)
        try await withTestServer { server in
            server.serve("/f", Self.source, etag: "\"1\"")
            server.script("/f", [.cut(after: 1 << 20), .cut(after: 2 << 20)])
            let job = copy(
                server.url("/f"), to: bench.url("in/f"),
                #""createFolders": true, "destination": {\#(bench.members)}"#)
            try write(bench.place, job)
            let result = try await bench.place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try await bench.sums() == [digest("sha256", Self.source.bytes())])
        }
    }

    @Test func anObjectIsASource() async throws {
        try await withTestServer { server in
            let place = try workplace()
            server.serve("/bucket/f", Self.source, etag: "\"1\"")
            server.script("/bucket/f", [.cut(after: 1 << 20)])
            let sink = server.acceptUploads("/in/*")
            let access =
                #""s3": {"endpoint": "\#(server.url(""))", "region": "r", "accessKey": "AK", "#
                + #""secretKey": {"file": "secret"}}"#
            try write(place, copy("s3://bucket/f", to: server.url("/in/f"), access))
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(sink.uploads.map(\.digest) == [Self.sum])
            #expect(server.requests(to: "/bucket/f").last?.headers["Range"]?.hasPrefix("bytes=\(1 << 20)-") == true)
            let put = server.requests.first { $0.method == "PUT" }
            #expect(put?.headers["Authorization"] == nil, "the source's credentials reached the destination")
        }
    }

    @Test func neitherSideGetsTheCredentialsOfTheOther() async throws {
        try await withTestServer { server in
            try await withTestServer { other in
                let place = try workplace()
                server.serve("/f", Self.source, etag: "\"1\"")
                let sink = other.acceptUploads("/in/*")
                let job = copy(
                    server.url("/f"), to: other.url("/in/f"),
                    #""headers": {"X-Source": "s"}, "auth": {"user": "a", "password": {"file": "secret"}}, "#
                        + #""destination": {"headers": {"X-Destination": "d"}, "auth": {"bearer": {"file": "secret"}}}"#
                )
                try write(place, job)
                let result = try await place.runJobs()
                #expect(result.exitCode == 0, "\(result)")
                #expect(sink.uploads.count == 1)
                for request in server.requests {
                    #expect(request.headers["X-Source"] == "s" && request.headers["X-Destination"] == nil)
                    #expect(request.headers["Authorization"]?.hasPrefix("Bearer") != true)
                }
                for request in other.requests {
                    #expect(request.headers["X-Destination"] == "d" && request.headers["X-Source"] == nil)
                    #expect(request.headers["Authorization"] == "Bearer secret")
                }
            }
        }
    }

    @Test func aWrongSourceIsNeverWholeAtItsDestination() async throws {
        try await withTestServer { server in
            let place = try workplace()
            server.serve("/f", Self.source, etag: "\"1\"")
            let sink = server.acceptUploads("/in/*")
            let sum = String(repeating: "0", count: 64)
            try write(
                place, copy(server.url("/f"), to: server.url("/in/f"), #""checksum": "sha256:\#(sum)""#), limit: 2)
            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            #expect(try result.events().named("job.failed").first?["code"]?.string == "checksumMismatch", "\(result)")
            #expect(sink.uploads.allSatisfy { !$0.isComplete })
        }
    }

    /// The digest that the server reports is a claim about the source, as the job's own is.
    @Test func aSourceThatIsNotWhatItsServerReportsIsNeverWholeThere() async throws {
        try await withTestServer { server in
            let place = try workplace()
            let digest = "sha-256=:\(Data(count: 32).base64EncodedString()):"
            server.serve("/f", ServedFile(Self.source, etag: "\"1\"", headers: ["Repr-Digest": digest]))
            let sink = server.acceptUploads("/in/*")
            try write(place, copy(server.url("/f"), to: server.url("/in/f"), ""), limit: 2)
            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            #expect(try result.events().named("job.failed").first?["code"]?.string == "checksumMismatch", "\(result)")
            #expect(sink.uploads.allSatisfy { !$0.isComplete })
        }
    }

    /// A captive portal's answer is no new version of the source, neither in the attempt nor in the next one.
    @Test(arguments: ["text/html", "application/octet-stream"])
    func anAnswerThatNamesNoVersionIsNoNewSource(_ type: String) async throws {
        try await withTestServer { server in
            let place = try workplace()
            let file = ServedFile(Self.source, etag: "\"1\"")
            server.serve("/f", file)
            let page = Fault.replace(with: ServedFile(.text("please log in"), contentType: type))
            server.script("/f", [.cut(after: 2 << 20), page, page, .replace(with: file)])
            let sink = server.acceptUploads("/in/*")
            try write(place, copy(server.url("/f"), to: server.url("/in/f"), ""))
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(sink.uploads.filter(\.isComplete).map(\.digest) == [Self.sum])
        }
    }

    @Test func aSourceThatChangedIsSentAnew() async throws {
        try await withTestServer { server in
            let place = try workplace()
            let other = Content.random(seed: 8, count: Int64(Self.size))
            server.serve("/f", Self.source, etag: "\"1\"")
            server.script("/f", [.cut(after: 2 << 20)], afterwards: .replace(with: ServedFile(other, etag: "\"2\"")))
            let peer = try await UploadPeerKind.tus.start()
            let (url, members) = peer.target(peer.port)
            try write(place, copy(server.url("/f"), to: url, members))
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try await peer.objects() == [digest("sha256", other.bytes())])
            #expect(try await peer.unfinished() == 0)
            #expect(try result.events().named("job.restarted").count == 1, "\(result)")
        }
    }

    @Test func aServerWithoutRangesIsReadFromItsStartAgain() async throws {
        try await withTestServer { server in
            let place = try workplace()
            server.serve("/f", Self.source, etag: "\"1\"")
            server.script("/f", [.cut(after: 2 << 20), .ignoreRange, .ignoreRange])
            let sink = server.acceptUploads("/in/*")
            try write(place, copy(server.url("/f"), to: server.url("/in/f"), ""))
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(sink.uploads.filter(\.isComplete).map(\.digest) == [Self.sum])
        }
    }

    @Test func aDeadMirrorIsSkipped() async throws {
        try await withTestServer { server in
            let place = try workplace()
            server.serve("/f", Self.source, etag: "\"1\"")
            let sink = server.acceptUploads("/in/*")
            let dead = "http://127.0.0.1:\(try LoopbackPort.free())/f"
            try place.jobs([
                #"{"download": ["\#(dead)", "\#(server.url("/f"))"], "to": "\#(server.url("/in/"))f", "id": "f"}"#
            ])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(sink.uploads.map(\.digest) == [Self.sum])
        }
    }

    @Test func theCommandCopiesSeveralIntoAFolder() async throws {
        try await withTestServer { server in
            let place = try workplace()
            server.serve("/a.bin", Content.random(seed: 1, count: 10_000), etag: "\"1\"")
            server.serve("/b%20c.bin", Content.random(seed: 2, count: 20_000), etag: "\"1\"")
            let sink = server.acceptUploads("/in/*")
            let result = try await place.run("copy", server.url("/a.bin"), server.url("/b%20c.bin"), server.url("/in/"))
            #expect(result.exitCode == 0, "\(result)")
            #expect(Set(sink.uploads.map(\.path)) == ["/in/a.bin", "/in/b%20c.bin"] || sink.uploads.count == 2)
            let plan = try await place.run("copy", "-n", server.url("/a.bin"), server.url("/in/"))
            #expect(plan.standardOutput.contains("copy  \(server.url("/a.bin")) -> \(server.url("/in/a.bin"))"))
        }
    }
}
