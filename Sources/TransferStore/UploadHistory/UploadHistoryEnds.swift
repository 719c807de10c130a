import TransferCore
import TransferEngine
package import TransferJobs
import TransferWatch

/// Decides what the ends of jobs change in the upload history. Pure: the graph has the versions of the jobs, the jobs that follow
/// them, and renamed versions whose place they take.
package struct UploadHistoryEnds: Sendable {
    /// A folder, as its jobs' ends need it.
    package struct Folder: Sendable {
        package let root: String
        /// Milliseconds from a file's confirmation to what is done with it then.
        package let thenAfter: Int64?

        package init(root: String, thenAfter: Int64?) {
            self.root = root
            self.thenAfter = thenAfter
        }
    }

    /// The number of complete jobs that stay for readers of the queue's ends (`JobEnds`); the history has them for good.
    package static let completeJobsKept: Int64 = 1000

    package var graph: UploadHistoryGraph
    package var result = WatchedEnds()
    /// By batch.
    private let folders: [Int64: Folder]
    private let now: Int64
    private let hasFile: @Sendable (_ root: String, _ path: String) -> Bool

    /// - Parameters:
    ///   - folders: By batch.
    ///   - now: Milliseconds since 1970.
    package init(
        graph: UploadHistoryGraph, folders: [Int64: Folder], now: Int64,
        hasFile: @escaping @Sendable (_ root: String, _ path: String) -> Bool = { FolderPlaces($0).file($1) != nil }
    ) {
        self.graph = graph
        self.folders = folders
        self.now = now
        self.hasFile = hasFile
    }

    /// - Parameter index: The end's among those that are recorded.
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
            // The runner has given up what its server held.
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

    /// A job that would go on later makes room where a newer version of its file, or its new name, waits for it.
    ///
    /// - Returns: Whether it's gone.
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

    /// - Returns: The jobs that waited for another version's end and are ready now, by lane.
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
        // Files that had this one's name: no server has them any more, so that they are uploaded by their own.
        for other in graph.entries.values.sorted(by: { $0.id < $1.id })
        where other.isRenamed && other.url == receipt.finalURL && other.id != id {
            graph.remove(entry: other.id)
            note(end, index, other.version.path, .replaced(wasKept: other.isKept))
        }
    }

    /// A file that has the bytes that were sent, and another time or inode by now, is no other version: the job that waits
    /// to upload it as one has nothing to do.
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
        /// The file's upload stays where it is, as long as no other file takes its former name.
        case elsewhere
        /// Another file has its former name, and will take the place of this upload: it's uploaded by its new one.
        case toItsOwnPlace
    }

    /// Decides about a file that got another name while it was uploaded, and about the job that waits to upload it by that
    /// name.
    private mutating func settleRename(_ end: JobEnd, _ id: Int64, _ folder: Folder) -> Rename {
        let followers = graph.followers(of: end.id).filter { $0.entry == id }
        guard !followers.isEmpty else { return .none }
        let destination = graph.jobs[end.id]?.destination
        let isElsewhere = followers.contains { $0.destination != destination }
        if isElsewhere, hasFile(folder.root, WatchedPath.path(ofJob: end.identity)) { return .toItsOwnPlace }
        // Under its new name it isn't to be uploaded again.
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

    /// - Returns: The path of its version; `nil` where that belongs to another job, or isn't known.
    private mutating func takeOut(_ job: Int64, _ id: Int64, abandons: Bool = true) -> String? {
        graph.remove(job: job, abandons: abandons)
        guard let entry = graph.entries[id], entry.job == job else { return nil }
        graph.remove(entry: id)
        return entry.version.path
    }
}
