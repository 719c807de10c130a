import TransferQueue

/// Commands that job files name as `onFinish` and that nobody knows, or that can't be started: found before anything is
/// moved, and not when all is over.
struct HookCheck {
    private let hooks: HookSettings?
    private var seen: Set<String> = []
    private(set) var faults: [JobFileFault] = []

    /// - Parameter hooks: `nil` checks nothing.
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

    /// Each name is told once, where it stands first.
    private mutating func note(_ hook: FinishHook?, _ fault: (String) -> JobFileFault) {
        guard let hooks, case .command(let name)? = hook, seen.insert(name).inserted,
            let refusal = hooks.refusal(of: name)
        else { return }
        faults.append(fault(refusal))
    }
}
