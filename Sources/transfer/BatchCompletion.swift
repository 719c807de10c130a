import ArgumentParser
import TransferQueue

/// The completion of the names of batches, for shells.
enum BatchCompletion {
    static var kind: CompletionKind {
        .custom { _, _, prefix in names(prefix) }
    }

    /// Returns the batches of the queue in the standard folder; a queue that does not exist has none.
    private static func names(_ prefix: String) -> [String] {
        guard let remote = try? Composition.remote(existingState: nil), let names = try? remote.batchNames() else {
            return []
        }
        return names.filter { $0.hasPrefix(prefix) }
    }
}
