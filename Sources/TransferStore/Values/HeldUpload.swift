/// A cancelled job of which a server holds a part.
struct HeldUpload: Sendable, Hashable {
    let id: Int64
    let identity: String
    /// Whether a secret of its job file is wanting, which is never stored.
    let hasSecrets: Bool
}
