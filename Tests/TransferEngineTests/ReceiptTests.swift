import Testing
import TransferCore
import TransferEngine
import TransferTestServer
import TransferTestSupport

/// The distinction between answers to a request and answers that only appear to be.
@Suite(.timeLimit(.minutes(1))) struct ReceiptTests {
    private static let long = RequestBody.bytes(Array(repeating: 7, count: 3_000_000))
    private static let short = RequestBody.bytes(Array(repeating: 7, count: 300))

    /// RFC 9112 §9.2. The request is sent over another connection, and no attempt is spent.
    @Test(arguments: ["GET", "PUT", "POST", "PATCH"], [false, true])
    func anAnswerThatCameBeforeItsRequestIsNone(_ method: String, _ joins: Bool) async throws {
        try await Bench.with { bench async throws in
            let peer = try SpeakingPeer()
            defer { peer.stop() }
            let body = method == "GET" ? RequestBody.none : Self.short
            for round in 1...3 {
                let outcome = try await bench.send(method, peer.url, body: body) { $0.joinsSmallBodies = joins }.end()
                #expect(outcome.head?.value("X-Number") == "\(round)", "\(outcome.result)")
                #expect(outcome.sent == (body.length ?? 0) && peer.connections == round)
                peer.speak("HTTP/1.1 200 OK\r\nX-Number: 0\r\nContent-Length: 0\r\n\r\n")
            }
        }
    }

    @Test func aSilentConnectionIsReused() async throws {
        try await Bench.with { bench async throws in
            let peer = try SpeakingPeer()
            defer { peer.stop() }
            for round in 1...3 {
                let outcome = try await bench.send("PUT", peer.url, body: Self.short).end()
                #expect(outcome.head?.value("X-Number") == "\(round)" && peer.connections == 1)
            }
        }
    }

    @Test(arguments: [200, 201, 202, 204]) func aSuccessThatComesBeforeTheBodyIsNoReceipt(_ status: Int) async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.script("/in", [.answerEarly(status)])
            let early = try await bench.send("PUT", "/in", body: Self.long).end()
            #expect(early.head?.status == status && early.answers == .beginning)
            guard case .failure(let error) = early.receipt else {
                Issue.record("a receipt for \(early.sent) bytes")
                return
            }
            #expect(error.code == .answeredEarly && error.isTransient)
            let whole = try await bench.send("PUT", "/in", body: Self.long).end()
            #expect(whole.answers == .request && (try? whole.receipt.get()) != nil)
        }
    }

    @Test func anEarlySuccessNamesTheLossOfItsConnection() throws {
        let lost = TransferError(.connectionLost, "lost", isTransient: true)
        for (status, scope, code) in [
            (201, AnswerScope.beginning, TransferError.Code.answeredEarly), (201, .request, .connectionLost),
            (413, .beginning, .connectionLost),
        ] {
            let start = BodyStart(head: ResponseHead(status: status, fields: []), offset: 0, total: nil)
            var outcome = ExchangeOutcome(finalURL: "http://h/f", start: start, position: 0, failure: lost)
            outcome.answers = scope
            guard case .failure(let error) = outcome.receipt else {
                Issue.record("a receipt")
                return
            }
            #expect(error.code == code && error.isTransient)
        }
    }

    /// RFC 9110 §15.2.2: a server changes to a protocol only if the request asked for that.
    @Test(arguments: ["GET", "PUT", "POST"]) func anUnaskedChangeOfTheProtocolIsAnError(_ method: String) async throws {
        try await Bench.with { bench async throws in
            let peer = try SpeakingPeer(
                answer: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
            defer { peer.stop() }
            let body = method == "GET" ? RequestBody.none : Self.short
            let outcome = try await bench.send(method, peer.url, body: body).end()
            guard case .failure(let error) = outcome.result else {
                Issue.record("an answer")
                return
            }
            #expect(error.code == .badResponse && error.message.contains("101 Switching Protocols"))
            #expect(outcome.sent == (body.length ?? 0))
        }
    }

    @Test func aRefusalThatComesBeforeTheBodyIsOne() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.script("/in", [.answerEarly(413)])
            let outcome = try await bench.send("PUT", "/in", body: Self.long).end()
            #expect(try outcome.receipt.get().status == 413)
        }
    }

    /// Rows: the redirect, whether redirects that change the method are followed, and the resulting answer.
    @Test(arguments: [
        ("PUT", 303, true, 200, AnswerScope.another), ("PUT", 303, false, 303, .request),
        ("PUT", 301, true, 201, .request), ("PUT", 302, false, 201, .request), ("PUT", 307, false, 201, .request),
        ("POST", 301, false, 301, .request), ("POST", 302, true, 200, .another), ("POST", 302, false, 302, .request),
        ("POST", 308, false, 201, .request), ("GET", 303, false, 200, .request),
    ])
    func aRedirectThatTurnsARequestLeadsToNoReceipt(
        _ method: String, _ status: Int, _ turns: Bool, _ last: Int, _ scope: AnswerScope
    ) async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.acceptUploads("/other")
            bench.server.serve("/other", .text("a page"))
            bench.server.script("/in", [.redirect(to: "/other", status: status)])
            let body = method == "GET" ? RequestBody.none : Self.short
            let outcome = try await bench.send(method, "/in", body: body) { $0.turnsRequests = turns }.end()
            #expect(outcome.head?.status == last && outcome.answers == scope, "\(outcome.result)")
            if scope == .another { #expect((try? outcome.receipt.get()) == nil) }
        }
    }
}
