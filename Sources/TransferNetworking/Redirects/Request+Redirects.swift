import Foundation
import FoundationNetworking
import TransferCore
import TransferEngine

extension Request {
    /// Asks `handler`, in place of the session's handler, about each redirect. A handler that does not answer within
    /// the time-out of the request (``SessionSettings/requestTimeout``) ends the request with `URLError.timedOut`.
    ///
    /// - Precondition: The request has no handler yet.
    @discardableResult
    public func redirect(using handler: any RedirectHandler) -> Self {
        update { state in
            precondition(state.own.redirectHandler == nil, "a request has one redirect handler")
            state.own.redirectHandler = handler
        }
        return self
    }

    var effectiveRedirectHandler: (any RedirectHandler)? {
        read { $0.own.redirectHandler } ?? session.settings.redirectHandler
    }

    /// Reports a redirect to the monitors and asks the handler about it. Called on a loop.
    func redirected(_ proposal: RedirectProposal, _ record: AttemptRecord) {
        let handler = effectiveRedirectHandler
        guard handler != nil || isMonitored else { return }
        guard let next = URLRequest(proposal, like: record.urlRequest),
            let response = HTTPURLResponse.make(proposal.head, url: proposal.url, version: 0)
        else { return record.decide(.stay) }
        emit(record) { $0.urlSession($1, task: $2, willPerformHTTPRedirection: response, newRequest: next) }
        guard let handler else { return }
        let task = record.task(of: self)
        let decision = PendingDecision()
        session.rootQueue.async { [self] in
            guard record.isRunning, !isCancelled else { return }
            handler.task(task, willBeRedirectedTo: next, for: response) { request in
                // A second answer, or a late one, must not count for the next redirect.
                guard decision.take() else { return }
                record.decide(request.flatMap { RedirectDecision($0, proposed: next) } ?? .stay)
            }
            bound(decision, of: record) { [weak record] in
                record?.handle?.cancel(TransferError(.timedOut, "the redirect handler did not decide in time"))
            }
        }
    }
}

extension URLRequest {
    /// Makes the proposed request, with Foundation's own settings from the first request.
    fileprivate init?(_ proposal: RedirectProposal, like first: URLRequest) {
        guard let url = URL(string: proposal.nextURL) else { return nil }
        self = first
        self.url = url
        httpMethod = proposal.method
        allHTTPHeaderFields = nil
        httpBody = proposal.sendsBody ? proposal.replacedBody.map { Data($0) } ?? httpBody : nil
        for field in proposal.headers { addValue(field.value, forHTTPHeaderField: field.name) }
    }
}

extension RedirectDecision {
    /// - Parameter proposed: The request that the handler received.
    fileprivate init?(_ request: URLRequest, proposed: URLRequest) {
        guard var url = request.url else { return nil }
        let method = request.httpMethod ?? "GET"
        var fields = request.headers
        if url.user != nil, var components = URLComponents(url: url, resolvingAgainstBaseURL: true) {
            // The engine accepts no userinfo, as it would appear in logs and Referer fields.
            if fields["Authorization"] == nil {
                let (user, password) = (url.user ?? "", url.password ?? "")
                fields.add(
                    .authorization(
                        username: user.removingPercentEncoding ?? user,
                        password: password.removingPercentEncoding ?? password))
            }
            components.user = nil
            components.password = nil
            url = components.url ?? url
        }
        let body: Body
        if request.httpBody != proposed.httpBody {
            body = request.httpBody.map { .bytes([UInt8]($0)) } ?? .none
        } else {
            // A body outside `httpBody` (a file, a stream, a form) is not repeated for a method that has none.
            body = method != proposed.httpMethod && ["GET", "HEAD"].contains(method) ? .none : .asProposed
        }
        self = .follow(
            url: url.absoluteString, method: method,
            headers: fields.sorted { $0.name < $1.name }.map { HeaderField($0.name, $0.value) }, body: body)
    }
}
