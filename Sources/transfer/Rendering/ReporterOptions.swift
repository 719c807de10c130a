/// The options for the output of `transfer run`.
struct ReporterOptions: Sendable {
    /// The value of `--progress`.
    enum Progress: String, Sendable, Hashable, CaseIterable {
        /// A live screen on a terminal, otherwise a log.
        case auto
        /// A live screen on every terminal that can move its cursor, otherwise a log.
        case bar
        case plain
        /// No totals during the run; failures, long retries and the report at the end are shown.
        case none
    }

    /// The value of `--json` or `--json=progress`.
    enum JSON: Sendable, Hashable {
        case off
        case events
        /// All events, with `job.progress`, which comes twice a second for each job under way.
        case withProgress
    }

    var progress = Progress.auto
    var json = JSON.off
    /// Whether only failures are shown, and the report at the end when there were some.
    var isQuiet = false
    /// Whether each success has a line too.
    var isVerbose = false
    /// The file of `--report`, to which one line is appended for each end of a job.
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

    /// Returns whether a live screen is shown.
    ///
    /// - Parameter sharesScreen: Whether JSON goes to a terminal too, where it would break a live screen.
    func showsScreen(on terminal: Terminal, sharesScreen: Bool) -> Bool {
        guard !isQuiet, !sharesScreen else { return false }
        switch progress {
        case .auto, .bar: return terminal.canMoveCursor
        case .plain, .none: return false
        }
    }
}
