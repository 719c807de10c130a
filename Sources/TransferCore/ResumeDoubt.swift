/// Answers that spoke against the bytes that are there, all with the same claim, since the last one that fitted.
///
/// One such answer proves nothing: a login page, a node of the pool that is behind, a cache with a fault. The bytes stay,
/// and the claim is believed once it was made ``confirmations`` times.
public struct ResumeDoubt: Sendable, Hashable, Codable {
    public var claim: String
    public var count: Int

    public init(claim: String, count: Int = 1) {
        self.claim = claim
        self.count = count
    }

    /// How often a claim has to be made, in as many attempts.
    public static let confirmations = 3

    /// The doubt that a further answer leaves.
    public static func after(_ earlier: ResumeDoubt?, claim: String) -> ResumeDoubt {
        guard let earlier, earlier.claim == claim else { return ResumeDoubt(claim: claim) }
        return ResumeDoubt(claim: claim, count: min(earlier.count + 1, confirmations))
    }
}
