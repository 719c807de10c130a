/// A batch that this process holds.
package struct HeldBatch: Sendable {
    package let id: Int64
    package let name: String
    package let directory: String
    /// Whether the batch's relative paths started from another folder before.
    package var hasMoved = false
    package var isNew = false

    package init(id: Int64, name: String, directory: String, hasMoved: Bool = false, isNew: Bool = false) {
        self.id = id
        self.name = name
        self.directory = directory
        self.hasMoved = hasMoved
        self.isNew = isNew
    }
}
