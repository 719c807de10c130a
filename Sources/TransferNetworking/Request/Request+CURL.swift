public import Dispatch
import Foundation
import FoundationNetworking
import TransferCore
import TransferEngine

extension Request {
    /// Returns the `curl` command that sends the same request. Every part is quoted, so that a shell runs `curl` and
    /// nothing else.
    ///
    /// Secrets (credentials, cookies, signed queries) are left out by default. With them, `-b` has the cookies that the
    /// session's store adds. `-u` has the credential of ``authenticate(with:)``, which `--anyauth` sends after a
    /// challenge.
    ///
    /// - Parameter includingSecrets: Whether the secrets that authorise the request are included.
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
            command.login = read { $0.own.credential?.challenge }.map { "\($0.user):\($0.password)" }
        }
        return command.text
    }
}

/// A `curl` command line in the documented form.
struct CURLCommand {
    let request: URLRequest
    let sessionHeaders: HTTPHeaders
    let includesSecrets: Bool
    /// The cookies that the session's store adds.
    var cookies: String?
    /// The user and the password that answer challenges, as `user:password`.
    var login: String?

    var text: String {
        guard let url = request.url else { return "$ curl command could not be created" }
        var parts = ["$ curl -v", "-X \(Self.word(request.httpMethod ?? "GET"))"]
        let own = request.headers
        if let cookies, own["Cookie"] == nil, sessionHeaders["Cookie"] == nil {
            parts.append("-b \(Self.quoted(cookies))")
        }
        if let login { parts += ["--anyauth", "-u \(Self.quoted(login))"] }
        let defaults = sessionHeaders.filter { own[$0.name] == nil }
        // curl would otherwise expand brackets and braces in a URL.
        if url.absoluteString.contains(where: { "[]{}".contains($0) }) { parts.append("-g") }
        for header in defaults + own where includesSecrets || header.name.lowercased() != "cookie" {
            let isSecret = Redaction.isSecretHeader(header.name)
            let value = includesSecrets || !isSecret ? header.value : Redaction.mark
            // A name with a colon and no value would make curl remove the field.
            parts.append("-H \(Self.quoted(value.isEmpty ? "\(header.name);" : "\(header.name): \(value)"))")
        }
        if let body = request.httpBody, !body.isEmpty {
            // A body that is not text cannot be an argument.
            let text = String(data: body, encoding: .utf8).flatMap { $0.contains("\0") ? nil : $0 }
            // The argument `-d @name` means the content of a file.
            let option = text?.hasPrefix("@") == true ? "--data-raw" : "-d"
            parts.append(text.map { "\(option) \(Self.quoted($0))" } ?? "--data-binary @-")
        }
        parts.append(Self.quoted(includesSecrets ? url.absoluteString : Redaction.url(url.absoluteString)))
        return parts.joined(separator: " \\\n\t")
    }

    /// Quotes an argument with double quotes, as documented, or with single ones where a shell would expand the text.
    private static func quoted(_ text: String) -> String {
        guard text.contains(where: { "$`\\!\"\n\r".contains($0) }) else { return "\"\(text)\"" }
        return "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }

    private static func word(_ text: String) -> String {
        text.allSatisfy { $0.isASCII && ($0.isLetter || $0 == "-") } ? text : quoted(text)
    }
}
