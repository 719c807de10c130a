public import TransferCore

/// A redirect that could be followed.
public struct RedirectProposal: Sendable {
    /// The answer that redirects.
    public let head: ResponseHead
    /// Where it came from.
    public let url: String
    /// The request that would follow.
    public let nextURL: String
    public let method: String
    public let headers: [HeaderField]

    init(head: ResponseHead, url: String, next: Hop) {
        self.head = head
        self.url = url
        nextURL = next.url
        method = next.method
        headers = next.headers
    }
}

/// What becomes of a redirect.
public enum RedirectDecision: Sendable {
    /// - Parameters:
    ///   - url: Absolute.
    ///   - headers: All that are sent.
    case follow(url: String, method: String, headers: [HeaderField])
    /// The redirecting answer itself is delivered.
    case stay
}
