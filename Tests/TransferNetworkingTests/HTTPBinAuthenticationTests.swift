// `Request.authenticate` comes with the branch of authentication: remove the condition once it is merged.

import Foundation
import FoundationNetworking
import Testing
import TransferTestSupport

@testable import TransferNetworking

/// The authentication endpoints of httpbin under gunicorn.
@Suite("httpbin's authentication", .timeLimit(.minutes(3)), .enabled(if: HTTPBinServer.isWanted))
struct HTTPBinAuthenticationTests {
    private struct Answer: Decodable, Sendable {
        var authenticated: Bool
        var user: String?
    }

    @Test(arguments: [
        "/basic-auth/user/pass", "/digest-auth/auth/user/pass", "/digest-auth/auth/user/pass/MD5",
        "/digest-auth/auth/user/pass/SHA-256", "/digest-auth/auth-int/user/pass/MD5",
        "/digest-auth/auth-int/user/pass/SHA-256", "/digest-auth/auth/user/pass/MD5/never",
        // The nonce is stale after one use. The challenge says so, and the new answer is accepted.
        "/digest-auth/auth/user/pass/MD5/1", "/digest-auth/auth/user/pass/SHA-256/1",
    ])
    func credentialsAnswerAChallenge(_ path: String) async throws {
        let url = try await HTTPBinServer.shared().url(path)
        let session = makeSession()
        for _ in 0..<3 {
            let response = await session.request(url).authenticate(username: "user", password: "pass").validate()
                .serializingDecodable(Answer.self).response
            #expect(response.value?.authenticated == true && response.value?.user == "user")
        }
        let wrong = await makeSession().request(url).authenticate(username: "user", password: "wrong").validate()
            .serializingData().response
        #expect(wrong.error?.responseCode == 401)
        let none = await makeSession().request(url).validate().serializingData().response
        #expect(none.error?.responseCode == 401)
    }

    @Test func credentialsAreNotSentWithoutAChallenge() async throws {
        let url = try await HTTPBinServer.shared().url("/hidden-basic-auth/user/pass")
        let response = await makeSession().request(url).authenticate(username: "user", password: "pass").validate()
            .serializingData().response
        #expect(response.error?.responseCode == 404, "a 404 is no challenge")
    }

    @Test func aCredentialDoesForABearersChallengeNothing() async throws {
        let url = try await HTTPBinServer.shared().url("/bearer")
        let credential = URLCredential(user: "user", password: "pass", persistence: .none)
        let response = await makeSession().request(url).authenticate(with: credential).validate().serializingData()
            .response
        #expect(response.error?.responseCode == 401)
    }
}
