import TransferCore

/// The rule for 3xx answers (RFC 9110 §15.4).
///
/// - 304 and 305 are ordinary answers: a validation and a proxy are not followed. A choice (300) is an ordinary answer
///   to messages. Where a file is wanted, its Location is the server's preference and is followed.
/// - Fields that could identify or authorise the user go to no other origin (scheme, host and port). They do not come
///   back when the chain returns, as a redirecting server may choose the request to the first origin. The cookies of a
///   jar are exempt, as each hop gets those of its own host.
/// - A redirect from https to http is followed, as URLSession does outside Apple's systems. That is another origin, and
///   secure cookies are not sent.
struct RedirectRule {
    let limit: Int
    private let methods: RedirectMethods
    private(set) var followed = 0

    init(limit: Int, methods: RedirectMethods = RedirectMethods()) {
        self.limit = limit
        self.methods = methods
    }

    init(_ rules: ExchangeSettings.Redirects) { self.init(limit: rules.most, methods: rules.methods) }

    static func isRedirect(_ status: Int) -> Bool { [301, 302, 303, 307, 308].contains(status) }

    /// Returns the request for the new place.
    ///
    /// - Throws: `TransferError` after too many redirects, and for a place that must not be followed.
    mutating func follow(_ hop: Hop, status: Int, to location: String?) throws(TransferError) -> Hop {
        guard let location, !location.isEmpty else {
            throw TransferError(
                .badResponse, "\(status) without a usable Location", cause: .http(status: status))
        }
        guard let target = Origin(url: location) else {
            throw Self.refusal(of: location, status: status)
        }
        guard followed < limit else {
            let place = Redaction.url(location)
            throw TransferError(
                .tooManyRedirects,
                limit == 0
                    ? "the redirect to \(place) is not followed: \"maxRedirects\" is 0 (-L of curl)"
                    : "more than \(CountText.words(limit, "redirect")), the last to \(place)")
        }
        followed += 1
        var next = hop
        next.go(to: location)
        switch methods.effect(of: status, on: hop.method, sendsBody: hop.sendsBody) {
        case .none: break
        case .turned:
            next.method = "GET"
            next.dropBody()
        case .emptied: next.dropBody()
        }
        return target == Origin(url: hop.url) ? next : Self.leavingOrigin(next)
    }

    /// Returns the request for a place to which redirects led earlier.
    ///
    /// - Parameter takesCredentials: Whether all those redirects were within one origin.
    static func crossing(_ hop: Hop, to place: String, takesCredentials: Bool) -> Hop {
        var next = hop
        next.go(to: place)
        return takesCredentials && Origin(url: place) == Origin(url: hop.url) ? next : leavingOrigin(next)
    }

    private static func leavingOrigin(_ hop: Hop) -> Hop {
        var next = hop
        next.headers.removeAll { !mayCrossOrigins($0.name, withBody: hop.sendsBody) }
        next.sendsCredentials = false
        return next
    }

    /// Returns whether a field may be sent to another origin: it must not identify or authorise the user.
    ///
    /// - Parameter withBody: Whether a 307 or 308 repeats the body, so that the fields that describe it are sent too.
    static func mayCrossOrigins(_ name: String, withBody: Bool) -> Bool {
        let lower = name.lowercased()
        return lower.hasPrefix("accept") || lower == "user-agent" || lower == "range" || lower.hasPrefix("if-")
            || (withBody && (lower.hasPrefix("content-") || lower == "expect"))
    }

    static func refusal(of location: String, status: Int) -> TransferError {
        let reason = URLSpelling.fault(of: location).map { "its host is no name: \($0)" }
        return TransferError(
            .redirectRefused,
            "redirect to \(Redaction.url(location)) refused: \(reason ?? "only http and https are followed")",
            cause: .http(status: status))
    }
}
