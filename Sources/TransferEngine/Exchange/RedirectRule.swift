import TransferCore

/// The rule for 3xx answers (RFC 9110 §15.4).
///
/// - 304 and 305 are answers like others: a validation and a proxy are nothing to follow. A choice (300) is one for
///   messages; where a file is wanted, its Location is the server's own choice and is followed.
/// - What could identify or authorise the user goes to no other origin (scheme, host and port), and doesn't come back
///   when the chain does: who redirects may choose what the first origin is then asked for. The cookies of a jar are no
///   part of this, as each hop is given those of its own host.
/// - From https to http a redirect is followed, as URLSession does outside Apple's systems; that is another origin, and
///   secure cookies stay behind.
struct RedirectRule {
    let limit: Int
    private(set) var followed = 0

    init(limit: Int) { self.limit = limit }

    static func isRedirect(_ status: Int) -> Bool { [301, 302, 303, 307, 308].contains(status) }

    /// Whether a redirect makes another request of one with that method: a GET, without a body.
    static func turns(_ method: String, by status: Int) -> Bool {
        switch status {
        case 303: method != "HEAD"
        case 301, 302: method == "POST"
        default: false
        }
    }

    /// The request for the new place.
    ///
    /// - Throws: `TransferError` when there were too many, or the place is not one to go to.
    mutating func follow(_ hop: Hop, status: Int, to location: String?) throws(TransferError) -> Hop {
        guard let location, !location.isEmpty else {
            throw TransferError(
                .badResponse, "\(status) without a usable Location", cause: .http(status: status))
        }
        guard let target = Origin(url: location) else {
            throw Self.refusal(of: location, status: status)
        }
        guard followed < limit else {
            throw TransferError(
                .tooManyRedirects,
                "more than \(CountText.words(limit, "redirect")), the last to \(Redaction.url(location))")
        }
        followed += 1
        var next = hop
        next.go(to: location)
        if Self.turns(hop.method, by: status) {
            next.method = "GET"
            next.dropBody()
        }
        return target == Origin(url: hop.url) ? next : Self.leavingOrigin(next)
    }

    /// The request for a place that redirects led to earlier.
    ///
    /// - Parameter takesCredentials: Whether all of them were within one origin.
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

    /// Fields that go along to another origin: none that could identify or authorise the user.
    ///
    /// - Parameter withBody: A 307 or 308 repeats the body, and its description goes with it.
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
