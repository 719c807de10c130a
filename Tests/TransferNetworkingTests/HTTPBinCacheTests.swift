// The cache comes with a branch of its own: remove the condition when it's there.
#if TRANSFER_CACHE

    import Foundation
    import FoundationNetworking
    import Testing
    import TransferTestSupport

    @testable import TransferNetworking

    /// The caching endpoints of httpbin under gunicorn, through the session's cache.
    @Suite("httpbin's caching", .timeLimit(.minutes(2)), .enabled(if: HTTPBinServer.isWanted))
    struct HTTPBinCacheTests {
        private func session() throws -> (Session, TemporaryFolder) {
            let folder = try TemporaryFolder("httpbin-cache")
            let configuration = URLSessionConfiguration.af.default
            configuration.urlCache = URLCache(
                memoryCapacity: 1 << 20, diskCapacity: 1 << 20, directory: URL(fileURLWithPath: folder.path))
            return (Session(configuration: configuration), folder)
        }

        private func get(
            _ session: Session, _ path: String, policy: URLRequest.CachePolicy = .useProtocolCachePolicy
        ) async throws -> AFDataResponse<Data> {
            let url = try await HTTPBinServer.shared().url(path)
            var request = URLRequest(url: try #require(URL(string: url)))
            request.cachePolicy = policy
            return await session.request(request).validate().serializingData().response
        }

        /// An answer that says how it was made has the time of its making in Date, and a random value from /uuid.
        @Test func aFreshAnswerIsGivenAgain() async throws {
            let (session, folder) = try session()
            // Every answer of /response-headers with these fields is as fresh as /cache/60's, and /cache/60 itself.
            let first = try await get(session, "/cache/60")
            let second = try await get(session, "/cache/60")
            #expect(first.value == second.value && second.response?.statusCode == 200)
            #expect(second.metrics?.transactionMetrics.contains { $0.resourceFetchType == .networkLoad } != true)
            let only = try await get(session, "/cache/60", policy: .returnCacheDataDontLoad)
            #expect(only.value == first.value)
            let reloaded = try await get(session, "/cache/60", policy: .reloadIgnoringLocalCacheData)
            #expect(reloaded.response?.statusCode == 200)
            withExtendedLifetime(folder) {}
        }

        @Test func aStaleAnswerIsValidated() async throws {
            let (session, folder) = try session()
            // /cache answers every condition with 304: the body is the first one's.
            let first = try await get(session, "/cache")
            let second = try await get(session, "/cache", policy: .reloadRevalidatingCacheData)
            #expect(second.response?.statusCode == 200 && second.value == first.value)
            withExtendedLifetime(folder) {}
        }

        @Test func whatIsNotThereIsNotLoadedWhereOnlyTheCacheIsAsked() async throws {
            let (session, folder) = try session()
            let response = try await get(session, "/get", policy: .returnCacheDataDontLoad)
            #expect(URLError.code(of: response.error) == .resourceUnavailable)
            withExtendedLifetime(folder) {}
        }
    }

#endif
