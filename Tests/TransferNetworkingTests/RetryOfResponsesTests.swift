import Dispatch
import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// A response that cannot be made is an ordinary failure: the retriers decide about each.
@Suite("Retriers and responses that cannot be made", .timeLimit(.minutes(1)))
struct RetryOfResponsesTests {
    private func responses(
        _ server: TestServer, decide: @escaping @Sendable (Request, Int) -> RetryResult
    ) async -> (asked: Int, first: AFError?, second: AFError?, text: String?) {
        let asked = Calls<Int>()
        let retrier = ClosureRetrier { request, _ in
            asked.add(asked.all.count + 1)
            return decide(request, asked.all.count)
        }
        let request = makeSession(starts: false, interceptor: retrier).request(server.url("/x"))
        let (first, second, text) = (
            Calls<AFDataResponse<Greeting>>(), Calls<AFDataResponse<[Int]>>(), Calls<AFDataResponse<String>>()
        )
        request.responseDecodable(of: Greeting.self, queue: testQueue) { first.add($0) }
            .responseString(queue: testQueue) { text.add($0) }
            .responseDecodable(of: [Int].self, queue: testQueue) { second.add($0) }
        request.resume()
        let made = (await first.first(), await second.first(), await text.first())
        return (asked.all.count, made.0?.error, made.1?.error, made.2?.value)
    }

    @Test func eachIsAskedAbout() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("text"))
            let result = await responses(server) { _, _ in .doNotRetry }
            #expect(result.asked == 2)
            #expect(result.first?.isResponseSerializationError == true)
            #expect(result.second?.isResponseSerializationError == true)
            #expect(result.text == "text")
        }
    }

    @Test func anErrorOfTheRetrierIsThatResponsesAlone() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("text"))
            let result = await responses(server) { _, number in
                number == 1 ? .doNotRetryWithError(TestFailure()) : .doNotRetry
            }
            #expect(result.asked == 2)
            #expect(result.first?.isRequestRetryError == true)
            #expect(result.second?.isResponseSerializationError == true)
        }
    }

    @Test func aRetryOfTheSecondMakesAllOfThemAnew() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("text"))
            let result = await responses(server) { request, number in
                request.retryCount == 0 && number == 2 ? .retry : .doNotRetry
            }
            #expect(result.asked == 4)
            #expect(server.requests.count == 2)
            #expect(result.text == "text")
        }
    }
}
