/// A batch that this process holds.
struct HeldBatch: Sendable {
    let id: Int64
    let name: String
    let directory: String
    /// Whether its relative paths started from another folder before.
    var hasMoved = false
    var isNew = false
}
