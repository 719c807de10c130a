import Testing
import TransferCore
import TransferEngine
import TransferTestServer
import TransferTestSupport

/// Requests on a reused connection that is lost once the server has the whole request. libcurl would send the request
/// again at once.
@Suite("Lost answers of used connections", .timeLimit(.minutes(1))) struct UsedConnectionTests {
    enum Body: String, Sendable, CaseIterable { case none, empty, small, large, joined }

    struct Case: Sendable, CustomTestStringConvertible {
        let method: String
        let body: Body
        let resends: Bool
        /// The number of times that the request is sent.
        let times: Int
        var testDescription: String { "\(method), \(body) body, \(resends ? "resent" : "asked for")" }
    }

    static let cases: [Case] = {
        var cases: [Case] = []
        // Uploads send an expectation first, so no request with a body is sent twice.
        for method in ["PUT", "POST", "PATCH"] {
            for body in Body.allCases where body != .none {
                cases.append(Case(method: method, body: body, resends: false, times: 1))
            }
        }
        // Safe requests, and requests that are idempotent.
        for method in ["GET", "HEAD", "DELETE"] {
            cases.append(Case(method: method, body: .none, resends: false, times: 2))
        }
        // The creation of tus, the creation of S3, and the request that ends an upload.
        cases.append(Case(method: "POST", body: .none, resends: false, times: 1))
        cases.append(Case(method: "PATCH", body: .none, resends: false, times: 1))
        // Without an expectation the method decides.
        for body in Body.allCases {
            cases.append(Case(method: "PUT", body: body, resends: true, times: 2))
            cases.append(Case(method: "POST", body: body, resends: true, times: 1))
        }
        return cases
    }()

    @Test(arguments: cases) func isSentAsOftenAsItsMethodAllows(_ one: Case) async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/first")
            bench.server.handle(nil, "/in") { _ in Response(status: 200) }
            if one.body != .none { bench.server.acceptUploads("/in") }
            let hasBytes = one.body != .none && one.body != .empty
            bench.server.script("/in", [hasBytes ? .loseAnswer : .closeBeforeHead])
            #expect(try await bench.send("PUT", "/first", body: .bytes([1])).end().head?.status == 201)
            let outcome = try await bench.send(one.method, "/in", body: try body(one.body, bench)) {
                $0.resendsBody = one.resends
                $0.joinsSmallBodies = one.body == .joined
                $0.expectsContinue = false
            }.end()
            let requests = bench.server.requests(to: "/in")
            #expect(requests.count == one.times)
            #expect(requests.first?.connection == bench.server.requests.first?.connection, "it was used before")
            if one.times == 1 {
                #expect(outcome.error?.code == .connectionLost && outcome.error?.isTransient == true)
                #expect(outcome.bodyLeft == (one.body != .none))
            } else {
                #expect(outcome.error == nil)
            }
        }
    }

    private func body(_ body: Body, _ bench: Bench) throws -> RequestBody {
        switch body {
        case .none: return .none
        case .empty: return .file(try SourceFile(try bench.folder.write(count: 0, seed: 1, to: "source")))
        case .small, .joined: return .file(try SourceFile(try bench.folder.write(count: 1000, seed: 1, to: "source")))
        case .large: return .file(try SourceFile(try bench.folder.write(count: 200_000, seed: 1, to: "source")))
        }
    }
}
