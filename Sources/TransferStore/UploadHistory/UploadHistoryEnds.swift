import TransferCore
import TransferEngine
package import TransferJobs
import TransferWatch

/// Decides what the ends of jobs change in the upload history, without any input or output. The graph holds the
/// versions of the jobs, the jobs that follow them, and renamed versions whose places they take.
package struct UploadHistoryEnds: Sendable {
    /// The facts of a watched folder that decisions about the ends of its jobs need.
    package struct Folder: Sendable {
        package let root: String
        /// The time from a file's confirmation until it is moved or deleted, in milliseconds; `nil` if the file stays.
        package let thenAfter: Int64?

        package init(root: String, thenAfter: Int64?) {
            self.root = root
            self.thenAfter = thenAfter
        }
    }

    /// The number of complete jobs that stay for readers of the queue's ends (`JobEnds`). The history keeps their files
    /// for good.
    package static let completeJobsKept: Int64 = 1000

    package var graph: UploadHistoryGraph
    package var result = WatchedEnds()
    /// The folders by their batches.
    private let folders: [Int64: Folder]
    private let now: Int64
    private let hasFile: @Sendable (_ root: String, _ path: String) -> Bool

    /// Creates a decision about ends.
    ///
    /// - Parameters:
    ///   - folders: The folders by their batches.
    ///   - now: The time in milliseconds since 1970.
    ///   - hasFile: A function that returns whether a file is at a path beneath a folder.
    package init(
        graph: UploadHistoryGraph, folders: [Int64: Folder], now: Int64,
        hasFile: @escaping @Sendable (_ root: String, _ path: String) -> Bool = { FolderPlaces($0).file($1) != nil }
    ) {
        self.graph = graph
        self.folders = folders
        self.now = now
        self.hasFile = hasFile
    }

    /// Records the end of a job.
    ///
    /// - Parameter index: The position of the end among those that are recorded.
    package mutating func record(_ end: JobEnd, index: Int) {
        guard let folder = folders[end.batch], let entry = graph.jobs[end.id]?.entry else { return }
        switch end.outcome {
        case .done(let receipt, let facts), .kept(let receipt, let facts):
            graph.note(.done, ofJob: end.id)
            if let facts { settleTouch(end, facts, entry) }
            confirm(end, index, receipt, entry, folder)
        case .failed:
            graph.note(.failed, ofJob: end.id)
            let path = graph.entries[entry]?.version.path
            if hasSuccessor(end.id, entry) {
                _ = takeOut(end.id, entry)
            } else if graph.entries[entry]?.job == end.id {
                graph.change(entry) {
                    $0.state = .failed
                    $0.failures += 1
                }
            }
            note(end, index, path, .failed)
        case .cancelled: graph.note(.cancelled, ofJob: end.id)
        case .dropped(let isChanged):
            // The runner has already abandoned the data that the server held.
            let path = takeOut(end.id, entry, abandons: false)
            note(end, index, path, .dropped(isChanged: isChanged))
        }
    }

    private mutating func note(_ end: JobEnd, _ index: Int, _ path: String?, _ kind: WatchedEnds.Kind) {
        result.ends.append(
            WatchedEnds.End(
                index: index, job: end.id, batch: end.batch, path: path ?? WatchedPath.path(ofJob: end.identity),
                kind: kind))
    }

    /// Removes a job that would continue later, if a newer version of its file or a job for the file's new name waits
    /// for it.
    ///
    /// - Returns: Whether the job was removed.
    package mutating func supersedes(_ step: JobStep) -> Bool {
        guard step.state != .claimed, folders[step.batch] != nil, let entry = graph.jobs[step.id]?.entry else {
            return false
        }
        guard hasSuccessor(step.id, entry) else {
            graph.note(step.state, ofJob: step.id)
            return false
        }
        _ = takeOut(step.id, entry)
        result.superseded[step.batch, default: []].append(step.id)
        return true
    }

    /// Releases jobs that waited for the end of another version.
    ///
    /// - Returns: The numbers of jobs that are ready now, by lane.
    package mutating func finish() -> [Lane: Int] {
        graph.releaseFollowers().reduce(into: [:]) { $0[$1.lane, default: 0] += 1 }
    }

    // MARK: Confirmed files

    private mutating func confirm(
        _ end: JobEnd, _ index: Int, _ receipt: JobReceipt, _ id: Int64, _ folder: Folder
    ) {
        let renamed = settleRename(end, id, folder)
        if renamed == .toItsOwnPlace {
            return note(end, index, nil, .confirmed(url: receipt.finalURL, due: nil, hasDigest: true))
        }
        let digest = receipt.digest.flatMap { $0.algorithm == .sha256 ? $0 : nil }
        let now = now
        graph.change(id) {
            $0.state = .confirmed
            $0.job = nil
            $0.url = receipt.finalURL
            $0.confirmed = now
            if let digest { $0.digest = digest }
            $0.isRenamed = renamed == .elsewhere
            $0.version.stamp.changed = end.sourceChanged ?? $0.version.stamp.changed
            $0.fingerprint = end.sourceFingerprint
            $0.due = folder.thenAfter.map { now + $0 }
        }
        guard let entry = graph.entries[id] else { return }
        note(
            end, index, entry.version.path,
            .confirmed(url: receipt.finalURL, due: entry.due, hasDigest: entry.digestText != nil))
        // The uploaded file has replaced uploads of other files that once had its name. Their entries are removed, so
        // that they are uploaded under their own names.
        for other in graph.entries.values.sorted(by: { $0.id < $1.id })
        where other.isRenamed && other.url == receipt.finalURL && other.id != id {
            graph.remove(entry: other.id)
            note(end, index, other.version.path, .replaced(wasKept: other.isKept))
        }
    }

    /// Takes a file with the bytes that were sent, but another time or inode by now, as the same version. The job that
    /// waits to upload it as another version is removed.
    private mutating func settleTouch(_ end: JobEnd, _ facts: FileStamp, _ id: Int64) {
        guard let entry = graph.entries[id], entry.version.size == facts.size,
            entry.version.modified != facts.modified || facts.inode.map({ $0 != entry.version.stamp.inode }) ?? false
        else { return }
        graph.change(id) {
            $0.version.stamp.modified = facts.modified
            $0.version.stamp.changed = end.sourceChanged
            $0.version.stamp.inode = facts.inode ?? $0.version.stamp.inode
            $0.version.stamp.device = facts.device ?? $0.version.stamp.device
        }
        guard let touched = graph.entries[id]?.version else { return }
        for job in graph.followers(of: end.id) where job.isOpen {
            guard let other = graph.entries[job.entry], other.id != id, other.job == job.id,
                other.version.deviceBits == touched.deviceBits, other.version.inodeBits == touched.inodeBits,
                other.version.size == touched.size, other.version.modified == touched.modified,
                PathKey(other.version.path) == PathKey(touched.path)
            else { continue }
            graph.remove(job: job.id)
            graph.remove(entry: other.id)
            result.superseded[end.batch, default: []].append(job.id)
        }
    }

    private enum Rename {
        case none
        /// The upload stays where it is until another file takes the file's former name.
        case elsewhere
        /// Another file has the former name and will replace this upload. The file is uploaded under its new name.
        case toItsOwnPlace
    }

    /// Decides about a file that was renamed during its upload, and about the job that waits to upload it under the new
    /// name.
    private mutating func settleRename(_ end: JobEnd, _ id: Int64, _ folder: Folder) -> Rename {
        let followers = graph.followers(of: end.id).filter { $0.entry == id }
        guard !followers.isEmpty else { return .none }
        let destination = graph.jobs[end.id]?.destination
        let isElsewhere = followers.contains { $0.destination != destination }
        if isElsewhere, hasFile(folder.root, WatchedPath.path(ofJob: end.identity)) { return .toItsOwnPlace }
        // The file must not be uploaded again under its new name.
        for follower in followers { graph.remove(job: follower.id) }
        result.superseded[end.batch, default: []] += followers.map(\.id)
        return isElsewhere ? .elsewhere : .none
    }

    // MARK: Jobs

    private func hasSuccessor(_ job: Int64, _ entry: Int64) -> Bool {
        let path = graph.entries[entry].map { PathKey($0.version.path) }
        return graph.followers(of: job).contains { follower in
            follower.entry == entry
                || path != nil && graph.entries[follower.entry].map { PathKey($0.version.path) } == path
        }
    }

    /// Removes a job, and its version if the version names this job.
    ///
    /// - Returns: The path of the version; `nil` if the version belongs to another job or is unknown.
    private mutating func takeOut(_ job: Int64, _ id: Int64, abandons: Bool = true) -> String? {
        graph.remove(job: job, abandons: abandons)
        guard let entry = graph.entries[id], entry.job == job else { return nil }
        graph.remove(entry: id)
        return entry.version.path
    }
}
