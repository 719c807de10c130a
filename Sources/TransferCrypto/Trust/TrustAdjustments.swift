/// A rule by which a trust is judged.
public protocol TrustRule: Sendable {
    /// - Throws: Why the trust is refused.
    func judge(_ trust: ServerTrust) throws
}

/// The rules and authorities that an evaluator sets for one trust, in place of the usual ones.
public struct TrustAdjustments: Sendable {
    /// In place of the usual ones; empty for those.
    public var rules: [any TrustRule] = []
    /// Authorities besides those of the trust; `nil` where nobody set any.
    public var anchors: [Certificate]?
    /// Whether ``anchors`` are trusted in place of those of the trust.
    public var usesOnlyAnchors = true

    public init() {}
}
