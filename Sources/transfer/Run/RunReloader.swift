import TransferCore
import TransferQueue

/// Reads the job files of a run again at a SIGHUP: jobs and folders that are new or were changed are taken up, folders
/// that are gone aren't watched any more. A changed job that is under way is interrupted and done as what it is now; one
/// that is paused stays so. Unchanged jobs stay as they are, whatever became of them. A file with a fault changes nothing.
struct RunReloader: Sendable {
    let plan: RunPlan
    /// Its files are read again too.
    let configuration: ConfigurationOptions
    let limits: LimitOptions
    let queue: JobQueue
    let session: WatchSession
    let reporter: Reporter

    /// Goes through what `hangUps` gives, one after the other.
    func run(_ hangUps: AsyncStream<Void>) async {
        for await _ in hangUps {
            session.reloading()
            do {
                try await reload()
            } catch let failure as Failure {
                if !failure.message.isEmpty { reporter.note(.error, failure.message) }
            } catch {
                reporter.note(.error, "reading the job file again failed: \(error)")
            }
            session.reloaded()
        }
    }

    private func reload() async throws {
        let (sources, folders, rules) = try read()
        var jobs = 0
        for source in sources {
            let staged = try await stage(source)
            for warning in staged.warnings { reporter.note(.warn, "\(source.name): \(warning)") }
            jobs += staged.batch.jobs
            if staged.batch.jobs > 0 { await queue.begin(staged.batch) }
        }
        if let first = sources.first { queue.setLimits(limits.merged(with: first.batch().limits, rules.configuration)) }
        var words = try await session.change(to: folders)
        if words.isEmpty { words = ["the same folders"] }
        words.append(NumberText.count(jobs, "job"))
        reporter.note(.info, "read again: \(words.joined(separator: ", "))")
    }

    /// Reads the files again. A function of its own: the release compiler (Swift 6.3) doesn't survive it within the
    /// asynchronous one.
    @inline(never)
    private func read() throws -> (sources: [JobFileSource], folders: [WatchSpec], rules: RequestRules) {
        var folders: [WatchSpec] = []
        var sources: [JobFileSource] = []
        var isFaulty = false
        var rules = plan.rules
        rules.configuration = try configuration.load()
        for file in plan.files {
            let source = try JobFileSource(file, rules: rules, list: plan.list, hooks: plan.hooks)
            let (report, found) = try plan.check(source)
            for fault in report.faults {
                reporter.note(.error, "\(file):\(fault.span.line):\(fault.span.column): \(fault.message)")
            }
            isFaulty = isFaulty || !report.isEmpty
            sources.append(source)
            folders += found
        }
        if let conflict = RunPlan.conflict(folders) { throw Failure(.invalidJobFile, conflict) }
        guard !isFaulty else { throw Failure(.invalidJobFile, "the job file has faults; going on as before") }
        return (sources, folders, rules)
    }

    private func stage(_ source: JobFileSource) async throws -> RunPlan.Staged {
        do {
            return try await plan.stage(plan.read(source), on: queue, isReload: true)
        } catch StagingError.held(let batch, let pid) {
            throw Failure(.workLeft, "\(batch) is being run by process \(pid)")
        }
    }
}
