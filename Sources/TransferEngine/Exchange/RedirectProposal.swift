public import TransferCore

/// A redirect that could be followed.
public struct RedirectProposal: Sendable {
    /// The answer that redirects.
    public let head: ResponseHead
    /// The URL that redirects.
    public let url: String
    /// The URL of the request that would follow, with its fragment.
    public let nextURL: String
    /// The method of the request that would follow.
    public let method: String
    /// The header fields of the request that would follow.
    public let headers: [HeaderField]
    /// Whether the request that would follow has a body.
    public let sendsBody: Bool
    /// The body by which an earlier decision replaced the request's own.
    public let replacedBody: [UInt8]?

    package init(
        head: ResponseHead, url: String, nextURL: String, method: String, headers: [HeaderField], sendsBody: Bool,
        replacedBody: [UInt8]?
    ) {
        self.head = head
        self.url = url
        self.nextURL = nextURL
        self.method = method
        self.headers = headers
        self.sendsBody = sendsBody
        self.replacedBody = replacedBody
    }

    init(head: ResponseHead, from hop: Hop, next: Hop) {
        self.head = head
        url = hop.reference
        nextURL = next.reference
        method = next.method
        headers = next.headers
        sendsBody = next.sendsBody
        replacedBody = next.replacedBody
    }
}

/// A decision about a redirect.
public enum RedirectDecision: Sendable {
    /// The redirect is followed.
    ///
    /// - Parameters:
    ///   - url: An absolute URL, `http` or `https`, without userinfo; its fragment is not sent.
    ///   - headers: All header fields that are sent.
    case follow(url: String, method: String, headers: [HeaderField], body: Body = .asProposed)
    /// The redirect is not followed: its answer itself is delivered.
    case stay

    /// The body of the request that follows.
    public enum Body: Sendable {
        /// The request's own body again, where the proposal sends one.
        case asProposed
        case none
        case bytes([UInt8])
    }
}
