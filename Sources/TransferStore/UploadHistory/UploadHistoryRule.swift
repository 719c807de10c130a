package import TransferCore
import TransferEngine
package import TransferJobs
package import TransferWatch

/// Decides what an observation of a file changes in the upload history, without any input or output. It changes
/// versions and jobs, stages a job, and puts jobs behind others. A store reads the graph, asks the rule, and writes the
/// changes of the graph.
package struct UploadHistoryRule: Sendable {
    package let plan: WatchPlan
    package let batch: Int64
    package var graph: UploadHistoryGraph
    package var changes = HistoryChanges()
    /// The number of jobs that may still be staged (``WatchPlan/capacity``).
    package var room: Int
    /// Whether the batch is paused. Jobs that are added meanwhile are paused too.
    package let isPaused: Bool
    /// The current time, in milliseconds since 1970.
    package let now: Int64
    /// Returns the stamp of the file that is at a path beneath the folder now.
    package let file: @Sendable (_ path: String) -> FileStamp?
    /// The paths that belong to files of their own now, and are no longer other names of a file.
    package private(set) var ownNames: [String] = []

    /// Creates a rule for one transaction.
    ///
    /// - Parameter open: The number of the folder's jobs that have not ended.
    package init(
        _ plan: WatchPlan, batch: Int64, graph: UploadHistoryGraph, open: Int, isPaused: Bool, now: Int64,
        file: @escaping @Sendable (_ path: String) -> FileStamp?
    ) {
        self.plan = plan
        self.batch = batch
        self.graph = graph
        room = WatchPlan.capacity - open
        self.isPaused = isPaused
        self.now = now
        self.file = file
    }

    /// Returns a function that reads the stamps of files in the folder, for ``file``.
    package static func look(at root: String) -> @Sendable (_ path: String) -> FileStamp? {
        { FolderPlaces(root).file($0)?.stamp }
    }

    /// Takes offers until there is no room.
    package mutating func take(_ offers: [HistoryOffer]) {
        for offer in offers {
            guard take(offer) else { break }
            changes.handled += 1
        }
        finish()
    }

    package mutating func finish() {
        for job in graph.releaseFollowers() { changes.ready[job.lane, default: 0] += 1 }
        changes.ready = changes.ready.filter { $0.value > 0 }
    }

    /// Takes one offer.
    ///
    /// - Returns: Whether there was room for its job.
    private mutating func take(_ offer: HistoryOffer) -> Bool {
        let version = offer.version
        switch offer.finding {
        case .nothing, .outdated, .later, .otherName: return true
        case .renumbered(let id):
            graph.change(id) {
                $0.version.stamp.device = version.stamp.device
                $0.version.stamp.inode = version.stamp.inode
                $0.version.stamp.modified = version.modified
                if $0.state == .confirmed { $0.version.stamp.changed = version.stamp.changed }
            }
            cameBack(id)
            return true
        case .returned(let id):
            cameBack(id)
            return true
        case .touched(let id): return touch(id, as: version)
        case .looked(let id, let time):
            graph.change(id) {
                if $0.state == .confirmed || $0.state == .failed { $0.version.stamp.changed = time }
            }
            return true
        case .rewritten(let id, let digest):
            // A failed version is removed together with its job.
            guard graph.entries[id]?.state == .failed || replace(id) else { return true }
            return add(version, digest: digest, fingerprint: offer.fingerprint)
        case .another(let id, let digest):
            forget(id, unlessOnOtherDeviceThan: version)
            return takeNew(offer, digest: digest, isAnother: true)
        case .moved: return takeNew(offer, digest: nil)
        case .new(let digest): return takeNew(offer, digest: digest)
        }
    }

    /// Takes an offer of a new file.
    ///
    /// - Parameter isAnother: Whether the file is none of the versions that were known before.
    private mutating func takeNew(_ offer: HistoryOffer, digest: Checksum?, isAnother: Bool = false) -> Bool {
        let version = offer.version
        var look = graph.look(version)
        switch look {
        case .renumbered(_, let otherwise), .replaced(_, let otherwise): look = otherwise
        default: break
        }
        switch look {
        case .known, .onOtherDevice: return true
        case .returned(let row):
            cameBack(row.id)
            return true
        case .elsewhere(let row):
            // The two names are hard links to one file, and were offered together.
            if isThere(version, at: row.version.path) {
                changes.otherNames.append((row.version.path, version.path))
                return true
            }
            if !isAnother { return move(row.id, to: version) }
        case .otherTime(let row):
            // The file is another version now, so the recorded version exists nowhere any longer.
            replace(row.id)
        case .unknown, .renumbered, .replaced: break
        }
        return add(version, digest: digest, fingerprint: offer.fingerprint)
    }

    /// Removes an entry whose inode another file has now. An entry of another device stays, because its disk may
    /// return.
    private mutating func forget(_ id: Int64, unlessOnOtherDeviceThan version: FileVersion) {
        guard let entry = graph.entries[id], entry.version.deviceBits == version.deviceBits, !replace(id) else {
            return
        }
        if entry.state == .leftAlone { graph.remove(entry: id) }
    }

    /// Removes a confirmed version, because another version takes its place.
    ///
    /// - Returns: Whether the version was present and confirmed.
    @discardableResult mutating func replace(_ id: Int64) -> Bool {
        guard let entry = graph.entries[id], entry.state == .confirmed else { return false }
        graph.remove(entry: id)
        if entry.isKept { changes.returned -= 1 }
        return true
    }

    /// Gives a version another time, and perhaps another name, because its bytes are unchanged. A file still to be sent
    /// is sent under them. A file that is left alone stays so.
    ///
    /// - Returns: Whether there was room for its job.
    private mutating func touch(_ id: Int64, as version: FileVersion) -> Bool {
        graph.change(id) {
            $0.version.stamp.modified = version.modified
            $0.version.stamp.changed = version.stamp.changed
        }
        guard let entry = graph.entries[id], PathKey(entry.version.path) != PathKey(version.path) else {
            cameBack(id)
            return true
        }
        if isThere(version, at: entry.version.path) {
            changes.otherNames.append((entry.version.path, version.path))
            cameBack(id)
            return true
        }
        return move(id, to: version)
    }

    private func isThere(_ version: FileVersion, at path: String) -> Bool { version.isSame(as: file(path)) }

    mutating func cameBack(_ id: Int64) {
        guard let entry = graph.entries[id], entry.gone != nil else { return }
        graph.change(id) { $0.gone = nil }
        guard entry.due != nil else { return }
        changes.returned += 1
        changes.hasDue = true
    }

    // MARK: New versions

    mutating func add(_ version: FileVersion, digest: Checksum?, fingerprint: UInt64?) -> Bool {
        let older = graph.jobs(ofPath: version.path)
        let freed = older.count { !$0.isClaimed && $0.isOpen }
        guard room + freed > 0 else { return false }
        let wasPaused = older.contains { $0.state == .paused }
        for job in older where !job.isClaimed { remove(job) }
        let url = Redaction.url(plan.url(version, digest: digest))
        let now = now
        let id = graph.add {
            UploadHistoryEntry(
                id: $0, version: version, url: url, state: .open, digestText: digest?.description,
                fingerprint: fingerprint, staged: now)
        }
        stage(id, as: version, digest: digest, isPaused: wasPaused)
        ownNames.append(version.path)
        return true
    }

    /// Stages a job for a version. The job follows any open job for the same file or URL.
    package mutating func stage(
        _ id: Int64, as version: FileVersion, digest: Checksum?, isPaused wasPaused: Bool = false
    ) {
        let place = plan.url(version, digest: digest)
        let url = Redaction.url(place)
        let followed = lastOpenJob(
            of: id, path: version.path, url: url,
            destination: JobSpec.destinationKey(ofUploadTo: place, plan.spec.settings))
        let spec = plan.job(version, digest: digest, identity: version.path)
        let state: JobState = followed != nil ? .blocked : wasPaused || isPaused ? .paused : .queued
        let lane = lane(of: spec)
        let destination = spec.destinationKey(directory: "/")
        let job = graph.add {
            UploadHistoryJob(
                id: $0, entry: id, identity: "", state: state, lane: lane, destination: destination, follows: followed)
        }
        graph.change(id) {
            $0.job = job
            $0.version.path = version.path
            $0.url = url
            $0.state = .open
        }
        changes.added += 1
        room -= 1
        if state == .queued { changes.ready[lane, default: 0] += 1 }
    }

    package func lane(of spec: JobSpec) -> Lane {
        Lane(batch: batch, origin: spec.origin(mirror: 0), network: spec.settings.network.key)
    }

    /// Returns the newest open job that uploads this file or uploads to this URL.
    private func lastOpenJob(of entry: Int64, path: String, url: String, destination: String) -> Int64? {
        let ofFile = graph.jobs(ofEntry: entry) + graph.jobs(ofPath: path)
        // A URL where a server makes names can take many uploads at a time.
        let givesNames = plan.spec.upload.uploadProtocol.givesNames
        let ofPlace = graph.jobs.values.filter { job in
            guard !givesNames, let entry = graph.entries[job.entry] else { return false }
            return entry.job != nil && entry.url == url
        }
        // The history already has the new URL of a file that was renamed during its upload.
        let ofFormerPlace = graph.jobs.values.compactMap { renamed in
            renamed.follows.flatMap { graph.jobs[$0] }.flatMap {
                $0.entry == renamed.entry && $0.destination == destination ? $0 : nil
            }
        }
        return (ofFile + ofPlace + ofFormerPlace).lazy.filter(\.isOpen).map(\.id).max()
    }

    // MARK: Jobs

    /// Removes a job that has not started, and its version. A job that followed it follows its predecessor, or is
    /// released by ``finish()``.
    package mutating func remove(_ job: UploadHistoryJob, keepsEntry: Bool = false) {
        for follower in graph.followers(of: job.id) where job.follows != nil {
            graph.change(job: follower.id, .order) { $0.follows = job.follows }
        }
        graph.remove(job: job.id)
        if !keepsEntry, graph.entries[job.entry]?.job == job.id { graph.remove(entry: job.entry) }
        if !UploadHistoryGraph.isNew(job.id) { changes.removed.append(job.id) }
        guard job.isOpen else { return }
        changes.added -= 1
        room += 1
        // The job was staged in this same transaction.
        if UploadHistoryGraph.isNew(job.id), job.state == .queued { changes.ready[job.lane, default: 0] -= 1 }
    }
}
