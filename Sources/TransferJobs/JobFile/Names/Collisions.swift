import TransferCore

/// What becomes of a download whose file another job of its batch gets already.
public enum Collisions: String, Sendable, Hashable, CaseIterable {
    /// It gets a number: `name-2.ext`.
    case rename
    /// It goes beneath folders that are named after its server and its path; with a number where these are the same.
    case path
    /// The batch is refused.
    case fail

    /// What a refusal offers.
    package static var offer: String {
        let key = "\"collisions\": \"rename\" or \"path\""
        let way = CommandPhrases.choose("--collisions rename or path (\"collisions\" in a job file)", key)
        return "\(way) gives each a name of its own"
    }
}
