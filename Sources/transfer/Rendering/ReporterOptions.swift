/// What `transfer run` shows, and where.
struct ReporterOptions: Sendable {
    /// `--progress`
    enum Progress: String, Sendable, Hashable, CaseIterable {
        /// A live screen on a terminal, else a log.
        case auto
        /// A live screen on whatever can move its cursor, else a log.
        case bar
        case plain
        /// No totals while it runs; what goes wrong, what is tried again for long and the report at the end are told.
        case none
    }

    /// `--json`, `--json=progress`
    enum JSON: Sendable, Hashable {
        case off
        case events
        /// With `job.progress`, which comes twice a second for each job under way.
        case withProgress
    }

    var progress = Progress.auto
    var json = JSON.off
    /// Only failures, and the report at the end when there were some.
    var isQuiet = false
    /// A line for each success too.
    var isVerbose = false
    /// `--report`: a file to append one line to for each end of a job.
    var reportFile: String?

    init(
        progress: Progress = .auto, json: JSON = .off, isQuiet: Bool = false, isVerbose: Bool = false,
        reportFile: String? = nil
    ) {
        self.progress = progress
        self.json = json
        self.isQuiet = isQuiet
        self.isVerbose = isVerbose
        self.reportFile = reportFile
    }

    /// - Parameter sharesScreen: Whether JSON goes to a terminal too, where a live screen would run into it.
    func showsScreen(on terminal: Terminal, sharesScreen: Bool) -> Bool {
        guard !isQuiet, !sharesScreen else { return false }
        switch progress {
        case .auto, .bar: return terminal.canMoveCursor
        case .plain, .none: return false
        }
    }
}
