import Foundation
import FoundationNetworking
import Testing
import TransferTestServer

@testable import TransferNetworking

@Suite("The retry policy for lost connections")
struct ConnectionLostRetryPolicyTests {
    @Test func theDocumentedDefaultsHold() {
        for policy in [ConnectionLostRetryPolicy(), .connectionLostRetryPolicy, .connectionLostRetryPolicy()] {
            #expect(policy.retryLimit == 2)
            #expect(policy.exponentialBackoffBase == 2)
            #expect(policy.exponentialBackoffScale == 0.5)
            #expect(policy.retryableHTTPMethods == [.delete, .get, .head, .options, .put, .trace])
            #expect(policy.retryableHTTPStatusCodes == [])
            #expect(policy.retryableURLErrorCodes == [.networkConnectionLost])
        }
    }

    @Test func theFactoryPassesItsParametersOn() {
        let policy = ConnectionLostRetryPolicy.connectionLostRetryPolicy(
            retryLimit: 9, exponentialBackoffBase: 4, exponentialBackoffScale: 0.1, retryableHTTPMethods: [.post])
        #expect(policy.retryLimit == 9)
        #expect(policy.exponentialBackoffBase == 4)
        #expect(policy.exponentialBackoffScale == 0.1)
        #expect(policy.retryableHTTPMethods == [.post])
        #expect(policy.retryableURLErrorCodes == [.networkConnectionLost])
    }

    @Test func aLostConnectionIsRetriedUpToTheLimit() async throws {
        try await withTestServer { server async throws in
            server.script("/x", Array(repeating: .cut(after: 10), count: 6))
            server.serve("/x", .random(seed: 1, count: 100))
            let request = makeSession().request(
                server.url("/x"), interceptor: .connectionLostRetryPolicy(exponentialBackoffScale: 0.001))
            let response = await request.response()
            #expect(URLError.code(of: response.error) == .networkConnectionLost)
            #expect(server.requests.count == 3)
        }
    }

    @Test func aRefusedStatusIsNotRetried() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [], afterwards: .status(503))
            let request = makeSession().request(server.url("/x"), interceptor: .connectionLostRetryPolicy).validate()
            #expect(await request.response().error?.responseCode == 503)
            #expect(server.requests.count == 1)
        }
    }

    @Test func aServerThatIsNotThereIsNotRetried() async throws {
        let url = try await withTestServer { server async throws in server.url("/x") }
        let request = makeSession().request(url, interceptor: .connectionLostRetryPolicy)
        let response = await request.response()
        #expect(URLError.code(of: response.error) == .cannotConnectToHost)
        #expect(request.retryCount == 0)
    }

    @Test func aPostIsNotRetriedUnlessItIsNamed() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [], afterwards: .closeBeforeHead)
            let session = makeSession()
            let plain = session.request(server.url("/x"), method: .post, interceptor: .connectionLostRetryPolicy)
            _ = await plain.response()
            #expect(plain.retryCount == 0)
            let policy = ConnectionLostRetryPolicy(
                retryLimit: 1, exponentialBackoffScale: 0.001, retryableHTTPMethods: [.post])
            let named = session.request(server.url("/x"), method: .post, interceptor: policy)
            _ = await named.response()
            #expect(named.retryCount == 1)
        }
    }
}
