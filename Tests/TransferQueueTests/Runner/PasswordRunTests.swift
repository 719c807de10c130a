import Foundation
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// Uploads with a password: each body is sent once (RFC 7617 §2.2, RFC 7616 §3.3).
@Suite(.timeLimit(.minutes(1))) struct PasswordRunTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder("password")
    }

    private func jobs(
        _ server: TestServer, _ count: Int, _ kind: JobSpec.UploadProtocol = .put, size: Int = 20_000,
        to places: [String] = ["/d/"]
    ) throws -> [JobSpec] {
        try (0..<count).map { number in
            try folder.write(count: size, seed: UInt64(number), to: "f\(number)")
            let place = places[number % places.count]
            var job = Sample.upload(
                folder.path("f\(number)"), to: server.url(place + "\(number)"), id: "\(number)", protocol: kind)
            job.settings.auth = .basic(user: .literal("u"), password: .environment("PW"))
            return job
        }
    }

    private func send(_ jobs: [JobSpec]) async throws {
        var limits = BatchLimits()
        limits.concurrency = 1
        try await withQueue(folder, limits: limits, configure: { $0.secrets = SecretSource(environment: { _ in "p" }) })
        {
            queue in
            let log = EventLog(queue)
            try await queue.complete(jobs)
            #expect(log.ends.values.allSatisfy { $0 == ["done"] } && log.ends.count == jobs.count)
        }
    }

    private func answer(_ request: Request, _ isRight: Bool, _ challenge: String) -> Response {
        isRight ? Response(status: 201) : Response(status: 401, headers: ["WWW-Authenticate": challenge])
    }

    private static let basic = "Basic dTpw"

    @Test(arguments: [JobSpec.UploadProtocol.put, .post, .multipart])
    func onlyTheFirstIsChallenged(_ kind: JobSpec.UploadProtocol) async throws {
        try await withTestServer { server in
            server.handle(nil, "/d/*") { [self] request in
                answer(request, request.headers["Authorization"] == Self.basic, "Basic realm=\"d\"")
            }
            try await send(try jobs(server, 6, kind))
            let uploads = server.requests.filter { $0.head.method != "HEAD" }
            #expect(uploads.count == 7)
            #expect(uploads.dropFirst().allSatisfy { $0.head.headers["Authorization"] == Self.basic })
        }
    }

    @Test func eachSpaceOfAServerIsRemembered() async throws {
        try await withTestServer { server in
            for realm in ["one", "two"] {
                server.handle("PUT", "/\(realm)/*") { [self] request in
                    answer(request, request.headers["Authorization"] == Self.basic, "Basic realm=\"\(realm)\"")
                }
            }
            try await send(try jobs(server, 6, to: ["/one/", "/two/"]))
            #expect(server.requests.count == 8)
        }
    }

    @Test func aStaleNonceCostsOneBody() async throws {
        try await withTestServer { server in
            server.handle("PUT", "/d/*") { [self] request in
                let field = request.headers["Authorization"] ?? ""
                let nonce = request.path.hasSuffix("3") || request.path.hasSuffix("4") ? "n1" : "n0"
                return answer(
                    request, field.hasPrefix("Digest") && (field.contains("\"n1\"") || field.contains("\"\(nonce)\"")),
                    "Digest realm=\"d\", qop=\"auth\", nonce=\"\(nonce)\", stale=\(field.isEmpty ? "false" : "true")")
            }
            try await send(try jobs(server, 6))
            // The first request and the one with a stale nonce are repeated.
            #expect(server.requests.count == 8)
            let counts = server.requests.compactMap { request in
                request.head.headers["Authorization"].flatMap { field in
                    field.split(separator: "nc=").last?.prefix(8).description
                }
            }
            #expect(counts.first == "00000001" && Set(counts).count > 1)
        }
    }

    @Test func aTreeIsChallengedAsOne() async throws {
        try await withTestServer { server in
            server.handle("PUT", "/d/*") { [self] request in
                answer(request, request.headers["Authorization"] == Self.basic, "Basic realm=\"d\"")
            }
            try await send(try jobs(server, 8, to: (0..<8).map { "/d/folder\($0)/" }))
            #expect(server.requests.count == 10)
        }
    }

    @Test func anotherChallengeIsAnsweredAnew() async throws {
        try await withTestServer { server in
            server.handle("PUT", "/d/*") { [self] request in
                let realm = ["3", "4", "5"].contains(request.path.suffix(1)) ? "new" : "old"
                return answer(
                    request, request.headers["Authorization"]?.contains("\"\(realm)\"") == true,
                    "Digest realm=\"\(realm)\", qop=\"auth\", nonce=\"\(realm)\"")
            }
            try await send(try jobs(server, 6))
            #expect(server.requests.count == 8)
        }
    }
}
