import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine
import TransferEventLoop

/// One attempt that a `URLProtocol` of the program carries in place of the network, around the pure ``ProtocolLoad``.
///
/// The protocol is started and stopped on a queue of its own, as it may block there. Its calls are handled on another
/// serial queue, in place of a loop.
final class ProtocolExchange: ExchangeCommands {
    /// The order for an exchange: the request and the closures for its events.
    struct Order: Sendable {
        let claim: ProtocolClaim
        let task: URLSessionTask
        let exchange: ExchangeRequest
        let meter: ExchangeMeter
        let makeSink: @Sendable () -> any BodySink
        let events: @Sendable (ExchangeEvent) -> Void
        /// The closure for the protocol's response; `nil` where it delivered none.
        let answered: @Sendable (URLResponse?) -> Void
        let challenged: @Sendable (URLAuthenticationChallenge) -> Void
        let forbidStoring: @Sendable () -> Void
        /// The closure that returns the class for a redirected request.
        let claimNext: @Sendable (URLRequest) -> URLProtocol.Type?
        /// The closure that starts a request on the network, as no class claims it.
        let startOnNetwork: @Sendable (URLRequest, RedirectDecision.Body) throws -> any ExchangeCommands
    }

    private struct State {
        var load = ProtocolLoad()
        var sink: (any BodySink)?
        var loader: Loader?
        var request: URLRequest
        var start: BodyStart?
        var hops: [HopMetrics] = []
        var lastSign = DispatchTime.now()
        var isRunning = true
        /// The carrier after a redirect to a request that no class claims.
        var network: (any ExchangeCommands)?

        /// The seconds since the hop began.
        var elapsed: Double { hops.last.map { max(1e-6, WallClock.now - $0.start) } ?? 0 }
    }

    private struct Loader: @unchecked Sendable {  // `loading` alone starts and stops the protocol.
        let urlProtocol: URLProtocol
    }

    let order: Order
    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "transferkit.url-protocol")
    private let loading = DispatchQueue(label: "transferkit.url-protocol.loading")

    init(_ order: Order) {
        self.order = order
        state = Mutex(State(request: order.claim.request))
    }

    func begin() {
        load(order.claim, number: 0)
        let settings = order.exchange.settings
        if let idle = settings.idleTimeout { watch(idle.inSeconds) }
        if let most = settings.maxTime {
            queue.asyncAfter(deadline: .now() + most.inSeconds) { [weak self] in self?.fail(URLError(.timedOut)) }
        }
    }

    private func load(_ claim: ProtocolClaim, number: Int) {
        let hop = HopMetrics(
            url: claim.request.url?.absoluteString ?? "", method: claim.request.httpMethod ?? "GET",
            start: WallClock.now)
        state.withLock { state in
            state.request = claim.request
            state.hops.append(hop)
        }
        loading.async { [self] in
            guard state.withLock({ $0.load.number == number && !$0.load.isOver }) else { return }
            let canonical = claim.type.canonicalRequest(for: claim.request)
            let loader = Loader(
                urlProtocol: claim.type.init(
                    task: ProtocolTask(canonical, of: order.task), cachedResponse: nil,
                    client: ProtocolClient(self, number: number)))
            state.withLock { $0.loader = loader }
            loader.urlProtocol.startLoading()
        }
    }

    /// Stops the protocol once, on the queue that starts protocols, if it was started.
    private func stopLoading() {
        loading.async { [self] in
            let loader = state.withLock { state in
                let loader = state.loader
                state.loader = nil
                return loader
            }
            loader?.urlProtocol.stopLoading()
        }
    }

    // MARK: Events of the protocol

    func receive(_ event: ProtocolLoad.Event, from number: Int) {
        queue.async { [self] in
            state.withLock { state in
                state.load.receive(event, from: number)
                state.lastSign = .now()
            }
            goOn()
        }
    }

    func forbidStoring() { order.forbidStoring() }

    func challenged(_ challenge: URLAuthenticationChallenge) { order.challenged(challenge) }

    // MARK: Commands

    func cancel(_ error: TransferError) {
        tell({ $0.cancel(error) }) { [self] in end(error, nil) }
    }

    func suspend() {
        tell({ $0.suspend() }) { [self] in state.withLock { $0.load.isSuspended = true } }
    }

    func resume() {
        tell({ $0.resume() }) { [self] in
            state.withLock { state in
                state.load.isSuspended = false
                state.lastSign = .now()
            }
            goOn()
        }
    }

    func proceed() { tell({ $0.proceed() }) { [self] in goOn() } }

    func decide(_ decision: RedirectDecision) { tell({ $0.decide(decision) }) { [self] in decided(decision) } }

    private func tell(
        _ network: @escaping @Sendable (any ExchangeCommands) -> Void, _ own: @escaping @Sendable () -> Void
    ) {
        queue.async { [self] in
            if let carrier = state.withLock({ $0.network }) { network(carrier) } else { own() }
        }
    }

    // MARK: Actions

    /// Performs the pending actions, on the queue.
    private func goOn() {
        while let action = state.withLock({ $0.load.next(isReady: $0.sink?.isReady ?? true) }) {
            switch action {
            case .begin(let response): begin(response)
            case .write(let data): write(data)
            case .redirect(let request, let response): redirected(request, by: response)
            case .succeed: end(nil, nil)
            case .fail(let error): fail(error)
            }
        }
    }

    private func begin(_ response: URLResponse?) {
        let head = ResponseHead(response)
        let (point, url) = (order.resumePoint, response?.url ?? state.withLock { $0.request.url })
        let start = BodyStart(head, continuing: point, url: url?.absoluteString ?? order.exchange.url)
        if let length = order.exchange.body.length {
            order.meter.update(sent: length)
            order.meter.update(acknowledged: length)
        }
        order.exchange.cookies?.received(head.fields.filter { $0.isNamed("Set-Cookie") }.map(\.value), from: start.url)
        let failure = state.withLock { state -> TransferError? in
            state.start = start
            if !state.hops.isEmpty {
                state.hops[state.hops.count - 1].status = head.status
                state.hops[state.hops.count - 1].firstByte = state.elapsed
            }
            let sink = state.sink ?? order.makeSink()
            state.sink = sink
            do throws(TransferError) {
                try sink.begin(start)
                return nil
            } catch { return error }
        }
        if let failure { return end(failure, nil) }
        order.meter.update(total: start.total)
        order.meter.update(position: start.continued)
        order.answered(response)
        order.events(.responded(start))
    }

    private func write(_ data: Data) {
        let failure = state.withLock { state -> TransferError? in
            guard let sink = state.sink else { return nil }
            if !state.hops.isEmpty { state.hops[state.hops.count - 1].responseBodyBytes += Int64(data.count) }
            do throws(TransferError) {
                // The bytes are made contiguous, as a `Data` may have several regions.
                let bytes = [UInt8](data)
                var failure: TransferError?
                bytes.withUnsafeBytes { buffer in
                    do throws(TransferError) { try sink.write(buffer) } catch { failure = error }
                }
                if let failure { throw failure }
                order.meter.update(position: sink.position)
                order.meter.update(received: order.meter.received + Int64(data.count))
                return nil
            } catch { return error }
        }
        if let failure { end(failure, nil) }
    }

    private func redirected(_ request: URLRequest, by response: URLResponse) {
        let settings = order.exchange.settings
        guard state.withLock({ $0.hops.count }) <= settings.maxRedirects else {
            return fail(URLError(.httpTooManyRedirects))
        }
        let from = state.withLock { $0.request }
        state.withLock { $0.request = request }
        order.events(.redirected(RedirectProposal(request, by: response, from: from)))
        if !order.exchange.asksBeforeRedirects { decided(.follow(request)) }
    }

    private func decided(_ decision: RedirectDecision) {
        guard case .follow(let url, let method, let headers, let body) = decision else {
            state.withLock { $0.load.stay() }
            stopLoading()
            return goOn()
        }
        guard state.withLock({ $0.load.follow() }) else { return }
        stopLoading()
        let (proposed, number) = state.withLock { ($0.request, $0.load.number) }
        guard let next = URLRequest(proposed, url: url, method: method, headers: headers, body: body) else {
            return fail(URLError(.redirectToNonExistentLocation))
        }
        if let type = order.claimNext(next) { return load(ProtocolClaim(type: type, request: next), number: number) }
        do {
            let carrier = try order.startOnNetwork(next, body)
            let isSuspended = state.withLock { state in
                state.network = carrier
                return state.load.isSuspended
            }
            if isSuspended { carrier.suspend() }
        } catch { fail(error) }
    }

    // MARK: The end

    private func fail(_ error: any Error) {
        end(TransferError(.badResponse, "the URLProtocol failed: \(error.localizedDescription)"), error)
    }

    /// - Parameters:
    ///   - failure: The failure; `nil` for a success.
    ///   - cause: The error that the protocol reported.
    private func end(_ failure: TransferError?, _ cause: (any Error)?) {
        let ended = state.withLock { state -> (BodyStart?, [HopMetrics], String, Int64)? in
            guard state.network == nil, state.isRunning else { return nil }
            state.isRunning = false
            state.load.end()
            if !state.hops.isEmpty { state.hops[state.hops.count - 1].total = state.elapsed }
            let position = state.sink?.position ?? 0
            state.sink = nil
            return (state.start, state.hops, state.request.url?.absoluteString ?? "", position)
        }
        guard let (start, hops, url, position) = ended else { return }
        stopLoading()
        var outcome = ExchangeOutcome(
            finalURL: start?.url ?? url, start: start, position: position, failure: failure)
        outcome.hops = hops
        outcome.metrics.redirects = hops.count - 1
        outcome.carrierError = cause
        order.events(.ended(outcome))
    }

    /// Fails the exchange when the protocol was silent for that many seconds. A suspension does not count.
    private func watch(_ idle: Double) {
        queue.asyncAfter(deadline: .now() + idle) { [weak self] in
            guard let self else { return }
            let left = state.withLock { state -> Double? in
                guard state.isRunning, state.network == nil else { return nil }
                if state.load.isSuspended { return idle }
                let since = Double(DispatchTime.now().uptimeNanoseconds - state.lastSign.uptimeNanoseconds) / 1e9
                return max(0, idle - since)
            }
            guard let left else { return }
            if left > 0 { watch(left) } else { fail(URLError(.timedOut)) }
        }
    }
}
