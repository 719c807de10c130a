import Foundation
import FoundationNetworking
import Testing
import TransferTestServer

@testable import TransferNetworking

/// NTLM and Negotiate, whose handshakes are bound to a connection.
@Suite(.timeLimit(.minutes(2))) struct ConnectionAuthenticationTests {
    private func withNTLM(_ body: (TestServer) async throws -> Void) async throws {
        try await withTestServer { server async throws in
            NTLMServer(accepting: ["ann", "bob"]).serve(server, "/x")
            try await body(server)
        }
    }

    private func get(_ session: Session, _ server: TestServer, _ user: String?, password: String = "p") async
        -> AFDataResponse<String>
    {
        let request = session.request(server.url("/x"))
        if let user { request.authenticate(username: user, password: password) }
        return await request.serializingString().response
    }

    @Test func theLegsOfNTLMAreOnOneConnection() async throws {
        try await withNTLM { server async throws in
            let response = await get(makeSession(), server, "ann")
            #expect(response.value == "ann 0", "\(String(describing: response.error))")
            let legs = server.requests.filter { $0.headers["Authorization"] != nil }
            #expect(legs.count == 2 && Set(legs.map(\.connection)).count == 1)
            #expect(server.authorizationSchemes("/x") == ["-", "NTLM", "NTLM"])
        }
    }

    @Test func anAuthenticatedConnectionServesItsOwnCredentialAgain() async throws {
        try await withNTLM { server async throws in
            let session = makeSession()
            for _ in 0..<3 {
                let response = await get(session, server, "ann")
                #expect(response.value == "ann 0")
            }
            #expect(server.authorizationSchemes("/x") == ["-", "NTLM", "NTLM", "-", "-"])
            #expect(Set(server.requests.suffix(3).map(\.connection)).count == 1)
        }
    }

    @Test func anotherCredentialGetsAnotherConnection() async throws {
        try await withNTLM { server async throws in
            let session = makeSession()
            let ann = await get(session, server, "ann")
            let bob = await get(session, server, "bob")
            let annAgain = await get(session, server, "ann")
            #expect(ann.value == "ann 0" && bob.value == "bob 0" && annAgain.value == "ann 0")
            let last = server.requests.filter { $0.status == 200 }.map(\.connection)
            #expect(last.count == 3 && last[0] == last[2] && last[0] != last[1])
        }
    }

    @Test func aRequestWithoutACredentialNeverGetsAnAuthenticatedConnection() async throws {
        try await withNTLM { server async throws in
            let session = makeSession()
            _ = await get(session, server, "ann")
            let response = await get(session, server, nil)
            #expect(response.response?.statusCode == 401 && response.value == "who?")
        }
    }

    @Test func anotherSessionNeverGetsAnAuthenticatedConnection() async throws {
        try await withNTLM { server async throws in
            _ = await get(makeSession(), server, "ann")
            let before = server.connectionCount
            let response = await get(makeSession(), server, nil)
            #expect(response.response?.statusCode == 401 && server.connectionCount == before + 1)
        }
    }

    @Test func aRefusedNameEndsWithThe401() async throws {
        try await withNTLM { server async throws in
            let response = await get(makeSession(), server, "eve")
            #expect(response.response?.statusCode == 401 && response.value == "who?")
            #expect(server.requests.count == 3)
        }
    }

    @Test func aBodyIsSentWithTheLastLeg() async throws {
        try await withNTLM { server async throws in
            let value = try await makeSession().upload(Data(count: 70_000), to: server.url("/x"))
                .authenticate(username: "ann", password: "p").serializingString().value
            #expect(value == "ann 70000")
        }
    }

    @Test(arguments: ["user", ""])
    func negotiateWithoutATicketEndsWithThe401(_ user: String) async throws {
        try await withTestServer { server async throws in
            server.handle(nil, "/x") { _ in
                Response(status: 401, headers: ["WWW-Authenticate": "Negotiate"], body: .text("who?"))
            }
            let response = await get(makeSession(), server, user)
            #expect(response.response?.statusCode == 401 && response.value == "who?")
            #expect(server.requests.count <= 3)
        }
    }

    @Test func withANameBasicIsAnsweredWhereNegotiateIsOfferedToo() async throws {
        try await withTestServer { server async throws in
            server.handle(nil, "/x") { request in
                if request.headers["Authorization"]?.hasPrefix("Basic") == true { return Response(body: .text("in")) }
                var headers: HeaderFields = ["WWW-Authenticate": "Negotiate"]
                headers.add("WWW-Authenticate", "Basic realm=\"r\"")
                return Response(status: 401, headers: headers)
            }
            let response = await get(makeSession(), server, "user")
            #expect(response.value == "in" && server.requests.count == 2)
        }
    }
}
