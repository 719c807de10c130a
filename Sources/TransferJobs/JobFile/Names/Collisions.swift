import TransferCore

/// The treatment of a download whose destination is that of another job in its batch.
public enum Collisions: String, Sendable, Hashable, CaseIterable {
    /// The file gets a number: `name-2.ext`.
    case rename
    /// The file goes into folders named after its server and its path. It gets a number too where these are equal.
    case path
    /// The batch is refused.
    case fail

    /// The advice at the end of a refusal.
    package static var offer: String {
        let key = "\"collisions\": \"rename\" or \"path\""
        let way = CommandPhrases.choose("--collisions rename or path (\"collisions\" in a job file)", key)
        return "\(way) gives each a name of its own"
    }
}
