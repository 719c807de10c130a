import Foundation
import Synchronization
import TransferCore
import TransferEngine

/// A response from the store.
struct StoredAnswer: Sendable {
    let head: ResponseHead
    let body: Data
}

/// One exchange on its way past the cache: the cache's decision, and the consequences of the exchange's end for the
/// store.
final class CachedExchange: Sendable {
    private struct State {
        var decision = CacheRules.Decision.forward
        /// The moment at which the request was sent, in seconds since 1970.
        var requestTime = 0.0
        var responseTime: Double?
        /// The number of the store's invalidations when the exchange began.
        var moment: UInt64 = 0
        var isRedirected = false
        /// Whether the server was asked again without conditions, because its 304 did not match the stored response.
        var isRepeated = false
        var isAnswered = false
        var mayStore = true
        var begin: (@Sendable ([HeaderField]) -> Void)?

        var isValidation: Bool {
            if case .validate = decision { true } else { false }
        }
    }

    enum End {
        /// The end that the network reported stands.
        case network
        case stored(StoredAnswer)
        /// The server has to be asked again, without conditions.
        @preconcurrency
        case again(@Sendable () -> Void)
    }

    private let cache: SessionCache
    private let exchange: ExchangeRequest
    private let policy: CacheRequest.Policy
    private let identity: String?
    private let state = Mutex(State())

    init(_ cache: SessionCache, _ exchange: ExchangeRequest, policy: CacheRequest.Policy, identity: String?) {
        self.cache = cache
        self.exchange = exchange
        self.policy = policy
        self.identity = identity
    }

    /// The request as the cache sees it. It is built on demand, as most requests find nothing and store nothing.
    private var request: CacheRequest? {
        CacheKey.of(exchange.url).map {
            CacheRequest(
                key: $0, method: exchange.method, fields: exchange.headers, policy: policy, identity: identity)
        }
    }

    // MARK: Before

    /// Looks for a stored response and calls `decided`, perhaps at once. The flag is true where the request is settled
    /// without the network.
    func look(_ decided: @escaping @Sendable (_ isSettled: Bool) -> Void) {
        let mayRefuse = policy == .storedOnly || exchange.headers.value("Cache-Control") != nil
        guard mayRefuse || (policy != .reload && !cache.store.isEmpty), let request else { return decided(false) }
        cache.store.find(request.key) { [self] stored in
            let decision = CacheRules.decide(request, stored: stored, now: cache.now())
            state.withLock { $0.decision = decision }
            switch decision {
            case .answer, .refuse: decided(true)
            case .forward, .validate: decided(false)
            }
        }
    }

    /// The response that settles the request without the network, if there is one.
    var localAnswer: StoredAnswer? {
        switch state.withLock({ $0.decision }) {
        case .answer(let stored, let age): answer(stored, age: age)
        case .refuse(.gatewayTimeout): StoredAnswer(head: ResponseHead(status: 504, fields: []), body: Data())
        default: nil
        }
    }

    /// Whether the request was settled by a stored response.
    var isAnswered: Bool { state.withLock { $0.isAnswered } }

    /// Forbids storing the response. Called by the carrier of the exchange.
    func forbidStoring() { state.withLock { $0.mayStore = false } }

    func noteAnswered() { state.withLock { $0.isAnswered = true } }

    /// Begins the exchange with the fields of a conditional request for the stored response (RFC 9111 §4.3.1).
    func begin(_ begin: @escaping @Sendable ([HeaderField]) -> Void) {
        let (now, moment) = (cache.now(), cache.store.invalidations.now)
        let conditions = state.withLock { state -> [HeaderField] in
            state.requestTime = now
            state.moment = moment
            guard case .validate(let stored, _) = state.decision else { return [] }
            state.begin = begin
            return stored.conditions
        }
        begin(conditions)
    }

    // MARK: Meanwhile

    func noteRedirect() { state.withLock { $0.isRedirected = true } }

    func noteResponse() {
        let now = cache.now()
        state.withLock { $0.responseTime = now }
    }

    /// Whether the response is for the cache only and not shown to the program.
    func withholds(_ head: ResponseHead) -> Bool {
        state.withLock { state in
            guard case .validate(let stored, let mayReplaceError) = state.decision else { return false }
            if head.status == 304 { return !state.isRepeated && !stored.conditions.isEmpty }
            return mayReplaceError && CacheRules.isServerError(head.status)
        }
    }

    // MARK: The end

    /// Decides how the request ends after the exchange has ended.
    func ended(_ outcome: ExchangeOutcome) -> End {
        let snapshot = state.withLock { state in
            let snapshot = state
            // The closure holds the request.
            state.begin = nil
            return snapshot
        }
        guard case .validate(let stored, let mayReplaceError) = snapshot.decision else { return .network }
        switch outcome.result {
        case .failure(let error):
            // The program may have seen the beginning of the response already, which cannot be taken back.
            let isUnseen = outcome.start.map { withholds($0.head) } ?? true
            guard mayReplaceError, error.code != .cancelled, isUnseen else { return .network }
            return .stored(answer(stored, age: stored.age(at: cache.now())))
        case .success(let head):
            guard withholds(head) else { return .network }
            guard head.status == 304 else { return .stored(answer(stored, age: stored.age(at: cache.now()))) }
            // A 304 for another URL or another version confirms nothing (RFC 9111 §4.3.4).
            if !snapshot.isRedirected, stored.isConfirmed(by: head.fields) {
                return .stored(answer(freshened(stored, by: head, snapshot), age: nil))
            }
            cache.store.remove(stored)
            state.withLock {
                $0.isRepeated = true
                $0.isRedirected = false
            }
            guard let begin = snapshot.begin else { return .network }
            return .again { begin([]) }
        }
    }

    private func answer(_ stored: StoredResponse, age: Int64?) -> StoredAnswer {
        StoredAnswer(head: stored.head(age: age), body: exchange.method == "HEAD" ? Data() : stored.body)
    }

    private func freshened(_ stored: StoredResponse, by head: ResponseHead, _ snapshot: State) -> StoredResponse {
        guard let request else { return stored }
        var fresh = stored
        let now = cache.now()
        fresh.freshen(
            with: head.fields, of: request, requestTime: snapshot.requestTime,
            responseTime: snapshot.responseTime ?? now)
        if request.control["no-store"] { return fresh }
        if CacheRules.mayStore(fresh, of: request) {
            insert(fresh, snapshot.moment)
        } else {
            cache.store.remove(stored)
        }
        return fresh
    }

    private func insert(_ response: StoredResponse, _ moment: UInt64) {
        // The response may show the state before a change of the URL.
        guard !cache.store.invalidations.mayInclude(response.key, since: moment) else { return }
        cache.store.insert(response)
    }

    // MARK: Storing

    /// Returns the response that the exchange brought for the store, if there is one. Called for responses of the
    /// network only.
    ///
    /// - Parameters:
    ///   - body: The whole body.
    ///   - isWanted: Whether the program has a handler for cached responses.
    func proposal(_ outcome: ExchangeOutcome, body: Data?, isWanted: Bool) -> StoredResponse? {
        guard case .success(let head) = outcome.result else { return nil }
        let snapshot = state.withLock { $0 }
        // The response to a redirect's target does not belong to this URL.
        guard snapshot.mayStore, !snapshot.isRedirected, outcome.metrics.redirects == 0 else { return nil }
        // A challenge was answered on the way, so that the user whom the response is for is unknown here.
        guard outcome.hops.count <= 1 || identity != nil else { return nil }
        let keepsAll = cache.keepsAll || isWanted || policy != .rules
        guard keepsAll || Self.mayBeReusable(head) || snapshot.isValidation else { return nil }
        guard let request, (body?.count ?? 0) <= cache.store.longestBody else { return nil }
        let response = StoredResponse(
            request, status: head.status, fields: head.fields, body: body ?? Data(),
            requestTime: snapshot.requestTime, responseTime: snapshot.responseTime ?? cache.now())
        if request.isHead {
            noteHead(response, of: request, snapshot)
            return nil
        }
        if CacheRules.mayStore(response, of: request), keepsAll || CacheRules.isReusable(response) { return response }
        if case .validate(let stored, _) = snapshot.decision, !CacheRules.isServerError(head.status) {
            cache.store.remove(stored)
        }
        return nil
    }

    func store(_ response: StoredResponse) { insert(response, state.withLock { $0.moment }) }

    /// Returns the proposal as a handler changed it; `nil` stores nothing.
    func replaced(_ response: StoredResponse, by change: (CacheRequest) -> StoredResponse?) -> StoredResponse? {
        request.flatMap(change)
    }

    private func noteHead(_ response: StoredResponse, of request: CacheRequest, _ snapshot: State) {
        guard case .validate(var stored, _) = snapshot.decision else { return }
        switch CacheRules.freshening(of: stored, byHead: response.status, response.fields) {
        case .keep: break
        case .drop: cache.store.remove(stored)
        case .freshen:
            stored.freshen(
                with: response.fields, of: request, requestTime: response.requestTime,
                responseTime: response.responseTime)
            insert(stored, snapshot.moment)
        }
    }

    /// Whether the response has a field without which it is stale at once and cannot be confirmed. The check is cheap.
    private static func mayBeReusable(_ head: ResponseHead) -> Bool {
        head.value("Cache-Control") != nil || head.value("ETag") != nil || head.value("Last-Modified") != nil
            || head.value("Expires") != nil
    }
}
