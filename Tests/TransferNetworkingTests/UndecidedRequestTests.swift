import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Requests whose program owes something: a decision about the head of a response, or a reference to the request.
@Suite("Requests that their program leaves alone", .timeLimit(.minutes(1)))
struct UndecidedRequestTests {
    /// A decision that never comes ends by the time-out of the request, whether the body is still under way or not.
    @Test(arguments: [10, 5_000_000])
    func aDecisionThatNeverComesEndsByTheTimeOut(length: Int) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: Int64(length)))
            var request = URLRequest(url: try #require(URL(string: server.url("/x"))))
            request.timeoutInterval = 0.3
            let kept = Calls<@Sendable (Request.ResponseDisposition) -> Void>()
            let response = await makeSession().request(request)
                .onHTTPResponse(on: testQueue) { _, decide in kept.add(decide) }
                .serializingData().response
            #expect((response.error?.underlyingError as? URLError)?.code == .timedOut, "\(response)")
            // A late decision changes nothing.
            kept.all.first?(.allow)
        }
    }

    @Test func aDecisionInTimeIsNoTimeOut() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("body"))
            var request = URLRequest(url: try #require(URL(string: server.url("/x"))))
            request.timeoutInterval = 30
            let text = try await makeSession().request(request)
                .onHTTPResponse(on: testQueue) { _, decide in decide(.allow) }.serializingString().value
            #expect(text == "body")
        }
    }

    /// The stream keeps the request until its loop has begun, as nobody else does.
    @Test func aStreamOfARequestThatNobodyKeepsHasValuesAndEnds() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 1000))
            var count = 0
            for await _ in makeSession().download(server.url("/x")).downloadProgress() { count += 1 }
            #expect(count > 0)
        }
    }

    /// A request without an owner can no longer be started, so its stream ends.
    @Test func aStreamOfARequestThatIsNeverStartedEndsWithIt() async throws {
        let session = makeSession(starts: false)
        var count = 0
        for await _ in session.request("http://127.0.0.1:1/").downloadProgress() { count += 1 }
        #expect(count == 0)
    }
}
