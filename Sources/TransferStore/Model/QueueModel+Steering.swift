import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling

/// Staging, and commands from outside.
extension QueueModel {
    mutating func stage(
        _ header: BatchHeader, _ options: StagingOptions, _ staged: [StagedJob], isPartial: Bool, by owner: Int64
    ) throws -> StagedJobs {
        let id = try hold(header, by: owner)
        if case .set(let hook) = header.onFinish { batches[id.id]?.onFinish = hook }
        let generation = (batches[id.id]?.generation ?? 0) + 1
        batches[id.id]?.generation = generation
        var result = (secrets: [Int64: JobSecrets](), underWay: Set<Int64>(), abandoned: [AbandonedUpload]())
        var report = JobFileReport()
        var folded = 0
        for job in staged {
            let number: Int64
            if let known = self.job(job.row.identity, in: header.name) {
                guard known.generation != generation else {
                    if RestagingRule.folds(job.place, isSame: known.fingerprint == job.row.fingerprint) {
                        folded += 1
                        continue
                    }
                    report.add(Self.fault("same destination as another job: \(job.row.identity)"))
                    continue
                }
                number = known.id
                let hasChanged =
                    known.fingerprint != job.row.fingerprint || id.hasMoved && job.spec.hasRelativePath
                if known.state == .claimed, hasChanged { result.underWay.insert(number) }
                if hasChanged, let upload = Self.leftBehind(known) { result.abandoned.append(upload) }
                restage(known, job, generation, hasChanged, options)
            } else {
                number = self.number()
                jobs[number] = ModelJob(id: number, batch: id.id, generation: generation, staged: job)
            }
            if let secrets = job.secrets { result.secrets[number] = secrets }
        }
        if !options.keepsWhatIsMissing {
            for job in jobs(of: id.id) where job.generation != generation {
                if let upload = Self.leftBehind(job) { result.abandoned.append(upload) }
                jobs[job.id] = nil
            }
        }
        try resolveNeeds(of: id.id, generation, isPartial, &report)
        if options.isReload { revive(id.id) }
        if !report.isEmpty {
            report.jobCount = staged.count
            throw StagingFailure.faults(report)
        }
        unblock()
        _ = skipWhatCannotStart(id.id)
        if options.startsPaused {
            for job in jobs(of: id.id) where job.generation == generation { apply(.pauseStaged, to: job.id) }
        }
        try remember(options.notes, batch: id, count: staged.count - folded)
        return StagedJobs(
            batch: id, count: staged.count - folded, secrets: result.secrets, underWay: result.underWay,
            abandoned: result.abandoned)
    }

    private mutating func restage(
        _ known: ModelJob, _ job: StagedJob, _ generation: Int, _ hasChanged: Bool, _ options: StagingOptions
    ) {
        let isDoubtful = known.error.code == .mayHaveBeenSent && known.claim.wasInterrupted
        let restaged = RestagedJob(
            known.state, hasChanged: hasChanged, isDoubtful: isDoubtful, isReload: options.isReload)
        apply(.restage, to: known.id, state: restaged.state) { column in
            column == .staging ? JobValue(generation) : job.row.value(column)
        } holds: {
            restaged.holds($0)
        }
        jobs[known.id]?.staged = job
        if hasChanged { jobs[known.id]?.receipt = nil }
    }

    private mutating func remember(_ notes: [SubmissionNote], batch: HeldBatch, count: Int) throws {
        guard !notes.isEmpty else { return }
        let now = WallClock.milliseconds
        submissions = submissions.filter { $0.value.time > now - SubmissionKey.lifetime }
        for note in notes {
            guard submissions[note.key.name] == nil else { throw SubmissionKeyTaken(name: note.key.name) }
            let answer = note.answer(batch: batch, count: count) { job($0, in: batch.name)?.id }
            submissions[note.key.name] = (answer, now)
        }
    }

    mutating func amend(_ number: Int64, by owner: Int64?, _ change: (inout JobSpec) -> Void) -> Bool {
        guard let job = jobs[number], job.claim.owner == owner, !job.state.hasEnded,
            (job.state == .claimed) == (owner != nil)
        else { return false }
        _ = self.change(job, number, change)
        return true
    }

    mutating func renew(_ number: Int64, _ change: (inout JobSpec) -> Void) -> Bool {
        guard let job = jobs[number], job.state == .failed, self.change(job, number, change) else { return false }
        return job.error.code != .mayHaveBeenSent
    }

    /// Returns whether the change makes a difference.
    private mutating func change(_ job: ModelJob, _ number: Int64, _ change: (inout JobSpec) -> Void) -> Bool {
        var spec = job.staged.spec
        change(&spec)
        guard spec != job.staged.spec else { return false }
        var origins = OriginMemory()
        jobs[number]?.staged = StagedJob(
            spec, at: job.staged.place, directory: batches[job.batch]?.directory ?? "/", origins: &origins)
        return true
    }

    private static func fault(_ message: String) -> JobFileFault {
        JobFileFault(message: message, path: "", span: SourceSpan(line: 1, column: 1))
    }

    private static func leftBehind(_ job: ModelJob) -> AbandonedUpload? {
        guard job.staged.row.isUpload, !job.hasSecrets, let upload = job.upload, upload.holdsSomething else {
            return nil
        }
        return AbandonedUpload(id: job.id, spec: job.staged.spec, upload: upload)
    }

    private mutating func hold(_ header: BatchHeader, by owner: Int64) throws -> HeldBatch {
        guard let id = batch(named: header.name), let known = batches[id] else {
            lastBatch += 1
            let id = lastBatch
            batches[id] = Batch(name: header.name, directory: header.directory, source: header.source, owner: owner)
            return HeldBatch(id: id, name: header.name, directory: header.directory, isNew: true)
        }
        if let other = known.owner, other != owner { throw StagingFailure.held(BatchHeld(batch: header.name, pid: 0)) }
        batches[id]?.owner = owner
        batches[id]?.directory = header.directory
        return HeldBatch(
            id: id, name: header.name, directory: header.directory, hasMoved: known.directory != header.directory)
    }

    private mutating func resolveNeeds(
        of batch: Int64, _ generation: Int, _ isPartial: Bool, _ report: inout JobFileReport
    ) throws {
        var edges: [Int64: [Int64]] = [:]
        for job in jobs(of: batch) where job.generation == generation {
            var needs: [Int64] = []
            for need in job.staged.spec.needs {
                if let found = jobs(of: batch).first(where: { $0.identity == need }) {
                    needs.append(found.id)
                } else if !isPartial {
                    report.add(Self.fault("job \"\(job.identity)\" needs \"\(need)\", which is not in this batch"))
                }
            }
            jobs[job.id]?.needs = needs
            edges[job.id] = needs
        }
        if let cycle = DependencyCycle.find(edges) {
            let names = cycle.compactMap { jobs[$0]?.identity }
            let circle = (names + names.prefix(1)).joined(separator: " → ")
            report.add(Self.fault("jobs need each other in a circle: \(circle)"))
        }
    }

    /// Gives skipped jobs a new start, except those that still depend on a failed or cancelled job.
    private mutating func revive(_ batch: Int64) {
        for job in jobs(of: batch) { apply(.revive, to: job.id) }
        unblock()
    }

    // MARK: Commands

    mutating func deliver(_ verb: QueueVerb, _ name: String, _ identity: String?) -> CommandDelivery {
        guard let id = batch(named: name) else { return .noSuchBatch }
        if let identity {
            guard let known = job(identity, in: name) else { return .noSuchJob }
            guard verb.changes(known.state) else { return .applied(jobs: 0) }
        }
        guard let owner = batches[id]?.owner else {
            return .applied(jobs: apply(QueueCommand(id: 0, verb: verb, batch: id, job: identity)).count)
        }
        let command = QueueCommand(id: number(), verb: verb, batch: id, job: identity)
        commands[owner, default: []].append(command)
        return .handed(pid: 0, socket: nil, command: command.id)
    }

    mutating func apply(_ command: QueueCommand) -> AppliedCommand {
        var applied = AppliedCommand()
        let meant = jobs(of: command.batch).filter { command.job == nil || $0.identity == command.job }
        if command.job != nil { applied.hadFailed = meant.contains { $0.hasFailed } }
        let transition = JobTransition(command.verb)
        for job in meant where transition.change.from.contains(job.state) {
            var cursor: Int64?
            if transition.change.isEnd {
                cursor = end(job.id, transition) { _ in .null }
            } else {
                apply(transition, to: job.id)
            }
            applied.jobs.append((job.identity, cursor, JobRoute(job.staged.spec)))
        }
        if command.verb == .cancel {
            applied.skipped = meant.filter { command.verb.states.contains($0.state) }
                .flatMap { skipDependents(of: $0.id) }
        }
        applied.isHooked =
            command.verb == .cancel
            && (meant.contains { $0.staged.spec.tellsHook && command.verb.states.contains($0.state) }
                || applied.skipped.contains(where: \.tellsHook))
        unblock()
        if command.verb == .retry || command.verb == .retryFailed {
            applied.skipped = skipWhatCannotStart(command.batch)
        }
        return applied
    }

    mutating func forget(_ name: String?, _ endedBefore: Int64?) -> [String] {
        var names: [String] = []
        for (id, batch) in batches.sorted(by: { $0.key < $1.key })
        where batch.owner == nil && (name == nil || batch.name == name) {
            if let endedBefore {
                let all = jobs(of: id)
                guard all.allSatisfy(\.state.hasEnded), all.allSatisfy({ $0.ended ?? 0 < endedBefore }) else {
                    continue
                }
            }
            batches[id] = nil
            hookCalls.removeAll { $0.call.batch == id }
            for job in jobs(of: id) { jobs[job.id] = nil }
            names.append(batch.name)
        }
        return names
    }
}

extension ModelJob {
    /// Whether an attempt of the job came to nothing, or a job that it needs did.
    fileprivate var hasFailed: Bool {
        [.waiting, .failed, .skipped].contains(state)
            || state != .done && (tries.attempts > 0 || tries.spentMirrors != 0)
    }
}
