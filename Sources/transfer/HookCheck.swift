import TransferQueue

/// A check of the commands that job files name as `onFinish`. Unknown commands, and those that cannot be started, are
/// found before the first transfer.
struct HookCheck {
    private let hooks: HookSettings?
    private var seen: Set<String> = []
    private(set) var faults: [JobFileFault] = []

    /// Creates a check.
    ///
    /// - Parameter hooks: The known commands; `nil` checks nothing.
    init(_ hooks: HookSettings?) { self.hooks = hooks }

    mutating func note(_ job: JobSpec, _ place: JobLocations) {
        guard let hook = job.settings.onFinish else { return }
        note(hook) { JobFileFault(message: $0, path: place.path(of: "onFinish"), span: place.job) }
    }

    mutating func note(_ folder: WatchSpec, _ place: WatchLocations) {
        note(folder.settings.onFinish) { JobFileFault(message: $0, path: place.path + ".onFinish", span: place.entry) }
    }

    mutating func note(_ batch: BatchSpec) {
        note(batch.onFinish?.hook) {
            JobFileFault(message: $0, path: "$.onFinish", span: SourceSpan(line: 1, column: 1))
        }
    }

    /// Notes a hook. Each faulty name is reported once, at its first use.
    private mutating func note(_ hook: FinishHook?, _ fault: (String) -> JobFileFault) {
        guard let hooks, case .command(let name)? = hook, seen.insert(name).inserted,
            let refusal = hooks.refusal(of: name)
        else { return }
        faults.append(fault(refusal))
    }
}
