import CTransferFailpoint
import TransferCore
import TransferEventLoop
import TransferJobs
import TransferStore
import TransferWatch

// Work on files after their server has confirmed them.
extension FolderUploader {
    private static let page = 128

    // MARK: Moving and deleting

    /// Moves or deletes what is due, in pages; what a process before this one began is found among it.
    package func actOnDue() {
        guard !isStopped, hasRoot else { return }
        guard due.acting == nil else {
            due.mustActAgain = true
            return
        }
        due.acting = Task { await act() }
    }

    private func act() async {
        defer { due.acting = nil }
        // A caller who comes while this waits for an answer is heard before it ends.
        repeat {
            due.mustActAgain = false
            guard await onStore({ try $0.followClock() }) != nil else { return }
            while !isStopped, hasRoot, await actOnPage() {}
            guard !isStopped, let next = await onStore({ [folder] in try $0.nextDue(folder: folder) }) else { return }
            // A file that couldn't be done with at once is no reason to try without end.
            if let next { schedule(dueAt: max(next, WallClock.milliseconds + 1000)) }
        } while due.mustActAgain && !isStopped && hasRoot
    }

    /// - Returns: Whether there may be more.
    private func actOnPage() async -> Bool {
        let (folder, plan) = (folder, plan)
        let rows = await onStore {
            try $0.dueRows(folder: folder, now: WallClock.milliseconds, limit: Self.page)
        }
        guard let rows, !rows.isEmpty, !isStopped else { return false }
        let others = host.watchedSpecs()
        let refusals = self.refusals(of: rows)
        let outcomes = try? await pools.files.run { [stopFlag] in
            // A link or a mount may have come since the folder began to be watched.
            if plan.spec.then != .keep, let conflict = FolderConflict.first(of: plan.spec, among: others) {
                return rows.map { _ in AfterUpload.Result(outcome: .stays(conflict.error)) }
            }
            let places = FolderPlaces(plan.root)
            var outcomes: [AfterUpload.Result] = []
            for row in rows where !stopFlag.isSet {
                if let refusal = refusals[row.id] {
                    outcomes.append(AfterUpload.Result(outcome: .stays(refusal)))
                    continue
                }
                let after = AfterUpload(row: row, root: plan.root, then: plan.spec.then) { stopFlag.isSet }
                Failpoint.reached(.fileDue)
                outcomes.append(after.run(places))
                Failpoint.reached(.fileSettled)
            }
            return outcomes
        }
        guard let outcomes else { return false }
        var isGone = false
        var pauses: [Int64: Duration] = [:]
        var settlements: [HistorySettlement] = []
        for (row, result) in zip(rows, outcomes) {
            switch result.outcome {
            // By its other names it may be offered, and is no new version.
            case .rewritten: settlements.append(HistorySettlement(row: row.id, kind: .done))
            case .deleted, .moved:
                if case .moved = result.outcome { due.moved.moved(row.version, at: .now) }
                settlements.append(HistorySettlement(row: row.id, kind: result.hasOtherNames ? .notThere : .done))
            case .kept: settlements.append(HistorySettlement(row: row.id, kind: .kept))
            case .notThere: settlements.append(HistorySettlement(row: row.id, kind: .notThere))
            case .stays:
                let pause = times.thenAgain.delay(after: due.failed(row.id))
                pauses[row.id] = pause
                let again = WallClock.milliseconds + pause.inMilliseconds
                settlements.append(HistorySettlement(row: row.id, kind: .again(at: again, changed: result.givenBack)))
            case .noFolder: isGone = true
            case .stopped:
                guard let changed = result.givenBack else { break }
                let now = WallClock.milliseconds
                settlements.append(HistorySettlement(row: row.id, kind: .again(at: now, changed: changed)))
            }
        }
        let done = settlements
        guard let left = await onStore({ try $0.settle(done) }) else { return false }
        Failpoint.reached(.settlementNoted)
        counts.keptMore(-left)
        for row in rows where pauses[row.id] == nil { due.settled(row.id) }
        for (row, result) in zip(rows, outcomes) {
            switch result.outcome {
            case .deleted: tell(.deleted(path: row.version.path))
            case .moved(let target): tell(.moved(path: row.version.path, to: target))
            case .stays(let error): tell(.stays(path: row.version.path, error, again: pauses[row.id]))
            case .notThere where result.isChanged: suspect(row.version.path)
            // Forgotten, it's new when it's found again.
            case .rewritten: suspect(row.version.path)
            case .notThere, .noFolder, .kept, .stopped: break
            }
        }
        tellBacklog()
        // The one who finds the folder again calls.
        return !isGone
    }

    /// Why files stay that were moved before and came back.
    private func refusals(of rows: [HistoryRow]) -> [Int64: TransferError] {
        guard case .move(let target) = plan.spec.then else { return [:] }
        let now = MonotonicTime.now
        return rows.reduce(into: [:]) { refusals, row in
            if due.moved.isCircling(row.version, at: now) { refusals[row.id] = MovedFiles.refusal(target) }
        }
    }

    /// One timer, for the first that is due.
    package func schedule(dueAt time: Int64) {
        guard !isStopped else { return }
        // A clock that is set, and a machine that slept, are noticed within the hour.
        let wait = min(max(0, time - WallClock.milliseconds), 3_600_000)
        let next = MonotonicTime.now + .milliseconds(wait)
        if let planned = due.at, planned <= next { return }
        due.at = next
        timer(.due).schedule(at: next)
    }

    // MARK: Digests

    /// Notes what confirmed files hash to while they are what was uploaded, so that a changed time alone is no new
    /// version.
    package func computeDigests() {
        guard plan.keepsDigest, !isStopped else { return }
        guard hashing.want() else { return }
        Task {
            while !isStopped, hashing.next() {
                while !isStopped, await computePage() {}
            }
            hashing.ended()
        }
    }

    private func computePage() async -> Bool {
        let (folder, root) = (folder, plan.root)
        let rows = await onStore { try $0.rowsWithoutDigest(folder: folder, limit: 64) }
        guard let rows, !rows.isEmpty, !isStopped else { return false }
        let digests = try? await pools.files.run { [stopFlag] in
            let places = FolderPlaces(root)
            var digests: [(row: Int64, digest: Checksum?)] = []
            for row in rows where !stopFlag.isSet {
                let result = VersionDigest.compute(row.version, root: root) { stopFlag.isSet }
                if stopFlag.isSet { break }
                // The bytes of a file that has changed since it was taken needn't be those that were sent.
                if case .digest(let digest) = result,
                    let seen = places.file(row.version.path), !row.mayHaveChanged(seen.stamp)
                {
                    digests.append((row.id, digest))
                } else {
                    digests.append((row.id, nil))
                }
            }
            return digests
        }
        guard let digests else { return false }
        return await onStore { try $0.save(digests: digests) } != nil
    }
}
