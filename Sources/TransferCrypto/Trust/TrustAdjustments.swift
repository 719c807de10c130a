/// A rule for the evaluation of a trust.
public protocol TrustRule: Sendable {
    /// Evaluates a trust.
    ///
    /// - Throws: The reason why the trust is refused.
    func judge(_ trust: ServerTrust) throws
}

/// The rules and authorities that an evaluator sets for one trust, in place of the usual ones.
public struct TrustAdjustments: Sendable {
    /// The rules that replace the usual ones; empty keeps those.
    public var rules: [any TrustRule] = []
    /// The authorities besides those of the trust; `nil` where none were set.
    public var anchors: [Certificate]?
    /// Whether ``anchors`` replace those of the trust.
    public var usesOnlyAnchors = true

    /// Creates adjustments that change nothing.
    public init() {}
}
