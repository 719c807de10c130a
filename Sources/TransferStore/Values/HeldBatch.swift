/// A batch that this process holds.
package struct HeldBatch: Sendable {
    package let id: Int64
    package let name: String
    package let directory: String
    /// Whether its relative paths started from another folder before.
    package var hasMoved = false
    package var isNew = false
}
