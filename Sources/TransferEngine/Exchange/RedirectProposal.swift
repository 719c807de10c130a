public import TransferCore

/// A redirect that could be followed.
public struct RedirectProposal: Sendable {
    /// The answer that redirects.
    public let head: ResponseHead
    /// The URL that redirects.
    public let url: String
    /// The request that would follow, with the fragment of its URL.
    public let nextURL: String
    public let method: String
    public let headers: [HeaderField]
    /// Whether the body goes along.
    public let sendsBody: Bool
    /// The body that an earlier decision put in place of the request's own.
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
    /// - Parameters:
    ///   - url: Absolute, `http` or `https`, without userinfo; its fragment isn't sent.
    ///   - headers: All that are sent.
    case follow(url: String, method: String, headers: [HeaderField], body: Body = .asProposed)
    /// The redirecting answer itself is delivered.
    case stay

    public enum Body: Sendable {
        /// The request's own again, where the proposal sends one.
        case asProposed
        case none
        case bytes([UInt8])
    }
}
