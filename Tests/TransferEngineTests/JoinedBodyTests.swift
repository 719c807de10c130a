import Foundation
import Testing
import TransferCore
import TransferCrypto
import TransferEngine
import TransferTestServer
import TransferTestSupport

/// Settings for a small body that leaves together with its head.
@Suite(.timeLimit(.minutes(1))) struct JoinedBodyTests {
    private func join(_ settings: inout ExchangeSettings) { settings.joinsSmallBodies = true }

    /// Returns the request that a server receives, and the number of its segments.
    private func arrival(
        _ size: Int, isJoined: Bool = true, headers: [HeaderField] = [], limiters: [RateLimiter] = []
    ) async throws -> (request: String, segments: Int) {
        var arrival = (request: "", segments: 0)
        try await Bench.with { bench async throws in
            let peer = try SegmentPeer()
            let body = RequestBody.bytes(Array(repeating: UInt8(ascii: "b"), count: size))
            async let answered = peer.answer(afterBody: size)
            let outcome = try await bench.send(
                "PUT", "http://127.0.0.1:\(peer.port)/in", body: body, headers: headers, limiters: limiters
            ) { $0.joinsSmallBodies = isJoined }.end()
            #expect(outcome.head?.status == 201 && outcome.sent == Int64(size))
            arrival = try await answered
        }
        return arrival
    }

    @Test(arguments: [1, 16 << 10]) func leavesInOneSegment(_ size: Int) async throws {
        let (request, segments) = try await arrival(size)
        #expect(segments == 1)
        #expect(request.hasPrefix("PUT /in HTTP/1.1\r\n") && request.contains("\r\nContent-Length: \(size)\r\n"))
        #expect(!request.contains("Content-Type") && !request.contains("Expect"), "\(request.prefix(300))")
    }

    @Test func keepsItsOwnContentType() async throws {
        let (request, _) = try await arrival(10, headers: [HeaderField("Content-Type", "text/plain")])
        #expect(request.contains("\r\nContent-Type: text/plain\r\n"))
    }

    @Test func aLargerOneFollowsItsHead() async throws {
        let segments = try await arrival(16 << 10 + 1).segments
        #expect(segments > 1)
    }

    @Test func followsItsHeadByDefault() async throws {
        let segments = try await arrival(10, isJoined: false).segments
        #expect(segments == 2)
    }

    /// A rate limit releases the bytes in small steps.
    @Test func followsItsHeadUnderARateLimit() async throws {
        let segments = try await arrival(10, limiters: [RateLimiter(rate: 1 << 20)]).segments
        #expect(segments == 2)
    }

    @Test(arguments: ["PUT", "POST", "PATCH"])
    func arrivesAsItIsOverAndOver(_ method: String) async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            // One handle, whose options persist, or one connection carries bodies of different lengths.
            for (number, count) in [5, 4096, 1, 16 << 10, 20_000, 7].enumerated() {
                let path = try bench.folder.write(count: count, seed: UInt64(number), to: "source")
                let file = try SourceFile(path, readingUpTo: number.isMultiple(of: 2) ? 1 << 20 : 0)
                let attempt = bench.send(method, "/in?\(number)", body: .file(file), join)
                let outcome = try await attempt.end()
                #expect(outcome.head?.status == 201 && outcome.sent == Int64(count))
                #expect(attempt.meter.sent == Int64(count))
                let upload = try #require(sink.uploads.last)
                #expect(upload.method == method && upload.headers["Content-Length"] == "\(count)")
                #expect(upload.bytes == Array(try bench.folder.data("source")))
            }
            // A later request over the same handle or connection has nothing of an earlier body.
            bench.server.serve("/plain", .text("plain"))
            let plain = try await bench.send("GET", "/plain", join).end()
            #expect(plain.answer == Array("plain".utf8) && plain.sent == 0)
            #expect(bench.server.requests.last?.headers["Content-Length"] == nil)
        }
    }

    @Test func unsentBytesAreNotCounted() async throws {
        try await Bench.with { bench async throws in
            let port = try LoopbackPort.free()
            let outcome = try await bench.send("PUT", "http://127.0.0.1:\(port)/", body: .bytes([1, 2]), join).end()
            #expect(outcome.error?.code == .cannotConnect && outcome.sent == 0)
        }
    }

    @Test func aLostAnswerIsKnownToHaveBeenSent() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.script("/in", [.loseAnswer])
            let attempt = bench.send("PUT", "/in", body: .bytes([1, 2, 3]), join)
            let outcome = try await attempt.end()
            #expect(outcome.error?.code == .connectionLost && outcome.sent == 3 && attempt.meter.sent == 3)
        }
    }

    /// libcurl sends the body again if a reused connection turns out to be dead.
    @Test func isCountedOnceWhenItLeavesTwice() async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            _ = try await bench.send("PUT", "/in", body: .bytes([0]), join).end()
            bench.server.script("/in", [.loseAnswer])
            let outcome = try await bench.send("PUT", "/in", body: .bytes([1, 2, 3]), join).end()
            #expect(outcome.head?.status == 201 && outcome.sent == 3)
            #expect(sink.uploads.map(\.count) == [1, 3, 3])
        }
    }

    @Test func aSourceThatHasChangedDoesNotLeave() async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            let path = try bench.folder.write("before", to: "source")
            let file = try SourceFile(path)
            try bench.folder.write("afterwards", to: "source")
            let outcome = try await bench.send("PUT", "/in", body: .file(file), join).end()
            #expect(outcome.error?.code == .sourceChanged && outcome.error?.isTransient == true)
            #expect(outcome.sent == 0 && sink.uploads.isEmpty)
        }
    }

    @Test(arguments: [(307, true), (303, false)])
    func aRedirectSendsItAgainOrNot(_ redirect: (status: Int, sendsBody: Bool)) async throws {
        let (status, sendsBody) = redirect
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            bench.server.serve("/seen", .text("seen"))
            bench.server.script("/in", [.redirect(to: sendsBody ? "/in" : "/seen", status: status)])
            let outcome = try await bench.send("PUT", "/in", body: .bytes([1, 2, 3]), join).end()
            #expect(outcome.head?.status == (sendsBody ? 201 : 200) && outcome.sent == (sendsBody ? 3 : 0))
            #expect(sink.uploads.last?.bytes == [1, 2, 3])
        }
    }

    @Test(arguments: [true, false]) func arrivesOverTLSToo(_ isHTTP2: Bool) async throws {
        try await Bench.with { bench async throws in
            var options = NginxServer.Options()
            let certificate = try await ServerCertificate.make(in: bench.folder)
            options.certificate = certificate
            options.speaksHTTP2 = isHTTP2
            options.allowsWriting = true
            let nginx = try await NginxServer.start(options: options)
            let rules = TLSRules(anchors: try TrustAnchors(pemFile: certificate.path))
            for count in [1, 16 << 10, 300] {
                let path = try bench.folder.write(count: count, seed: 1, to: "source")
                let outcome = try await bench.send("PUT", nginx.url("/f"), body: .file(try SourceFile(path))) {
                    $0.joinsSmallBodies = true
                    $0.tls = rules
                }.end()
                #expect([201, 204].contains(outcome.head?.status) && outcome.sent == Int64(count))
                let arrived = FileManager.default.contents(atPath: nginx.root + "/f")
                #expect(try arrived == bench.folder.data("source"))
            }
        }
    }
}
