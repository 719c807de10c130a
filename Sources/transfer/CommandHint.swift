import TransferCore

/// Commands to copy, from a process to the same queue: they name the state folder as that process was given it.
struct CommandHint: Sendable, Hashable {
    /// The folder that `--state` named; `nil` for the usual one.
    var state: String?

    /// `transfer status nightly --failed --state /srv/queue`, as a shell reads it.
    func command(_ words: String...) -> String { command(words) }

    func command(_ words: [String]) -> String {
        let named = state.map { ["--state", $0] } ?? []
        return (["transfer"] + words + named).map(ShellWord.quoted).joined(separator: " ")
    }

    /// For a batch that isn't there.
    func noBatch(_ name: String) -> Failure {
        Failure(.wrongUsage, "no batch \"\(name)\"; \(command("status")) lists them")
    }
}
