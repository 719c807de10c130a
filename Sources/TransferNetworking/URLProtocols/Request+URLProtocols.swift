import Foundation
import FoundationNetworking
import TransferCore
import TransferEngine

// The use of `URLProtocol` classes in place of the network.
extension Request {
    /// Asks the session's classes whether one of them carries the attempt; otherwise the network is used.
    func claim(
        _ transfer: Transfer, by protocols: ProtocolClasses, _ attempt: Int,
        orElse enterNetwork: @escaping @Sendable () -> Void
    ) {
        // Classes are the program's code, hence on the request queue.
        session.requestQueue.async { [self] in
            let shown = URLRequest(transfer.urlRequest, sentAs: transfer.exchange)
            guard let type = protocols.first(for: ProtocolTask(shown)) else { return enterNetwork() }
            // A class needs neither a slot of a host nor a route to the network.
            send(.admitted, attempt: attempt) { state in
                guard state.transfer === transfer else { return }
                state.transfer = transfer.claimed(by: ProtocolClaim(type: type, request: shown))
            }
        }
    }

    /// Begins an attempt that a class carries.
    func carry(_ prepared: Transfer, _ claim: ProtocolClaim, _ record: AttemptRecord, _ attempt: Int) {
        var exchange = prepared.exchange
        if effectiveRedirectHandler != nil { exchange.asksBeforeRedirects = true }
        let session = session
        let carrier = ProtocolExchange(
            ProtocolExchange.Order(
                claim: claim, task: record.task(of: self), exchange: exchange, meter: record.meter,
                makeSink: { prepared.makeSink(record) },
                events: { [self] event in happened(event, record, attempt) },
                answered: { record.adopt($0) },
                challenged: { [self] in challenged($0, record) },
                forbidStoring: { record.cached?.forbidStoring() },
                claimNext: { session.protocols?.first(for: ProtocolTask($0)) },
                startOnNetwork: { [self, exchange] next, body in
                    try goOn(prepared, exchange, as: next, body, record, attempt)
                }))
        record.started(carrier)
        if let cached = record.cached { cached.begin { _ in carrier.begin() } } else { carrier.begin() }
        reportProgress(of: attempt)
    }

    /// Continues on the network after a class redirected to a request that no class claims.
    private func goOn(
        _ prepared: Transfer, _ exchange: ExchangeRequest, as next: URLRequest, _ body: RedirectDecision.Body,
        _ record: AttemptRecord, _ attempt: Int
    ) throws -> any ExchangeCommands {
        let url = next.url?.absoluteString ?? ""
        guard Origin(url: url) != nil else { throw ExchangeRequest.unsupported(url) }
        try session.checkAccess(of: next)
        var exchange = exchange
        exchange.url = url
        exchange.method = next.httpMethod ?? "GET"
        exchange.headers = next.headers.map { HeaderField($0.name, $0.value) }
        if let data = next.httpBody {
            exchange.body = .bytes([UInt8](data))
        } else if next.httpBodyStream == nil {
            exchange.body = .none
        }
        exchange.settings.tls = try session.tlsRules()
        record.adopt(nil)
        return try session.engine().start(
            exchange, meter: record.meter, makeSink: { prepared.makeSink(record) }
        ) { [self] event in happened(event, record, attempt) }
    }

    /// Answers a challenge of a class with the request's credential, once, as for a server.
    private func challenged(_ challenge: URLAuthenticationChallenge, _ record: AttemptRecord) {
        if isMonitored {
            let shown = UnsharedChallenge(challenge: challenge)
            emit(record) { $0.urlSession($1, task: $2, didReceive: shown.challenge) }
        }
        guard challenge.previousFailureCount == 0, let credential = read({ $0.own.credential?.given }) else {
            challenge.sender?.performDefaultHandling(for: challenge)
            return
        }
        challenge.sender?.use(credential, for: challenge)
    }
}

/// A challenge for monitors, which do not change it.
private struct UnsharedChallenge: @unchecked Sendable {  // Foundation's challenge has constants only.
    let challenge: URLAuthenticationChallenge
}
