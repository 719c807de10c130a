import Foundation
import FoundationNetworking
import Testing
import TransferTestServer

@testable import TransferNetworking

/// The documents' snippets about credentials.
@Suite(.timeLimit(.minutes(1))) struct SnippetsAuthenticationTests {
    // 002: 589; 000: 253; 003: 239
    @Test func aNameAndAPasswordAnswerTheChallenge() async throws {
        try await withHTTPBin { server async throws in
            let user = "user"
            let password = "password"

            let status = await handed { done in
                AF.request(server.url("/basic-auth/\(user)/\(password)"))
                    .authenticate(username: user, password: password)
                    .responseData { response in done(response.response?.statusCode) }
            }
            #expect(status == 200)
        }
    }

    // 002: 602 (`usingCredential:` there); 000: 263; 003: 246
    @Test func aCredentialAnswersTheChallenge() async throws {
        try await withHTTPBin { server async throws in
            let user = "user"
            let password = "password"
            let credential = URLCredential(user: user, password: password, persistence: .forSession)

            let status = await handed { done in
                AF.request(server.url("/digest-auth/auth/\(user)/\(password)"))
                    .authenticate(using: credential)
                    .responseData { response in done(response.response?.statusCode) }
            }
            #expect(status == 200)
        }
    }
}
