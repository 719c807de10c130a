import Foundation
import FoundationNetworking
import TransferCore
import TransferEngine

extension Request {
    /// Asks `handler` about each redirect, instead of the session's.
    ///
    /// - Precondition: The request has none yet.
    @discardableResult
    public func redirect(using handler: any RedirectHandler) -> Self {
        update { state in
            precondition(state.redirectHandler == nil, "a request has one redirect handler")
            state.redirectHandler = handler
        }
        return self
    }

    var effectiveRedirectHandler: (any RedirectHandler)? {
        read { $0.redirectHandler } ?? session.settings.redirectHandler
    }

    /// Called on a loop.
    func redirected(_ proposal: RedirectProposal, _ record: AttemptRecord) {
        let handler = effectiveRedirectHandler
        guard handler != nil || session.monitors != nil else { return }
        guard let next = URLRequest(proposal, like: record.urlRequest),
            let response = HTTPURLResponse.make(proposal.head, url: proposal.url, version: 0)
        else { return record.decide(.stay) }
        emit(record) { $0.urlSession($1, task: $2, willPerformHTTPRedirection: response, newRequest: next) }
        guard let handler else { return }
        let task = record.task(of: self)
        session.rootQueue.async {
            handler.task(task, willBeRedirectedTo: next, for: response) { request in
                record.decide(request.flatMap { RedirectDecision($0) } ?? .stay)
            }
        }
    }
}

extension URLRequest {
    /// What would follow, with what is Foundation's own from the first request.
    fileprivate init?(_ proposal: RedirectProposal, like first: URLRequest) {
        guard let url = URL(string: proposal.nextURL) else { return nil }
        self = first
        self.url = url
        httpMethod = proposal.method
        allHTTPHeaderFields = nil
        for field in proposal.headers { addValue(field.value, forHTTPHeaderField: field.name) }
    }
}

extension RedirectDecision {
    fileprivate init?(_ request: URLRequest) {
        guard let url = request.url?.absoluteString else { return nil }
        let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
        self = .follow(
            url: url, method: request.httpMethod ?? "GET", headers: fields.map { HeaderField($0.key, $0.value) })
    }
}
