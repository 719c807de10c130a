import ArgumentParser
import TransferQueue

/// The completion of the names of batches and jobs, for shells.
enum BatchCompletion {
    /// The names of batches.
    static var kind: CompletionKind {
        .custom { _, _, prefix in names(prefix) }
    }

    /// The names of batches, and behind a slash those of their jobs.
    static var jobs: CompletionKind {
        .custom { _, _, prefix in names(prefix) + jobs(prefix) }
    }

    /// The most jobs that are offered.
    private static let mostJobs = 200

    /// The queue in the standard folder; a queue that does not exist has no names.
    private static var remote: QueueRemote? { try? Composition.remote(existingState: nil) }

    /// Returns the names of batches for people; a name that is typed whole is offered, too.
    private static func names(_ prefix: String) -> [String] {
        guard let register = try? remote?.batchRegister() else { return [] }
        let names = BatchNames(register)
        let forms = register.names.flatMap { [names.short($0), $0] }.filter { $0.hasPrefix(prefix) }
        var seen: Set<String> = []
        return forms.filter { seen.insert($0).inserted }
    }

    private static func jobs(_ prefix: String) -> [String] {
        guard prefix.contains("/"), let remote, let register = try? remote.batchRegister() else { return [] }
        let names = BatchNames(register)
        for name in register.names {
            for form in [names.short(name), name] where prefix.hasPrefix(form + "/") {
                var selection = JobSelection()
                selection.batch = name
                selection.limit = mostJobs
                let typed = String(prefix.dropFirst(form.count + 1))
                if !typed.isEmpty { selection.identityPrefix = typed }
                let found = (try? remote.jobs(selection)) ?? []
                return found.map { "\(form)/\($0.listed.job)" }
            }
        }
        return []
    }
}
