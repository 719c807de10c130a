import Glibc
import TransferCore

/// A builder of commands to copy, for the queue of this process: they name the state folder in the same way.
struct CommandHint: Sendable, Hashable {
    /// The folder that `--state` named; `nil` for the usual one.
    var state: String?
    /// The service that `--server` named, in place of a folder.
    var server: String?
    /// The database of a queue that many machines share, as `--queue` named it.
    var queue: String?
    /// The fate of the queue after this process.
    var persistence = RunPersistence.watches
    /// Whether the reader's terminal shows characters beyond ASCII; otherwise they are escaped.
    var isUTF8 = true

    /// Whether the queue outlives the process.
    var isLasting: Bool { persistence != .isForgotten }

    /// Returns a command in the shell's spelling, such as `transfer status nightly --failed --state /srv/queue`.
    ///
    /// A name that looks like an option comes last, behind `--`.
    func command(_ verb: String, _ names: String..., options: [String] = []) -> String {
        let place =
            queue.map { ["--queue", $0] }
            ?? (server.map { ["--server", $0] } ?? []) + (state.map { ["--state", $0] } ?? [])
        let options = options + place
        let words =
            names.contains { $0.hasPrefix("-") && $0 != "-" } ? options + ["--"] + names : names + options
        return (["transfer", verb] + words).map { ShellWord.quoted($0, isUTF8: isUTF8) }.joined(separator: " ")
    }

    /// Returns the failure for a batch that does not exist.
    func noBatch(_ name: String, among names: BatchNames = BatchNames()) -> Failure {
        if names.isForgotten(name) {
            return Failure(
                .wrongUsage,
                "no batch \"\(name)\" any more: what `transfer get`, `put` or `copy` began is forgotten once all of it is complete "
                    + "(--report FILE keeps how jobs ended); \(command("status")) lists the batches")
        }
        let nearest = names.nearest(name).map { "did you mean \(ShellWord.quoted($0, isUTF8: isUTF8))? " } ?? ""
        return Failure(.wrongUsage, "no batch \"\(name)\"; \(nearest)\(command("status")) lists them")
    }
}
