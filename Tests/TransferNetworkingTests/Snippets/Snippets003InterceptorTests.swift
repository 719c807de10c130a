import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Document 003, *Advanced Usage* of a later version: interceptors. The numbers are its lines.
@Suite("Snippets of document 003: interceptors", .timeLimit(.minutes(1)))
struct Snippets003InterceptorTests {
    // 394
    @Test func anAdapterKnowsTheRequestByItsID() async throws {
        struct Tagging: RequestInterceptor {
            func adapt(
                _ urlRequest: URLRequest, using state: RequestAdapterState,
                completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
            ) {
                var urlRequest = urlRequest
                urlRequest.headers.add(name: "X-Request", value: state.requestID.uuidString)
                completion(.success(urlRequest))
            }
        }

        try await withHTTPBin { server async throws in
            let request = AF.request(server.url("/get"), interceptor: Tagging())
            let echo = try await request.echo
            #expect(echo.headers?["X-Request"] == request.id.uuidString)
        }
    }

    // 444
    @Test func interceptorsAreComposed() async throws {
        try await withHTTPBin { server async throws in
            let adapter = HeaderAdapter("X-Order", "1")
            let retrier = Retrier { request, _, _, completion in
                completion(request.retryCount == 0 ? .retry : .doNotRetry)
            }
            let interceptor = HeaderAdapter("X-Order", "2")

            let adapterAndRetrier = Interceptor(adapter: adapter, retrier: retrier)
            let composite = Interceptor(interceptors: [adapterAndRetrier, interceptor])

            server.script("/get", [.status(500)])
            let echo = try await AF.request(server.url("/get"), interceptor: composite).validate().echo
            #expect(echo.headers?["X-Order"] == "1,2")
            #expect(server.requests.count == 2)
        }
    }

    // 457, 467, 499
    @Test func anAuthenticatorPutsItsCredentialIntoEachRequest() async throws {
        try await withHTTPBin { server async throws in
            // Generally load from keychain if it exists
            let credential = OAuthCredential(
                accessToken: "a0",
                refreshToken: "r0",
                userID: "u0",
                expiration: Date(timeIntervalSinceNow: 60 * 60))

            // Create the interceptor
            let authenticator = OAuthAuthenticator()
            let interceptor = AuthenticationInterceptor(
                authenticator: authenticator,
                credential: credential)

            // Execute requests with the interceptor
            let session = Session()
            let urlRequest = URLRequest(url: URL(string: server.url("/get"))!)
            let echo = try await session.request(urlRequest, interceptor: interceptor).echo
            #expect(echo.headers?["Authorization"] == "Bearer a0")
        }
    }

    // 464
    @Test func aCredentialThatIsAboutToExpireIsRefreshedFirst() async throws {
        try await withHTTPBin { server async throws in
            let credential = OAuthCredential(
                accessToken: "a0", refreshToken: "r0", userID: "u0", expiration: Date(timeIntervalSinceNow: 60 * 4))
            let interceptor = AuthenticationInterceptor(authenticator: OAuthAuthenticator(), credential: credential)
            let echo = try await Session().request(server.url("/get"), interceptor: interceptor).echo
            #expect(echo.headers?["Authorization"] == "Bearer r0+")
            #expect(interceptor.credential?.accessToken == "r0+")
        }
    }

    // 521, 525
    @Test func aBodyIsSentDeflated() async throws {
        try await withHTTPBin { server async throws in
            let session = Session()
            let text = String(repeating: "compressible ", count: 1000)
            let request = session.request(
                server.url("/post"), method: .post, parameters: ["text": text], encoder: JSONParameterEncoder.default,
                interceptor: .deflateCompressor)
            let echo = try await request.echo
            #expect(echo.headers?["Content-Encoding"] == "deflate")
            let sent = try #require(server.requests.first)
            #expect(sent.bodyLength < 1000)
        }
    }

    // 536
    @Test func aContentEncodingThatIsThereIsAnErrorOrReplaced() async throws {
        try await withHTTPBin { server async throws in
            let session = Session()
            var urlRequest = try URLRequest(url: server.url("/post"), method: .post)
            urlRequest.httpBody = Data(count: 1000)
            urlRequest.headers.add(.contentEncoding("mine"))
            let replacing = try await session.request(
                urlRequest, interceptor: .deflateCompressor(duplicateHeaderBehavior: .replace)
            ).echo
            #expect(replacing.headers?["Content-Encoding"] == "deflate")

            let error = await session.request(urlRequest, interceptor: .deflateCompressor).response().error
            #expect(error?.isRequestAdaptationError == true)
            #expect(error?.underlyingError is DeflateRequestCompressor.DuplicateHeaderError)
        }
    }

    // 540, 543
    @Test func aSessionCompressesOnlyWhatIsLarge() async throws {
        try await withHTTPBin { server async throws in
            let compressor = DeflateRequestCompressor { bodyData in
                bodyData.count > 100 * 1024  // Only compress when bodyData exceeds 100KB.
            }

            let session = Session(interceptor: compressor)
            for (size, coding) in [(1000, nil), (200_000, "deflate")] {
                var urlRequest = try URLRequest(url: server.url("/post"), method: .post)
                urlRequest.httpBody = Data(count: size)
                let echo = try await session.request(urlRequest).echo
                #expect(echo.headers?["Content-Encoding"] == coding)
            }
        }
    }
}

// MARK: - The types of the snippets

private struct OAuthCredential: AuthenticationCredential {
    let accessToken: String
    let refreshToken: String
    let userID: String
    let expiration: Date

    // Require refresh if within 5 minutes of expiration
    var requiresRefresh: Bool { Date(timeIntervalSinceNow: 60 * 5) > expiration }
}

private final class OAuthAuthenticator: Authenticator {
    func apply(_ credential: OAuthCredential, to urlRequest: inout URLRequest) {
        urlRequest.headers.add(.authorization(bearerToken: credential.accessToken))
    }

    func refresh(
        _ credential: OAuthCredential,
        for session: Session,
        completion: @escaping @Sendable (Result<OAuthCredential, any Error>) -> Void
    ) {
        // Refresh the credential using the refresh token...then call completion with the new credential.
        completion(
            .success(
                OAuthCredential(
                    accessToken: credential.refreshToken + "+", refreshToken: credential.refreshToken,
                    userID: credential.userID, expiration: Date(timeIntervalSinceNow: 60 * 60))))
    }

    func didRequest(
        _ urlRequest: URLRequest,
        with response: HTTPURLResponse,
        failDueToAuthenticationError error: any Error
    ) -> Bool {
        // If authentication server CANNOT invalidate credentials, return `false`
        return false
    }

    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: OAuthCredential) -> Bool {
        // If authentication server CANNOT invalidate credentials, return `true`
        return true
    }
}
