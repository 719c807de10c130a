import Foundation
import Testing
import TransferCore
import TransferEngine
import TransferTestServer
import TransferTestSupport

@Suite(.timeLimit(.minutes(1))) struct UploadTests {
    @Test(arguments: ["PUT", "POST"], [0, 1, 5000, 3_000_000])
    func theBodyArrivesAsItIs(_ method: String, _ count: Int) async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in", answer: Response(status: 201, body: .text("stored")))
            let path = try bench.folder.write(count: count, seed: 1, to: "source")
            let attempt = bench.send(method, "/in", body: .file(try SourceFile(path)))
            let outcome = try await attempt.end()
            #expect(
                outcome.head?.status == 201 && outcome.answer == Array("stored".utf8) && outcome.sent == Int64(count))
            #expect(attempt.meter.sent == Int64(count) && attempt.log.ends == 1)
            let upload = try #require(sink.uploads.first)
            #expect(upload.isComplete && upload.method == method && upload.headers["Content-Length"] == "\(count)")
            #expect(upload.bytes == Array(try bench.folder.data("source")))
        }
    }

    @Test func bytesInMemoryArriveToo() async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            for count in [0, 1, 100_000] {
                let body = Content.random(seed: 2, count: Int64(count)).bytes()
                #expect(try await bench.send("POST", "/in", body: .bytes(body)).end().head?.status == 201)
                #expect(sink.uploads.last?.bytes == body)
            }
        }
    }

    @Test(arguments: [true, false])
    func expectContinueIsHonouredAndNotNeeded(_ answers: Bool) async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            if !answers { bench.server.script("/in", [.noContinue]) }
            let path = try bench.folder.write(count: 100_000, seed: 1, to: "source")
            let body = RequestBody.file(try SourceFile(path))
            let outcome = try await bench.send(
                "PUT", "/in", body: body, headers: [HeaderField("Expect", "100-continue")]
            ).end()
            #expect(outcome.head?.status == 201)
            #expect(sink.uploads.map(\.count) == [100_000])
            #expect(bench.server.requests.first?.headers["Expect"] == "100-continue")
        }
    }

    /// For a short body the expectation takes as long as sending it.
    @Test(arguments: [(65536, false), (65537, true)])
    func onlyALongBodySendsAnExpectation(_ size: Int, _ asks: Bool) async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            let body = RequestBody.bytes(Array(repeating: 7, count: size))
            let outcome = try await bench.send("PUT", "/in", body: body).end()
            #expect(outcome.head?.status == 201)
            #expect(sink.uploads.map(\.count) == [Int64(size)])
            let expectation: String? = asks ? "100-continue" : nil
            #expect(bench.server.requests.first?.headers["Expect"] == expectation)
        }
    }

    /// RFC 9110 §10.1.1: with a password at hand a 401 is expected, and no byte of the body is sent before it.
    @Test(arguments: [65536, 65537]) func aLongBodyWaitsForTheExpectedChallenge(_ size: Int) async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            bench.server.script(
                "/in", [.answerEarly(401, headers: ["WWW-Authenticate": "Basic realm=\"x\""], body: .empty)])
            let body = RequestBody.bytes(Array(repeating: 7, count: size))
            let outcome = try await bench.send("PUT", "/in", body: body) {
                $0.expectsContinue = false
                $0.credentials = .password(user: "me", password: "pw")
            }.end()
            #expect(outcome.head?.status == 201 && sink.uploads.map(\.count) == [Int64(size)])
            let asked: [String?] = size > 65536 ? ["100-continue", nil] : [nil, nil]
            #expect(bench.server.requests.map { $0.headers["Expect"] } == asked)
        }
    }

    @Test(arguments: [413, 417, 401], [true, false])
    func anEarlyAnswerIsTheAnswer(_ status: Int, _ expects: Bool) async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            bench.server.script("/in", [.answerEarly(status, body: .text("no"))])
            let path = try bench.folder.write(count: 200_000, seed: 1, to: "source")
            let headers = [HeaderField("Expect", expects ? "100-continue" : "")].filter { !$0.value.isEmpty }
            let outcome = try await bench.send("PUT", "/in", body: .file(try SourceFile(path)), headers: headers).end()
            if status == 417 {
                // RFC 9110 §15.5.18: libcurl repeats the request without the expectation.
                #expect(outcome.head?.status == 201 || outcome.head?.status == 417)
            } else {
                #expect(outcome.head?.status == status && outcome.answer == Array("no".utf8))
                #expect(sink.uploads.isEmpty)
            }
        }
    }

    /// close(2) would continue to send the kernel's buffer, and its FIN would follow that. A server that does not read
    /// would never see it.
    @Test func aServerThatReadsNothingLearnsThatItsClientHasLeft() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.script("/in", [.stallUpload(after: 0)])
            let path = try bench.folder.write(count: 3_000_000, seed: 1, to: "source")
            let outcome = try await bench.send("PUT", "/in", body: .file(try SourceFile(path))) {
                // The time limit of libcurl itself, after which libcurl closes the connection.
                $0.maxTime = .milliseconds(300)
            }.end()
            #expect(outcome.error?.code == .timedOut && outcome.sent > 0)
            try await bench.server.waitForConnections(closed: 1, timeout: .seconds(10))
        }
    }

    @Test func aCutInTheMiddleIsALostConnection() async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            bench.server.script("/in", [.cutUpload(after: 100_000)])
            let path = try bench.folder.write(count: 5_000_000, seed: 1, to: "source")
            let outcome = try await bench.send("PUT", "/in", body: .file(try SourceFile(path))).end()
            #expect(outcome.error?.code == .connectionLost && outcome.error?.isTransient == true && outcome.sent > 0)
            #expect(try await bench.send("PUT", "/in", body: .file(try SourceFile(path))).end().head?.status == 201)
            #expect(sink.uploads.last?.count == 5_000_000)
        }
    }

    @Test func aLostAnswerIsKnownToHaveBeenSent() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.script("/in", [.loseAnswer])
            let outcome = try await bench.send("POST", "/in", body: .bytes([1, 2, 3])).end()
            #expect(outcome.error?.code == .connectionLost && outcome.sent == 3)
            #expect(bench.server.requests.count == 1, "a POST is not sent again behind the caller's back")
        }
    }

    /// The ways in which a file can change between its opening and its last byte.
    @Test(arguments: ["same size", "shorter", "longer", "empty"])
    func aSourceThatChangesIsNotTakenForSent(_ change: String) async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            bench.server.script("/in", [.stallUpload(after: 1000)])
            let size = 8_000_000
            let path = try bench.folder.write(count: size, seed: 1, to: "source")
            let attempt = bench.send("PUT", "/in", body: .file(try SourceFile(path)))
            try await bench.server.waitForHeld(1)
            let handle = try #require(FileHandle(forWritingAtPath: path))
            switch change {
            case "same size":
                try handle.seek(toOffset: 10)
                try handle.write(contentsOf: Data([1, 2, 3]))
            case "shorter": try handle.truncate(atOffset: UInt64(size - 10))
            case "longer": try handle.truncate(atOffset: UInt64(size + 10))
            default: try handle.truncate(atOffset: 0)
            }
            try handle.close()
            bench.server.release()
            let outcome = try await attempt.end()
            #expect(outcome.error?.code == .sourceChanged && outcome.error?.isTransient == true, "\(outcome.result)")
            try await bench.server.waitForAnswers(1)
            #expect(sink.uploads.allSatisfy { !$0.isComplete })
        }
    }

    /// touch(1), chmod(1), another name, and bytes that had not been read yet: the sent bytes are those of the file.
    @Test(arguments: ["time", "mode", "name", "unsent bytes"])
    func aSourceWithUnchangedBytesIsSentOnce(_ change: String) async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            bench.server.script("/in", [.stallUpload(after: 1000)])
            let size = 8_000_000
            var path = try bench.folder.write(count: size, seed: 1, to: "source")
            let attempt = bench.send("PUT", "/in", body: .file(try SourceFile(path)))
            try await bench.server.waitForHeld(1)
            switch change {
            case "time": try bench.folder.touch("source", seconds: 1_000_000)
            case "mode": #expect(chmod(path, 0o600) == 0)
            case "name":
                #expect(rename(path, bench.folder.path("other")) == 0)
                path = bench.folder.path("other")
            default:
                let handle = try #require(FileHandle(forWritingAtPath: path))
                try handle.seek(toOffset: UInt64(size - 10))
                try handle.write(contentsOf: Data([1, 2, 3]))
                try handle.close()
            }
            bench.server.release()
            let outcome = try await attempt.end()
            #expect(outcome.head?.status == 201 && outcome.sent == Int64(size))
            let bytes = try #require(FileManager.default.contents(atPath: path))
            #expect(sink.uploads.map(\.bytes) == [Array(bytes)])
        }
    }

    /// Tag editors do so: neither length nor time shows the change.
    @Test func aSourceThatIsRewrittenWithItsTimeIsNotTakenForSent() async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            bench.server.script("/in", [.stallUpload(after: 1000)])
            let path = try bench.folder.write(count: 8_000_000, seed: 1, to: "source")
            try bench.folder.setTime("source", seconds: 1_000_000)
            let attempt = bench.send("PUT", "/in", body: .file(try SourceFile(path)))
            try await bench.server.waitForHeld(1)
            let handle = try #require(FileHandle(forWritingAtPath: path))
            try handle.write(contentsOf: Data([1, 2, 3]))
            try handle.close()
            try bench.folder.setTime("source", seconds: 1_000_000)
            bench.server.release()
            let outcome = try await attempt.end()
            #expect(outcome.error?.code == .sourceChanged && outcome.error?.isTransient == true, "\(outcome.result)")
            try await bench.server.waitForAnswers(1)
            #expect(sink.uploads.allSatisfy { !$0.isComplete })
        }
    }

    @Test(arguments: [
        (307, "PUT", true), (308, "POST", true), (303, "POST", false), (302, "POST", false), (301, "PUT", true),
    ])
    func aRedirectSendsTheBodyAgainOrNot(_ status: Int, _ method: String, _ sendsBody: Bool) async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            bench.server.serve("/seen", .text("seen"))
            bench.server.script("/in", [.redirect(to: sendsBody ? "/in" : "/seen", status: status)])
            let path = try bench.folder.write(count: 100_000, seed: 1, to: "source")
            let outcome = try await bench.send(method, "/in", body: .file(try SourceFile(path))).end()
            #expect(outcome.head?.status == (sendsBody ? 201 : 200))
            #expect(bench.server.requests.last?.method == (sendsBody ? method : "GET"))
            #expect(sink.uploads.last?.bytes == Array(try bench.folder.data("source")))
            #expect(outcome.sent == (sendsBody ? 100_000 : 0))
        }
    }

    @Test func sourcesAreRegularFiles() throws {
        let folder = try TemporaryFolder("source")
        #expect(#expect(throws: TransferError.self) { try SourceFile(folder.path("none")) }?.code == .fileMissing)
        #expect(#expect(throws: TransferError.self) { try SourceFile(folder.path) }?.code == .fileAccess)
        #expect(#expect(throws: TransferError.self) { try SourceFile("/dev/null") }?.code == .fileAccess)
    }
}
