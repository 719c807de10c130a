import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import TransferCore
import TransferTestServer

@testable import TransferNetworking

struct Token: AuthenticationCredential, Equatable {
    var value: String
    var requiresRefresh = false

    init(_ value: String, requiresRefresh: Bool = false) {
        self.value = value
        self.requiresRefresh = requiresRefresh
    }
}

typealias TokenInterceptor = AuthenticationInterceptor<TokenAuthenticator>
typealias TokenCompletion = @Sendable (Result<Token, any Error>) -> Void

/// An authenticator with bearer tokens, for which 401 is a refusal. The test defines the refresh.
final class TokenAuthenticator: Authenticator {
    typealias Refresh = @Sendable (Token, Session, @escaping TokenCompletion) -> Void

    /// The credentials whose refresh began.
    let refreshed = Calls<Token>()
    /// The credentials that were applied to requests.
    let applied = Calls<Token>()
    /// The statuses of the failures that were examined.
    let judged = Calls<Int>()
    private let whenRefreshing: Refresh

    init(_ whenRefreshing: @escaping Refresh) { self.whenRefreshing = whenRefreshing }

    func apply(_ credential: Token, to urlRequest: inout URLRequest) {
        urlRequest.headers.update(.authorization(bearerToken: credential.value))
        applied.add(credential)
    }

    func refresh(_ credential: Token, for session: Session, completion: @escaping TokenCompletion) {
        refreshed.add(credential)
        whenRefreshing(credential, session, completion)
    }

    func didRequest(
        _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error
    ) -> Bool {
        judged.add(response.statusCode)
        // A fault in the decision must not retry a request forever.
        return response.statusCode == 401 && judged.all.count < 1000
    }

    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Token) -> Bool {
        urlRequest.headers["Authorization"] == "Bearer \(credential.value)"
    }
}

/// A service that answers `/data…` to requests with the valid token, and that issues a new token at `/token`.
final class TokenService: Sendable {
    private struct Tokens {
        var valid: String?
        var issued = 0
    }

    private let tokens: Mutex<Tokens>
    /// `/slow` is refused or answered when this is signalled.
    let slowGate = DispatchSemaphore(value: 0)

    init(valid: String?) { tokens = Mutex(Tokens(valid: valid)) }

    func install(on server: TestServer) {
        server.handle("GET", "/data*") { [self] in answer($0) }
        server.handle("GET", "/slow") { [self] request in
            slowGate.wait()
            return answer(request)
        }
        server.handle("GET", "/token") { [self] _ in Response(body: .text(issue())) }
    }

    func revoke() { tokens.withLock { $0.valid = nil } }

    /// Issues a new token, which invalidates the previous one.
    func issue() -> String {
        tokens.withLock { tokens in
            tokens.issued += 1
            let token = "t\(tokens.issued)"
            tokens.valid = token
            return token
        }
    }

    private func answer(_ request: TransferTestServer.Request) -> Response {
        let isValid = tokens.withLock { tokens in
            tokens.valid.map { request.headers["Authorization"] == "Bearer \($0)" } ?? false
        }
        return isValid ? Response(body: .text("data")) : Response(status: 401)
    }

    /// Refreshes over the wire, with the session of the request that needs it.
    static func refresh(at url: String) -> TokenAuthenticator.Refresh {
        { _, session, completion in
            session.request(url).responseString { completion($0.result.map { Token($0) }.mapError { $0 }) }
        }
    }
}

/// A clock that stands still until the test moves it.
final class SteppedClock: Sendable {
    private let seconds = Mutex<Int64>(1000)

    func advance(_ span: Int64) { seconds.withLock { $0 += span } }
    func now() -> MonotonicTime { MonotonicTime(nanoseconds: seconds.withLock { $0 } * 1_000_000_000) }
}

/// Sends so many requests at once, and waits for all answers.
func gather(_ count: Int, _ make: @escaping @Sendable (Int) -> DataRequest) async -> [AFDataResponse<String>] {
    await withTaskGroup(of: AFDataResponse<String>.self) { group in
        for index in 0..<count {
            group.addTask { await make(index).serializingString(automaticallyCancelling: true).response }
        }
        return await group.reduce(into: []) { $0.append($1) }
    }
}

extension AFError {
    /// The error of the interceptor, from the adapter or from the retrier.
    var interceptorError: (any Error)? {
        switch self {
        case .requestAdaptationFailed(let error), .requestRetryFailed(let error, _): error
        default: nil
        }
    }
}
