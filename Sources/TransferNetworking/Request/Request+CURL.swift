public import Dispatch
import Foundation
import FoundationNetworking
import TransferCore

extension Request {
    /// The `curl` command that sends the same request; without secrets (credentials, cookies, signed queries), unless
    /// they are asked for; then `-b` has the cookies that the session's store adds. Every part is quoted, so that pasting it into a shell runs `curl` and nothing else.
    ///
    /// - Parameter includingSecrets: Whether what authorises the request is written out.
    public func cURLDescription(includingSecrets: Bool = false) -> String {
        guard let request else { return "$ curl command could not be created" }
        return cURLDescription(of: request, includingSecrets: includingSecrets)
    }

    /// Calls `handler` on `queue` with the command of the request, as soon as there is one.
    @preconcurrency
    @discardableResult
    public func cURLDescription(
        on queue: DispatchQueue, calling handler: @escaping @Sendable (String) -> Void
    ) -> Self {
        let made = update { state in
            if let made = state.created { return Optional(made) }
            state.hooks.curl.append(
                .init(queue: queue) { [weak self] request in
                    if let self { handler(cURLDescription(of: request)) }
                })
            return nil
        }
        if let made { queue.async { [self] in handler(cURLDescription(of: made)) } }
        return self
    }

    /// Calls `handler` on the session's queue with the command of the request, as soon as there is one.
    @preconcurrency
    @discardableResult
    public func cURLDescription(calling handler: @escaping @Sendable (String) -> Void) -> Self {
        cURLDescription(on: session.rootQueue, calling: handler)
    }

    func cURLDescription(of request: URLRequest, includingSecrets: Bool = false) -> String {
        var command = CURLCommand(
            request: request, sessionHeaders: session.settings.headers, includesSecrets: includingSecrets)
        if includingSecrets, let url = request.url?.absoluteString {
            command.cookies = session.cookieJar(for: request)?.field(for: url)
        }
        return command.text
    }
}

/// A `curl` command line in the documented form.
struct CURLCommand {
    let request: URLRequest
    let sessionHeaders: HTTPHeaders
    let includesSecrets: Bool
    /// What the session's store adds.
    var cookies: String?

    var text: String {
        guard let url = request.url else { return "$ curl command could not be created" }
        var parts = ["$ curl -v", "-X \(Self.word(request.httpMethod ?? "GET"))"]
        let own = request.headers
        if let cookies, own["Cookie"] == nil, sessionHeaders["Cookie"] == nil {
            parts.append("-b \(Self.quoted(cookies))")
        }
        let defaults = sessionHeaders.filter { own[$0.name] == nil }
        // Brackets and braces in a URL are a pattern to curl otherwise.
        if url.absoluteString.contains(where: { "[]{}".contains($0) }) { parts.append("-g") }
        for header in defaults + own where includesSecrets || header.name.lowercased() != "cookie" {
            let isSecret = Redaction.isSecretHeader(header.name)
            let value = includesSecrets || !isSecret ? header.value : Redaction.mark
            // A name with a colon and nothing behind it would take the field out.
            parts.append("-H \(Self.quoted(value.isEmpty ? "\(header.name);" : "\(header.name): \(value)"))")
        }
        if let body = request.httpBody, !body.isEmpty {
            // What isn't text can't be an argument.
            let text = String(data: body, encoding: .utf8).flatMap { $0.contains("\0") ? nil : $0 }
            // To curl, `-d @name` is what a file contains.
            let option = text?.hasPrefix("@") == true ? "--data-raw" : "-d"
            parts.append(text.map { "\(option) \(Self.quoted($0))" } ?? "--data-binary @-")
        }
        parts.append(Self.quoted(includesSecrets ? url.absoluteString : Redaction.url(url.absoluteString)))
        return parts.joined(separator: " \\\n\t")
    }

    /// In double quotes as documented; in single ones where a shell would read more in it than text.
    private static func quoted(_ text: String) -> String {
        guard text.contains(where: { "$`\\!\"\n\r".contains($0) }) else { return "\"\(text)\"" }
        return "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }

    private static func word(_ text: String) -> String {
        text.allSatisfy { $0.isASCII && ($0.isLetter || $0 == "-") } ? text : quoted(text)
    }
}
