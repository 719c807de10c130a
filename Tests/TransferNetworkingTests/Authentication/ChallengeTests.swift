import Foundation
import FoundationNetworking
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Challenges of servers, over the wire.
@Suite(.timeLimit(.minutes(2))) struct ChallengeTests {
    // MARK: The schemes

    @Test func basicIsAnsweredOnlyAfterTheChallenge() async throws {
        try await withHTTPBin { server async throws in
            let response = await makeSession().request(server.url("/basic-auth/user/pass"))
                .authenticate(username: "user", password: "pass").validate().serializingData().response
            #expect(response.error == nil && response.response?.statusCode == 200)
            #expect(server.authorizationSchemes("/basic-auth/user/pass") == ["-", "Basic"])
        }
    }

    @Test func basicGoesOutInUTF8() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x", user: "Jürgen", password: "straße£")
            let value = try await makeSession().request(server.url("/x"))
                .authenticate(username: "Jürgen", password: "straße£").serializingString().value
            #expect(value == "GET 0")
        }
    }

    @Test(arguments: ["MD5", "SHA-256"])
    func digestIsAnswered(_ algorithm: String) async throws {
        try await withHTTPBin { server async throws in
            let path = "/digest-auth/auth/user/pass/\(algorithm)"
            let response = await makeSession().request(server.url(path + "?a=b"))
                .authenticate(username: "user", password: "pass").validate().serializingData().response
            #expect(response.error == nil)
            #expect(server.authorizationSchemes(path) == ["-", "Digest"])
            // The password itself never leaves.
            #expect(server.authorizations(path).compactMap { $0 }.allSatisfy { !$0.contains("pass\"") })
        }
    }

    @Test func aServerThatHidesIsNotGivenCredentials() async throws {
        try await withHTTPBin { server async throws in
            let path = "/hidden-basic-auth/user/pass"
            let session = makeSession()
            let response = await session.request(server.url(path)).authenticate(username: "user", password: "pass")
                .serializingData().response
            #expect(response.response?.statusCode == 404)
            #expect(server.authorizationSchemes(path) == ["-"])
            let header = HTTPHeader.authorization(username: "user", password: "pass")
            let open = await session.request(server.url(path), headers: [header]).serializingData().response
            #expect(open.response?.statusCode == 200)
        }
    }

    @Test func digestWinsOverBasicInOneAnswer() async throws {
        try await withTestServer { server async throws in
            server.handle(nil, "/x") { request in
                if request.headers["Authorization"] != nil { return Response() }
                var headers: HeaderFields = ["WWW-Authenticate": "Basic realm=\"b\""]
                headers.add("WWW-Authenticate", "Digest realm=\"d\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256")
                return Response(status: 401, headers: headers)
            }
            _ = await makeSession().request(server.url("/x")).authenticate(username: "u", password: "p")
                .serializingData().response
            #expect(server.authorizationSchemes("/x") == ["-", "Digest"])
        }
    }

    @Test func theBodyIsSignedWhereTheServerWantsThat() async throws {
        try await withTestServer { server async throws in
            server.handle(nil, "/x") { request in
                let field = request.headers["Authorization"] ?? ""
                if field.contains("qop=auth-int") { return Response(body: .text("\(request.body.count)")) }
                let challenge = "Digest realm=\"d\", nonce=\"n\", qop=\"auth-int\""
                return Response(status: 401, headers: ["WWW-Authenticate": challenge])
            }
            let session = makeSession()
            let value = try await session.upload(Data([1, 2, 3]), to: server.url("/x"))
                .authenticate(username: "u", password: "p").serializingString().value
            #expect(value == "3")
            // The bytes of a file are not in memory, so the 401 is the answer.
            let folder = try TemporaryFolder("auth")
            let file = URL(fileURLWithPath: folder.path("f"))
            try Data([1]).write(to: file)
            let refused = await session.upload(file, to: server.url("/x")).authenticate(username: "u", password: "p")
                .serializingData(emptyResponseCodes: [401]).response
            #expect(refused.response?.statusCode == 401)
        }
    }

    @Test func aStaleNonceIsRenewed() async throws {
        try await withTestServer { server async throws in
            server.handle(nil, "/x") { request in
                let field = request.headers["Authorization"] ?? ""
                if field.contains("nonce=\"two\"") { return Response(body: .text("in")) }
                let stale = field.isEmpty ? "nonce=\"one\"" : "nonce=\"two\", stale=TRUE"
                return Response(
                    status: 401, headers: ["WWW-Authenticate": "Digest realm=\"d\", qop=\"auth\", \(stale)"])
            }
            let value = try await makeSession().request(server.url("/x")).authenticate(username: "u", password: "p")
                .serializingString().value
            #expect(value == "in" && server.requests.count == 3)
        }
    }

    @Test func theHeaderOfTheRequestGivesWayAfterAChallenge() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x")
            let value = try await makeSession().request(
                server.url("/x"), headers: [.authorization(bearerToken: "old")]
            ).authenticate(username: "user", password: "pass").serializingString().value
            #expect(value == "GET 0")
            #expect(server.authorizationSchemes("/x") == ["Bearer", "Basic"])
        }
    }

    // MARK: The end of it

    @Test(arguments: ["/basic-auth/user/pass", "/digest-auth/auth/user/pass", "/digest-auth/auth/user/pass/SHA-256"])
    func aWrongPasswordEndsWithThe401Itself(_ path: String) async throws {
        try await withHTTPBin { server async throws in
            let response = await makeSession().request(server.url(path)).authenticate(username: "user", password: "no")
                .validate().serializingData(emptyResponseCodes: [401]).response
            #expect(response.response?.statusCode == 401)
            #expect(response.error?.responseCode == 401)
            #expect(server.requests.count == 2)
        }
    }

    @Test func withoutACredentialThe401IsTheAnswer() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x")
            let response = await makeSession().request(server.url("/x")).serializingString().response
            #expect(response.response?.statusCode == 401 && response.value == "who?" && server.requests.count == 1)
        }
    }

    @Test func theRefusalsBodyIsDelivered() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x")
            let response = await makeSession().request(server.url("/x")).authenticate(username: "user", password: "no")
                .serializingString().response
            #expect(response.value == "who?")
        }
    }

    @Test func aNameThatBasicCannotCarryIsNotSent() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x")
            let response = await makeSession().request(server.url("/x")).authenticate(username: "a:b", password: "c")
                .serializingString().response
            #expect(response.response?.statusCode == 401 && server.requests.count == 1)
        }
    }

    // MARK: Every kind of request, and its body

    @Test func bytesAreSentAgain() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x")
            let value = try await makeSession().upload(Data(count: 200_000), to: server.url("/x"))
                .authenticate(username: "user", password: "pass").serializingString().value
            #expect(value == "POST 200000")
        }
    }

    @Test func aLargeBodyIsSentAgain() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x")
            let value = try await makeSession().upload(Data(count: 3_000_000), to: server.url("/x"))
                .authenticate(username: "user", password: "pass").serializingString().value
            #expect(value == "POST 3000000")
        }
    }

    @Test func aFileIsSentAgain() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x")
            let folder = try TemporaryFolder("auth")
            let file = URL(fileURLWithPath: folder.path("f"))
            try Data(count: 300_000).write(to: file)
            let value = try await makeSession().upload(file, to: server.url("/x"), method: .put)
                .authenticate(username: "user", password: "pass").serializingString().value
            #expect(value == "PUT 300000")
        }
    }

    @Test func aFormIsSentAgain() async throws {
        try await withTestServer { server async throws in
            let wanted = HTTPHeader.authorization(username: "user", password: "pass").value
            server.handle(nil, "/x") { request in
                guard request.headers["Authorization"] == wanted else {
                    return Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])
                }
                return Response(body: .text(String(decoding: request.body, as: UTF8.self)))
            }
            let value = try await makeSession().upload(
                multipartFormData: { $0.append(Data("hello".utf8), withName: "a") }, to: server.url("/x")
            ).authenticate(username: "user", password: "pass").serializingString().value
            #expect(value.contains("name=\"a\"") && value.contains("hello"))
        }
    }

    @Test func aDownloadIsAuthenticated() async throws {
        try await withHTTPBin { server async throws in
            let url = try await makeSession().download(server.url("/digest-auth/auth/user/pass"))
                .authenticate(username: "user", password: "pass").validate().serializingDownloadedFileURL().value
            let text = try String(contentsOf: url, encoding: .utf8)
            #expect(text.contains("authenticated"))
            try? FileManager.default.removeItem(at: url)
        }
    }

    @Test func aStreamRequestIsAuthenticated() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x")
            let request = makeSession().streamRequest(server.url("/x")).authenticate(username: "user", password: "pass")
            var text = ""
            for await stream in request.streamTask().streamingStrings() {
                if case .stream(.success(let piece)) = stream.event { text += piece }
            }
            #expect(text == "GET 0")
        }
    }

    // MARK: Bounds of a protection space

    @Test func afterARedirectToAnotherOriginNothingIsSent() async throws {
        try await withTestServer { other async throws in
            try await withTestServer { server async throws in
                requireBasic(other, "/y")
                server.script("/x", [], afterwards: .redirect(to: other.url("/y")))
                let response = await makeSession().request(server.url("/x"))
                    .authenticate(username: "user", password: "pass").serializingString().response
                #expect(response.response?.statusCode == 401)
                #expect(other.authorizationSchemes("/y") == ["-"])
            }
        }
    }

    @Test func afterARedirectWithinTheOriginItIsSent() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/a/y")
            server.script("/x", [], afterwards: .redirect(to: server.url("/a/y")))
            let value = try await makeSession().request(server.url("/x"))
                .authenticate(username: "user", password: "pass").serializingString().value
            #expect(value == "GET 0")
        }
    }

    @Test func laterRequestsOfTheSpaceAreNotChallengedAgain() async throws {
        try await withHTTPBin { server async throws in
            let session = makeSession()
            for path in ["/digest-auth/auth/user/pass", "/basic-auth/user/pass"] {
                for _ in 0..<3 {
                    let response = await session.request(server.url(path))
                        .authenticate(username: "user", password: "pass").serializingData().response
                    #expect(response.response?.statusCode == 200)
                }
            }
            #expect(server.authorizationSchemes("/digest-auth/auth/user/pass") == ["-", "Digest", "Digest", "Digest"])
            let counts = server.authorizations("/digest-auth/auth/user/pass").compactMap { $0 }.map { field in
                field.split(separator: ",").first { $0.contains("nc=") }.map(String.init)
            }
            #expect(Set(counts).count == 3)
        }
    }

    @Test func withoutPersistenceEachRequestWaitsToBeAsked() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x")
            let session = makeSession()
            for _ in 0..<2 {
                _ = await session.request(server.url("/x"))
                    .authenticate(username: "user", password: "pass", persistence: .none).serializingString().response
            }
            #expect(server.authorizationSchemes("/x") == ["-", "Basic", "-", "Basic"])
        }
    }

    @Test func anotherCredentialOrSessionOrRequestIsNotHelpedByIt() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x")
            let session = makeSession()
            _ = await session.request(server.url("/x")).authenticate(username: "user", password: "pass")
                .serializingString().response
            let other = await session.request(server.url("/x")).authenticate(username: "user", password: "no")
                .serializingString().response
            #expect(other.response?.statusCode == 401)
            let plain = await session.request(server.url("/x")).serializingString().response
            #expect(plain.response?.statusCode == 401)
            _ = await makeSession().request(server.url("/x")).authenticate(username: "user", password: "pass")
                .serializingString().response
            #expect(server.authorizationSchemes("/x") == ["-", "Basic", "-", "Basic", "-", "-", "Basic"])
        }
    }

    @Test func twoSessionsShareNoConnection() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            for session in [makeSession(), makeSession()] {
                for _ in 0..<2 { _ = try await session.request(server.url("/x")).serializingString().value }
            }
            #expect(Set(server.requests.map(\.connection)).count == 2)
            let pairs = server.requests.map(\.connection)
            #expect(pairs[0] == pairs[1] && pairs[2] == pairs[3])
        }
    }

    // MARK: Who is told

    @Test func monitorsReceiveTheChallenge() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x", realm: "the realm")
            let monitor = ChallengeMonitor()
            let session = makeSession { $0.eventMonitors = [monitor] }
            _ = await session.request(server.url("/x")).authenticate(username: "user", password: "no")
                .serializingString().response
            let first = try #require(await monitor.calls.first())
            #expect(first.host == "127.0.0.1" && first.port == Int(server.port) && first.realm == "the realm")
            #expect(first.method == NSURLAuthenticationMethodHTTPBasic && first.user == "user")
            #expect(first.failures == 0 && first.status == 401)
            let second = try #require(await monitor.calls.first())
            #expect(second.failures == 1 && second.user == nil)
        }
    }

    @Test func metricsHaveATransactionForEachLeg() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x")
            let response = await makeSession().request(server.url("/x"))
                .authenticate(username: "user", password: "pass").serializingString().response
            #expect(response.metrics?.transactionMetrics.count == 2)
        }
    }
}
