// The cache comes with a branch of its own: remove the condition once it is merged.

import Foundation
import FoundationNetworking
import Testing
import TransferTestSupport

@testable import TransferNetworking

/// The caching endpoints of httpbin under gunicorn, through the session's cache.
@Suite("httpbin's caching", .timeLimit(.minutes(2)), .enabled(if: HTTPBinServer.isWanted))
struct HTTPBinCacheTests {
    private func get(
        _ session: Session, _ path: String, policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) async throws -> AFDataResponse<Data> {
        let url = try await HTTPBinServer.shared().url(path)
        var request = URLRequest(url: try #require(URL(string: url)))
        request.cachePolicy = policy
        return await session.request(request).validate().serializingData().response
    }

    @Test func aFreshAnswerIsGivenAgain() async throws {
        let session = makeSession()
        let first = try await get(session, "/cache/60")
        let second = try await get(session, "/cache/60")
        #expect(first.value == second.value && second.response?.statusCode == 200)
        #expect(second.metrics?.transactionMetrics.contains { $0.resourceFetchType == .networkLoad } != true)
        let only = try await get(session, "/cache/60", policy: .returnCacheDataDontLoad)
        #expect(only.value == first.value)
        let reloaded = try await get(session, "/cache/60", policy: .reloadIgnoringLocalCacheData)
        #expect(reloaded.response?.statusCode == 200)
    }

    @Test func aStaleAnswerIsValidated() async throws {
        let session = makeSession()
        // /cache answers every condition with 304, so the body is that of the first answer.
        let first = try await get(session, "/cache")
        let second = try await get(session, "/cache", policy: .reloadRevalidatingCacheData)
        #expect(second.response?.statusCode == 200 && second.value == first.value)
    }

    @Test func aMissingEntryIsNotLoadedUnderACacheOnlyPolicy() async throws {
        let session = makeSession()
        let response = try await get(session, "/get", policy: .returnCacheDataDontLoad)
        #expect(URLError.code(of: response.error) == .resourceUnavailable)
    }
}
