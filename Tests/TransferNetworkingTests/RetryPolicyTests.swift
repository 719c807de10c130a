import Foundation
import FoundationNetworking
import Testing
import TransferTestServer

@testable import TransferNetworking

@Suite("Retry policies")
struct RetryPolicyTests {
    @Test func theDocumentedDefaultsHold() {
        let policy = RetryPolicy()
        #expect(policy.retryLimit == 2)
        #expect(policy.exponentialBackoffBase == 2)
        #expect(policy.exponentialBackoffScale == 0.5)
        #expect(policy.retryableHTTPMethods == [.delete, .get, .head, .options, .put, .trace])
        #expect(policy.retryableHTTPStatusCodes == [408, 500, 502, 503, 504])
        #expect(policy.retryableURLErrorCodes == Self.documentedCodes)
        #expect(RetryPolicy.defaultRetryLimit == 2)
        #expect(RetryPolicy.defaultExponentialBackoffBase == 2)
        #expect(RetryPolicy.defaultExponentialBackoffScale == 0.5)
    }

    @Test func theFactoryHasTheSameDefaults() {
        for policy in [RetryPolicy.retryPolicy, .retryPolicy()] {
            #expect(policy.retryLimit == 2)
            #expect(policy.exponentialBackoffBase == 2)
            #expect(policy.exponentialBackoffScale == 0.5)
            #expect(policy.retryableHTTPMethods == RetryPolicy.defaultRetryableHTTPMethods)
            #expect(policy.retryableHTTPStatusCodes == RetryPolicy.defaultRetryableHTTPStatusCodes)
            #expect(policy.retryableURLErrorCodes == RetryPolicy.defaultRetryableURLErrorCodes)
        }
    }

    @Test func theFactoryPassesItsParametersOn() {
        let policy = RetryPolicy.retryPolicy(
            retryLimit: 7, exponentialBackoffBase: 3, exponentialBackoffScale: 0.25, retryableHTTPMethods: [.post],
            retryableHTTPStatusCodes: [429], retryableURLErrorCodes: [.cancelled])
        #expect(policy.retryLimit == 7)
        #expect(policy.exponentialBackoffBase == 3)
        #expect(policy.exponentialBackoffScale == 0.25)
        #expect(policy.retryableHTTPMethods == [.post])
        #expect(policy.retryableHTTPStatusCodes == [429])
        #expect(policy.retryableURLErrorCodes == [.cancelled])
    }

    static let documentedCodes: Set<URLError.Code> = [
        .backgroundSessionInUseByAnotherProcess, .backgroundSessionWasDisconnected, .badServerResponse, .callIsActive,
        .cannotConnectToHost, .cannotFindHost, .cannotLoadFromNetwork, .dataNotAllowed, .dnsLookupFailed,
        .downloadDecodingFailedMidStream, .downloadDecodingFailedToComplete, .internationalRoamingOff,
        .networkConnectionLost, .notConnectedToInternet, .secureConnectionFailed, .serverCertificateHasBadDate,
        .serverCertificateNotYetValid, .timedOut,
    ]

    static let otherCodes: Set<URLError.Code> = [
        .appTransportSecurityRequiresSecureConnection, .badURL, .cancelled, .cannotCloseFile, .cannotCreateFile,
        .cannotDecodeContentData, .cannotDecodeRawData, .cannotMoveFile, .cannotOpenFile, .cannotParseResponse,
        .cannotRemoveFile, .cannotWriteToFile, .clientCertificateRejected, .clientCertificateRequired,
        .dataLengthExceedsMaximum, .fileDoesNotExist, .fileIsDirectory, .httpTooManyRedirects,
        .noPermissionsToReadFile, .redirectToNonExistentLocation, .requestBodyStreamExhausted, .resourceUnavailable,
        .serverCertificateHasUnknownRoot, .serverCertificateUntrusted, .unknown, .unsupportedURL,
        .userAuthenticationRequired, .userCancelledAuthentication, .zeroByteResource,
    ]

    @Test func everyDocumentedErrorCodeIsRetriedAndNoOther() async throws {
        let request = try await endedRequest()
        let policy = RetryPolicy()
        for code in Self.documentedCodes {
            let failure = AFError.sessionTaskFailed(error: URLError(code))
            #expect(policy.shouldRetry(request: request, dueTo: failure), "\(code)")
            #expect(policy.shouldRetry(request: request, dueTo: URLError(code)), "\(code), not wrapped")
        }
        for code in Self.otherCodes {
            let failure = AFError.sessionTaskFailed(error: URLError(code))
            #expect(!policy.shouldRetry(request: request, dueTo: failure), "\(code)")
            #expect(!policy.shouldRetry(request: request, dueTo: URLError(code)), "\(code), not wrapped")
        }
        #expect(!policy.shouldRetry(request: request, dueTo: TestFailure()))
        #expect(!policy.shouldRetry(request: request, dueTo: AFError.explicitlyCancelled))
    }

    @Test func everyDocumentedStatusIsRetriedAndNoOther() async throws {
        for status in [400, 401, 403, 404, 408, 409, 410, 418, 425, 429, 500, 501, 502, 503, 504, 505, 507, 599] {
            let request = try await endedRequest(status: status)
            let isRetried = RetryPolicy().shouldRetry(request: request, dueTo: TestFailure())
            #expect(isRetried == [408, 500, 502, 503, 504].contains(status), "\(status)")
        }
    }

    @Test func everyDocumentedMethodIsRetriedAndNoOther() async throws {
        let methods: [HTTPMethod] = [.delete, .get, .head, .options, .patch, .post, .put, HTTPMethod(rawValue: "LOCK")]
        for method in methods {
            let request = try await endedRequest(method, status: 503)
            let isRetried = RetryPolicy().shouldRetry(request: request, dueTo: URLError(.timedOut))
            #expect(isRetried == [.delete, .get, .head, .options, .put].contains(method), "\(method.rawValue)")
        }
    }

    @Test func aRequestThatWasNeverMadeIsNotRetried() async {
        let request = makeSession().request("nonsense://x")
        #expect(!RetryPolicy().shouldRetry(request: request, dueTo: URLError(.timedOut)))
    }

    @Test func aRefusedStatusIsRetriedUpToTheLimit() async throws {
        try await withTestServer { server async throws in
            server.script("/x", Array(repeating: .status(503), count: 6))
            let policy = RetryPolicy(exponentialBackoffScale: 0.001)
            let request = makeSession().request(server.url("/x"), interceptor: policy).validate()
            #expect(await request.response().error?.responseCode == 503)
            #expect(server.requests.count == 3)
            #expect(request.retryCount == 2)
        }
    }

    @Test func aStatusThatFailsNothingIsNotRetried() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [], afterwards: .status(503))
            let request = makeSession().request(server.url("/x"), interceptor: .retryPolicy)
            #expect(await request.response().error == nil)
            #expect(server.requests.count == 1)
        }
    }

    @Test func aLimitOfZeroRetriesNothing() async throws {
        try await withTestServer { server async throws in
            server.script("/x", Array(repeating: .status(503), count: 6))
            let request = makeSession().request(server.url("/x"), interceptor: .retryPolicy(retryLimit: 0)).validate()
            #expect(await request.response().error?.responseCode == 503)
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: [(HTTPMethod.post, 503), (.get, 404), (.get, 429)])
    func otherMethodsAndStatusesAreLeftAlone(method: HTTPMethod, status: Int) async throws {
        try await withTestServer { server async throws in
            server.script("/x", [], afterwards: .status(status))
            let request = makeSession().request(server.url("/x"), method: method, interceptor: .retryPolicy).validate()
            #expect(await request.response().error?.responseCode == status)
            #expect(server.requests.count == 1)
        }
    }

    @Test func aLostConnectionIsRetried() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 5000))
            server.script("/x", [.cut(after: 100)])
            let policy = RetryPolicy(exponentialBackoffScale: 0.001)
            let data = try await makeSession(interceptor: policy).request(server.url("/x")).serializingData().value
            #expect(data.count == 5000)
            #expect(server.requests.count == 2)
        }
    }

    struct Backoff: Sendable {
        let base: UInt
        let scale: Double
        let delays: [TimeInterval]
    }

    @Test(arguments: [
        Backoff(base: 2, scale: 0.5, delays: [0.5, 1, 2, 4]),
        Backoff(base: 3, scale: 0.25, delays: [0.25, 0.75, 2.25, 6.75]),
        Backoff(base: 10, scale: 0.000_01, delays: [0.000_01, 0.000_1, 0.001, 0.01]),
        Backoff(base: 2, scale: 0, delays: [0, 0, 0, 0]),
    ])
    func theDelaysAreTheScaleTimesThePowersOfTheBase(backoff: Backoff) async throws {
        let delays = Calls<TimeInterval>()
        final class Watched: RetryPolicy, @unchecked Sendable {  // This class adds only a constant.
            let delays: Calls<TimeInterval>
            init(_ backoff: Backoff, _ delays: Calls<TimeInterval>) {
                self.delays = delays
                super.init(
                    retryLimit: 4, exponentialBackoffBase: backoff.base, exponentialBackoffScale: backoff.scale)
            }
            override func retry(
                _ request: Request, for session: Session, dueTo error: any Error,
                completion: @escaping @Sendable (RetryResult) -> Void
            ) {
                super.retry(request, for: session, dueTo: error) { [delays] result in
                    guard case .retryWithDelay(let delay) = result else { return completion(result) }
                    delays.add(delay)
                    completion(.retry)
                }
            }
        }
        try await withTestServer { server async throws in
            server.script("/x", Array(repeating: .closeBeforeHead, count: 6))
            _ = await makeSession(interceptor: Watched(backoff, delays)).request(server.url("/x")).response()
            #expect(delays.all.count == backoff.delays.count)
            for (delay, expected) in zip(delays.all, backoff.delays) { #expect(abs(delay - expected) < 1e-9) }
        }
    }

    @Test func theDelaysAreWaitedFor() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [.status(503), .status(503)])
            server.serve("/x", .text("x"))
            let policy = RetryPolicy(exponentialBackoffScale: 0.05)
            let start = ContinuousClock.now
            let request = makeSession().request(server.url("/x"), interceptor: policy).validate()
            let text = try await request.serializingString().value
            #expect(text == "x")
            #expect(ContinuousClock.now - start >= .milliseconds(150))
        }
    }

    /// A policy that retries after any failure, up to the limit.
    private final class Stubborn: RetryPolicy, @unchecked Sendable {  // This class adds nothing.
        override func shouldRetry(request: Request, dueTo error: any Error) -> Bool { request.retryCount < 6 }
    }

    @Test func aSubclassDecidesWhatIsRetriedWithinTheLimit() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [], afterwards: .status(404))
            let policy = Stubborn(retryLimit: 3, exponentialBackoffScale: 0.001)
            let request = makeSession().request(server.url("/x"), method: .post, interceptor: policy).validate()
            #expect(await request.response().error?.responseCode == 404)
            #expect(server.requests.count == 4)
        }
    }

    /// Returns a request that has ended, so that a policy examines real values.
    private func endedRequest(_ method: HTTPMethod = .get, status: Int = 200) async throws -> DataRequest {
        try await withTestServer { server async throws in
            server.handle(nil, "/x") { _ in Response(status: status) }
            let request = makeSession().request(server.url("/x"), method: method)
            let response = await request.response()
            #expect(response.response?.statusCode == status)
            return request
        }
    }
}
