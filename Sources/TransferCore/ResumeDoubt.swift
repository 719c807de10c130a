/// The responses that contradicted the received bytes, all with the same claim, since the last response that agreed.
///
/// A single such response proves nothing: it may be a login page, an outdated node of a pool, or a faulty cache. The
/// bytes are kept, and the claim is believed after ``confirmations`` responses.
public struct ResumeDoubt: Sendable, Hashable, Codable {
    /// The claim, which identifies the version that the responses describe.
    public var claim: String
    /// The number of responses with the claim.
    public var count: Int

    /// Creates a doubt.
    public init(claim: String, count: Int = 1) {
        self.claim = claim
        self.count = count
    }

    /// The number of attempts with the same claim after which it is believed.
    public static let confirmations = 3

    /// Returns the doubt after a further response.
    public static func after(_ earlier: ResumeDoubt?, claim: String) -> ResumeDoubt {
        guard let earlier, earlier.claim == claim else { return ResumeDoubt(claim: claim) }
        return ResumeDoubt(claim: claim, count: min(earlier.count + 1, confirmations))
    }
}
