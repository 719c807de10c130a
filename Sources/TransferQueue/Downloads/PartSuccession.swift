import TransferCore
import TransferEngine
import TransferJobs

/// The names of a download's partial files. In a queue of one machine, a destination has one: `NAME.part`, or a
/// numbered name. Workers that may share a folder each have their own (`NAME.OWNER.part`), because a disconnected
/// worker may still write to its file.
struct PartSuccession: Sendable {
    let owners: PartOwners?

    /// Returns the base of the destination's partial file names (``PartName``).
    func base(of path: String) -> String { owners.map { base(of: path, $0.own) } ?? path }

    private func base(of path: String, _ owner: PartOwner) -> String { NameLimit.extended(path, ".\(owner.text)") }

    /// Whether no other process can have begun the job.
    var isFirst: Bool { owners?.earlier.isEmpty ?? true }

    /// Returns the names that partial files of all owners have.
    func names(of path: String) -> [String] {
        guard let owners else { return [PartName.path(of: path)] }
        return ([owners.own] + owners.earlier).map { PartName.path(of: base(of: path, $0)) }
    }

    /// Takes over a partial file that no process writes to, and removes all others of earlier owners, whose leases are
    /// over. Blocks, so it belongs on a worker thread.
    ///
    /// - Parameters:
    ///   - wasInterrupted: Whether an earlier owner did not release the job itself. Then only the file's lock shows
    ///     whether it lives, and only on one machine.
    ///   - record: The queue's record of the partial file.
    /// - Returns: The record with the present name of the file.
    func settle(
        of path: String, in folder: PinnedFolder?, wasInterrupted: Bool, _ record: ResumeData?
    ) -> ResumeData? {
        guard let owners, !owners.earlier.isEmpty else { return record }
        var record = record
        let own = PartName.path(of: base(of: path))
        for owner in owners.earlier.reversed() {
            for number in 0..<NumberedPart.count {
                let name = PartName.path(of: base(of: path, owner), number: number)
                guard !DestinationName.isFree(name, in: folder) else { break }
                let legacy = PartLegacy(name, in: folder)
                guard !wasInterrupted || owner.isOnMachine(of: owners.own), legacy.take(as: own) else {
                    legacy.remove()
                    continue
                }
                if record?.partialFile == name { record?.partialFile = own }
            }
        }
        return record
    }

    /// Removes the partial files of earlier owners once the complete file is there. An owner that lost the job may
    /// since have begun another partial file, which no other process continues. Blocks, so it belongs on a worker
    /// thread.
    func sweep(of path: String, in folder: PinnedFolder?) {
        for owner in owners?.earlier ?? [] {
            for number in 0..<NumberedPart.count {
                let name = PartName.path(of: base(of: path, owner), number: number)
                guard !DestinationName.isFree(name, in: folder) else { break }
                PartLegacy(name, in: folder).remove()
            }
        }
    }
}
