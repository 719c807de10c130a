/// A cancelled job of which a server holds a part.
package struct HeldUpload: Sendable, Hashable {
    package let id: Int64
    package let identity: String
    /// Whether the job needs a secret of its job file, which is never stored.
    package let hasSecrets: Bool

    package init(id: Int64, identity: String, hasSecrets: Bool) {
        self.id = id
        self.identity = identity
        self.hasSecrets = hasSecrets
    }
}
