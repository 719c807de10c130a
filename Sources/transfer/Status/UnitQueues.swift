import FoundationEssentials
import Glibc
import TransferCore

/// The queues of the units that the package installs. Each has a folder of its own, which only the user of the units can
/// read.
enum UnitQueues {
    /// The folder of the units' states (`StateDirectory=` of systemd.exec(5)).
    static let folder = "/var/lib/transfer"

    /// Returns the commands that show the units' queues, beside the user's own queue.
    ///
    /// - Parameter hint: The place of the user's queue; there are no hints for a place that was named.
    static func hints(
        _ hint: CommandHint, folder: String = UnitQueues.folder,
        environment: [String: String] = Composition.environment
    ) -> [String] {
        guard hint.state == nil, hint.server == nil, hint.queue == nil, environment["TRANSFER_STATE"] == nil,
            let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
        else { return [] }
        // Beneath these are the states of the units of batches and of workers; a worker has no queue of its own.
        let batches = (try? FileManager.default.contentsOfDirectory(atPath: folder + "/run")) ?? []
        let own = names.sorted().filter { !["run", "work"].contains($0) } + batches.sorted().map { "run/\($0)" }
        return own.compactMap { name in
            let path = "\(folder)/\(name)"
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
            let command = ["transfer", "status", "--state", path].map { ShellWord.quoted($0) }.joined(separator: " ")
            guard status.st_uid != geteuid() else { return "the unit's queue \(name): \(command)" }
            let user = UserEntry(status.st_uid)?.name ?? "#\(status.st_uid)"
            return "the unit's queue \(name): sudo -u \(ShellWord.quoted(user)) \(command)"
        }
    }
}
