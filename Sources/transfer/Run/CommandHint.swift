import Glibc
import TransferCore

/// Commands to copy, from a process to the same queue: they name the state folder as that process was given it.
struct CommandHint: Sendable, Hashable {
    /// The folder that `--state` named; `nil` for the usual one.
    var state: String?
    /// The service that `--server` named, in place of a folder.
    var server: String?
    /// The database of a queue that many machines share, as `--queue` named it.
    var queue: String?
    /// What becomes of the queue that they are about.
    var persistence = RunPersistence.watches
    /// Whether who reads it sees other letters than ASCII's as they are; they are written out otherwise.
    var isUTF8 = true

    /// Whether the queue is still there when the process is gone.
    var isLasting: Bool { persistence != .isForgotten }

    /// `transfer status nightly --failed --state /srv/queue`, as a shell reads it, and then the command itself: a name that
    /// looks like an option comes last, behind `--`.
    func command(_ verb: String, _ names: String..., options: [String] = []) -> String {
        let place =
            queue.map { ["--queue", $0] }
            ?? (server.map { ["--server", $0] } ?? []) + (state.map { ["--state", $0] } ?? [])
        let options = options + place
        let words =
            names.contains { $0.hasPrefix("-") && $0 != "-" } ? options + ["--"] + names : names + options
        return (["transfer", verb] + words).map { ShellWord.quoted($0, isUTF8: isUTF8) }.joined(separator: " ")
    }

    /// For a batch that isn't there.
    func noBatch(_ name: String, among names: BatchNames = BatchNames()) -> Failure {
        if names.isForgotten(name) {
            return Failure(
                .wrongUsage,
                "no batch \"\(name)\" any more: what `transfer get`, `put` or `copy` began is forgotten once all of it is complete "
                    + "(--report FILE keeps how jobs ended); \(command("status")) lists what there is")
        }
        let nearest = names.nearest(name).map { "did you mean \(ShellWord.quoted($0, isUTF8: isUTF8))? " } ?? ""
        return Failure(.wrongUsage, "no batch \"\(name)\"; \(nearest)\(command("status")) lists them")
    }
}
