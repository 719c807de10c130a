import Foundation
import FoundationNetworking
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// The sources of the credentials that answer a challenge.
@Suite(.timeLimit(.minutes(2))) struct CredentialSourceTests {
    @Test func userinfoInTheURLCounts() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x", user: "u@h", password: "p:w")
            let url = server.url("/x").replacing("http://", with: "http://u%40h:p%3Aw@")
            let request = makeSession().request(url)
            let value = try await request.serializingString().value
            #expect(value == "GET 0")
            #expect(server.authorizationSchemes("/x") == ["-", "Basic"])
            #expect(!request.description.contains("p%3Aw"))
        }
    }

    /// RFC 7617 §2 requires a realm, and servers leave it out all the same.
    @Test func aChallengeWithoutARealmIsAnswered() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x", realm: nil)
            let request = makeSession().request(server.url("/x")).authenticate(username: "user", password: "pass")
            #expect(try await request.serializingString().value == "GET 0")
            #expect(server.authorizationSchemes("/x") == ["-", "Basic"])
        }
    }

    @Test func aCredentialValueIsTakenUnderBothNames() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x")
            let credential = URLCredential(user: "user", password: "pass", persistence: .none)
            let session = makeSession()
            let first = try await session.request(server.url("/x")).authenticate(with: credential).serializingString()
                .value
            let second = try await session.request(server.url("/x")).authenticate(using: credential).serializingString()
                .value
            #expect(first == "GET 0" && second == "GET 0")
        }
    }

    private func storage(_ server: TestServer, realm: String?, method: String, user: String = "user")
        -> URLCredentialStorage
    {
        let storage = URLCredentialStorage()
        let space = URLProtectionSpace(
            host: "127.0.0.1", port: Int(server.port), protocol: "http", realm: realm, authenticationMethod: method)
        storage.setDefaultCredential(URLCredential(user: user, password: "pass", persistence: .forSession), for: space)
        return storage
    }

    @Test(
        arguments: [
            ("r", NSURLAuthenticationMethodHTTPBasic, true), (nil, NSURLAuthenticationMethodDefault, true),
            ("other", NSURLAuthenticationMethodHTTPBasic, false), ("r", NSURLAuthenticationMethodHTTPDigest, false),
        ] as [(String?, String, Bool)])
    func theStorageOfTheConfigurationIsAsked(_ realm: String?, _ method: String, _ isFound: Bool) async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x")
            let configuration = URLSessionConfiguration.af.default
            configuration.urlCredentialStorage = storage(server, realm: realm, method: method)
            var settings = SessionSettings(configuration: configuration)
            settings.proxies = .none
            let response = await Session(settings).request(server.url("/x")).serializingString().response
            #expect(response.response?.statusCode == (isFound ? 200 : 401))
        }
    }

    @Test func aRequestsOwnCredentialComesBeforeTheStorages() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x", user: "mine")
            let session = makeSession {
                $0.credentialStorage = storage(server, realm: nil, method: NSURLAuthenticationMethodDefault)
            }
            let value = try await session.request(server.url("/x")).authenticate(username: "mine", password: "pass")
                .serializingString().value
            #expect(value == "GET 0" && server.requests.count == 2)
        }
    }

    /// Every configuration has the shared storage, so the credentials that a program stores there count.
    @Test func theSharedStorageIsAskedToo() async throws {
        try await withTestServer { server async throws in
            requireBasic(server, "/x")
            let space = URLProtectionSpace(
                host: "127.0.0.1", port: Int(server.port), protocol: "http", realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            let credential = URLCredential(user: "user", password: "pass", persistence: .forSession)
            URLCredentialStorage.shared.setDefaultCredential(credential, for: space)
            defer { URLCredentialStorage.shared.remove(credential, for: space) }
            let value = try await makeSession().request(server.url("/x")).serializingString().value
            #expect(value == "GET 0")
        }
    }

}
