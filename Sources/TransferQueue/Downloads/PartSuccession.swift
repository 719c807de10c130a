import TransferCore
import TransferEngine
import TransferJobs

/// The names of a download's partial files. In a queue of one machine a destination has one (`NAME.part`, numbered where it's
/// taken); of workers that may share a folder each has its own (`NAME.OWNER.part`), as one that was cut off from everybody may
/// still write to its own.
struct PartSuccession: Sendable {
    let owners: PartOwners?

    /// The name that partial files of the destination are made of (``PartName``).
    func base(of path: String) -> String { owners.map { base(of: path, $0.own) } ?? path }

    private func base(of path: String, _ owner: PartOwner) -> String { NameLimit.extended(path, ".\(owner.text)") }

    /// Whether another process may have begun the job.
    var isFirst: Bool { owners?.earlier.isEmpty ?? true }

    /// Names that partial files of all owners have.
    func names(of path: String) -> [String] {
        guard let owners else { return [PartName.path(of: path)] }
        return ([owners.own] + owners.earlier).map { PartName.path(of: base(of: path, $0)) }
    }

    /// Takes over a partial file that nobody writes to any more, and has all other ones of earlier owners go: their leases are
    /// over. Blocks: for workers.
    ///
    /// - Parameters:
    ///   - wasInterrupted: Whether an earlier owner didn't give the job back by itself. Then only the lock tells whether it
    ///     lives, and that only on one machine.
    ///   - record: What the queue knows of the partial file.
    /// - Returns: The same with the name that the file has now.
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

    /// Has the partial files of earlier owners go, once the file is there. One that was stopped when it lost the job may have
    /// begun another partial file since; by its name that is its own, and no process goes on with it. Blocks: for workers.
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
