/// The result of a drain.
public struct DrainReport: Sendable, Hashable {
    /// The number of jobs under way when the drain began.
    public let underWay: Int
    /// The number of those that did not end in time. They were checkpointed and given back.
    public let left: Int
}
