import Foundation
import Synchronization
import TransferCore
import TransferEngine

/// An answer from the store.
struct StoredAnswer: Sendable {
    let head: ResponseHead
    let body: Data
}

/// One exchange on its way past the cache: what was decided, and what its end means for the store.
final class CachedExchange: Sendable {
    private struct State {
        var decision = CacheRules.Decision.forward
        /// Seconds since 1970.
        var requestTime = 0.0
        var responseTime: Double?
        /// Of the store's invalidations, when the exchange began.
        var moment: UInt64 = 0
        var isRedirected = false
        /// The server was asked anew, as its confirmation was of no use.
        var isRepeated = false
        var isAnswered = false
        var mayStore = true
        var begin: (@Sendable ([HeaderField]) -> Void)?

        var isValidation: Bool {
            if case .validate = decision { true } else { false }
        }
    }

    enum End {
        /// The network's own.
        case network
        case stored(StoredAnswer)
        /// Asked anew, without conditions.
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

    /// Made where it's needed: most requests find nothing, and bring nothing to be stored.
    private var request: CacheRequest? {
        CacheKey.of(exchange.url).map {
            CacheRequest(
                key: $0, method: exchange.method, fields: exchange.headers, policy: policy, identity: identity)
        }
    }

    // MARK: Before

    /// Looks what there is, and calls `decided`, perhaps at once; tells whether that is all, without the network.
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

    /// What settles the request without the network.
    var localAnswer: StoredAnswer? {
        switch state.withLock({ $0.decision }) {
        case .answer(let stored, let age): answer(stored, age: age)
        case .refuse(.gatewayTimeout): StoredAnswer(head: ResponseHead(status: 504, fields: []), body: Data())
        default: nil
        }
    }

    /// Whether the request was settled by what was stored.
    var isAnswered: Bool { state.withLock { $0.isAnswered } }

    /// Whoever carries the exchange says that its answer is to be stored nowhere.
    func forbidStoring() { state.withLock { $0.mayStore = false } }

    func noteAnswered() { state.withLock { $0.isAnswered = true } }

    /// Begins the exchange by `begin`, with the fields that ask whether what is stored is still so.
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

    /// Whether the answer is the cache's affair, and not shown to the program.
    func withholds(_ head: ResponseHead) -> Bool {
        state.withLock { state in
            guard case .validate(let stored, let mayReplaceError) = state.decision else { return false }
            if head.status == 304 { return !state.isRepeated && !stored.conditions.isEmpty }
            return mayReplaceError && CacheRules.isServerError(head.status)
        }
    }

    // MARK: The end

    /// What becomes of the request.
    func ended(_ outcome: ExchangeOutcome) -> End {
        let snapshot = state.withLock { state in
            let snapshot = state
            // It holds the request.
            state.begin = nil
            return snapshot
        }
        guard case .validate(let stored, let mayReplaceError) = snapshot.decision else { return .network }
        switch outcome.result {
        case .failure(let error):
            // What the program has seen the beginning of isn't taken back.
            let isUnseen = outcome.start.map { withholds($0.head) } ?? true
            guard mayReplaceError, error.code != .cancelled, isUnseen else { return .network }
            return .stored(answer(stored, age: stored.age(at: cache.now())))
        case .success(let head):
            guard withholds(head) else { return .network }
            guard head.status == 304 else { return .stored(answer(stored, age: stored.age(at: cache.now()))) }
            // Another URL's confirmation, or of another version, is none (§4.3.4).
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
        // It may show what was there before the change.
        guard !cache.store.invalidations.mayInclude(response.key, since: moment) else { return }
        cache.store.insert(response)
    }

    // MARK: Storing

    /// What the end of the exchange brought for the store; called for answers of the network only.
    ///
    /// - Parameters:
    ///   - body: Whole.
    ///   - isWanted: Whether somebody said that answers are to be stored.
    func proposal(_ outcome: ExchangeOutcome, body: Data?, isWanted: Bool) -> StoredResponse? {
        guard case .success(let head) = outcome.result else { return nil }
        let snapshot = state.withLock { $0 }
        // What came from elsewhere isn't this URL's own.
        guard snapshot.mayStore, !snapshot.isRedirected, outcome.metrics.redirects == 0 else { return nil }
        // A challenge was answered on the way: whose answer it is isn't known here.
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

    /// What a handler made of a proposal; `nil` stores nothing.
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

    /// A quick look: without one of these fields an answer is stale as soon as it's there, and can't be confirmed.
    private static func mayBeReusable(_ head: ResponseHead) -> Bool {
        head.value("Cache-Control") != nil || head.value("ETag") != nil || head.value("Last-Modified") != nil
            || head.value("Expires") != nil
    }
}
