import TransferCore
import TransferQueue

/// The state of the reporter, behind its lock.
struct ReporterState: ~Copyable {
    /// The most lines that are kept while a terminal is stopped (Ctrl-S); further ones are only counted.
    private static let mostLines = 10_000

    private let options: ReporterOptions
    private let terminal: Terminal
    private let format: LogFormat
    /// The live screen; `nil` where lines go directly to standard error.
    private(set) var screen: ProgressScreen?
    private var log: LogRenderer
    private var reports: [EndReport] = []
    /// The short names of batches, by their full names.
    private var shown: [String: String] = [:]
    private var hint = CommandHint()
    private(set) var board = WatchBoard()
    private var insecure = InsecureJobs()
    /// The receipts of uploads whose confirmation is still to come, by the files' paths.
    private var receipts: [String: JobReceipt] = [:]
    private var json: BufferedOutput?
    private var report: BufferedOutput?
    /// The `errno` for which an already closed report file is incomplete.
    private var lostReport: Int32?
    private var errors: BufferedOutput
    /// The lines for the screen's thread.
    private var lines: [StyledLine] = []
    private var lostLines = 0
    /// Whether a flush of the buffers is arranged, which needs no further event.
    private var isFlushArranged = false

    init(
        options: ReporterOptions, terminal: Terminal, showsScreen: Bool, json: consuming BufferedOutput?,
        report: consuming BufferedOutput?
    ) {
        self.options = options
        self.terminal = terminal
        self.json = json
        self.report = report
        errors = BufferedOutput(descriptor: terminal.descriptor)
        screen = showsScreen ? ProgressScreen() : nil
        log = LogRenderer(
            showsScreen || options.isQuiet ? .lasting : options.progress == .none ? .troubles : .all,
            verbose: options.isVerbose,
            charset: terminal.charset)
        log.reportsFullDisks = !showsScreen
        format = showsScreen ? .terminal : terminal.isJournal ? .journal : .file
    }

    mutating func receive(_ event: QueueEvent, areWaitsCancelled: () -> Bool) {
        // The log has a separate message for a file that another run will try again.
        var whole = event
        let reported = hint.persistence.reported(event)
        let isInsecure = insecure.note(reported)
        if json != nil, options.json == .withProgress || !reported.kind.isProgress {
            json?.append { QueueJSON.append(reported, insecure: isInsecure, to: &$0) }
        }
        if report != nil, reported.kind.isEnd {
            report?.append { QueueJSON.append(reported, insecure: isInsecure, to: &$0) }
        }
        var event = reported
        if let name = shown[event.batch] { (event.batch, whole.batch) = (name, name) }
        let isWatched = WatchBatch.folder(of: event.batch) != nil
        if isWatched { note(event) }
        screen?.receive(event)
        if event.kind.isProgress {
            log.note(event)
        } else {
            add(log.receive(whole, insecure: isInsecure))
            if !isWatched { addReport(event, of: reported.batch) }
        }
        flush(time: event.time, now: event.kind.isAboutBatch, areWaitsCancelled: areWaitsCancelled)
    }

    /// Takes the progress of all transfers of other processes.
    mutating func show(_ transfers: [QueueEvent], areWaitsCancelled: () -> Bool) {
        screen?.forgetJobs()
        for event in transfers { receive(event, areWaitsCancelled: areWaitsCancelled) }
    }

    /// Continues in a new file with the report's name, after a rotation of logs has moved the old one.
    ///
    /// - Throws: `fileAccess` when it cannot be opened; the report then continues in the old file.
    mutating func reopenReport() throws(TransferError) {
        guard let path = options.reportFile else { return }
        report?.flush(patience: 1000)
        let next = try BufferedOutput(appendingTo: path)
        // An incomplete old file stays reported.
        lostReport = lostReport ?? report?.failure
        report = consume next
    }

    mutating func call(_ batches: [String: String], _ hint: CommandHint) {
        shown = batches
        self.hint = hint
        board.hint = hint
        log.persistence = hint.persistence
    }

    private mutating func note(_ event: QueueEvent) {
        board.receive(event)
        screen?.board = board
        // The receipts are few: those of files between the queue and the record of the folder.
        guard case .finished(let receipt) = event.kind, receipts.count < 10_000 else { return }
        receipts[receipt.path] = receipt
    }

    mutating func receive(_ notice: WatchNotice, areWaitsCancelled: () -> Bool) {
        if json != nil { json?.append { WatchLines.append(notice, to: &$0) } }
        board.receive(notice)
        screen?.board = board
        var receipt: JobReceipt?
        var isOnScreen = false
        if case .reported(.confirmed(let path, _)) = notice.kind {
            receipt = receipts.removeValue(forKey: notice.folder + "/" + path)
            // The screen counts these files.
            isOnScreen = screen != nil && !options.isVerbose
        }
        if !isOnScreen, let line = WatchText.line(notice, verbose: options.isVerbose, receipt: receipt, hint: hint) {
            add([LogLine(level: line.level, time: notice.time, text: terminal.charset.visible(line.text))])
        }
        flush(time: notice.time, now: notice.isUrgent, areWaitsCancelled: areWaitsCancelled)
    }

    mutating func add(_ lines: [LogLine]) {
        for line in lines where !options.isQuiet || line.level == .error || line.needsPerson {
            show([format.line(line)])
        }
    }

    /// Adds the report of a batch's end.
    ///
    /// - Parameter name: The batch's own name.
    private mutating func addReport(_ event: QueueEvent, of name: String) {
        let index: Int
        if let known = reports.firstIndex(where: { $0.batch == event.batch }) {
            index = known
        } else {
            reports.append(
                EndReport(
                    batch: event.batch, lasting: BatchNames.lasting(name, shown: event.batch), hint: hint))
            index = reports.count - 1
        }
        reports[index].receive(event)
        guard case .batchFinished(let totals, _) = event.kind else { return }
        guard !options.isQuiet || totals.failed > 0 else { return }
        let width = terminal.isTerminal ? terminal.size.width : 80
        let lines = reports[index].lines(width: width, charset: terminal.charset)
        show(format.report(lines, level: totals.failed > 0 ? .error : .info, time: event.time))
    }

    private mutating func show(_ new: [StyledLine]) {
        guard screen != nil else {
            for line in new { errors.append(line.rendered(colors: false) + "\n") }
            return
        }
        guard lines.count + new.count <= Self.mostLines else {
            lostLines += new.count
            return
        }
        lines += new
    }

    /// Takes the lines for the screen's thread.
    mutating func takeLines() -> [StyledLine] {
        var taken: [StyledLine] = []
        swap(&taken, &lines)
        if lostLines > 0 {
            taken.append("\(NumberText.count(lostLines, "more line")) came while the terminal was stopped")
            lostLines = 0
        }
        return taken
    }

    /// Writes lines directly, because the screen cannot be drawn.
    mutating func giveUpScreen() {
        let lines = takeLines()
        screen = nil
        show(lines)
    }

    mutating func flush(time: Int64, now: Bool, areWaitsCancelled: () -> Bool) {
        json?.flushIfDue(time: time, now: now, areWaitsCancelled: areWaitsCancelled)
        report?.flushIfDue(time: time, now: now, areWaitsCancelled: areWaitsCancelled)
        errors.flushIfDue(time: time, now: now, areWaitsCancelled: areWaitsCancelled)
    }

    /// Returns whether output is left to write. The function is mutating, because a noncopyable optional cannot be read
    /// otherwise.
    private mutating func isBehind() -> Bool {
        if json?.bytes.isEmpty == false { return true }
        if report?.bytes.isEmpty == false { return true }
        return !errors.bytes.isEmpty
    }

    /// Arranges a flush.
    ///
    /// - Returns: Whether the caller must call `flush` later, as no flush is arranged yet.
    mutating func arrangesFlush() -> Bool {
        guard !isFlushArranged, isBehind() else { return false }
        isFlushArranged = true
        return true
    }

    /// Decides after an arranged flush.
    ///
    /// - Returns: Whether another one is needed.
    mutating func goesOnFlushing() -> Bool {
        isFlushArranged = isBehind()
        return isFlushArranged
    }

    mutating func finish(commands: [String: String], time: Int64) {
        add(log.finish(time: time))
        for report in reports where !report.isFinished && !options.isQuiet {
            let command = commands.first { (shown[$0.key] ?? $0.key) == report.batch }?.value
            let line = report.stoppedLine(command: command, charset: terminal.charset)
            show(format.report([line], level: .warn, time: time))
        }
        for folder in board.folders {
            add([LogLine(level: .info, time: time, text: terminal.charset.visible(folder.stoppedLine))])
        }
        report?.flush(patience: 1000)
        if let number = lostReport ?? report?.failure {
            let failure = "the report file is incomplete: \(BufferedOutput.reason(number))"
            add([LogLine(level: .error, time: time, text: failure)])
            StandardOutput.noteReport()
        }
    }

    mutating func flushAll() {
        json?.flush(patience: 1000)
        if let number = json?.failure { StandardOutput.note(failure: number) }
        errors.flush(patience: 1000)
    }
}
